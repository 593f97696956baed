"""What the events of a ticket add up to."""

from collections.abc import Iterable, Sequence
from typing import Any

from deskhand.errors import PermanentError
from deskhand.model.ticket import Ticket, TicketEvent, TicketEventKind, TicketNote
from deskhand.model.ticket_state import TicketState

_OVER = (TicketState.SOLVED, TicketState.CLOSED)


def fold(events: Sequence[TicketEvent]) -> Ticket:
    """The ticket after these events, in their order; PermanentError where the first does not open
    it."""
    first = next(iter(events), None)
    if first is None or first.kind is not TicketEventKind.OPENED or not first.customer:
        raise PermanentError("the events of a ticket do not begin with its opening")
    ticket = Ticket(id=first.ticket, customer=first.customer, opened_at=first.at)
    for event in events:
        ticket = apply(ticket, event)
    return ticket


def apply(ticket: Ticket, event: TicketEvent) -> Ticket:
    """The ticket after one more event."""
    values: dict[str, Any] = {"number": event.number, "changed_at": event.at}
    if event.subject is not None:
        values["subject"] = event.subject
    if event.state is not None:
        values["state"] = event.state
        values["solved_at"] = _solved_at(ticket, event)
    if event.merged_into is not None:
        values["merged_into"] = event.merged_into or None
    if event.assignee is not None:
        values["assignee"] = event.assignee or None
    if event.group is not None:
        values["group"] = event.group or None
    if event.note is not None:
        values["notes"] = (*ticket.notes, TicketNote(text=event.note, by=event.by, at=event.at))
    values["tags"] = _exchanged(ticket.tags, event.tags_added, event.tags_removed)
    values["runs"] = tuple(sorted(_exchanged(ticket.runs, event.added, event.removed)))
    values["messages"] = len(values["runs"])
    return ticket.changed(**values)


def _solved_at(ticket: Ticket, event: TicketEvent) -> float | None:
    if event.state not in _OVER:
        return None
    if ticket.state in _OVER and ticket.solved_at is not None:
        return ticket.solved_at
    return event.at


def _exchanged(
    held: Iterable[str], added: Iterable[str], removed: Iterable[str]
) -> tuple[str, ...]:
    gone = set(removed)
    return tuple(item for item in dict.fromkeys((*held, *added)) if item not in gone)


def without_words(event: TicketEvent) -> TicketEvent:
    """The event without anything that a customer wrote: only its place in the story stays."""
    subject = None if event.subject is None else ""
    return event.changed(why="", matching=None, subject=subject)
