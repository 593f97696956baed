"""Writing tickets: events first, then the rows that are told from them, in one transaction."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from deskhand.adapters.stores import tables as t
from deskhand.adapters.stores.core_database import insert_if_new
from deskhand.adapters.stores.statements import mark_ticket
from deskhand.adapters.stores.taken_turns import write_turns
from deskhand.errors import Conflict, NotFound, TicketsChanged
from deskhand.model.ticket import Ticket, TicketCheckpoint, TicketEvent, TicketEventKind
from deskhand.model.ticket_state import Rating, TicketState, UrgencyLevel
from deskhand.ports.tickets import TicketDeadline
from deskhand.tickets.checkpoints import search_text
from deskhand.tickets.fold import apply


def ticket_of(row: Any) -> Ticket:
    """A ticket as its row tells it: without runs and notes."""
    return Ticket(
        id=row.id,
        customer=row.customer,
        state=TicketState(row.state),
        subject=row.subject,
        number=row.number,
        opened_at=row.opened_at,
        changed_at=row.changed_at,
        solved_at=row.solved_at,
        merged_into=row.merged_into,
        assignee=row.assignee,
        group=row.group,
        tags=tuple(row.tags.split()),
        messages=row.messages,
        urgency=None if row.urgency is None else UrgencyLevel(row.urgency),
        category=row.category,
        language=row.language,
        plan=row.plan,
        asked_at=row.asked_at,
        heard_at=row.heard_at,
        answered_at=row.answered_at,
        pauses=_pauses(row.pauses),
        told=row.told or "",
        due_at=row.due_at,
        due_for=row.due_for,
        surveyed_at=row.surveyed_at,
        rating=_rating(row.rating),
    )


def _rating(written: str | None) -> Rating | None:
    return None if written is None else Rating(written)


def _pauses(written: str | None) -> tuple[tuple[float, float | None], ...]:
    return tuple((begin, end) for begin, end in json.loads(written or "[]"))


def event_of(row: Any) -> TicketEvent:
    fields = TicketEvent.model_validate_json(bytes(row.body))
    return fields.changed(number=row.number)


def row_of(ticket: Ticket, checkpoint: TicketCheckpoint | None) -> dict[str, Any]:
    """The columns of a ticket; without a checkpoint, what is told from it stays as it is."""
    values: dict[str, Any] = {
        "customer": ticket.customer,
        "state": ticket.state,
        "subject": ticket.subject,
        "number": ticket.number,
        "opened_at": ticket.opened_at,
        "changed_at": ticket.changed_at,
        "solved_at": ticket.solved_at,
        "merged_into": ticket.merged_into,
        "assignee": ticket.assignee,
        "group": ticket.group,
        "tags": _tags(ticket),
        "urgency": ticket.urgency,
        "category": ticket.category,
        "language": ticket.language,
        "plan": ticket.plan,
        "asked_at": ticket.asked_at,
        "heard_at": ticket.heard_at,
        "answered_at": ticket.answered_at,
        "pauses": json.dumps(ticket.pauses) if ticket.pauses else None,
        "told": ticket.told or None,
        "surveyed_at": ticket.surveyed_at,
        "rating": ticket.rating,
    }
    if checkpoint is not None:
        values["search_text"] = search_text(checkpoint)
        values["checkpoint"] = None
        if not ticket.state.is_active:
            values["checkpoint"] = checkpoint.model_dump_json().encode()
    return values


def _tags(ticket: Ticket) -> str:
    """The tags as one text with a space around each, so that a search finds whole ones."""
    return f" {' '.join(ticket.tags)} " if ticket.tags else ""


def next_version(core: sa.Connection, desk: str, customer: str, version: int) -> None:
    """Take the customer's tickets for this transaction; TicketsChanged when somebody was
    faster."""
    row = {"desk": desk, "customer": customer, "version": 1}
    if version == 0:
        if insert_if_new(core, t.ticket_customers, row):
            return
        raise TicketsChanged(f"the tickets of {customer} were changed meanwhile")
    here = t.ticket_customers.c
    mine = (here.desk == desk, here.customer == customer, here.version == version)
    changed = t.ticket_customers.update().where(*mine).values(version=version + 1)
    if core.execute(changed).rowcount != 1:
        raise TicketsChanged(f"the tickets of {customer} were changed meanwhile")


def write_events(
    core: sa.Connection,
    desk: str,
    events: Sequence[TicketEvent],
    checkpoints: Mapping[str, TicketCheckpoint],
    vectors: Mapping[str, bytes],
    deadlines: Mapping[str, TicketDeadline | None] | None = None,
) -> None:
    """Append events and bring the rows of their tickets up to date; a deadline that nobody told
    is counted later."""
    runs = _run_places(core, desk, events)
    tickets: dict[str, Ticket] = {}
    for event in events:
        ticket_so_far = tickets.get(event.ticket) or _head(core, desk, event)
        _append(core, desk, event, runs, vectors)
        _move_messages(core, desk, event, runs)
        tickets[event.ticket] = apply(ticket_so_far, event)
        if event.run is not None and event.kind is TicketEventKind.JOINED:
            write_turns(core, desk, tickets[event.ticket].customer, [runs[event.run][0]])
    for ticket in tickets.values():
        write_row(core, desk, ticket, checkpoints.get(ticket.id))
        if deadlines is not None and ticket.id in deadlines:
            write_deadline(core, desk, ticket, deadlines[ticket.id])


def write_deadline(
    core: sa.Connection, desk: str, ticket: Ticket, deadline: TicketDeadline | None
) -> bool:
    """Keep a ticket's next deadline with its row; False where the ticket has changed since."""
    values: dict[str, Any] = {"due_at": None, "due_for": None, "warn_at": None}
    if deadline is not None:
        values = {"due_at": deadline.at, "due_for": deadline.target, "warn_at": deadline.warn_at}
    here = t.tickets.c
    mine = (here.desk == desk, here.id == ticket.id, here.number == ticket.number)
    statement = t.tickets.update().where(*mine).values(**values, timed=ticket.number)
    return bool(core.execute(statement).rowcount)


def _head(core: sa.Connection, desk: str, event: TicketEvent) -> Ticket:
    if event.kind is TicketEventKind.OPENED:
        return Ticket(id=event.ticket, customer=event.customer or "", opened_at=event.at)
    here = (t.tickets.c.desk == desk, t.tickets.c.id == event.ticket)
    row = core.execute(sa.select(t.tickets).where(*here).with_for_update()).one_or_none()
    if row is None:
        raise NotFound(f"there is no ticket {event.ticket} on desk {desk}")
    return ticket_of(row)


def _run_places(
    core: sa.Connection, desk: str, events: Sequence[TicketEvent]
) -> dict[str, tuple[int, str]]:
    """Position and conversation of every run that the events name."""
    named = {run for event in events for run in (*event.added, *event.removed)}
    named |= {event.run for event in events if event.run is not None}
    query = sa.select(t.runs.c.id, t.runs.c.position, t.runs.c.conversation).where(
        t.runs.c.desk == desk, t.runs.c.id.in_(named)
    )
    places = {row.id: (row.position, row.conversation) for row in core.execute(query)}
    for event in events:
        if event.run is not None and event.run not in places:
            raise NotFound(f"there is no run {event.run} on desk {desk}")
    return places


def _append(
    core: sa.Connection,
    desk: str,
    event: TicketEvent,
    runs: Mapping[str, tuple[int, str]],
    vectors: Mapping[str, bytes],
) -> None:
    values = {
        "desk": desk,
        "ticket": event.ticket,
        "number": event.number,
        "kind": event.kind,
        "at": event.at,
        "run": runs[event.run][0] if event.run is not None else None,
        "change": event.change,
        "body": event.model_dump_json(exclude_defaults=True).encode(),
        "vector": vectors.get(event.run or ""),
    }
    if not insert_if_new(core, t.ticket_events, values):
        raise TicketsChanged(f"{event.ticket} was changed meanwhile")
    mark_ticket(core, desk, event.ticket)


def _move_messages(
    core: sa.Connection, desk: str, event: TicketEvent, runs: Mapping[str, tuple[int, str]]
) -> None:
    links = t.ticket_messages
    gone = [runs[run][0] for run in event.removed if run in runs]
    if gone:
        mine = (links.c.desk == desk, links.c.ticket == event.ticket, links.c.run.in_(gone))
        core.execute(links.delete().where(*mine))
    for run in event.added:
        if run in runs:
            _link(core, desk, event, *runs[run])


def _link(
    core: sa.Connection, desk: str, event: TicketEvent, position: int, conversation: str
) -> None:
    links = t.ticket_messages
    row = {"desk": desk, "run": position, "ticket": event.ticket, "conversation": conversation}
    if insert_if_new(core, links, row):
        return
    if event.kind is TicketEventKind.JOINED:
        raise Conflict(f"the message of run {event.run} belongs to a ticket already")
    here = (links.c.desk == desk, links.c.run == position)
    core.execute(links.update().where(*here).values(ticket=event.ticket))


def write_row(
    core: sa.Connection, desk: str, ticket: Ticket, checkpoint: TicketCheckpoint | None
) -> None:
    """Make a ticket's row what the ticket is; the number of messages is counted."""
    links = t.ticket_messages.c
    counted = sa.select(sa.func.count()).where(links.desk == desk, links.ticket == ticket.id)
    messages = core.execute(counted).scalar_one()
    values = {**row_of(ticket, checkpoint), "messages": messages}
    new = {"desk": desk, "id": ticket.id, "search_text": "", **values}
    if insert_if_new(core, t.tickets, new):
        return
    here = (t.tickets.c.desk == desk, t.tickets.c.id == ticket.id)
    core.execute(t.tickets.update().where(*here).values(**values))
