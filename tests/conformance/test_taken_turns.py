"""What a customer said is known again by its words, whatever the number of tickets since."""

from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

from deskhand.adapters.stores import tables as t
from deskhand.model.message import HANDED_BACK, Message
from deskhand.model.principal import ANONYMOUS
from deskhand.model.run import RunStatus
from deskhand.model.ticket_request import MOST_MESSAGES, TICKET_HEADER, HandedIn, TicketTurn
from tests.conformance.adapters import Stores
from tests.tickets_kit import NOW, accepted, mail, placing_of, tickets_of

ANN = "address:ann@example.com"


def said(content: str, at: float | None = None) -> TicketTurn:
    timestamp = None if at is None else datetime.fromtimestamp(at, UTC)
    return TicketTurn(role="customer", content=content, timestamp=timestamp)


def handed_in_mail(number: int, *turns: TicketTurn, **fields: Any) -> Message:
    """A message that a program handed in."""
    kept = HandedIn(messages=turns, taken=tuple(range(len(turns))))
    body = "\n\n".join(turn.content for turn in turns)
    headers = {TICKET_HEADER: kept.model_dump_json()}
    return mail(number, body, channel=HANDED_BACK, headers=headers, **fields)


async def take(store: Any, number: int, *turns: TicketTurn, **fields: Any) -> str:
    """Place a message that a program handed in; returns its ticket."""
    message = handed_in_mail(number, *turns, **fields)
    placed = await placing_of(tickets_of(store)).place(await accepted(store, message), message)
    return str(placed.ticket_id)


async def taken(store: Any, *turns: TicketTurn, customer: str = ANN, **more: Any) -> list[Any]:
    found = await tickets_of(store).store.turns_taken([customer], turns, **more)
    return [(turn.words.content, turn.words.at, turn.ticket) for turn in found]


async def test_words_are_known_by_customer_and_ticket(stores: Stores) -> None:
    store = await stores()
    first = await take(store, 1, said("Order 48213 is late"), said(" Hello? ", NOW))
    second = await take(store, 2, said("Invoice 77120 is wrong"))
    other = await take(store, 3, said("Hello?"), address="bob@example.com")
    assert len({first, second, other}) == 3

    assert await taken(store, said("Hello?")) == [("Hello?", NOW, first)]
    both = await taken(store, said("Invoice 77120 is wrong"), said("Order 48213 is late"))
    assert [ticket for _, _, ticket in both] == [first, second]
    assert await taken(store, said("Hello"), said("Invoice")) == []
    assert await taken(store, said("Hello?"), customer="address:eve@example.com") == []
    [again] = await tickets_of(store).store.turns_taken([ANN], [said("Hello?")])
    assert again.words.conversation == "c1"


async def test_what_was_handed_in_is_known_before_it_lies_in_a_ticket(stores: Stores) -> None:
    store = await stores()
    tickets = tickets_of(store).store
    here, elsewhere = said("Order 48213 is late"), said("Hello?")
    waiting = handed_in_mail(1, here, elsewhere)
    run = await accepted(store, waiting)
    await accepted(store, handed_in_mail(2, here, address="bob@example.com"))
    await accepted(store, mail(3, here.content))
    unproven = {"address": "ann@example.com", "principal": ANONYMOUS}
    await accepted(store, handed_in_mail(4, here, **unproven))

    [turn] = await tickets.turns_waiting(waiting, [here, said("Invoice")])
    assert (turn.words.content, turn.words.conversation) == (here.content, waiting.conversation)
    assert turn.run == run
    await placing_of(tickets_of(store)).place(run, waiting)
    assert await tickets.turns_waiting(waiting, [here]) == []

    other = handed_in_mail(5, elsewhere)
    failed = await accepted(store, other)
    assert len(await tickets.turns_waiting(other, [elsewhere])) == 1
    await store.claim(failed, {"flow": "v"})
    await store.finish(failed, RunStatus.FAILED)
    assert await tickets.turns_waiting(other, [elsewhere]) == []


async def test_a_mail_is_known_whole_and_by_its_paragraphs(stores: Stores) -> None:
    store = await stores()
    message = mail(1, "Order 48213 is late.\n\nPlease hurry.")
    placed = await placing_of(tickets_of(store)).place(await accepted(store, message), message)
    whole, part = said(message.body), said("Please hurry.")
    assert [ticket for _, _, ticket in await taken(store, whole, part)] == [placed.ticket_id] * 2


async def test_of_words_said_very_often_those_of_the_time_and_the_ticket_are_given(
    stores: Stores,
) -> None:
    store = await stores()
    first = await take(store, 1, said("Server down", NOW), said("See order 48213"))
    for number in range(2, MOST_MESSAGES // 10 + 3):
        turns = [said("Server down", NOW + 10 * number + place) for place in range(10)]
        await take(store, number, *turns, said("See order 99120"))

    newest = await taken(store, said("Server down"))
    assert len(newest) == MOST_MESSAGES
    assert ("Server down", NOW, first) not in newest
    assert ("Server down", NOW, first) in await taken(store, said("Server down", NOW))
    assert ("Server down", NOW, first) in await taken(store, said("Server down"), ticket=first)


async def test_they_are_made_again_from_the_messages_and_go_with_them(stores: Stores) -> None:
    store = await stores()
    tickets = tickets_of(store)
    merged = await take(store, 1, said("Order 48213 is late"))
    kept = await take(store, 2, said("Where is the parcel?"), said("Hello?"))
    await tickets.merge(merged, kept, "eve")
    held = await taken(store, said("Order 48213 is late"), said("Hello?"))
    assert [ticket for _, _, ticket in held] == [kept, kept]

    await store._database.write_core(lambda core: core.execute(t.taken_turns.delete()))
    assert await taken(store, said("Hello?")) == []
    await tickets.rebuild()
    assert await taken(store, said("Order 48213 is late"), said("Hello?")) == held

    for run in await store.runs():
        await store.claim(run.id, {"flow": "v"})
        await store.finish(run.id, RunStatus.DONE)
    await store.erase("ann@example.com", "eve")
    count = sa.select(sa.func.count()).select_from(t.taken_turns)
    assert await store._database.read_core(lambda core: core.execute(count).scalar()) == 0
