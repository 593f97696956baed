"""The console's metrics: what became of messages, how fast and in time, each with its list and as
CSV."""

import csv
import re
import time
from collections.abc import AsyncIterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from deskhand.engine.ticket_keeper import TicketKeeper
from deskhand.engine.trust_modes import Trust
from deskhand.model.judgement import Judged, ModeChange
from deskhand.tickets.service import Tickets
from tests.api_kit import Client, Served, served
from tests.approvals_kit import Person, person, words_of
from tests.tickets_kit import mail, placing_of

MORE = """
undo_seconds: 0
trust: {start: draft}
calendar: {working_hours: {mon-sun: "0:00-24:00"}}
tickets: {sla: [{first_response: 4 hours}]}
"""


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Served]:
    async with served(tmp_path, "shop", "bank", more=MORE, approvals=True) as running:
        yield running


async def approved(shop: Served, api: Client, ida: Person, **fields: Any) -> str:
    """A message whose reply somebody approved; its run."""
    review = await api.under_review(**fields)
    answer = await ida.do(review, "approve")
    assert answer.status_code == 303, answer.text
    await shop.desks["shop"].dispatcher.wait(review["run"])
    return str(review["run"])


async def table(somebody: Person, path: str) -> list[dict[str, str]]:
    return list(csv.DictReader((await somebody.get(path)).text.splitlines()))


async def test_figures_are_shown_opened_and_given_as_csv(shop: Served) -> None:
    api = await shop.client(desks=["shop"])
    ida, bert = await person(shop), await person(shop, "bert", "bank")
    await approved(shop, api, ida, subject="The first one")
    await api.under_review(subject="The second one")

    page = words_of((await ida.get("/metrics/")).text)

    assert "Messages 2" in page
    assert "Approved unchanged 100.0 %" in page
    assert "Open now 1" in page
    assert "unchanged 1" in page
    assert "Trust earned: shop" in page
    links = re.findall(r'href="(/metrics/list[^"]*)"', (await ida.get("/metrics/?period=7")).text)
    assert "/metrics/list?period=7&became=unchanged" in [unescape(link) for link in links]
    listed = words_of((await ida.get("/metrics/list?became=unchanged")).text)
    assert "Approved unchanged" in listed
    assert "The first one" in listed
    assert "The second one" not in listed
    opened = words_of((await ida.get("/metrics/list?became=open&ever=yes")).text)
    assert "The second one" in opened
    [by_category] = await table(ida, "/metrics/?format=split")
    assert (by_category["category"], by_category["messages"]) == ("question", "2")
    assert (by_category["unchanged"], by_category["open"]) == ("1", "1")
    days = await table(ida, "/metrics/?format=days&period=7")
    assert len(days) == 7
    assert (days[-1]["messages"], days[-1]["first_replies"]) == ("2", "1")
    trust = await table(ida, "/metrics/?format=csv")
    [row] = [row for row in trust if row["category"] == "question" and row["desk"] == "shop"]
    assert (row["mode"], row["unchanged"]) == ("draft", "1")
    others = words_of((await bert.get("/metrics/?desk=shop")).text)
    assert "Messages 0" in others
    assert "The first one" not in (await bert.get("/metrics/list?desk=shop")).text
    assert (await Person(shop).get("/metrics/")).status_code == 303
    assert (await Person(shop).get("/metrics/list")).status_code == 303


async def test_figures_are_chosen_by_time_and_told_apart(shop: Served) -> None:
    api, ida = await shop.client(desks=["shop"]), await person(shop)
    await approved(shop, api, ida)

    by_channel = words_of((await ida.get("/metrics/?by=channel&period=91")).text)
    assert "Quarter" in by_channel
    assert "api 1" in by_channel
    by_desk = await table(ida, "/metrics/?by=desk&format=split")
    assert [row["desk"] for row in by_desk] == ["shop"]
    assert "Messages 1" in words_of((await ida.get("/metrics/?channel=api")).text)
    nothing = words_of((await ida.get("/metrics/?channel=chat&language=<b>x</b>")).text)
    assert "Messages 0" in nothing
    assert "No message came in these days." in nothing
    odd = "/metrics/?period=x&by=y&desk=z&format=w&category=%00"
    assert (await ida.get(odd)).status_code == 200
    assert (await ida.get("/metrics/list?day=99999999&slower=x&before=y")).status_code == 200


async def _checks_nothing(_trust: Trust, _run_id: str, _category: str | None) -> bool:
    return False


def _auto() -> ModeChange:
    return ModeChange("question", 1, "auto", "draft", "forced", "ida", "a test", {}, 0.0)


async def test_a_reply_that_left_by_itself_counts_as_right_when_somebody_looked(
    shop: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    # one run in twenty would be checked before it leaves
    monkeypatch.setattr(Trust, "checks", _checks_nothing)
    api, ida = await shop.client(desks=["shop"]), await person(shop)
    trust = shop.desks["shop"].trust.store
    await trust.change_mode(_auto())
    run = await api.worked("Hello", subject="By itself")
    assert run["status"] == "sent"
    before = words_of((await ida.get("/metrics/")).text)
    assert "Sent by itself 100.0 %" in before
    assert "looked at were right" not in before, "silence proves nothing"

    await trust.look_back(run["run"], Judged.RIGHT, drawn=True, by="ida")

    assert "1 of 1 looked at were right" in words_of((await ida.get("/metrics/")).text)
    assert "By itself" in (await ida.get("/metrics/list?looked=right")).text
    assert "By itself" not in (await ida.get("/metrics/list?looked=wrong")).text


async def test_answers_are_in_time_or_late_by_the_deadlines_of_their_tickets(shop: Served) -> None:
    api, ida = await shop.client(desks=["shop"]), await person(shop)
    tickets = shop.desks["shop"].tickets
    quick = await api.under_review("unsure 1", id="m1", subject="Quick")
    slow = await api.under_review("unsure 2", id="m2", subject="Slow")
    for number, review in enumerate((quick, slow)):
        message = mail(number, f"matter {number}", address=f"c{number}@example.com")
        await placing_of(tickets).place(review["run"], message)
    await ida.do(quick, "approve")
    await shop.desks["shop"].dispatcher.wait(quick["run"])
    await TicketKeeper(tickets).once()
    later = Tickets(
        tickets.store,
        tickets.active,
        now=lambda: time.time() + 5 * 3600,
        deadlines=tickets.deadlines,
    )
    await TicketKeeper(later).once()

    page = words_of((await ida.get("/metrics/")).text)

    assert "In time 50.0 %" in page
    assert "1 too late" in page
    in_time = (await ida.get("/metrics/list?in_time=yes")).text
    assert ("Quick" in in_time, "Slow" in in_time) == (True, False)
    late = (await ida.get("/metrics/list?in_time=no")).text
    assert ("Quick" in late, "Slow" in late) == (False, True)


async def test_a_desk_that_earns_nothing_says_so_and_promises_no_next_mode(tmp_path: Path) -> None:
    async with served(tmp_path, "shop", approvals=True) as shop:
        await (await shop.client(desks=["shop"])).under_review()
        page = words_of((await (await person(shop)).get("/metrics/")).text)
        assert "Set in desk.yaml" in page
        assert "1 waits for a decision" in page
        assert "What is missing" not in page
