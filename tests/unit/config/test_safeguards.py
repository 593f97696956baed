from pathlib import Path

import pytest

from deskhand.errors import ConfigErrors
from deskhand.model.money import Money
from deskhand.model.principal import asserted
from deskhand.model.totals import Limit
from deskhand.tools import Gate, ToolRegistry
from deskhand.tools.terms import terms_of
from deskhand.wiring import read_desk
from tests.memory_ledger import FixedContext, MemoryLedger

DESK = """desk: shop
flows: {main: {stages: {act: {tools: [refund]}}}}
"""
TOOLS = '''
from deskhand import Context, Money, OwnedOrder, Principal, resolver, tool


@resolver(OwnedOrder)
async def find(key: str, principal: Principal, ctx: Context) -> OwnedOrder | None:
    return OwnedOrder(id=key, owner="c-1", status="paid")


@tool(effect="keyed", risk="medium")
async def refund(order: OwnedOrder, amount: Money) -> dict:
    """Refund an order."""
    return {"order": order.id, "status": order.status}
'''


def a_desk(folder: Path, more: str = "", tools: str = TOOLS) -> Path:
    (folder / "desk.yaml").write_text(DESK + more, encoding="utf-8")
    (folder / "tools.py").write_text(tools, encoding="utf-8")
    return folder


def test_caps_approvals_and_recipients_become_the_gates_terms(tmp_path: Path) -> None:
    more = """caps:
  day: {sends: 5, money: 100.50 EUR, model_spend: 2}
  conversation: {calls: 3}
approvals: {expire_after: 2 days, four_eyes_over: 500 EUR}
recipients: [Warehouse@Acme.example]
time_zone: Europe/Prague
plans: {back: {steps: [{tool: refund, parameters: {order: "{message.subject}", amount: 5 EUR}}]}}
"""
    spec = read_desk(str(a_desk(tmp_path, more))).spec
    terms = terms_of(spec)
    assert terms.caps == (
        Limit("conversation", "calls", 3),
        Limit("day", "sends", 5),
        Limit("day", "EUR", 1_005_000),
        Limit("day", "sends to unproven senders", 200, "deliver_reply"),
        Limit("day", "sends to addresses", 1000, "deliver_reply"),
    )
    assert (spec.safeguards.model_spend, terms.approval_lasts) == (2, 2 * 86_400)
    assert (terms.four_eyes_over, terms.recipients) == (
        Money.of("500 EUR"),
        frozenset({"warehouse@acme.example"}),
    )
    assert terms.constants == {"refund": {"amount": ["5 EUR"]}}


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ("caps: {day: {send: 5}}", "send"),
        ("caps: {week: {sends: 5}}", "week"),
        ("caps: {day: {money: much}}", "money"),
        ("caps: {conversation: {model_spend: 5}}", "model_spend"),
        ("approvals: {expire_after: soon}", "expire_after"),
        ("approvals: {four_eyes_over: 500}", "four_eyes_over"),
        ("recipients: [everybody]", "recipients"),
    ],
)
def test_mistakes_are_told_with_their_line(tmp_path: Path, more: str, words: str) -> None:
    with pytest.raises(ConfigErrors) as caught:
        read_desk(str(a_desk(tmp_path, more)))
    (problem,) = caught.value.problems
    assert problem.line == 3
    assert words in problem.problem


def test_a_thing_that_nothing_finds_is_told_where_the_tool_stands(tmp_path: Path) -> None:
    start = TOOLS.index("@resolver")
    unfound = TOOLS[:start] + TOOLS[TOOLS.index("@tool") :]
    with pytest.raises(
        Exception, match="nothing finds the OwnedOrder that 'order' names"
    ) as caught:
        read_desk(str(a_desk(tmp_path, tools=unfound)))
    assert "write `@resolver(OwnedOrder)`" in str(caught.value)


async def test_a_rule_may_speak_of_what_the_resolver_found(tmp_path: Path) -> None:
    rules = """policy:
  - {name: paid ones, when: {tool: refund, order.status: paid, amount: {at_most: 50 EUR}}, then: allow}
  - {name: the rest, when: {tool: refund}, then: hold, why: Look at it.}
"""  # noqa: E501
    loaded = read_desk(str(a_desk(tmp_path, rules)))
    gate = Gate(
        ToolRegistry(loaded.code.tools),
        MemoryLedger(),
        desk="shop",
        terms=terms_of(loaded.spec),
        resolvers=loaded.code.resolvers,
    )
    ctx = FixedContext(principal=asserted("c-1", by="a test"))
    small = await gate.call(
        "refund", {"order": "O-1", "amount": "50 EUR"}, allowed=["refund"], ctx=ctx
    )
    assert (small.verdict, small.result.data) == ("allow", {"order": "O-1", "status": "paid"})
    large = await gate.call(
        "refund", {"order": "O-1", "amount": "51 EUR"}, allowed=["refund"], ctx=ctx, index=1
    )
    assert (large.verdict, large.rule, large.reason) == ("hold", "the rest", "Look at it.")
