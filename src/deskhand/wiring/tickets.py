"""A desk's tickets, and where those lie that are worked on."""

import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from deskhand.adapters.channels.folder_outbox import FolderOutbox
from deskhand.adapters.stores.active_tickets import SqlActiveTickets
from deskhand.adapters.stores.tickets import SqlTickets
from deskhand.config.desk import DeskSpec
from deskhand.engine.satisfaction import Survey
from deskhand.engine.ticket_keeper import TicketKeeper
from deskhand.errors import ConfigError
from deskhand.language.ticket_facts import continuations
from deskhand.model.message import Message
from deskhand.ports import ActiveTickets, Contacts
from deskhand.tickets.deadlines import DeadlineRules
from deskhand.tickets.message_hints import our_deliveries
from deskhand.tickets.placing import TicketPlacing
from deskhand.tickets.service import Tickets
from deskhand.wiring.channels import ChannelPost, DeskChannel, sending_channels
from deskhand.wiring.databases import Database, DeskStore
from deskhand.wiring.models import embedder

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
    deadlines: DeadlineRules | None = None,
) -> AsyncIterator[Tickets]:
    """A desk's tickets, with the active store that the environment names."""
    active = active_tickets(database, desk, os.environ.get(ACTIVE_TICKETS))
    try:
        yield Tickets(SqlTickets(database, desk), active, now=now, deadlines=deadlines)
    finally:
        await active.close()


def deadline_rules(spec: DeskSpec) -> DeadlineRules:
    """When a desk's tickets are due, in the hours of its calendar."""
    return DeadlineRules(spec.tickets, spec.calendar.offering.hours)


def ticket_keeper(
    spec: DeskSpec,
    tickets: Tickets,
    channels: Sequence[DeskChannel],
    outbox: Path,
) -> TicketKeeper:
    """What keeps the clocks of a desk's tickets and asks its customers."""
    section = spec.tickets
    survey = None
    if section.satisfaction is not None:
        carriers = sending_channels(channels)
        named = section.satisfaction.channel or next(iter(carriers), "")
        post = ChannelPost(
            FolderOutbox(outbox, sender=f"{spec.name}@localhost"), carriers.get(named)
        )
        survey = Survey(tickets, section.satisfaction, spec.name, post.send)
    return TicketKeeper(tickets, survey=survey)


def own_tickets(database: Database, desk: str, now: Callable[[], float]) -> Tickets:
    """A desk's tickets all in its own database: for sandboxes, which ask no other server."""
    return Tickets(SqlTickets(database, desk), SqlActiveTickets(database, desk), now=now)


def ticket_placing(tickets: Tickets, store: DeskStore, contacts: Contacts) -> TicketPlacing:
    """What brings a desk's messages to their tickets."""
    return TicketPlacing(tickets, contacts, embedder(), _answered(store), continuations)


def _answered(store: DeskStore) -> Callable[[Message], Awaitable[str | None]]:
    async def answered_run(message: Message) -> str | None:
        for key in our_deliveries(message):
            turn = await store.reply_sent(key)
            if turn is not None:
                return turn.run.id
        return None

    return answered_run
