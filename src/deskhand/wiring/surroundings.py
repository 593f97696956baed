"""What stands around a desk at work: its connections, and what follows its runs."""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from deskhand.config.desk import DeskSpec
from deskhand.config.uses import remembers
from deskhand.engine.audit import key_from_environment
from deskhand.engine.bookings import BookingKeeper
from deskhand.engine.clock import SystemClock
from deskhand.engine.housekeeping import Housekeeper
from deskhand.engine.learner import Learner
from deskhand.engine.ticket_keeper import TicketKeeper
from deskhand.engine.trust_modes import Trust
from deskhand.knowledge.search import KnowledgeBase
from deskhand.model.run import RunStatus
from deskhand.telemetry.teller import Teller
from deskhand.tickets.handling import mend_all
from deskhand.tickets.service import Tickets
from deskhand.tools.office import Office
from deskhand.wiring.channels import DeskChannel, desk_channels
from deskhand.wiring.databases import Database, DeskStore, exchanges_of
from deskhand.wiring.knowledge import open_knowledge
from deskhand.wiring.models import embedder
from deskhand.wiring.modes import open_trust
from deskhand.wiring.office import desk_office
from deskhand.wiring.telemetry import open_teller
from deskhand.wiring.ticket_work import ticket_keeper
from deskhand.wiring.tickets import open_tickets
from deskhand.wiring.tools import mcp_servers

if TYPE_CHECKING:
    from deskhand.adapters.mcp import McpServers


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What the stages of a desk at work need, with what hears of every run that came to rest."""

    office: Office
    servers: "McpServers | None"
    channels: Sequence[DeskChannel]
    knowledge: KnowledgeBase
    trust: Trust
    tickets: Tickets
    bookings: BookingKeeper
    housekeeper: Housekeeper
    learner: Learner | None
    """None where no stage looks for earlier messages."""
    teller: Teller | None
    """None where nobody is told what happens."""
    ticket_keeper: TicketKeeper

    def start(self) -> None:
        if self.learner is not None:
            self.learner.start()
        if self.teller is not None:
            self.teller.start()
        self.ticket_keeper.start()
        self.bookings.start()
        self.housekeeper.start()

    def at_rest(self, run_id: str, status: RunStatus) -> None:
        """Passes on that a run came to rest."""
        self.bookings.at_rest(run_id, status)
        if self.learner is not None:
            self.learner.at_rest(run_id, status)
        if self.teller is not None:
            self.teller.at_rest(run_id, status)
        self.ticket_keeper.at_rest(run_id, status)


async def open_surroundings(
    closing: AsyncExitStack,
    spec: DeskSpec,
    database: Database,
    store: DeskStore,
    outbox: Path,
    *,
    live: bool,
) -> Surroundings:
    """Opens what a desk needs; `closing` stops the background work, then closes connections."""
    clock = SystemClock()
    teller = await open_teller(closing, spec, database)
    tickets = await closing.enter_async_context(open_tickets(database, spec.name, spec=spec))
    office = replace(desk_office(spec, database, store, clock), rehearses=not live)
    closing.push_async_callback(office.calendar.close)
    servers = mcp_servers(spec)
    if servers is not None:
        closing.push_async_callback(servers.close)
    channels = desk_channels(spec, database, store)
    for channel in reversed(channels):
        closing.push_async_callback(channel.close)

    learner = None
    if remembers(spec):
        learner = Learner(store, exchanges_of(database, spec.name), embedder)
        closing.push_async_callback(learner.stop)
    housekeeper = _housekeeper(spec, store, tickets)
    closing.push_async_callback(housekeeper.stop)
    bookings = BookingKeeper(office.calendar, store, clock)
    closing.push_async_callback(bookings.stop)
    keeper = ticket_keeper(spec, tickets, channels, outbox)
    closing.push_async_callback(keeper.stop)

    return Surroundings(
        office=office,
        servers=servers,
        channels=channels,
        knowledge=open_knowledge(database, spec.name),
        trust=open_trust(spec, database),
        tickets=tickets,
        bookings=bookings,
        housekeeper=housekeeper,
        learner=learner,
        teller=teller,
        ticket_keeper=keeper,
    )


def _housekeeper(spec: DeskSpec, store: DeskStore, tickets: Tickets) -> Housekeeper:
    return Housekeeper(
        store,
        responses_days=spec.limits.keep_responses_days,
        totals_days=spec.limits.keep_totals_days,
        ages=spec.retention.ages(),
        key=key_from_environment(),
        forgotten=partial(mend_all, tickets),
    )
