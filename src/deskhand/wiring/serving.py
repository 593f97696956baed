"""A desk at work."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from deskhand.adapters.chat_models.openai import OpenAIChatModel
from deskhand.adapters.chat_models.providers import provider_table
from deskhand.adapters.chat_models.rate_limit import RatedChatModel, SharedRate
from deskhand.adapters.chat_models.recording import RecordingChatModel
from deskhand.adapters.chat_models.spending_cap import CappedChatModel
from deskhand.adapters.stores.sqlite import SqliteStore
from deskhand.agents.profiled import Agents
from deskhand.agents.prompts import PromptRegistry
from deskhand.brain.build import agent_chat, build_brain, prepare
from deskhand.config.desk import DeskSpec
from deskhand.config.without_model import require_models
from deskhand.engine.bookings import BookingKeeper
from deskhand.engine.channel_runner import ChannelRunner
from deskhand.engine.clock import SystemClock
from deskhand.engine.dispatcher import InProcessDispatcher, Limits
from deskhand.engine.housekeeping import Housekeeper
from deskhand.engine.learner import Learner
from deskhand.engine.manual_reply import manual_reply_flow
from deskhand.engine.trust_modes import Trust
from deskhand.engine.worker import AtRest, Worker
from deskhand.knowledge.search import KnowledgeBase
from deskhand.model.run import RunStatus
from deskhand.ports import (
    ChatModel,
    Sink,
)
from deskhand.wiring.assembly import (
    answered_before,
    desk_flows,
    desk_worker,
    reply_sending,
    stage_parts,
)
from deskhand.wiring.channels import desk_channels, review_notifier
from deskhand.wiring.databases import (
    Database,
    DeskStore,
    channel_store,
    exchanges_of,
    open_store,
    own_database,
    trust_store,
)
from deskhand.wiring.desks import LoadedDesk
from deskhand.wiring.knowledge import context_sources, index_articles, open_knowledge, remembers
from deskhand.wiring.models import embedder, own_providers, spent_today, without_models
from deskhand.wiring.office import desk_office
from deskhand.wiring.routing import flow_of, mail_intake, routed_by
from deskhand.wiring.tools import desk_gate, mcp_servers, tool_registry

if TYPE_CHECKING:
    from deskhand.adapters.dispatch.dbos_dispatcher import DbosDispatcher
    from deskhand.adapters.dispatch.worker_process import WorkerProcess

DeskDispatcher: TypeAlias = "InProcessDispatcher | DbosDispatcher"


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
    channels: tuple[ChannelRunner, ...] = ()
    """Those this process reads, or would read; empty where nobody asked to listen."""


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
) -> AsyncIterator[Desk]:
    """A desk that takes messages; on leaving, what runs comes to rest or is handed back.

    Not `live` means that effects are captured: judged and recorded, not carried out. With a
    `worker_process` the desk is one of those that many workers serve together. `rates` are calls
    a minute by model, counted over all of them. To `listen` is to read the desk's channels too.
    """
    spec, clock = loaded.spec, SystemClock()
    require_models(spec, without_models(spec))
    store = open_store(database, spec.name, worker_process.worker_id if worker_process else owner)
    chat = OpenAIChatModel(provider_table(own_providers(spec)))
    model: ChatModel = RatedChatModel(chat, SharedRate(database, rates)) if rates else chat
    if spec.safeguards.model_spend is not None:
        model = CappedChatModel(
            model, partial(spent_today, store, spec, clock), spec.safeguards.model_spend
        )
    channels = desk_channels(spec, database, store)
    knowledge = open_knowledge(database, spec.name)
    office = replace(desk_office(spec, database, store, clock), rehearses=not live)
    servers = mcp_servers(spec)
    registry, cited = (
        tool_registry(loaded, store, outbox, office, channels, servers),
        knowledge.store.texts_used,
    )
    own = own_database(database, spec.name)
    gate = desk_gate(
        loaded, store, registry, office, own, "live" if live else "capture", cited=cited
    )
    brain = build_brain(
        spec, RecordingChatModel(model, store.record_call, clock), clock, knowledge, embedder
    )
    agents = Agents(
        spec.profiles,
        agent_chat(
            spec,
            model,
            lambda asked: RecordingChatModel(asked, store.record_call, clock, waits=False),
        ),
        tuple(registry),
        spec.models,
        spec.default_model,
        streams=getattr(events, "streams", False),
    )
    trust = open_trust(spec, database)
    bookings = BookingKeeper(office.calendar, store, clock)
    sending = replace(
        reply_sending(spec, store, clock),
        mode_for=trust.mode_for,
        spot_checks=trust,
        confirm_times=bookings.confirm,
    )
    known = answered_before(store)
    sources = context_sources(database, store, knowledge, office)
    parts = stage_parts(
        loaded, gate, brain, PromptRegistry(spec.prompts), events, sending, agents, sources, known
    )
    learner = (
        Learner(store, exchanges_of(database, spec.name), embedder) if remembers(spec) else None
    )
    rested = (bookings.at_rest, *([learner.at_rest] if learner else []))
    worker = desk_worker(
        spec,
        store,
        desk_flows(loaded, parts, known),
        clock,
        before_rest=trust.rested,
        at_rest=_each(rested),
        answering=manual_reply_flow(gate, sending, parts),
    )
    limits = Limits(
        in_flight=in_flight or spec.limits.max_in_flight, backlog=spec.limits.max_backlog
    )
    dispatcher = _dispatcher(loaded, store, worker, limits, worker_process)
    keepers = [
        ChannelRunner(
            channel,
            channel_store(database, spec.name, channel.name, store.owner),
            mail_intake(spec, store, dispatcher.submit),
            clock,
        )
        for channel in channels
        if listen
    ]
    notifier = review_notifier(spec, database, store, channels, outbox, clock)
    housekeeper = Housekeeper(
        store,
        responses_days=spec.limits.keep_responses_days,
        totals_days=spec.limits.keep_totals_days,
    )
    try:
        await prepare(brain)
        await index_articles(database, spec)
        await dispatcher.start()
        if learner is not None and live:
            learner.start()
        if live:
            bookings.start()
            housekeeper.start()
        for keeper in keepers:
            keeper.start()
        if listen:
            notifier.start()
        yield Desk(spec, store, dispatcher, worker, live, knowledge, trust, tuple(keepers))
    finally:
        await notifier.stop()
        for keeper in keepers:
            await keeper.stop()
        await dispatcher.stop(grace=grace)
        await bookings.stop()
        await housekeeper.stop()
        if learner is not None:
            await learner.stop()
        for channel in channels:
            await channel.close()
        if servers is not None:
            await servers.close()
        await office.calendar.close()
        await chat.aclose()


def _each(told: Sequence[AtRest]) -> AtRest:
    def at_rest(run_id: str, status: RunStatus) -> None:
        for one in told:
            one(run_id, status)

    return at_rest


def _dispatcher(
    loaded: LoadedDesk,
    store: DeskStore,
    worker: Worker,
    limits: Limits,
    worker_process: "WorkerProcess | None",
) -> DeskDispatcher:
    spec, routed = loaded.spec, routed_by(loaded)
    if worker_process is None:
        return InProcessDispatcher(
            store, worker.work, flow_of(spec), SystemClock(), limits, routed=routed
        )
    from deskhand.adapters.dispatch.dbos_dispatcher import DbosDispatcher

    assert not isinstance(store, SqliteStore)
    versions = {name: flow.version for name, flow in spec.flows.items()}
    return DbosDispatcher(
        worker_process, store, worker.work, flow_of(spec), versions, routed=routed
    )


def open_trust(spec: DeskSpec, database: Database) -> Trust:
    """A desk's modes as they are in force in this database."""
    return Trust(spec, trust_store(database, spec.name), SystemClock())
