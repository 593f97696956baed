"""What the events of a ticket add up to."""

from collections.abc import Iterable, Sequence
from typing import Any

from deskhand.errors import PermanentError
from deskhand.model.ticket import Ticket, TicketAsk, TicketEvent, TicketEventKind, TicketNote
from deskhand.model.ticket_state import TicketState

_PLAIN = ("subject", "state", "urgency", "category", "language", "plan", "survey", "rating")
"""What an event says and the ticket has from then on."""
_CLEARED_BY_EMPTY = ("merged_into", "assignee", "group")
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
    for name in _PLAIN:
        if getattr(event, name) is not None:
            values[name] = getattr(event, name)
    for name in _CLEARED_BY_EMPTY:
        if getattr(event, name) is not None:
            values[name] = getattr(event, name) or None
    if event.state is not None:
        values["solved_at"] = _solved_at(ticket, event)
    if event.note is not None:
        values["notes"] = (*ticket.notes, TicketNote(text=event.note, by=event.by, at=event.at))
    if event.deadline is not None:
        values["told"] = f"{event.kind} {event.deadline}"
    values |= _clock(ticket, event)
    values["tags"] = _exchanged(ticket.tags, event.tags_added, event.tags_removed)
    values["runs"] = tuple(sorted(_exchanged(ticket.runs, event.added, event.removed)))
    values["messages"] = len(values["runs"])
    values["asks"] = _asks(ticket, event)
    return ticket.changed(**values)


def _asks(ticket: Ticket, event: TicketEvent) -> tuple[TicketAsk, ...]:
    """Asks go with the messages that they were read in."""
    if not event.asks and not event.removed:
        return ticket.asks
    gone = set(event.removed)
    held = {ask.id: ask for ask in ticket.asks if ask.run not in gone}
    held |= {ask.id: ask for ask in event.asks}
    return tuple(sorted(held.values(), key=lambda ask: (ask.run, ask.place)))


def _clock(ticket: Ticket, event: TicketEvent) -> dict[str, Any]:
    """What an event means for the deadlines: who waits for whom, and since when."""
    values: dict[str, Any] = {}
    if event.kind is TicketEventKind.SURVEYED:
        values["surveyed_at"] = event.at
    if event.kind is TicketEventKind.JOINED:
        asked = event.at if ticket.asked_at is None else ticket.asked_at
        values |= {"asked_at": asked, "heard_at": event.at}
    if event.kind is TicketEventKind.ANSWERED:
        values["answered_at"] = ticket.answered_at or event.at
        asked_since = ticket.heard_at is not None and ticket.heard_at > event.at
        values["asked_at"] = ticket.heard_at if asked_since else None
    if event.asked_at is not None:
        values["asked_at"] = event.asked_at or None
    if event.state is not None:
        values["pauses"] = _pauses(ticket, event.state, event.at)
        if event.state in _OVER:
            values["asked_at"] = None
    return values


def _pauses(
    ticket: Ticket, state: TicketState, at: float
) -> tuple[tuple[float, float | None], ...]:
    """The pauses after a change of state: one begins, one ends, or all stays as it is."""
    is_paused = bool(ticket.pauses) and ticket.pauses[-1][1] is None
    if is_paused == (not state.is_waited_for):
        return ticket.pauses
    if is_paused:
        return (*ticket.pauses[:-1], (ticket.pauses[-1][0], at))
    return (*ticket.pauses, (at, None))


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
    asks = tuple(ask.changed(text="", why="") for ask in event.asks)
    return event.changed(why="", matching=None, subject=subject, asks=asks)


def without_asks_of(event: TicketEvent, runs: Iterable[str]) -> TicketEvent:
    """The event without what the messages of these runs ask: a merge or a split brings it along."""
    gone = set(runs)
    asks: list[TicketAsk] = []
    for ask in event.asks:
        asks.append(ask.changed(text="", why="") if ask.run in gone else ask)
    return event.changed(asks=tuple(asks))
