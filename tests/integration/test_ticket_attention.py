"""What brings tickets before people: deadlines order the queue, forgotten ones
come up, and customers are asked once how it was."""

import re
import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from deskhand.config.sections.tickets import SatisfactionSection
from deskhand.engine.satisfaction import Survey
from deskhand.engine.ticket_keeper import TicketKeeper
from deskhand.model.message import Reply
from deskhand.model.ticket_state import TicketState
from deskhand.tickets.service import Tickets
from tests.api_kit import Client, Served, served
from tests.approvals_kit import Person, person, words_of
from tests.tickets_kit import accepted, mail, placing_of

MORE = """
calendar: {working_hours: {mon-sun: "0:00-24:00"}}
tickets:
  sla:
    - {urgency: critical, first_response: 30 min}
    - {first_response: 4 hours}
  forgotten_after: 2 days
"""
DAY = 86400.0


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Served]:
    async with served(tmp_path, "shop", more=MORE, approvals=True) as running:
        yield running


def at(tickets: Tickets, seconds: float) -> Tickets:
    """The same tickets, looked at so much later."""
    return Tickets(
        tickets.store,
        tickets.active,
        now=lambda: time.time() + seconds,
        deadlines=tickets.deadlines,
    )


async def placed(shop: Served, run: str, number: int) -> str:
    """The ticket of a run that waits for approval."""
    desk = shop.desks["shop"]
    message = mail(number, f"matter {number}", address=f"c{number}@example.com")
    return (await placing_of(desk.tickets).place(run, message)).ticket_id


async def reviewed(shop: Served, client: Client, number: int) -> tuple[str, str]:
    review = await client.under_review(f"unsure {number}", id=f"m{number}")
    return review["review"], await placed(shop, review["run"], number)


async def test_reviews_stand_by_the_deadlines_of_their_tickets(shop: Served) -> None:
    client = await shop.client()
    tickets = shop.desks["shop"].tickets
    first, slow = await reviewed(shop, client, 1)
    second, urgent = await reviewed(shop, client, 2)
    ida = await person(shop)
    await ida.post(
        f"/tickets/shop/{urgent}/urgency", data={"csrf": ida.csrf, "urgency": "critical"}
    )
    keeper = TicketKeeper(tickets)
    await keeper.once()
    page = (await ida.get("/approvals/")).text
    assert page.index(second) < page.index(first)
    shown = (await client.get(f"/api/reviews/{second}")).json()
    assert shown["due_at"] is not None

    await tickets.set_state(urgent, TicketState.PENDING, "eve")
    await TicketKeeper(tickets).once()
    assert (await client.get(f"/api/reviews/{second}")).json()["due_at"] is None
    assert (await tickets.find(slow)).state == "active"


async def test_forgotten_tickets_come_up_in_a_view_and_beside_the_queue(
    shop: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = shop.desks["shop"]
    message = mail(1, "a quiet matter", address="ann@example.com", subject="A quiet matter")
    await placing_of(desk.tickets).place(await accepted(desk.store, message), message)
    ida = await person(shop)
    assert "Forgotten tickets" not in (await ida.get("/approvals/")).text
    clock = time.time
    monkeypatch.setattr("deskhand.web.console.ticket_pages.time.time", lambda: clock() + 3 * DAY)
    assert "Forgotten tickets 1" in words_of((await ida.get("/approvals/")).text)
    assert "A quiet matter" in words_of((await ida.get("/tickets/?view=forgotten")).text)
    client = await shop.client(scopes=["tickets:read"])
    quiet = datetime.fromtimestamp(clock() + DAY, UTC).isoformat()
    for asked in ({"view": "forgotten"}, {"quiet_since": quiet}):
        found = (await client.get("/api/tickets", params=asked)).json()["items"]
        assert [one["subject"] for one in found] == ["A quiet matter"], asked
    early = datetime.fromtimestamp(clock() - DAY, UTC).isoformat()
    none = await client.get("/api/tickets", params={"quiet_since": early})
    assert none.json()["items"] == []


async def solved(shop: Served, language: str = "de") -> str:
    desk = shop.desks["shop"]
    message = mail(7, "Wo ist es?", address="ann@example.com", subject="Das Paket")
    run = await accepted(desk.store, message)
    ticket = (await placing_of(desk.tickets).place(run, message)).ticket_id
    await desk.tickets.set_state(ticket, TicketState.SOLVED, "eve")
    return ticket


async def test_a_customer_is_asked_once_how_it_was_and_his_answer_counts_once(
    shop: Served,
) -> None:
    ticket = await solved(shop)
    tickets = shop.desks["shop"].tickets
    mails: list[Reply] = []

    async def send(letter: Reply, key: str) -> None:
        mails.append(letter)

    section = SatisfactionSection(page="http://desk.test/", after="1 day")
    for seconds in (0.0, 2 * DAY, 2 * DAY):
        await Survey(at(tickets, seconds), section, "shop", send).once()
    [letter] = mails
    assert letter.to == "ann@example.com"
    found = re.search(r"http://desk\.test(/rate/shop/\S+)", letter.text)
    assert found is not None
    customer = Person(shop)
    page = await customer.get(found[1])
    assert "content with how" in page.text
    assert (await tickets.find(ticket)).rating is None
    await customer.post(found[1], data={"rating": "good"})
    again = await customer.post(found[1], data={"rating": "bad"})
    assert "Thank you" in again.text
    assert (await tickets.find(ticket)).rating == "good"
    assert (await customer.get(f"/rate/shop/{ticket}/wrong")).status_code == 404
    assert (await customer.get(f"/rate/bank/{ticket}/wrong")).status_code == 404

    await tickets.set_state(ticket, TicketState.ACTIVE, "eve")
    await tickets.set_state(ticket, TicketState.SOLVED, "eve")
    await Survey(at(tickets, 5 * DAY), section, "shop", send).once()
    assert mails == [letter]
    counted = await tickets.store.satisfaction()
    assert counted == {"asked": 1, "good": 1, "bad": 0}
    ida = await person(shop)
    assert "1 / 1" in words_of((await ida.get("/metrics/")).text)
    client = await shop.client()
    assert (await client.get(f"/api/tickets/{ticket}")).json()["rating"] == "good"


async def test_nobody_is_asked_about_a_matter_that_goes_on(shop: Served) -> None:
    ticket = await solved(shop)
    tickets = shop.desks["shop"].tickets
    await tickets.set_state(ticket, TicketState.OPEN, "eve")
    mails: list[Reply] = []

    async def send(letter: Reply, key: str) -> None:
        mails.append(letter)

    section = SatisfactionSection(page="http://desk.test", after="1 day")
    await Survey(at(tickets, 2 * DAY), section, "shop", send).once()
    assert mails == []
