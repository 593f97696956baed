"""A desk's tickets, and where those lie that are worked on."""

import os
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from deskhand.adapters.stores.active_tickets import SqlActiveTickets
from deskhand.adapters.stores.tickets import SqlTickets
from deskhand.errors import ConfigError
from deskhand.ports import ActiveTickets
from deskhand.tickets.deadlines import DeadlineRules
from deskhand.tickets.service import Tickets
from deskhand.wiring.databases import Database

if TYPE_CHECKING:
    from deskhand.config.desk import DeskSpec

ACTIVE_TICKETS = "DESKHAND_ACTIVE_TICKETS"
"""Where active tickets lie: an address of Redis; the desk's own database where it is not set."""


def active_tickets(database: Database, desk: str, url: str | None = None) -> ActiveTickets:
    """The store of tickets that are worked on; ConfigError for an address of another kind."""
    if not url:
        return SqlActiveTickets(database, desk)
    from deskhand.adapters.stores.redis_tickets import is_redis, open_redis_tickets

    if not is_redis(url):
        raise ConfigError(
            f"{ACTIVE_TICKETS} names no Redis", fix="write redis://host:6379/0, or leave it out"
        )
    return open_redis_tickets(url, desk)


@asynccontextmanager
async def open_tickets(
    database: Database,
    desk: str,
    now: Callable[[], float] = time.time,
    spec: "DeskSpec | None" = None,
) -> AsyncIterator[Tickets]:
    """A desk's tickets, with the active store that the environment names and by the rules of its
    desk.yaml, where that is at hand."""
    active = active_tickets(database, desk, os.environ.get(ACTIVE_TICKETS))
    store = SqlTickets(database, desk)
    try:
        if spec is None:
            yield Tickets(store, active, now=now)
        else:
            within = spec.tickets.reopen_seconds
            rules = deadline_rules(spec)
            yield Tickets(store, active, now=now, reopen_within=within, deadlines=rules)
    finally:
        await active.close()


def deadline_rules(spec: "DeskSpec") -> DeadlineRules:
    """When a desk's tickets are due, in the hours of its calendar."""
    return DeadlineRules(spec.tickets, spec.calendar.offering.hours)


def own_tickets(
    database: Database, desk: str, spec: "DeskSpec", now: Callable[[], float]
) -> Tickets:
    """A desk's tickets all in its own database: for sandboxes, which ask no other server."""
    store, active = SqlTickets(database, desk), SqlActiveTickets(database, desk)
    return Tickets(store, active, now=now, reopen_within=spec.tickets.reopen_seconds)
