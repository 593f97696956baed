"""A desk at work: it takes messages, works them and answers."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from deskhand.adapters.chat_models.circuit_breaker import Circuits, GuardedChatModel
from deskhand.adapters.chat_models.rate_limit import SharedRate
from deskhand.adapters.chat_models.recording import RecordingChatModel
from deskhand.adapters.chat_models.watched import WatchedChatModel
from deskhand.adapters.stores.chats import SqlChats
from deskhand.agents.prompts import PromptRegistry
from deskhand.agents.remembering import approved_replies
from deskhand.brain.build import agent_chat, build_brain, prepare
from deskhand.config.desk import DeskSpec
from deskhand.config.sections.channels import chat_of
from deskhand.config.uses import remembers
from deskhand.config.without_model import require_models
from deskhand.engine.assisted_drafts import AssistedDrafts
from deskhand.engine.audit import key_from_environment
from deskhand.engine.bookings import BookingKeeper
from deskhand.engine.channel_runner import ChannelRunner
from deskhand.engine.chat_codes import ChatCodes
from deskhand.engine.chat_mailer import ChatMailer
from deskhand.engine.clock import SystemClock
from deskhand.engine.housekeeping import Housekeeper
from deskhand.engine.learner import Learner
from deskhand.engine.search_indexer import SearchIndexer
from deskhand.engine.ticket_keeper import TicketKeeper
from deskhand.engine.trust_modes import Trust
from deskhand.engine.worker import Worker
from deskhand.knowledge.search import KnowledgeBase
from deskhand.language.message_reader import shared_message_reader
from deskhand.mail.public_suffixes import is_registered_ending
from deskhand.model.run import RunStatus
from deskhand.ports import ChatModel, Sink
from deskhand.ports.office import Contacts
from deskhand.scheduling.public_holidays import holiday_on
from deskhand.telemetry.teller import Teller
from deskhand.tickets.handling import mend_all
from deskhand.tickets.service import Tickets
from deskhand.tools.call_trial import CallTrial
from deskhand.tools.office import Office
from deskhand.wiring.assembly import DeskSetup, assemble, call_trial
from deskhand.wiring.channels import DeskChannel, desk_channels, review_notifier
from deskhand.wiring.chat_mails import chat_codes, chat_post
from deskhand.wiring.databases import (
    Database,
    DeskStore,
    channel_store,
    exchanges_of,
    search_index,
)
from deskhand.wiring.desks import LoadedDesk
from deskhand.wiring.knowledge import index_articles, open_knowledge
from deskhand.wiring.models import (
    embedder,
    limited_chat,
    model_circuits,
    open_chat,
    require_prices,
    with_fall_backs,
    without_models,
)
from deskhand.wiring.modes import open_trust
from deskhand.wiring.office import desk_office
from deskhand.wiring.routing import desk_intake
from deskhand.wiring.sending import reply_sending, sent_within_the_hour
from deskhand.wiring.telemetry import open_teller
from deskhand.wiring.ticket_work import ticket_keeper
from deskhand.wiring.tickets import open_tickets
from deskhand.wiring.tools import mcp_servers
from deskhand.wiring.webhooks import keep_desk_file_webhook, webhook_courier
from deskhand.wiring.workers import DeskDispatcher, served_by

if TYPE_CHECKING:
    from deskhand.adapters.dispatch.worker_process import WorkerProcess
    from deskhand.adapters.mcp import McpServers


@dataclass(frozen=True, slots=True)
class Desk:
    """A desk at work: its store, its dispatcher, and the worker behind it."""

    spec: DeskSpec
    store: DeskStore
    dispatcher: DeskDispatcher
    worker: Worker
    live: bool
    knowledge: KnowledgeBase
    trust: Trust
    tickets: Tickets
    contacts: Contacts
    chats: SqlChats
    codes: ChatCodes
    trial: CallTrial
    drafts: AssistedDrafts
    channels: tuple[ChannelRunner, ...] = ()
    """Those this process reads, or would read; empty where nobody asked to listen."""


def read_tables(spec: DeskSpec, now: float) -> None:
    """Read what replies and free times are checked by, before a message needs it: the lists take
    up to a quarter of a second, in which nothing else would go on."""
    is_registered_ending("com")
    hours = spec.calendar.offering.hours
    holiday_on(datetime.fromtimestamp(now, UTC).date(), hours.holidays)
    stages = [stage for flow in spec.flows.values() for stage in flow.stages.values()]
    if any(stage.settings.get("concerns") for stage in stages):
        shared_message_reader().read("hello")


@asynccontextmanager
async def open_desk(
    loaded: LoadedDesk,
    database: Database,
    *,
    outbox: Path,
    live: bool = True,
    owner: str | None = None,
    events: Sink | None = None,
    in_flight: int | None = None,
    grace: float = 10.0,
    worker_process: "WorkerProcess | None" = None,
    rates: Mapping[str, float] | None = None,
    listen: bool = False,
    waits_for_models: bool = True,
) -> AsyncIterator[Desk]:
    """A desk that takes messages; on leaving, what runs comes to rest or is handed back.

    Not `live` means that effects are captured: judged and recorded, not carried out. With a
    `worker_process` the desk is one of those that many workers serve together. `rates` are calls
    a minute by model, counted over all of them. To `listen` is to read the desk's channels too.
    Without `waits_for_models` a run whose model is away fails at once.
    """
    spec, clock = loaded.spec, SystemClock()
    require_models(spec, without_models(spec))
    require_prices(spec)
    served = served_by(
        database, spec.name, owner=owner, in_flight=in_flight, process=worker_process
    )
    store = served.store
    async with AsyncExitStack() as closing:  # what is entered last is stopped first
        chat = open_chat(spec, insists=not waits_for_models)
        closing.push_async_callback(chat.aclose)
        teller = await open_teller(closing, spec, database)
        tickets = await closing.enter_async_context(open_tickets(database, spec.name, spec=spec))
        around = _surroundings(closing, spec, database, store, chat, tickets, live=live)
        around = replace(around, teller=teller)
        rate = SharedRate(database, rates) if rates else None
        model = limited_chat(around.chat, spec, store, clock, rate)
        circuits = model_circuits(store, clock) if waits_for_models else None
        asked = _AskedModels(spec, model, store, clock, circuits)
        keeper = ticket_keeper(spec, tickets, around.channels, outbox)
        closing.push_async_callback(keeper.stop)
        around = replace(around, ticket_keeper=keeper)
        setup = _setup(loaded, database, store, around, asked, outbox, live=live, events=events)
        setup = replace(setup, tickets=tickets)
        worker = assemble(setup)
        dispatcher = served.dispatcher(loaded, worker)
        closing.push_async_callback(dispatcher.stop, grace=grace)
        runners = _channel_runners(spec, database, store, around, dispatcher) if listen else []
        notifier = review_notifier(spec, database, store, around.channels, outbox, clock)
        for runner in reversed(runners):
            closing.push_async_callback(runner.stop)
        closing.push_async_callback(notifier.stop)
        courier = webhook_courier(database, spec.name, spec, clock)
        closing.push_async_callback(courier.stop)
        indexer = SearchIndexer(search_index(database, spec))
        closing.push_async_callback(indexer.stop)
        chats = SqlChats(database, spec.name)
        post = chat_post(spec, around.channels, outbox)
        mailer = ChatMailer(chats, post.send, clock, spec.name)
        closing.push_async_callback(mailer.stop)
        codes = chat_codes(loaded, chats, setup.own_tables, post, clock)
        closing.push_async_callback(codes.close)
        await prepare(setup.brain)
        await index_articles(database, spec)
        if listen:
            await asyncio.to_thread(read_tables, spec, clock.now())
            await keep_desk_file_webhook(database, spec)
        await dispatcher.start()
        if live:
            around.start_background_work()
            if chat_of(spec.channels) is not None:
                mailer.start()
        for runner in runners:
            runner.start()
        if listen:
            notifier.start()
            courier.start()
            indexer.start()
        yield Desk(
            spec,
            store,
            dispatcher,
            worker,
            live,
            around.knowledge,
            around.trust,
            tickets,
            around.office.contacts,
            chats,
            codes,
            call_trial(setup),
            AssistedDrafts(store, worker.flows, asked.watched.watch),
            tuple(runners),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Surroundings:
    """What a desk at work has beside its stages: connections, and work in the background."""

    chat: ChatModel
    office: Office
    servers: "McpServers | None"
    channels: Sequence[DeskChannel]
    knowledge: KnowledgeBase
    trust: Trust
    bookings: BookingKeeper
    housekeeper: Housekeeper
    learner: Learner | None
    """None where no stage looks for earlier messages."""
    teller: Teller | None = None
    """None where nobody is told what happens."""
    ticket_keeper: TicketKeeper | None = None

    def start_background_work(self) -> None:
        if self.learner is not None:
            self.learner.start()
        if self.teller is not None:
            self.teller.start()
        if self.ticket_keeper is not None:
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
        if self.ticket_keeper is not None:
            self.ticket_keeper.at_rest(run_id, status)


def _surroundings(
    closing: AsyncExitStack,
    spec: DeskSpec,
    database: Database,
    store: DeskStore,
    chat: ChatModel,
    tickets: Tickets,
    *,
    live: bool,
) -> _Surroundings:
    """Opens what a desk needs; `closing` stops the background work, then closes connections."""
    clock = SystemClock()
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
    housekeeper = Housekeeper(
        store,
        responses_days=spec.limits.keep_responses_days,
        totals_days=spec.limits.keep_totals_days,
        ages=spec.retention.ages(),
        key=key_from_environment(),
        forgotten=partial(mend_all, tickets),
    )
    closing.push_async_callback(housekeeper.stop)
    bookings = BookingKeeper(office.calendar, store, clock)
    closing.push_async_callback(bookings.stop)

    return _Surroundings(
        chat=chat,
        office=office,
        servers=servers,
        channels=channels,
        knowledge=open_knowledge(database, spec.name),
        trust=open_trust(spec, database),
        bookings=bookings,
        housekeeper=housekeeper,
        learner=learner,
    )


@dataclass(frozen=True, slots=True)
class _AskedModels:
    """The desk's models, with what stands around every call."""

    spec: DeskSpec
    model: ChatModel
    store: DeskStore
    clock: SystemClock
    circuits: Circuits | None
    """None where nothing waits for a model that is away."""
    watched: WatchedChatModel = field(default_factory=WatchedChatModel)
    """Lets colleagues see a draft while it is written."""

    def recorded(self) -> ChatModel:
        """Every call is booked before its answer is used."""
        return self._guarded(RecordingChatModel(self.model, self.store.record_call, self.clock))

    def recorded_aside(self, chat: ChatModel) -> ChatModel:
        """Every call is booked while its answer is already used."""
        record = self.store.record_call
        return self._guarded(RecordingChatModel(chat, record, self.clock, waits=False))

    def _guarded(self, chat: ChatModel) -> ChatModel:
        guarded = chat if self.circuits is None else GuardedChatModel(chat, self.circuits)
        return with_fall_backs(guarded, self.spec)


def _setup(
    loaded: LoadedDesk,
    database: Database,
    store: DeskStore,
    around: _Surroundings,
    asked: _AskedModels,
    outbox: Path,
    *,
    live: bool,
    events: Sink | None,
) -> DeskSetup:
    spec, clock = loaded.spec, SystemClock()
    sending = reply_sending(
        spec, mode_for=around.trust.mode_for, sent_lately=sent_within_the_hour(store, clock)
    )
    sending = replace(sending, taken_over_by=store.taken_over_by)

    return DeskSetup(
        loaded=loaded,
        database=database,
        store=store,
        clock=clock,
        office=around.office,
        own_tables=database.own_tables(spec.name),
        outbox=outbox,
        effects="live" if live else "capture",
        prompts=PromptRegistry(spec.prompts),
        brain=build_brain(
            spec,
            asked.recorded(),
            clock,
            around.knowledge,
            embedder,
            approved=approved_replies(exchanges_of(database, spec.name), embedder),
            watched=asked.watched.around,
        ),
        agent_chat=agent_chat(spec, asked.model, asked.recorded_aside),
        knowledge=around.knowledge,
        cited=around.knowledge.store.texts_used,
        sending=replace(sending, spot_checks=around.trust, confirm_times=around.bookings.confirm),
        channels=around.channels,
        servers=around.servers,
        events=events,
        before_rest=around.trust.rested,
        at_rest=around.at_rest,
    )


def _channel_runners(
    spec: DeskSpec,
    database: Database,
    store: DeskStore,
    around: _Surroundings,
    dispatcher: DeskDispatcher,
) -> list[ChannelRunner]:
    """What keeps each of the desk's channels at work; at rest until it is started."""
    intake = desk_intake(spec, store, dispatcher.submit)
    return [
        ChannelRunner(
            channel,
            channel_store(database, spec.name, channel.name, store.owner),
            intake,
            SystemClock(),
        )
        for channel in around.channels
    ]
