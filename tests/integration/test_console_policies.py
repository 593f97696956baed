"""The box of the desk's screen in which a call is tried: the desk's own gate judges it."""

from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import urlencode

import pytest

from tests import api_kit
from tests.api_kit import Served, served
from tests.approvals_kit import Person, person, words_of

REFUND = '''
from deskhand.model.money import Money
from deskhand.tools import tool

@tool(effect="keyed", risk="high")
async def refund(order: str, amount: Money, reason: str = "unwanted"):
    """Give a customer money back."""
    (HERE / "refunded").write_text(order)
    return {"refunded": str(amount)}
'''
MORE = """\
policy:
  - {name: strangers get nothing, when: {tool: refund, principal.kind: anonymous}, then: deny}
  - {name: small refunds pass, when: {tool: refund, amount: {at_most: 50 EUR}}, then: allow}
  - {name: other refunds ask, when: {tool: refund}, then: hold, why: it is a lot of money}
caps: {day: {money: 40 EUR}}
"""


@pytest.fixture
async def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Served]:
    monkeypatch.setattr(api_kit, "TOOLS", api_kit.TOOLS + REFUND)
    async with served(tmp_path, "shop", "bank", more=MORE, approvals=True) as running:
        yield running


async def tried(somebody: Person, **fields: str) -> str:
    asked = {"tool": "refund", "judge": "yes", "argument.order": "O-1", **fields}
    page = await somebody.get(f"/desk/shop/policies?{urlencode(asked)}")
    assert page.status_code == 200
    return words_of(page.text)


async def test_a_call_is_judged_by_the_rule_that_would_decide_about_it(shop: Served) -> None:
    ida = await person(shop)
    known = {"customer": "ann@example.com"}

    small = await tried(ida, **known, **{"argument.amount": "40 EUR"})
    assert "allow : rule 2, small refunds pass" in small
    assert "It moves 40 EUR." in small
    large = await tried(ida, **known, **{"argument.amount": "60 EUR"})
    assert "hold : rule 3, other refunds ask it is a lot of money" in large
    strange = await tried(ida, **{"argument.amount": "40 EUR"})
    assert "deny : rule 1, strangers get nothing" in strange


async def test_caps_the_stop_switch_and_what_cannot_be_read_are_told_too(shop: Served) -> None:
    ida = await person(shop)
    known = {"customer": "c-1"}

    over = await tried(ida, **known, **{"argument.amount": "45 EUR"})
    assert "hold : the gate's rule over_cap it would exceed the cap of 40 EUR a day" in over
    await shop.desks["shop"].store.stop("ida", "wrong prices")
    stopped = await tried(ida, **known, **{"argument.amount": "20 EUR"})
    assert "the gate's rule stopped the desk was stopped by ida: wrong prices" in stopped
    unread = await tried(ida, **known, **{"argument.amount": "a lot"})
    assert "deny : the gate's rule invalid_arguments" in unread


async def test_trying_a_call_does_nothing_counts_nothing_and_records_nothing(
    shop: Served,
) -> None:
    ida = await person(shop)
    for _ in range(3):
        said = await tried(ida, customer="ann@example.com", **{"argument.amount": "30 EUR"})
        assert "allow : rule 2, small refunds pass" in said, "nothing was counted before"

    assert not list(shop.folder.rglob("refunded"))
    assert "40 EUR a day 0 today" in said
    store = shop.desks["shop"].store
    assert await store.effects() == []
    assert await store.runs(limit=5) == []
    assert await store.events() == []


async def test_the_form_asks_for_the_tools_arguments_and_shows_text_as_text(shop: Served) -> None:
    ida, bert = await person(shop), await person(shop, "bert", "bank")

    form = (await ida.get("/desk/shop/policies?tool=refund")).text
    assert 'name="argument.amount"' in form
    assert "Give a customer money back." in words_of(form)
    odd = {"tool": "refund", "judge": "yes", "argument.order": "<b>x</b>", "customer": "<i>"}
    shown = (await ida.get(f"/desk/shop/policies?{urlencode(odd)}")).text
    assert "<b>x</b>" not in shown
    assert "<i>" not in shown
    unknown = await ida.get("/desk/shop/policies?tool=drop_tables&judge=yes")
    assert 'id="verdict"' not in unknown.text
    assert (await bert.get("/desk/shop/policies?tool=refund&judge=yes")).status_code == 404
