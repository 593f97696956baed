"""What a ticket keeps of our last reply: with every database and every store of active tickets."""

from typing import Any

import pytest

from deskhand.cli.ticket_lines import print_ticket, ticket_document
from deskhand.engine.journal import make_row, seed
from deskhand.model.envelope import Ask, Delta, StageResult
from deskhand.model.message import REPLY
from deskhand.model.outcome import Outcome
from deskhand.model.principal import asserted
from deskhand.model.run import RunStatus
from deskhand.model.ticket import TicketCheckpoint
from deskhand.model.ticket_state import TicketState
from deskhand.tickets.checkpoints import read_text
from deskhand.tickets.handling import messages_with_replies, note_answers
from deskhand.tickets.service import Tickets
from tests.conformance.adapters import ActiveStores, Stores
from tests.tickets_kit import accepted, mail, placing_of, tickets_of


async def placed(store: Any, tickets: Tickets, message: Any) -> tuple[str, str]:
    """The run and the ticket of a message that has just come."""
    run = await accepted(store, message)
    return run, (await placing_of(tickets).place(run, message)).ticket_id


async def says(store: Any, run: str, text: str, *, asks: bool = False) -> None:
    """Let a run send a reply, or ask a question."""
    result = StageResult(delta=Delta(outputs={REPLY: {"text": text}}))
    if asks:
        ask = Ask(kind="question", reason="a test", text=text)
        result = StageResult(outcome=Outcome.CLARIFY, ask=ask)
    taken = await store.claim(run, {"flow": "v"})
    row = make_row(
        run,
        0,
        "step",
        result,
        attempt=1,
        flow_version="v",
        started_at=1.5,
        latency_ms=2.25,
        previous=seed(run, taken.message_digest),
    )
    await store.append(row)
    await store.finish(run, RunStatus.WAITING_USER if asks else RunStatus.SENT)


async def kept(tickets: Tickets, ticket_id: str) -> TicketCheckpoint:
    return await tickets.checkpoint(await tickets.find(ticket_id))


async def test_a_ticket_is_read_with_what_we_said_last(
    stores: Stores, active: ActiveStores
) -> None:
    store = await stores()
    tickets = tickets_of(store, active())
    message = mail(1, "The app crashes when I open a folder", subject="Crash", conversation="c")
    first, ticket_id = await placed(store, tickets, message)
    assert read_text(await kept(tickets, ticket_id)) == f"Crash\n{message.body}"
    await says(store, first, "Which  phone\nis that?", asks=True)
    await note_answers(tickets, "desk")
    assert read_text(await kept(tickets, ticket_id)).endswith("\n» Which phone is that?")
    second, _ = await placed(store, tickets, mail(2, "A Pixel 8", conversation="c"))
    await says(store, second, "Update the app. " * 40)
    await note_answers(tickets, "desk")
    told = await kept(tickets, ticket_id)
    assert told.reply == ("Update the app. " * 15).strip()
    raw = await tickets.active.get_raw_checkpoint_data(told.customer, ticket_id)
    assert raw is not None
    assert raw["reply"] == told.reply
    await tickets.active.delete_ticket_checkpoints(told.customer, ticket_id)
    assert (await tickets.rebuild()).mended == 1
    assert await kept(tickets, ticket_id) == told


async def test_a_checkpoint_from_before_there_were_replies_is_read(
    stores: Stores, active: ActiveStores
) -> None:
    store = await stores()
    tickets = tickets_of(store, active())
    run, ticket_id = await placed(store, tickets, mail(1, "The app crashes"))
    held = await kept(tickets, ticket_id)
    raw = dict(await tickets.active.get_raw_checkpoint_data(held.customer, ticket_id) or {})
    older = {name: value for name, value in raw.items() if name not in ("reply", "replied_at")}
    assert older != raw
    await tickets.active.put_checkpoint(held.customer, ticket_id, older)
    assert await kept(tickets, ticket_id) == held
    await says(store, run, "Please update it.")
    await note_answers(tickets, "desk")
    assert (await kept(tickets, ticket_id)).reply == "Please update it."


async def test_a_solved_ticket_keeps_the_reply_in_the_archive(stores: Stores) -> None:
    store = await stores()
    tickets = tickets_of(store)
    run, ticket_id = await placed(store, tickets, mail(1, "How do I export a board?"))
    await says(store, run, "With the button at the top.")
    await tickets.set_state(ticket_id, TicketState.SOLVED, "eve", "done")
    await note_answers(tickets, "desk")
    held = await tickets.store.checkpoint(ticket_id)
    assert held is not None
    assert held.reply == "With the button at the top."


async def test_a_reply_moves_with_its_message(stores: Stores) -> None:
    store = await stores()
    tickets = tickets_of(store)
    first, ticket_id = await placed(store, tickets, mail(1, "Printer jams", conversation="c"))
    second, _ = await placed(store, tickets, mail(2, "And an invoice", conversation="c"))
    await says(store, first, "Open the lid.")
    await says(store, second, "Which month?")
    await note_answers(tickets, "desk")
    apart = await tickets.split(ticket_id, [second], "eve")
    assert (await kept(tickets, apart.id)).reply == "Which month?"
    assert (await kept(tickets, ticket_id)).reply == "Open the lid."


@pytest.mark.parametrize("who", ["ann@acme.example", "bob@acme.example"])
async def test_what_we_said_to_an_erased_person_goes(stores: Stores, who: str) -> None:
    store = await stores()
    tickets = tickets_of(store)
    replies = {"ann@acme.example": "Hello swordfish", "bob@acme.example": "Hello mackerel"}
    for number, (address, reply) in enumerate(replies.items()):
        principal = asserted("ACME", by="a test", address=address)
        message = mail(number, "Order 48213 is late", address=address, principal=principal)
        run, ticket_id = await placed(store, tickets, message)
        await says(store, run, reply)
        await note_answers(tickets, "desk")
    assert (await kept(tickets, ticket_id)).reply == "Hello mackerel"
    await store.erase(who, "eve")
    await tickets.mend("customer:ACME")
    [left] = [reply for address, reply in replies.items() if address != who]
    assert (await kept(tickets, ticket_id)).reply == left
    assert (await tickets.rebuild()).mended == 0


async def test_messages_are_shown_with_what_we_said_to_each(
    stores: Stores, active: ActiveStores, capsys: pytest.CaptureFixture[str]
) -> None:
    store = await stores()
    tickets = tickets_of(store, active())
    first, ticket_id = await placed(store, tickets, mail(1, "The app crashes", conversation="c"))
    await says(store, first, "Which phone is that?", asks=True)
    second, _ = await placed(store, tickets, mail(2, "A Pixel 8", conversation="c"))
    await says(store, second, "Update the app.")
    await placed(store, tickets, mail(3, "Thanks", conversation="c"))
    told = await messages_with_replies(tickets, ticket_id)
    assert [(one.text, one.reply) for one in told] == [
        ("The app crashes", "Which phone is that?"),
        ("A Pixel 8", "Update the app."),
        ("Thanks", ""),
    ]
    shown = ticket_document(await tickets.find(ticket_id), told, ())
    assert [one["reply"] for one in shown["messages"]][1] == "Update the app."
    print_ticket(await tickets.find(ticket_id), told, ())
    assert "Update the app." in capsys.readouterr().out
