"""One customer's tickets, as whoever places a message sees them at one moment."""

from collections.abc import Collection, Sequence
from typing import Any

import sqlalchemy as sa

from deskhand.adapters.stores import tables as t
from deskhand.adapters.stores.ticket_rows import ticket_of
from deskhand.model.ticket import CustomerTickets, TicketCheckpoint
from deskhand.model.ticket_state import TicketState

BY_CHANGE: sa.ColumnElement[float] = t.tickets.c.changed_at + 0
"""The time of the last change, in words that no index knows. One customer's tickets are few: they
are found by the customer and then put in order, not by going through all tickets in order."""
_OVER = (TicketState.SOLVED, TicketState.CLOSED)


def seen_tickets(
    core: sa.Connection,
    desk: str,
    customers: Sequence[str],
    conversation: str,
    sought: Collection[str],
    limit: int,
) -> CustomerTickets:
    """As `TicketStore.of_customer`."""
    version = version_of(core, desk, customers[0])  # first: a change after it is noticed
    links = t.ticket_messages.c
    mine = (links.desk == desk, links.conversation == conversation)
    met = core.execute(sa.select(links.ticket).where(*mine).distinct()).scalars()
    in_conversation = frozenset(met)
    wanted = tickets_of_customer(desk, customers, limit, in_conversation.union(sought))
    rows = sorted(core.execute(wanted), key=lambda row: -row.changed_at)
    archived = {row.id: checkpoint_of(row.checkpoint) for row in rows if row.checkpoint}
    return CustomerTickets(version, tuple(map(ticket_of, rows)), in_conversation, archived)


def version_of(core: sa.Connection, desk: str, customer: str) -> int:
    here = t.ticket_customers.c
    query = sa.select(here.version).where(here.desk == desk, here.customer == customer)
    return core.execute(query).scalar() or 0


def tickets_of_customer(
    desk: str, customers: Sequence[str], limit: int, first: Collection[str] = ()
) -> sa.Select[Any]:
    """The rows of a customer's tickets that are not merged, the latest changed first. Of more than
    `limit` those named `first` are given, then the unfinished ones."""
    here = t.tickets.c
    mine = (here.desk == desk, here.customer.in_(customers), here.state != TicketState.MERGED)
    rank = sa.case((here.id.in_(first), 0), (here.state.in_(_OVER), 2), else_=1)
    query = sa.select(t.tickets).where(*mine)
    return query.order_by(rank, BY_CHANGE.desc(), here.id).limit(limit)


def checkpoint_of(held: bytes) -> TicketCheckpoint:
    return TicketCheckpoint.model_validate_json(bytes(held))
