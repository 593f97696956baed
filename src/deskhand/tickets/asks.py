"""What a ticket's messages ask for, and what became of each: answered, deferred, escalated or
still open. Functions return the events of a change."""

from collections.abc import Sequence

from deskhand.errors import Conflict
from deskhand.model.ticket import Ticket, TicketAsk, TicketEvent, TicketEventKind
from deskhand.model.ticket_state import AskStatus, TicketState

MOST_ASKS = 20
"""Asks that are kept of one message; the last stands for all further ones."""
LONGEST_ASK = 300
_SHOWN = 80


def open_asks(ticket: Ticket) -> list[TicketAsk]:
    """Those that nobody has settled."""
    return [ask for ask in ticket.asks if ask.status is AskStatus.OPEN]


def escalated_asks(ticket: Ticket, events: Sequence[TicketEvent]) -> list[TicketAsk]:
    """Those that a person has: escalated since the ticket was last over, and not settled since."""
    named: set[str] = set()
    for event in events:
        named |= {ask.id for ask in event.asks}
        if event.state in (TicketState.SOLVED, TicketState.CLOSED):
            named.clear()
    return [ask for ask in ticket.asks if ask.status is AskStatus.ESCALATED and ask.id in named]


def silent_words(ticket: Ticket) -> str:
    """Why a ticket cannot end yet."""
    left = open_asks(ticket)
    shown = "; ".join(f"“{' '.join(ask.text.split())[:_SHOWN]}”" for ask in left[:3])
    return (
        f"{ticket.id} asks for something that nobody answered: {shown}."
        " Mark it as answered, deferred or escalated first"
    )


def asked(ticket: Ticket, asks: Sequence[TicketAsk], by: str, at: float) -> list[TicketEvent]:
    """What a message asks for, as it was read in it. What is settled already stays so."""
    held = {ask.id: ask for ask in ticket.asks}
    new: list[TicketAsk] = []
    for ask in asks:
        earlier = held.get(ask.id)
        if earlier is None or (earlier != ask and earlier.status is AskStatus.OPEN):
            new.append(ask)
    if not new:
        return []
    return [
        TicketEvent(
            ticket=ticket.id,
            kind=TicketEventKind.ASKED,
            by=by,
            at=at,
            run=new[0].run,
            asks=tuple(new),
        )
    ]


def settled(
    ticket: Ticket, wanted: Sequence[str], status: AskStatus, by: str, why: str, at: float
) -> list[TicketEvent]:
    """Asks with these ids or numbers are answered, deferred, escalated, or open again; Conflict
    for one that the ticket does not have."""
    changed: list[TicketAsk] = []
    for written in dict.fromkeys(wanted):
        ask = _named(ticket, written)
        if ask.status is not status:
            changed.append(ask.changed(status=status, by=by, why=why, at=at))
    if not changed:
        return []
    return [
        TicketEvent(
            ticket=ticket.id,
            kind=TicketEventKind.SETTLED,
            by=by,
            why=why,
            at=at,
            asks=tuple(changed),
        )
    ]


def _named(ticket: Ticket, written: str) -> TicketAsk:
    """By its id, or by its number in the ticket's list."""
    for number, ask in enumerate(ticket.asks, 1):
        if written in (ask.id, str(number)):
            return ask
    raise Conflict(f"{ticket.id} has no ask {written!r}; it has {len(ticket.asks)}")
