"""Tickets that a colleague opened by hand have no message by which they would be found: they are
erased with their customer, and go at the age of runs, all the same."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from deskhand.adapters.stores.mentions import find_mentions
from deskhand.engine import retention
from deskhand.engine.audit import verify_desk
from deskhand.engine.retention import count_by_age, prune_by_age
from deskhand.model.audited import Kept
from deskhand.model.contact import ContactEntry
from deskhand.model.run import RunStatus
from deskhand.model.ticket_state import TicketFilter, TicketState
from deskhand.tickets.handling import open_ticket
from deskhand.tickets.service import Tickets
from deskhand.wiring import erase_person, open_contacts, open_database
from tests.servers import new_database, postgres_programs
from tests.tickets_kit import Moments, accepted, mail, placing_of, tickets_of

DAY = 24 * 3600.0
OPEN = (TicketState.ACTIVE, TicketState.OPEN)
OVER = (TicketState.SOLVED, TicketState.CLOSED)
AGES = {Kept.TICKETS: 30 * DAY}


@pytest.fixture(params=["sqlite", "postgres"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Any]:
    if request.param == "postgres" and postgres_programs() is None:
        pytest.skip("PostgreSQL's server is not installed")
    url = str(tmp_path / "desk.db")
    if request.param == "postgres":
        url = await asyncio.to_thread(new_database)
    async with open_database(url) as database:
        yield database.store("desk")


async def erased(store: Any, who: str) -> tuple[int, int]:
    """How many runs and tickets went with a person."""
    gone = await erase_person(store._database, store.desk, who, "eve")
    return gone.runs, gone.tickets


async def mentions(store: Any, word: str) -> list[str]:
    return list(
        await store._database.read_in_transaction(
            lambda core: find_mentions(core, store.desk, word)
        )
    )


async def subjects(tickets: Tickets) -> set[str]:
    return {ticket.subject for ticket in await tickets.store.find(TicketFilter())}


@pytest.mark.parametrize("customer", ["CUST-777", "ann@example.com", "*a b:c"])
@pytest.mark.parametrize("state", [TicketState.ACTIVE, TicketState.SOLVED])
async def test_they_are_erased_with_their_customer(
    store: Any, customer: str, state: TicketState
) -> None:
    tickets = tickets_of(store)
    ticket = await open_ticket(tickets, customer, "Swordfish", "bob", note="swordfish, she said")
    await tickets.set_state(ticket.id, state, "bob", "swordfish again")
    await open_ticket(tickets, "CUST-77", "Somebody else's", "bob")
    assert await erased(store, customer) == (0, 1)
    assert await erased(store, customer) == (0, 0)
    assert await subjects(tickets) == {"Somebody else's"}
    assert await mentions(store, "swordfish") == []
    assert await mentions(store, customer) == []
    assert (await verify_desk(store)).problems == []


async def test_customer_numbers_that_differ_in_capitals_are_two_customers(store: Any) -> None:
    tickets = tickets_of(store)
    await open_ticket(tickets, "cust-777", "Somebody else's", "bob")
    assert await erased(store, "CUST-777") == (0, 0)
    assert await erased(store, " cust-777 ") == (0, 1)


async def test_they_are_erased_under_the_number_that_the_contact_has(store: Any) -> None:
    tickets = tickets_of(store)
    await open_ticket(tickets, "C-7", "Swordfish", "bob")
    contacts = open_contacts(store._database, store.desk)
    await contacts.put([ContactEntry(address="ann@example.com", customer_id="C-7")], "bob")
    assert await erased(store, "Ann@Example.com") == (0, 1)
    assert await subjects(tickets) == set()


async def test_a_ticket_that_a_message_joined_is_counted_with_its_run(store: Any) -> None:
    tickets = tickets_of(store)
    opened = await open_ticket(tickets, "ann@example.com", "Order 48213", "bob")
    message = mail(1, f"About {opened.id}: order 48213 is late")
    run_id = await accepted(store, message)
    placed = await placing_of(tickets).place(run_id, message)
    assert placed.ticket_id == opened.id
    await store.claim(run_id, {"flow": "v"})
    await store.finish(run_id, RunStatus.DONE)
    assert await erased(store, "ann@example.com") == (1, 1)
    assert await mentions(store, "48213") == []


async def test_they_go_at_their_age_once_they_are_over(store: Any) -> None:
    clock = Moments()
    store._now = clock.now
    tickets = tickets_of(store, clock=clock)

    async def opened(subject: str, state: TicketState) -> None:
        ticket = await open_ticket(tickets, f"{state}@example.com", subject, "bob", note="secret")
        await tickets.set_state(ticket.id, state, "bob")

    for state in (*OPEN, *OVER):
        await opened(f"old and {state}", state)
    clock.at += 40 * DAY
    await opened("new and solved", TicketState.SOLVED)
    assert await count_by_age(store, AGES) == {Kept.TICKETS: 2}
    informed: list[str] = []

    async def forgotten(customers: Sequence[str]) -> None:
        informed.extend(customers)

    report = await prune_by_age(store, AGES, forgotten=forgotten)
    assert report.deleted == {Kept.TICKETS: 2}
    assert informed == ["address:closed@example.com", "address:solved@example.com"]
    waiting = {f"old and {state}" for state in OPEN}
    assert await subjects(tickets) == {"new and solved", *waiting}
    assert await mentions(store, "closed@example.com") == []
    assert (await verify_desk(store)).problems == []
    assert (await prune_by_age(store, AGES)).deleted == {Kept.TICKETS: 0}


async def test_what_was_joined_goes_with_the_whole(store: Any) -> None:
    clock = Moments()
    store._now = clock.now
    tickets = tickets_of(store, clock=clock)
    part = await open_ticket(tickets, "ann@example.com", "A part", "bob")
    whole = await open_ticket(tickets, "ann@example.com", "The whole", "bob")
    await tickets.merge(part.id, whole.id, "bob")
    clock.at += 40 * DAY
    assert (await prune_by_age(store, AGES)).deleted == {Kept.TICKETS: 0}
    await tickets.set_state(whole.id, TicketState.CLOSED, "bob")
    clock.at += 40 * DAY
    assert (await prune_by_age(store, AGES)).deleted == {Kept.TICKETS: 1}
    assert await mentions(store, "ann@example.com") == []


async def test_they_go_a_few_at_a_time(store: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "BATCH", 2)
    clock = Moments()
    store._now = clock.now
    tickets = tickets_of(store, clock=clock)
    for number in range(5):
        ticket = await open_ticket(tickets, "ann@example.com", f"matter {number}", "bob")
        await tickets.set_state(ticket.id, TicketState.SOLVED, "bob")
    clock.at += 40 * DAY
    assert (await prune_by_age(store, AGES)).deleted == {Kept.TICKETS: 5}
