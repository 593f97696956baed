"""The ticket that a recorded conversation continued, as a golden case brings it along."""

from dataclasses import replace

from deskhand.engine.story import Document
from deskhand.errors import NotFound
from deskhand.evals.given import DAY
from deskhand.evals.recorded_runs import RecordedConversation, RecordedRun
from deskhand.evals.triage_expectations import ticket_of
from deskhand.model.ticket import Ticket, TicketEventKind, TicketMessage
from deskhand.model.ticket_state import TicketState
from deskhand.tickets.fold import fold
from deskhand.tickets.handling import messages_with_replies
from deskhand.tickets.service import Tickets


async def tickets_before(tickets: Tickets, conversation: RecordedConversation) -> list[Document]:
    """The tickets with messages of other conversations that this one joined, as they stood then.

    Only those of a customer who has a number: a case has no other name for him.
    """
    own = {run.run.id for run in conversation.runs}
    given: dict[str, Document] = {}
    for run in conversation.runs:
        ticket_id = _joined(run)
        if ticket_id is None or ticket_id in given:
            continue
        try:
            ticket = await _as_it_stood(tickets, ticket_id, run, own)
        except NotFound:
            continue  # it was erased since
        if ticket is not None:
            given[ticket_id] = ticket
    return list(given.values())


def _joined(recorded: RecordedRun) -> str | None:
    message = recorded.records.message
    placed = ticket_of(recorded.story["outputs"])
    if placed is None or message is None or message.principal.customer_id is None:
        return None
    return None if placed["joins"] == "new" else str(placed["joins"])


async def _as_it_stood(
    tickets: Tickets, ticket_id: str, run: RecordedRun, own: set[str]
) -> Document | None:
    events = await tickets.store.events(ticket_id)
    numbers = [event.number for event in events if event.run == run.run.id]
    before = [event for event in events if numbers and event.number < numbers[0]]
    if not before:
        return None
    ticket = fold(before)
    answered = {event.run for event in before if event.kind is TicketEventKind.ANSWERED}
    said: list[TicketMessage] = []
    for message in await messages_with_replies(tickets, ticket_id):
        if message.run not in ticket.runs or message.run in own or message.erased:
            continue
        reply = message.reply if message.run in answered else ""
        said.append(replace(message, reply=reply))
    if not said or ticket.state is TicketState.MERGED:
        return None
    return _given(ticket, sorted(said, key=lambda message: message.at), run)


def _given(ticket: Ticket, said: list[TicketMessage], run: RecordedRun) -> Document:
    assert run.records.message is not None
    principal = run.records.message.principal
    passed = run.records.message.received_at.timestamp() - said[-1].at
    given: Document = {
        "id": ticket.id,
        "customer_id": principal.customer_id,
        "messages": [message.text for message in said],
        "state": ticket.state.value,
        "subject": ticket.subject,
        "days_ago": round(max(0.0, passed) / DAY, 3),
    }
    replies = [message.reply for message in said if message.reply]
    if replies:
        given["reply"] = replies[-1]
    return given
