"""Forgetting what tickets tell of messages that are erased or deleted for their age."""

from collections.abc import Iterable, Sequence

import sqlalchemy as sa

from deskhand.adapters.stores import tables as t
from deskhand.adapters.stores.statements import forget_salts, mark_ticket
from deskhand.adapters.stores.taken_turns import forget_turns
from deskhand.adapters.stores.ticket_rows import event_of, ticket_of, write_events
from deskhand.adapters.stores.webhook_outbox import forget_deliveries
from deskhand.model.audited import PrunedBatch
from deskhand.model.ticket import DESK, Ticket, TicketEvent, TicketEventKind
from deskhand.model.ticket_state import TicketState
from deskhand.tickets.checkpoints import begin, told_of
from deskhand.tickets.fold import without_asks_of, without_words


def forget_messages(
    core: sa.Connection, desk: str, positions: Sequence[int], by: str, now: float
) -> None:
    """Take messages out of their tickets. A ticket without any other goes with all its events;
    of another one the rest stays, and its checkpoint is told anew when somebody looks."""
    links = t.ticket_messages.c
    mine = (links.desk == desk, links.run.in_(positions))
    tickets = set(core.execute(sa.select(links.ticket).where(*mine)).scalars())
    forget_turns(core, desk, positions)
    for ticket_id in sorted(tickets):
        _forget_asks(core, desk, ticket_id, positions)
        _forget_reasons(core, desk, ticket_id)
        others = (links.desk == desk, links.ticket == ticket_id, links.run.not_in(positions))
        left = core.execute(sa.select(links.run).where(*others).limit(1)).first()
        if left is None:
            _forget_ticket(core, desk, ticket_id)
        else:
            _forget_some(core, desk, ticket_id, positions, by, now)


def forget_customers(core: sa.Connection, desk: str, customers: Iterable[str]) -> None:
    """Tickets that stand under these names and have no message, and the names."""
    named = list(customers)
    mine = (t.tickets.c.desk == desk, t.tickets.c.customer.in_(named), t.tickets.c.messages == 0)
    for ticket_id in list(core.execute(sa.select(t.tickets.c.id).where(*mine)).scalars()):
        _forget_ticket(core, desk, ticket_id)
    forget_unused_names(core, desk, named)


def forget_unused_names(core: sa.Connection, desk: str, customers: Sequence[str]) -> None:
    """The names of those who have no ticket any more: a name may be an address."""
    still = sa.select(t.tickets.c.customer).where(t.tickets.c.desk == desk)
    here = t.ticket_customers.c
    unused = (here.desk == desk, here.customer.in_(customers), here.customer.not_in(still))
    core.execute(t.ticket_customers.delete().where(*unused))


def old_tickets(desk: str, before: float) -> sa.ColumnElement[bool]:
    """Tickets without a message that are over, and that nobody changed since: those with messages
    go with their runs."""
    here = t.tickets.c
    return sa.and_(
        here.desk == desk,
        here.messages == 0,
        here.state.in_((TicketState.SOLVED, TicketState.CLOSED)),
        here.changed_at < before,
    )


def forget_old_tickets(core: sa.Connection, desk: str, before: float, limit: int) -> PrunedBatch:
    """Delete at most `limit` of the tickets that are over, old, and without a message."""
    chosen = (
        sa.select(t.tickets.c.id, t.tickets.c.customer)
        .where(old_tickets(desk, before))
        .limit(limit)
        .with_for_update(skip_locked=True)
    )
    rows = core.execute(chosen).all()
    for row in rows:
        _forget_ticket(core, desk, row.id)
    customers = tuple(sorted({row.customer for row in rows}))
    forget_unused_names(core, desk, customers)
    return PrunedBatch(len(rows), 0, 0 if len(rows) == limit else None, customers=customers)


def _forget_ticket(core: sa.Connection, desk: str, ticket_id: str) -> None:
    """The ticket, and those that were part of it."""
    here = t.tickets.c
    merged = sa.select(here.id).where(here.desk == desk, here.merged_into == ticket_id)
    parts = list(core.execute(merged).scalars())
    for table, column in (
        (t.ticket_events, t.ticket_events.c.ticket),
        (t.ticket_messages, t.ticket_messages.c.ticket),
        (t.active_tickets, t.active_tickets.c.ticket),
        (t.tickets, t.tickets.c.id),
    ):
        core.execute(table.delete().where(table.c.desk == desk, column == ticket_id))
    _forget_deliveries(core, desk, ticket_id)
    _state_erased(core, desk, ticket_id)
    for part in parts:
        _forget_ticket(core, desk, part)


def _forget_some(
    core: sa.Connection, desk: str, ticket_id: str, positions: Sequence[int], by: str, now: float
) -> None:
    events = t.ticket_events
    here = (events.c.desk == desk, events.c.run.in_(positions))
    query = sa.select(events.c.ticket, events.c.number, events.c.body).where(*here)
    run_ids: list[str] = []
    for row in core.execute(query).all():
        event = event_of(row)
        run_ids += filter(None, [event.run])
        _empty(core, desk, event)
    first = (events.c.desk == desk, events.c.ticket == ticket_id, events.c.number == 1)
    opening = sa.select(events.c.ticket, events.c.number, events.c.body).where(*first)
    row = core.execute(opening).one()
    was_theirs = _began_with(core, desk, ticket_id, positions)
    if was_theirs:
        _empty(core, desk, event_of(row))
        _forget_deliveries(core, desk, ticket_id)
    ticket = _ticket(core, desk, ticket_id)
    erased = TicketEvent(
        ticket=ticket_id,
        kind=TicketEventKind.ERASED,
        by=by,
        at=now,
        number=ticket.number + 1,
        removed=tuple(run_ids),
        subject="" if was_theirs else None,
    )
    bare = told_of(begin(ticket), ticket.changed(subject=""))
    write_events(core, desk, [erased], {ticket_id: bare}, {})
    core.execute(
        t.active_tickets.delete().where(
            t.active_tickets.c.desk == desk, t.active_tickets.c.ticket == ticket_id
        )
    )


def _forget_asks(core: sa.Connection, desk: str, ticket_id: str, positions: Sequence[int]) -> None:
    """What these messages ask, in events that settled it or moved it between tickets."""
    named = sa.select(t.runs.c.id).where(t.runs.c.position.in_(positions))
    run_ids = list(core.execute(named).scalars())
    here = t.ticket_events.c
    mine = (here.desk == desk, here.ticket.in_(_related(core, desk, ticket_id)), here.run.is_(None))
    for row in core.execute(sa.select(here.ticket, here.number, here.body).where(*mine)).all():
        event = event_of(row)
        bare = without_asks_of(event, run_ids)
        if bare.asks != event.asks:
            _write(core, desk, bare.changed(why=""))


def _forget_reasons(core: sa.Connection, desk: str, ticket_id: str) -> None:
    """Why the desk judged and moved the ticket: it quotes whichever message showed it, and of
    several messages nobody can tell which."""
    here = t.ticket_events.c
    mine = (here.desk == desk, here.ticket.in_(_related(core, desk, ticket_id)), here.run.is_(None))
    for row in core.execute(sa.select(here.ticket, here.number, here.body).where(*mine)).all():
        event = event_of(row)
        if event.by == DESK and event.why:
            _write(core, desk, event.changed(why=""))


def _related(core: sa.Connection, desk: str, ticket_id: str) -> list[str]:
    """The ticket and all with which it ever exchanged messages."""
    here = t.ticket_events.c
    related: set[str] = set()
    new = {ticket_id}
    while new:
        related |= new
        changes = sa.select(here.change).where(
            here.desk == desk, here.ticket.in_(new), here.change.is_not(None)
        )
        others = sa.select(here.ticket).where(here.desk == desk, here.change.in_(changes))
        new = set(core.execute(others).scalars()) - related
    return sorted(related)


def _began_with(core: sa.Connection, desk: str, ticket_id: str, positions: Sequence[int]) -> bool:
    """Whether the ticket got its subject from one of these messages."""
    here = t.ticket_events.c
    joined = (here.desk == desk, here.ticket == ticket_id, here.run.is_not(None))
    query = sa.select(here.run).where(*joined).order_by(here.number).limit(1)
    first = core.execute(query).scalar()
    return first is None or first in positions


def _empty(core: sa.Connection, desk: str, event: TicketEvent) -> None:
    _write(core, desk, without_words(event))


def _write(core: sa.Connection, desk: str, event: TicketEvent) -> None:
    here = t.ticket_events.c
    this = (here.desk == desk, here.ticket == event.ticket, here.number == event.number)
    body = event.model_dump_json(exclude_defaults=True).encode()
    core.execute(t.ticket_events.update().where(*this).values(body=body, vector=None))
    _state_erased(core, desk, event.ticket)


def _forget_deliveries(core: sa.Connection, desk: str, ticket_id: str) -> None:
    """What webhooks were told of the ticket: its subject may be among it."""
    here = t.webhook_deliveries.c
    of_ticket = here.id.startswith(f"{ticket_id}.", autoescape=True)
    forget_deliveries(core, sa.and_(here.desk == desk, here.run_id.is_(None), of_ticket))


def _state_erased(core: sa.Connection, desk: str, ticket_id: str) -> None:
    """What is left of a ticket's events is stated; nobody can guess what stood there before."""
    forget_salts(core, desk, t.ticket_events, ticket_id)
    mark_ticket(core, desk, ticket_id)


def _ticket(core: sa.Connection, desk: str, ticket_id: str) -> Ticket:
    here = (t.tickets.c.desk == desk, t.tickets.c.id == ticket_id)
    return ticket_of(core.execute(sa.select(t.tickets).where(*here).with_for_update()).one())
