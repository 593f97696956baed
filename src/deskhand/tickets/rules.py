"""What may become of a ticket. Each function returns the events of a change, or raises Conflict
with the reason why it cannot be."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from deskhand.errors import Conflict
from deskhand.model.ids import new_id
from deskhand.model.ticket import (
    LONGEST_NOTE,
    MOST_TAGS,
    Ticket,
    TicketAsk,
    TicketEvent,
    TicketEventKind,
    as_fields,
)
from deskhand.model.ticket_match import MatchResult
from deskhand.model.ticket_state import AskStatus, TicketState, UrgencyLevel
from deskhand.tickets.asks import open_asks, settled, silent_words

_NEXT: Mapping[TicketState, frozenset[TicketState]] = {
    TicketState.ACTIVE: frozenset(
        (TicketState.PENDING, TicketState.OPEN, TicketState.SOLVED, TicketState.CLOSED)
    ),
    TicketState.PENDING: frozenset(
        (TicketState.ACTIVE, TicketState.OPEN, TicketState.SOLVED, TicketState.CLOSED)
    ),
    TicketState.OPEN: frozenset((TicketState.ACTIVE, TicketState.SOLVED, TicketState.CLOSED)),
    TicketState.SOLVED: frozenset((TicketState.ACTIVE, TicketState.OPEN, TicketState.CLOSED)),
    TicketState.CLOSED: frozenset((TicketState.ACTIVE, TicketState.OPEN)),
    TicketState.MERGED: frozenset(),
}
"""Merging and its undo are changes of their own."""

TicketRule = Callable[[Ticket], Sequence[TicketEvent]]
"""The events of a change, for the ticket as it is when they are written."""


def opened(
    ticket_id: str, customer: str, subject: str, run: str, match: MatchResult, by: str, at: float
) -> list[TicketEvent]:
    """A ticket of its own for a message."""
    opening = TicketEvent(
        ticket=ticket_id,
        kind=TicketEventKind.OPENED,
        by=by,
        why=match.why,
        at=at,
        customer=customer,
        subject=subject,
        state=TicketState.ACTIVE,
    )
    return [opening, _message(ticket_id, run, match, by, at)]


def opened_by_person(
    ticket_id: str,
    customer: str,
    subject: str,
    by: str,
    at: float,
    *,
    urgency: UrgencyLevel | None = None,
    note: str = "",
) -> list[TicketEvent]:
    """A ticket for what a customer said elsewhere: a colleague's, and an answer is owed from now
    on."""
    opening = TicketEvent(
        ticket=ticket_id,
        kind=TicketEventKind.OPENED,
        by=by,
        why="opened for the customer",
        at=at,
        customer=customer,
        subject=subject,
        state=TicketState.OPEN,
        asked_at=at,
        urgency=urgency,
        assignee=by,
    )
    if not note.strip():
        return [opening]
    return [opening, *noted(Ticket(id=ticket_id, customer=customer), note, by, at)]


def joined(ticket: Ticket, run: str, match: MatchResult, by: str, at: float) -> list[TicketEvent]:
    """A further message. What waited for the customer or was solved is worked again; a person's
    ticket stays that person's."""
    event = _message(ticket.id, run, match, by, at)
    if ticket.state in (TicketState.PENDING, TicketState.SOLVED):
        event = event.changed(state=TicketState.ACTIVE)
    return [event]


def _message(ticket_id: str, run: str, match: MatchResult, by: str, at: float) -> TicketEvent:
    return TicketEvent(
        ticket=ticket_id,
        kind=TicketEventKind.JOINED,
        by=by,
        why=match.why,
        at=at,
        run=run,
        added=(run,),
        matching=dict(as_fields(match)),
    )


def moved_to(
    ticket: Ticket,
    state: TicketState,
    by: str,
    why: str,
    at: float,
    rest: AskStatus | None = None,
) -> list[TicketEvent]:
    """Another state; the one that it has already changes nothing.

    What the customer asked and nobody settled keeps a ticket from being solved or closed; `rest`
    says what becomes of that in the same step.
    """
    if ticket.state is state:
        return []
    if state not in _NEXT[ticket.state]:
        leads = f", which is part of {ticket.merged_into}" if ticket.merged_into else ""
        raise Conflict(f"{ticket.id}{leads} is {ticket.state} and cannot become {state}")
    settling: list[TicketEvent] = []
    if state in (TicketState.SOLVED, TicketState.CLOSED):
        settling = _settling(ticket, rest, by, why, at)
    return [*settling, _event(ticket, TicketEventKind.STATE, by, why, at, state=state)]


def solved_by_answer(ticket: Ticket, by: str, why: str, at: float) -> list[TicketEvent]:
    """Solved by an answer that has left. What a person has or has ended stays as it is."""
    if ticket.state in (TicketState.OPEN, TicketState.SOLVED, TicketState.CLOSED):
        return []
    return moved_to(ticket, TicketState.SOLVED, by, why, at)


def _settling(
    ticket: Ticket, rest: AskStatus | None, by: str, why: str, at: float
) -> list[TicketEvent]:
    """What becomes of asks when a ticket ends; Conflict where that is not said."""
    left = open_asks(ticket)
    if not left:
        return []
    if rest is None:
        raise Conflict(silent_words(ticket))
    return settled(ticket, [ask.id for ask in left], rest, by, why, at)


def assigned(
    ticket: Ticket, to: str | None, group: str | None, by: str, why: str, at: float
) -> list[TicketEvent]:
    """Whose it is to work on, and in which queue; None leaves that part as it is, empty clears
    it."""
    _refuse_merged(ticket)
    values: dict[str, str] = {}
    if to is not None and to != (ticket.assignee or ""):
        values["assignee"] = to
    if group is not None and group != (ticket.group or ""):
        values["group"] = group
    if not values:
        return []
    return [_event(ticket, TicketEventKind.ASSIGNED, by, why, at, **values)]


def triaged(
    ticket: Ticket, judgement: Mapping[str, str | None], by: str, why: str, at: float
) -> list[TicketEvent]:
    """How urgent it is, what it is about, in which language and for whom; what is None stays."""
    _refuse_merged(ticket)
    said = {name: value for name, value in judgement.items() if value is not None}
    new = {name: value for name, value in said.items() if value != getattr(ticket, name)}
    return [_event(ticket, TicketEventKind.TRIAGED, by, why, at, **new)] if new else []


def answered(
    ticket: Ticket, run: str, by: str, at: float, due: str | None = None
) -> list[TicketEvent]:
    """An answer to the message of a run has left; `due` is the deadline that ran for it."""
    return [_event(ticket, TicketEventKind.ANSWERED, by, "", at, run=run, due=due)]


def deadline_told(
    ticket: Ticket, kind: TicketEventKind, deadline: str, by: str, at: float
) -> list[TicketEvent]:
    """A deadline is near or has passed; each is told once."""
    if ticket.told in (f"{kind} {deadline}", f"{TicketEventKind.BREACHED} {deadline}"):
        return []
    return [_event(ticket, kind, by, "", at, deadline=deadline)]


def tagged(
    ticket: Ticket, add: Sequence[str], remove: Sequence[str], by: str, at: float
) -> list[TicketEvent]:
    """Tags are single words; Conflict for what is none, and for too many."""
    for tag in add:
        if not tag or len(tag) > 60 or any(mark.isspace() or mark in ",;" for mark in tag):
            raise Conflict(f"{tag!r} is no tag: write one word of at most 60 characters")
    new = tuple(tag for tag in dict.fromkeys(add) if tag not in ticket.tags)
    gone = tuple(tag for tag in dict.fromkeys(remove) if tag in ticket.tags)
    if len(ticket.tags) + len(new) - len(gone) > MOST_TAGS:
        raise Conflict(f"{ticket.id} would have more than {MOST_TAGS} tags")
    if not new and not gone:
        return []
    _refuse_merged(ticket)
    values = {"tags_added": new, "tags_removed": gone}
    return [_event(ticket, TicketEventKind.TAGGED, by, "", at, **values)]


def noted(ticket: Ticket, text: str, by: str, at: float) -> list[TicketEvent]:
    _refuse_merged(ticket)
    text = text.strip()
    if not text or len(text) > LONGEST_NOTE:
        raise Conflict(f"a note has 1 to {LONGEST_NOTE} characters")
    return [_event(ticket, TicketEventKind.NOTED, by, "", at, note=text)]


def merged(source: Ticket, target: Ticket, by: str, why: str, at: float) -> list[TicketEvent]:
    """The source becomes part of the target: its messages are the target's, its id leads there."""
    if source.id == target.id:
        raise Conflict(f"{source.id} cannot be merged with itself")
    if source.customer != target.customer:
        raise Conflict(
            f"{source.id} and {target.id} belong to different customers and are never merged"
        )
    _refuse_merged(source)
    if target.state is TicketState.MERGED:
        raise Conflict(
            f"{target.id} is part of {target.merged_into} itself; merge with that one instead"
        )
    change = new_id("chg", at=at)
    into = _event(
        source,
        TicketEventKind.MERGED,
        by,
        why,
        at,
        change=change,
        state=TicketState.MERGED,
        merged_into=target.id,
        removed=source.runs,
    )
    absorbing = _event(
        target,
        TicketEventKind.ABSORBED,
        by,
        why,
        at,
        change=change,
        added=source.runs,
        asks=source.asks,
    )
    if source.asked_at is not None and _is_unfinished(source):
        absorbing = absorbing.changed(asked_at=min(source.asked_at, target.asked_at or at))
    if target.state in (TicketState.SOLVED, TicketState.CLOSED) and _is_unfinished(source):
        absorbing = absorbing.changed(state=source.state)  # nothing unanswered is put away
    return [into, absorbing]


def split(
    ticket: Ticket, runs: Sequence[str], new_ticket: str, subject: str, by: str, why: str, at: float
) -> list[TicketEvent]:
    """Some of a ticket's messages become a ticket of their own."""
    _refuse_merged(ticket)
    wanted = tuple(dict.fromkeys(runs))
    foreign = [run for run in wanted if run not in ticket.runs]
    if foreign:
        raise Conflict(f"{foreign[0]} is no message of {ticket.id}")
    if not wanted or len(wanted) == len(ticket.runs):
        raise Conflict(f"name some messages of {ticket.id}, but not all: it has {len(ticket.runs)}")
    change = new_id("chg", at=at)
    giving = _event(ticket, TicketEventKind.SPLIT, by, why, at, change=change, removed=wanted)
    opening = TicketEvent(
        ticket=new_ticket,
        kind=TicketEventKind.OPENED,
        by=by,
        why=why or f"split off {ticket.id}",
        at=at,
        change=change,
        customer=ticket.customer,
        subject=subject,
        state=TicketState.ACTIVE if ticket.state is TicketState.MERGED else ticket.state,
        added=wanted,
        asked_at=ticket.asked_at,
        urgency=ticket.urgency,
        category=ticket.category,
        language=ticket.language,
        plan=ticket.plan,
        asks=_asks_in(wanted, ticket.asks),
    )
    return [giving, opening]


def _asks_in(runs: Sequence[str], asks: Iterable[TicketAsk]) -> tuple[TicketAsk, ...]:
    return tuple(ask for ask in asks if ask.run in runs)


def undone(
    change: Mapping[str, Sequence[TicketEvent]],
    tickets: Mapping[str, Ticket],
    before: Mapping[str, Ticket],
    by: str,
    why: str,
    at: float,
) -> list[TicketEvent]:
    """Take a merge or a split back.

    `change` holds its events by ticket, `tickets` what those are now, `before` what they were just
    before it. Conflict where a later change moved the same messages on.
    """
    name = new_id("chg", at=at)
    moves = [event for own in change.values() for event in own]
    origin = next((move.ticket for move in moves if move.kind is TicketEventKind.SPLIT), "")
    held = [ask for ticket in tickets.values() for ask in ticket.asks]
    events: list[TicketEvent] = []
    for event in moves:
        ticket = tickets[event.ticket]
        moved_on = [run for run in event.added if run not in ticket.runs]
        if moved_on:
            raise Conflict(
                f"{moved_on[0]} was moved on from {ticket.id} later; undo that change first"
            )
        values = {"change": name, "undoes": event.change}
        asks = _asks_in(event.removed, held)
        moving = {"added": event.removed, "removed": event.added, "asks": asks}
        reverse = _event(ticket, TicketEventKind.UNDONE, by, why, at, **values, **moving)
        earlier = before.get(ticket.id)
        state = _state_before(event, ticket, earlier, origin)
        if event.asked_at is not None and earlier is not None:
            state["asked_at"] = earlier.asked_at or 0.0
        events.append(reverse.changed(**state))
    return events


def _state_before(
    event: TicketEvent, ticket: Ticket, earlier: Ticket | None, origin: str
) -> dict[str, object]:
    """What the undo of an event says about the state of its ticket."""
    if event.kind is TicketEventKind.OPENED:
        left = [run for run in ticket.runs if run not in event.added]
        if left:
            return {}  # it got messages of its own meanwhile and stays
        return {"state": TicketState.MERGED, "merged_into": origin}
    if earlier is None or event.state is None or ticket.state is not event.state:
        return {}
    if event.kind is TicketEventKind.MERGED:
        return {"state": earlier.state, "merged_into": ""}
    return {"state": earlier.state}


def last_undoable(events: Sequence[TicketEvent]) -> TicketEvent | None:
    """The newest merge or split among a ticket's events that nobody has taken back."""
    taken_back = {event.undoes for event in events if event.undoes}
    for event in reversed(events):
        is_move = event.change is not None and event.undoes is None
        if is_move and event.change not in taken_back:
            return event
    return None


def _event(
    ticket: Ticket, kind: TicketEventKind, by: str, why: str, at: float, **values: object
) -> TicketEvent:
    plain = TicketEvent(ticket=ticket.id, kind=kind, by=by, why=why, at=at)
    return plain.changed(**values)


def _is_unfinished(ticket: Ticket) -> bool:
    return ticket.state in (TicketState.ACTIVE, TicketState.PENDING, TicketState.OPEN)


def _refuse_merged(ticket: Ticket) -> None:
    if ticket.state is TicketState.MERGED:
        raise Conflict(f"{ticket.id} is part of {ticket.merged_into}; work on that one")
