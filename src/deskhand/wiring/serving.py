"""A desk at work: it takes messages, works them and answers."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from deskhand.adapters.chat_models.circuit_breaker import GuardedChatModel
from deskhand.adapters.chat_models.rate_limit import SharedRate
from deskhand.adapters.chat_models.recording import RecordingChatModel
from deskhand.adapters.chat_models.watched import WatchedChatModel
from deskhand.adapters.stores.chats import SqlChats
from deskhand.agents.prompts import PromptRegistry
from deskhand.agents.remembering import approved_replies
from deskhand.brain.build import agent_chat, build_brain, prepare
from deskhand.config.desk import DeskSpec
from deskhand.config.without_model import require_models
from deskhand.engine.assisted_drafts import AssistedDrafts
from deskhand.engine.channel_runner import ChannelRunner
from deskhand.engine.chat_codes import ChatCodes
from deskhand.engine.clock import SystemClock
from deskhand.engine.trust_modes import Trust
from deskhand.engine.worker import Worker
from deskhand.knowledge.search import KnowledgeBase
from deskhand.language.message_reader import shared_message_reader
from deskhand.mail.public_suffixes import is_registered_ending
from deskhand.ports import ChatModel, Sink
from deskhand.ports.office import Contacts
from deskhand.scheduling.public_holidays import holiday_on
from deskhand.tickets.service import Tickets
from deskhand.tools.call_trial import CallTrial
from deskhand.wiring.assembly import DeskSetup, assemble, call_trial
from deskhand.wiring.background import BackgroundWork, open_background
from deskhand.wiring.databases import (
    Database,
    DeskStore,
    exchanges_of,
)
from deskhand.wiring.desks import LoadedDesk
from deskhand.wiring.knowledge import index_articles
from deskhand.wiring.models import (
    embedder,
    limited_chat,
    model_circuits,
    open_chat,
    require_prices,
    with_fall_backs,
    without_models,
)
from deskhand.wiring.sending import reply_sending, sent_within_the_hour
from deskhand.wiring.surroundings import Surroundings, open_surroundings
from deskhand.wiring.webhooks import keep_desk_file_webhook
from deskhand.wiring.workers import DeskDispatcher, served_by

if TYPE_CHECKING:
    from deskhand.adapters.dispatch.worker_process import WorkerProcess


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
    spec = loaded.spec
    require_models(spec, without_models(spec))
    require_prices(spec)
    served = served_by(database, spec.name, owner, in_flight, worker_process)
    store = served.store
    async with AsyncExitStack() as closing:  # what is entered last is stopped first
        chat = open_chat(spec, insists=not waits_for_models)
        closing.push_async_callback(chat.aclose)
        around = await open_surroundings(closing, spec, database, store, outbox, live=live)
        model = limited_chat(chat, spec, store, SystemClock(), _shared_rate(database, rates))
        asked = _AskedModels(spec, model, store, waits=waits_for_models)
        setup = _setup(loaded, database, store, around, asked, outbox, live=live, events=events)
        worker = assemble(setup)
        dispatcher = served.dispatcher(loaded, worker)
        closing.push_async_callback(dispatcher.stop, grace=grace)
        background = open_background(closing, setup, dispatcher, listen=listen)
        await _prepare(setup, listen=listen)
        await dispatcher.start()
        _start(around, background, live=live, listen=listen)
        yield Desk(
            spec=spec,
            store=store,
            dispatcher=dispatcher,
            worker=worker,
            live=live,
            knowledge=around.knowledge,
            trust=around.trust,
            tickets=around.tickets,
            contacts=around.office.contacts,
            chats=background.chats,
            codes=background.codes,
            trial=call_trial(setup),
            drafts=AssistedDrafts(store, worker.flows, asked.watched.watch),
            channels=tuple(background.runners),
        )


def _start(around: Surroundings, background: BackgroundWork, *, live: bool, listen: bool) -> None:
    if live:
        around.start()
    background.start(live=live, listen=listen)


def _shared_rate(database: Database, rates: Mapping[str, float] | None) -> SharedRate | None:
    return SharedRate(database, rates) if rates else None


async def _prepare(setup: DeskSetup, *, listen: bool) -> None:
    """What may take long, before the first message."""
    spec = setup.loaded.spec
    await prepare(setup.brain)
    await index_articles(setup.database, spec)
    if listen:
        await asyncio.to_thread(read_tables, spec, setup.clock.now())
        await keep_desk_file_webhook(setup.database, spec)


class _AskedModels:
    """The desk's models, with what stands around every call."""

    def __init__(self, spec: DeskSpec, model: ChatModel, store: DeskStore, *, waits: bool) -> None:
        """Where runs do not wait for a model that is away, it is asked again each time."""
        self.model = model
        self.watched = WatchedChatModel()
        """Lets colleagues see a draft while it is written."""
        self._spec, self._store, self._clock = spec, store, SystemClock()
        self._circuits = model_circuits(store, self._clock) if waits else None

    def recorded(self) -> ChatModel:
        """Every call is booked before its answer is used."""
        return self._guarded(RecordingChatModel(self.model, self._store.record_call, self._clock))

    def recorded_aside(self, chat: ChatModel) -> ChatModel:
        """Every call is booked while its answer is already used."""
        record = self._store.record_call
        return self._guarded(RecordingChatModel(chat, record, self._clock, waits=False))

    def _guarded(self, chat: ChatModel) -> ChatModel:
        guarded = chat if self._circuits is None else GuardedChatModel(chat, self._circuits)
        return with_fall_backs(guarded, self._spec)


def _setup(
    loaded: LoadedDesk,
    database: Database,
    store: DeskStore,
    around: Surroundings,
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
        tickets=around.tickets,
        servers=around.servers,
        events=events,
        before_rest=around.trust.rested,
        at_rest=around.at_rest,
    )
