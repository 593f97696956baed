"""The composition root: the only file that knows which adapter stands behind which port."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache, partial
from importlib.resources import files
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias
from zoneinfo import ZoneInfo

from deskhand.adapters.channels.folder_outbox import FolderOutbox
from deskhand.adapters.channels.outgoing_mail import OutgoingMail
from deskhand.adapters.channels.routed_outbox import RoutedOutbox, SendingChannel
from deskhand.adapters.chat_models.openai import OpenAIChatModel
from deskhand.adapters.chat_models.providers import endpoint_for, provider_table
from deskhand.adapters.chat_models.rate_limit import RatedChatModel, SharedRate
from deskhand.adapters.chat_models.recording import RecordingChatModel
from deskhand.adapters.chat_models.spending_cap import CappedChatModel
from deskhand.adapters.stores.channels import SqlChannelStore
from deskhand.adapters.stores.desks import desk_names
from deskhand.adapters.stores.exchanges import SqlExchanges
from deskhand.adapters.stores.keys import SqlKeyStore
from deskhand.adapters.stores.sqlite import SqliteStore
from deskhand.adapters.stores.sqlite_database import SqliteDatabase
from deskhand.adapters.stores.trust import SqlTrustStore
from deskhand.adapters.stores.users import SqlUserStore
from deskhand.agents.agent import Agent, Parts
from deskhand.agents.office_sources import calendar_source, contact_source
from deskhand.agents.profiled import Agents
from deskhand.agents.prompts import PromptRegistry
from deskhand.agents.reasons import KnownSender, reasons_in
from deskhand.agents.remembering import (
    conversation_source,
    knowledge_source,
    own_source,
    similar_source,
)
from deskhand.agents.retrieval import Source, retrieve_from
from deskhand.agents.sending import Sending
from deskhand.agents.services import BUILT_IN, dispatch_through, review_through
from deskhand.brain.build import agent_chat, build_brain, prepare, unusable_profiles
from deskhand.brain.llm import LlmBrain
from deskhand.config.desk import DeskSpec, load_desk
from deskhand.config.sections.mcp import McpServerSpec, McpToolSpec, Pin
from deskhand.config.sections.profiles import require_models, stand_ins
from deskhand.config.suggestions import did_you_mean
from deskhand.config.yaml import read_yaml
from deskhand.engine.bookings import BookingKeeper
from deskhand.engine.channel_runner import ChannelRunner
from deskhand.engine.clock import SystemClock
from deskhand.engine.dispatcher import InProcessDispatcher, Limits
from deskhand.engine.housekeeping import Housekeeper
from deskhand.engine.learner import Learner
from deskhand.engine.loop import End, Flow
from deskhand.engine.manual_reply import manual_reply_flow
from deskhand.engine.notifier import Digest, Hook, Notifier
from deskhand.engine.offered_slots import offered_before
from deskhand.engine.screening import Pace, Screen
from deskhand.engine.trust_modes import Trust
from deskhand.engine.worker import AtRest, BeforeRest, Screening, Worker
from deskhand.errors import ConfigError, DeskhandError, ToolError
from deskhand.evals.cited import CitedHere
from deskhand.evals.lane import Around, EarnedModes, Lane, SentLately
from deskhand.evals.sealed import ThroughTheSeal
from deskhand.knowledge.search import KnowledgeBase
from deskhand.mail.authentication import MailTrust, principal_of
from deskhand.mail.automatic import automatic
from deskhand.mail.preprocess import UNCHANGED, prepared_by
from deskhand.mail.reply import visible_reply
from deskhand.mail.threads import placed
from deskhand.model.envelope import Envelope
from deskhand.model.ids import new_id
from deskhand.model.message import CREATE_DRAFT, Message, Reply
from deskhand.model.principal import PrincipalKind
from deskhand.model.run import Accepted, RunStatus
from deskhand.model.spec import FlowSpec
from deskhand.policy.rules import RulePolicy
from deskhand.ports import (
    Brain,
    Calendar,
    ChatModel,
    Clock,
    Contacts,
    DeskDatabase,
    Embeds,
    KnowledgeStore,
    SearchesKnowledge,
    Sink,
)
from deskhand.routing.rules import Router
from deskhand.tools.built_in import MAY_BE_ABSENT, built_in_shapes, built_in_tools
from deskhand.tools.calendar_tools import CHECK_CALENDAR
from deskhand.tools.delivery import DELIVER, delivery_tool, draft_tool
from deskhand.tools.desk_code import DeskCode, load_tools
from deskhand.tools.gate import Gate, StandIn
from deskhand.tools.gate_call import Terms
from deskhand.tools.office import OFFICE_SHAPES, Office
from deskhand.tools.pinned import pinned_tool
from deskhand.tools.registry import Tool, ToolRegistry
from deskhand.tools.services import ServiceFunction
from deskhand.tools.shapes import shape_of
from deskhand.tools.terms import always_asked, own_questions, terms_of
from deskhand.trust.standing import lower_of

if TYPE_CHECKING:
    from deskhand.adapters.channels.files_channel import FilesChannel
    from deskhand.adapters.channels.gmail_channel import GmailChannel
    from deskhand.adapters.channels.mail_channel import MailChannel as MailChannel
    from deskhand.adapters.mcp import McpServers
    from deskhand.brain.embedded_desk import Intents

if TYPE_CHECKING:  # the driver takes a tenth of a second to import: only for those who use it
    from deskhand.adapters.dispatch.dbos_dispatcher import DbosDispatcher
    from deskhand.adapters.dispatch.worker_process import WorkerProcess
    from deskhand.adapters.dispatch.worker_registry import WorkerRegistry
    from deskhand.adapters.stores.notices import SqlNoticeStore
    from deskhand.adapters.stores.own_tables import OwnDatabase
    from deskhand.adapters.stores.postgres import PostgresStore
    from deskhand.adapters.stores.postgres_database import PostgresDatabase
    from deskhand.evals.cases import Case
    from deskhand.evals.scorers import Scorer

Database: TypeAlias = "SqliteDatabase | PostgresDatabase"
DeskStore: TypeAlias = "SqliteStore | PostgresStore"
DeskDispatcher: TypeAlias = "InProcessDispatcher | DbosDispatcher"
DeskChannel: TypeAlias = "MailChannel | GmailChannel | FilesChannel"

SHIPPED = Path(str(files("deskhand"))) / "desks"


def find_desk(name: str) -> Path:
    """A desk's folder, from its path or from the name of a shipped desk."""
    folder = Path(name)
    if (folder / "desk.yaml").is_file() or folder.is_dir():
        return folder
    if (SHIPPED / name / "desk.yaml").is_file():
        return SHIPPED / name
    raise ConfigError(
        f"there is no desk {name!r}",
        fix=f"name a folder with a desk.yaml, or one of: {', '.join(shipped_desks())}",
    )


def desk_name(folder: Path) -> str:
    """The name that a desk's desk.yaml gives it, without checking the rest of it."""
    source = read_yaml(folder / "desk.yaml")
    name = source.data.get("desk")
    if not isinstance(name, str):
        raise source.problem(("desk",), "`desk` is missing or not text", "write `desk: my-desk`")
    return name


def shipped_desks() -> list[str]:
    return sorted(entry.parent.name for entry in SHIPPED.glob("*/desk.yaml"))


@dataclass(frozen=True, slots=True)
class LoadedDesk:
    """A desk's configuration together with the code it brings."""

    spec: DeskSpec
    code: DeskCode


def read_desk(name: str, *, policy: Path | None = None) -> LoadedDesk:
    """Read and check a desk as a whole, perhaps with other rules than its own; ConfigErrors
    lists every problem."""
    folder = find_desk(name)
    path = folder / "tools.py"
    code = load_tools(path) if path.is_file() else DeskCode((), {}, {}, {})
    shapes = {
        **OFFICE_SHAPES,
        **built_in_shapes(),
        **{tool.name: shape_of(tool) for tool in code.tools},
    }
    for tool in code.tools:
        if tool.name in built_in_shapes():
            raise tool.place.error(
                f"{tool.name!r} is a tool that every desk has already", fix="rename this one"
            )
    facts = {fact.name: fact.kind for fact in code.message_facts}
    services, own = {*BUILT_IN, *code.services}, tuple(code.preprocessors)
    spec = load_desk(
        folder,
        tools=shapes,
        services=services,
        policy=policy,
        message_facts=facts,
        preprocessors=own,
    )
    return LoadedDesk(_with_stand_ins(spec), code)


def without_models(spec: DeskSpec) -> dict[str, str]:
    """The desk's profiles that have no model to ask, each with the reason."""
    table = provider_table(_providers(spec))

    def reach(model: str) -> None:
        endpoint_for(model, table)

    return unusable_profiles(spec, reach)


def _with_stand_ins(spec: DeskSpec) -> DeskSpec:
    return spec.model_copy(update={"stand_ins": stand_ins(spec, without_models(spec))})


def routed_as_said(loaded: LoadedDesk) -> Callable[[Message, bool | None], Awaitable[Message]]:
    """As `routed_by`, for somebody who may know whether the desk's agents were at work or the
    flows in their place."""
    spec = loaded.spec

    @cache
    def routed(agents: bool | None) -> Callable[[Message], Awaitable[Message]]:
        known = {
            None: spec.stand_ins,
            True: {},
            False: stand_ins(spec, dict.fromkeys(spec.profiles, "")),
        }[agents]
        return routed_by(replace(loaded, spec=spec.model_copy(update={"stand_ins": known})))

    return lambda message, agents: routed(agents)(message)


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


def database_file(url: str) -> Path | None:
    """The file behind a SQLite address or a path; None for a PostgreSQL address."""
    path = url.removeprefix("sqlite:///")
    if path.startswith(("postgresql://", "postgres://")):
        return None
    if "://" in path:
        kind = path.partition("://")[0]
        raise ConfigError(
            f"databases of kind {kind!r} are not known",
            fix="write postgresql://user@host/name, sqlite:///FILE or a path",
        )
    return Path(path)


@asynccontextmanager
async def open_database(url: str) -> AsyncIterator[Database]:
    """`postgresql://...`, `sqlite:///path` or a path; a file is created when it is not there."""
    file = database_file(url)
    database: Database = await (_open_postgres(url) if file is None else SqliteDatabase.open(file))
    try:
        yield database
    finally:
        await database.close()


def user_accounts(database: Database) -> SqlUserStore:
    """The people who may log in to the pages of the desks in this database."""
    return SqlUserStore(database)


def api_keys(database: Database) -> SqlKeyStore:
    """The keys to the API of every desk in this database."""
    return SqlKeyStore(database)


async def desks_in(database: Database) -> list[str]:
    """The desks that have ever taken a message in this database."""
    return await database.read_core(desk_names)


def open_store(database: Database, desk: str, owner: str | None = None) -> DeskStore:
    """A desk's records, to read and to decide on, without serving it."""
    if isinstance(database, SqliteDatabase):
        return SqliteStore(database, desk, owner)
    from deskhand.adapters.stores.postgres import PostgresStore

    return PostgresStore(database, desk, owner)


def knowledge_store(database: Database, desk: str) -> KnowledgeStore:
    """A desk's index of articles; pgvector compares the vectors where the database has it."""
    from deskhand.adapters.stores.knowledge import SqlKnowledgeStore
    from deskhand.adapters.stores.knowledge_pgvector import PgVector
    from deskhand.adapters.stores.knowledge_words import PostgresWords, SqliteWords

    if isinstance(database, SqliteDatabase):
        return SqlKnowledgeStore(database, desk, SqliteWords())
    return SqlKnowledgeStore(database, desk, PostgresWords(), PgVector())


def open_knowledge(database: Database, desk: str) -> KnowledgeBase:
    """A desk's articles, to be searched."""
    return KnowledgeBase(knowledge_store(database, desk), embedder)


def exchanges_of(database: Database, desk: str) -> SqlExchanges:
    """A desk's answered messages."""
    return SqlExchanges(database, desk)


def remembers(spec: DeskSpec) -> bool:
    """Whether some stage of the desk looks for earlier messages, so that answered ones are worth
    keeping."""
    return any(
        stage.service == "retrieve"
        for flow in spec.flows.values()
        for stage in flow.stages.values()
    )


def context_sources(
    database: Database, store: DeskStore, knowledge: SearchesKnowledge, office: Office
) -> list[Source]:
    """Where the service `retrieve` looks, in order of importance."""
    exchanges = exchanges_of(database, store.desk)
    return [
        knowledge_source(knowledge),
        conversation_source(store, exchanges),
        contact_source(office.contacts),
        calendar_source(office.calendar, office.spec, office.now),
        own_source(exchanges),
        similar_source(exchanges, embedder),
    ]


def embedder() -> Embeds:
    """The embedding model that comes with the package."""
    from deskhand.language.embed import shared_embedder

    return shared_embedder()


def embedder_name() -> str:
    """What tells vectors of one model from those of another."""
    from deskhand.language.embed import MAX_TOKENS, MODEL

    return f"{MODEL}/{MAX_TOKENS}"


def own_database(database: Database, desk: str) -> "OwnDatabase":
    """The tables of a desk's own: a file beside a SQLite database, a schema on PostgreSQL; made
    when first used."""
    from deskhand.adapters.stores.own_tables import OwnDatabase, PostgresPlace, SqlitePlace

    if isinstance(database, SqliteDatabase):
        beside = database.path.with_name(f"{database.path.stem}.{desk}{database.path.suffix}")
        return OwnDatabase(SqlitePlace(beside))
    return OwnDatabase(PostgresPlace(database, desk))


class Erased(NamedTuple):
    """What was forgotten of a person: runs, and rows in the desk's own tables."""

    runs: int
    own_rows: int


async def erase_person(database: Database, desk: str, address: str, by: str) -> Erased:
    """The desk's own tables first: what names a person there is known from the engine's, which
    go after them."""
    from deskhand.adapters.stores.erasing import known_as

    names, run_ids = await database.read_core(lambda core: known_as(core, desk, address))
    rows = await own_database(database, desk).erase(names, run_ids)
    return Erased(await open_store(database, desk).erase(address, by), rows)


async def copy_database(
    source: Database, target: Database, progress: Callable[[str, int, int], None]
) -> dict[str, int]:
    """Everything from a SQLite file to an empty PostgreSQL database; rows copied, by table."""
    if not isinstance(source, SqliteDatabase) or isinstance(target, SqliteDatabase):
        raise ConfigError(
            "a copy goes from a SQLite file to PostgreSQL",
            fix="deskhand db copy FILE postgresql://...",
        )
    from deskhand.adapters.stores import copying

    return await copying.copy_database(source, target, progress)


async def _open_postgres(url: str) -> "PostgresDatabase":
    from deskhand.adapters.stores.postgres_database import PostgresDatabase

    return await PostgresDatabase.open(url)


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
    chat = OpenAIChatModel(provider_table(_providers(spec)))
    model: ChatModel = RatedChatModel(chat, SharedRate(database, rates)) if rates else chat
    if spec.safeguards.model_spend is not None:
        model = CappedChatModel(
            model, partial(_spent_today, store, spec, clock), spec.safeguards.model_spend
        )
    channels = desk_channels(spec, database, store)
    knowledge = open_knowledge(database, spec.name)
    office = replace(desk_office(spec, database, store, clock), rehearses=not live)
    servers = mcp_servers(spec)
    registry, cited = (
        _registry(loaded, store, outbox, office, channels, servers),
        knowledge.store.texts_used,
    )
    own = own_database(database, spec.name)
    gate = _gate(loaded, store, registry, office, own, "live" if live else "capture", cited=cited)
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
        _sending(spec, store, clock),
        mode_for=trust.mode_for,
        spot_checks=trust,
        confirm_times=bookings.confirm,
    )
    known = _answered_before(store)
    sources = context_sources(database, store, knowledge, office)
    parts = _parts(
        loaded, gate, brain, PromptRegistry(spec.prompts), events, sending, agents, sources, known
    )
    learner = (
        Learner(store, exchanges_of(database, spec.name), embedder) if remembers(spec) else None
    )
    rested = (bookings.at_rest, *([learner.at_rest] if learner else []))
    worker = _worker(
        spec,
        store,
        _flows(loaded, parts, known),
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
    notifier = _notifier(spec, database, store, channels, outbox, clock)
    housekeeper = Housekeeper(
        store,
        responses_days=spec.limits.keep_responses_days,
        totals_days=spec.limits.keep_totals_days,
    )
    try:
        await prepare(brain)
        await _index_articles(database, spec)
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


def open_contacts(database: Database, desk: str, now: Callable[[], float] = time.time) -> Contacts:
    """The people a desk knows."""
    from deskhand.adapters.stores.contacts import SqlContacts

    return SqlContacts(database, desk, _language, now)


def open_calendar(
    spec: DeskSpec,
    database: Database,
    now: Callable[[], float] = time.time,
    *,
    desk: str | None = None,
    sealed: bool = False,
) -> Calendar:
    """A desk's calendar, wherever it lies; what conversations hold is always in the database, under
    the desk's name.

    `sealed` leaves out what lies on another machine.
    """
    from deskhand.adapters.calendar.database_calendar import DatabaseCalendar

    held, calendar = DatabaseCalendar(database, desk or spec.name, now), spec.calendar
    if calendar.caldav is not None and not sealed:
        from deskhand.adapters.calendar.caldav_calendar import CalDavCalendar
        from deskhand.adapters.calendar.caldav_client import CalDavClient

        return CalDavCalendar(
            held, CalDavClient(calendar.caldav), ZoneInfo(calendar.zone), calendar.title
        )
    if calendar.ics:
        from deskhand.adapters.calendar.ics_calendar import IcsCalendar

        return IcsCalendar(held, calendar.ics, ZoneInfo(calendar.zone))
    return held


@asynccontextmanager
async def looking_at_calendar(spec: DeskSpec, url: str) -> AsyncIterator[Calendar]:
    """A desk's calendar, to look at; a database that is not there yet holds nothing, and looking
    does not make one."""
    file = database_file(url)
    with TemporaryDirectory(prefix="deskhand-") as scratch:
        there = file is None or file.is_file()
        async with open_database(url if there else str(Path(scratch) / "empty.db")) as database:
            calendar = open_calendar(spec, database)
            try:
                yield calendar
            finally:
                await calendar.close()


async def check_calendar(spec: DeskSpec) -> str:
    """What a desk's calendar says when it is tried; nothing is written. Raises what is wrong."""
    with TemporaryDirectory(prefix="deskhand-") as scratch:
        async with looking_at_calendar(spec, str(Path(scratch) / "none.db")) as calendar:
            return await calendar.check()


def desk_office(
    spec: DeskSpec, database: Database, store: DeskStore, clock: Clock, *, sealed: bool = False
) -> Office:
    """What a desk's tools for people and times work with."""
    contacts = open_contacts(database, store.desk, clock.now)
    calendar = open_calendar(spec, database, clock.now, desk=store.desk, sealed=sealed)
    return Office(contacts, calendar, spec.calendar, clock.now, store.message)


def trust_store(database: Database, desk: str) -> SqlTrustStore:
    """What people and customers made of a desk's replies."""
    return SqlTrustStore(database, desk)


def open_trust(spec: DeskSpec, database: Database) -> Trust:
    """A desk's modes as they are in force in this database."""
    return Trust(spec, trust_store(database, spec.name), SystemClock())


def channel_store(database: Database, desk: str, channel: str, owner: str) -> SqlChannelStore:
    """What a channel remembers."""
    return SqlChannelStore(database, desk, channel, owner)


def desk_channels(spec: DeskSpec, database: Database, store: DeskStore) -> "list[DeskChannel]":
    """A desk's channels, not yet connected to anything."""
    from deskhand.adapters.channels.files_channel import FilesChannel
    from deskhand.adapters.channels.gmail_channel import GmailChannel
    from deskhand.adapters.channels.mail_channel import MailChannel

    made: list[DeskChannel] = []
    trust = trust_store(database, spec.name)
    kept = spec.trust is not None or "draft" in (spec.mode, *spec.modes.values())
    drafts = kept or offers(spec, CREATE_DRAFT)
    for name, channel in spec.channels.items():
        memory = channel_store(database, spec.name, name, store.owner)
        limit = spec.limits.max_message_bytes
        if channel.imap is not None:
            made.append(MailChannel(channel, memory, store, trust, max_bytes=limit, drafts=drafts))
        elif channel.gmail is not None:
            made.append(GmailChannel(channel, memory, store, trust, max_bytes=limit))
        else:
            made.append(FilesChannel(channel, memory, max_bytes=limit))
    return made


def offers(spec: DeskSpec, tool: str) -> bool:
    """Whether any stage of the desk may call this tool."""
    return any(
        tool in stage.tools for flow in spec.flows.values() for stage in flow.stages.values()
    )


def mailboxes(spec: DeskSpec, database: Database) -> "list[MailChannel]":
    """A desk's IMAP mailboxes, to look into without reading them for good."""
    from deskhand.adapters.channels.mail_channel import MailChannel

    store = open_store(database, spec.name)
    return [one for one in desk_channels(spec, database, store) if isinstance(one, MailChannel)]


async def hand_in(loaded: LoadedDesk, database: Database, message: Message) -> Accepted:
    """Accept a mail for whichever process serves the desk."""
    spec, store = loaded.spec, open_store(database, loaded.spec.name)
    routed, flow_for = routed_by(loaded), flow_of(spec)

    async def accept(mail: Message) -> Accepted:
        mail = await routed(mail)
        return await store.accept(mail, flow=flow_for(mail))

    return await mail_intake(spec, store, accept)(message)


async def check_channels(spec: DeskSpec) -> dict[str, str | DeskhandError]:
    """What every channel says when it is tried, by name; nothing is read for good, sent or
    remembered."""
    found: dict[str, str | DeskhandError] = {}
    if not spec.channels:
        return found
    with TemporaryDirectory(prefix="deskhand-") as scratch:
        async with open_database(str(Path(scratch) / "check.db")) as database:
            for channel in desk_channels(spec, database, open_store(database, spec.name)):
                try:
                    found[channel.name] = await channel.check()
                except DeskhandError as error:
                    found[channel.name] = error
                finally:
                    await channel.close()
    return found


def _notifier(
    spec: DeskSpec,
    database: Database,
    store: DeskStore,
    channels: "Sequence[DeskChannel]",
    outbox: Path,
    clock: Clock,
) -> Notifier:
    """Tells reviewers what waits, as the desk asks for it; at rest until it is started."""
    from deskhand.adapters.stores.notices import SqlNoticeStore
    from deskhand.adapters.webhooks import Webhook

    wanted = spec.reviews.notify
    folder = FolderOutbox(outbox, sender=f"{spec.name}@localhost")

    async def mail(reply: Reply, key: str) -> object:
        assert wanted.digest is not None
        carrier = _carriers(channels).get(wanted.digest.channel)
        return await (
            folder.send(reply, key)
            if carrier is None
            else carrier.send(OutgoingMail(reply, key, None))
        )

    async def find(key: str) -> object | None:
        assert wanted.digest is not None
        carrier = _carriers(channels).get(wanted.digest.channel)
        return await (folder.find(key) if carrier is None else carrier.find(key))

    hook = None if wanted.webhook is None else Hook(wanted.webhook, Webhook(wanted.webhook).post)
    digest = None if wanted.digest is None else Digest(wanted.digest, mail, find, spec.time_zone)
    return Notifier(store, SqlNoticeStore(database, spec.name, clock.now), clock, hook, digest)


def notices_of(database: Database, desk: str) -> "SqlNoticeStore":
    """Word to a desk's reviewers, for looking at what did not arrive."""
    from deskhand.adapters.stores.notices import SqlNoticeStore

    return SqlNoticeStore(database, desk)


def _carriers(channels: "Sequence[DeskChannel]") -> dict[str, SendingChannel]:
    from deskhand.adapters.channels.files_channel import FilesChannel

    return {channel.name: channel for channel in channels if not isinstance(channel, FilesChannel)}


def _sending(
    spec: DeskSpec, store: DeskStore, clock: Clock, counted: SentLately | None = None
) -> Sending:
    """By desk.yaml alone; `counted` says how many replies left where the store, being a
    sandbox's, cannot know."""
    real = {name for name, channel in spec.channels.items() if channel.really_sends}

    async def sent_lately(conversation: str, run_id: str) -> int:
        if counted is not None:
            return counted(run_id, clock.now() - 3600)
        return await store.replies_since(conversation, DELIVER, clock.now() - 3600, beside=run_id)

    async def mode_for(category: str | None) -> str:
        return _first_mode(spec, category)

    return Sending(
        mode_for=mode_for,
        undo_for=lambda message: (
            spec.undo_seconds if message is not None and message.channel in spec.channels else 0.0
        ),
        by_mail=lambda message: message is not None and message.channel in real,
        sent_lately=sent_lately,
        replies_per_hour=spec.limits.replies_per_hour,
        replies_per_run=spec.limits.replies_per_run,
        always_ask=always_asked(spec),
        own_questions=own_questions(spec),
    )


def _first_mode(spec: DeskSpec, category: str | None) -> str:
    """What a desk does with its replies where nothing is known of how good they are."""
    ceiling = spec.mode_for(category)
    return ceiling if spec.trust is None else lower_of(spec.trust.start, ceiling)


async def _mode_as_recorded(spec: DeskSpec, earned: EarnedModes, category: str | None) -> str:
    """What a replayed reply met; a mode that desk.yaml does not allow any more is not met."""
    return lower_of(earned.mode() or _first_mode(spec, category), spec.mode_for(category))


def _answered_before(store: DeskStore) -> KnownSender:
    async def known(envelope: Envelope) -> bool:
        """A sender whom nobody has proven is known from the same conversation only: its address
        may be borrowed."""
        message, run_id = envelope.message, envelope.run_id
        if message is None:
            return False
        conversation, sender = message.conversation, message.sender.address
        if await store.replies_since(conversation, DELIVER, 0.0, beside=run_id):
            return True
        proven = message.principal.kind is not PrincipalKind.ANONYMOUS
        return proven and await store.replies_to(sender, DELIVER, 0.0, beside=conversation) > 0

    return known


def _screen(spec: DeskSpec, store: DeskStore, clock: Clock) -> Screen:
    sending = [name for name, channel in spec.channels.items() if channel.really_sends]
    return Screen(store, clock, own_addresses(spec), Pace(sending, spec.limits.replies_per_hour))


async def _spent_today(store: DeskStore, spec: DeskSpec, clock: Clock) -> float:
    now = datetime.fromtimestamp(clock.now(), ZoneInfo(spec.time_zone))
    return await store.spent(now.replace(hour=0, minute=0, second=0, microsecond=0).timestamp())


def _worker(
    spec: DeskSpec,
    store: DeskStore,
    flows: Mapping[str, Flow],
    clock: Clock,
    screened: Screening | None = None,
    before_rest: BeforeRest | None = None,
    at_rest: AtRest | None = None,
    answering: Flow | None = None,
) -> Worker:
    """`screened` is asked first, where more is known than the store can say."""
    screen = _screen(spec, store, clock)

    async def ask(message: Message) -> End | None:
        found = None if screened is None else await screened(message)
        return found or await screen(message)

    return Worker(
        store,
        flows,
        clock,
        screen=ask,
        recall=partial(offered_before, store) if _offers_times(flows) else None,
        before_rest=before_rest,
        at_rest=at_rest,
        expiry=spec.reviews.expiry,
        answering=answering,
    )


def _offers_times(flows: Mapping[str, Flow]) -> bool:
    return any(
        CHECK_CALENDAR in stage.tools
        for flow in flows.values()
        for stage in flow.spec.stages.values()
    )


def _registry(
    loaded: LoadedDesk,
    store: DeskStore,
    outbox: Path,
    office: Office,
    channels: "Sequence[DeskChannel]" = (),
    servers: "McpServers | None" = None,
) -> ToolRegistry:
    """The desk's tools, those that servers bring, and our own."""
    spec = loaded.spec
    registry = ToolRegistry(loaded.code.tools, absent=MAY_BE_ABSENT)
    for own in (*_built_in(spec, store), *office.tools(beside=registry.names)):
        registry.register(own)
    for tool in spec.mcp.tools:
        registry.register(pinned_tool(tool, _not_asked if servers is None else servers.ask))
    folder = FolderOutbox(outbox, sender=f"{loaded.spec.name}@localhost")
    routed = RoutedOutbox(_carriers(channels), folder, store.message)
    registry.register(delivery_tool(routed))
    registry.register(draft_tool(routed))
    return registry


def mcp_servers(spec: DeskSpec) -> "McpServers | None":
    """The servers that bring tools; each is started when it is first needed."""
    if not spec.mcp.tools:
        return None
    from deskhand.adapters.mcp import McpServers, require_sdk

    require_sdk()
    return McpServers(spec.mcp)


async def _not_asked(tool: McpToolSpec, arguments: dict[str, Any]) -> dict[str, Any]:
    words = (
        f"where messages are only tried, {tool.server} is not asked; give a result under `given:"
        " {tools: ...}`"
    )
    raise ToolError("not_asked", words, recoverable=False)


def server_tools(loaded: LoadedDesk) -> tuple[Tool, ...]:
    """The tools that servers bring, as they were accepted: to look at, not to be run."""
    return tuple(pinned_tool(tool, _not_asked) for tool in loaded.spec.mcp.tools)


async def described(
    servers: Mapping[str, McpServerSpec],
) -> dict[str, dict[str, Pin] | DeskhandError]:
    """What each server says of its tools now, or why it could not be asked."""
    if not servers:
        return {}
    from deskhand.adapters.mcp import McpServer, require_sdk

    require_sdk()
    found: dict[str, dict[str, Pin] | DeskhandError] = {}
    for name, spec in servers.items():
        server = McpServer(spec, {})
        try:
            found[name] = await server.describe()
        except DeskhandError as error:
            found[name] = error
        finally:
            await server.close()
    return found


def pin_changes(pins: Mapping[str, Pin], found: Mapping[str, Pin]) -> dict[str, str]:
    """What a server says differently from what was accepted, by tool."""
    from deskhand.adapters.mcp import changes

    return changes(pins, found)


def pin_objection(pin: Pin) -> str | None:
    """Why a tool should not be accepted as it is described."""
    from deskhand.adapters.mcp import unacceptable

    return unacceptable(pin)


def _built_in(spec: DeskSpec, store: DeskStore) -> tuple[Tool, ...]:
    per_run, web = spec.limits.replies_per_run, spec.web_search
    if web is None:
        return built_in_tools(store.effects, per_run)
    from deskhand.adapters.web_search import SearxSearch

    return built_in_tools(
        store.effects, per_run, SearxSearch(web.url, web.timeout), web.limit, web.timeout
    )


def _terms(loaded: LoadedDesk, registry: ToolRegistry) -> Terms:
    return terms_of(loaded.spec, registry, loaded.code.message_facts)


def _gate(
    loaded: LoadedDesk,
    store: DeskStore,
    registry: ToolRegistry,
    office: Office,
    database: DeskDatabase,
    mode: Literal["live", "capture"],
    stand_in: StandIn | None = None,
    clock: Clock | None = None,
    terms: Terms | None = None,
    cited: Callable[[str], Awaitable[Sequence[str]]] | None = None,
) -> Gate:
    """The one place a desk's gate is put together, whether it serves customers or a sandbox."""
    return Gate(
        registry,
        store,
        desk=loaded.spec.name,
        mode=mode,
        terms=terms or _terms(loaded, registry),
        resolvers=(*loaded.code.resolvers, *office.resolvers(beside=loaded.code.resolvers)),
        now=(clock or SystemClock()).now,
        record_event=store.record_event,
        stand_in=stand_in,
        cited=cited,
        database=database,
        acquainted=office.acquainted,
    )


def _parts(
    loaded: LoadedDesk,
    gate: Gate,
    brain: Brain | None,
    prompts: PromptRegistry,
    events: Sink | None = None,
    sending: Sending | None = None,
    agents: Agents | None = None,
    sources: Sequence[Source] = (),
    known: KnownSender | None = None,
) -> Parts:
    services: dict[str, ServiceFunction] = {
        "retrieve": retrieve_from(sources),
        "review": review_through(gate, known) if known else review_through(gate),
        "dispatch": dispatch_through(gate, sending),
        **loaded.code.services,
    }
    return Parts(brain, gate, prompts, services, events, sending, agents)


class Sandbox:
    """A desk on a throw-away database: messages are worked as ever, effects are captured and
    nothing leaves."""

    def __init__(
        self,
        loaded: LoadedDesk,
        database: SqliteDatabase,
        brain: Brain | None,
        outbox: Path,
        store: SqliteStore,
        chat: ChatModel,
        knowledge: CitedHere,
    ) -> None:
        self.spec, self.store = loaded.spec, store
        self._chat, self._knowledge = chat, knowledge
        self._loaded, self._database, self._brain, self._outbox = loaded, database, brain, outbox
        office = desk_office(loaded.spec, database, store, SystemClock(), sealed=True)
        self._terms = _terms(loaded, _registry(loaded, store, outbox, office))
        self._prompts, self._routed = PromptRegistry(loaded.spec.prompts), routed_as_said(loaded)
        self._numbers, self._own = count(1), own_database(database, loaded.spec.name)

    @property
    def rules_by_totals(self) -> frozenset[str]:
        """The desk's own rules that go by what else happened that day, not by the call alone."""
        rules = self._terms.policy.rules if isinstance(self._terms.policy, RulePolicy) else ()
        return frozenset(rule.name for rule in rules if rule.goes_by_totals)

    def lane(
        self,
        clock: Clock,
        stand_in: StandIn | None = None,
        *,
        ids: Callable[[str], str] = new_id,
        around: Around | None = None,
        sent_lately: SentLately | None = None,
        screened: Screening | None = None,
        earned: EarnedModes | None = None,
        chat: ChatModel | None = None,
    ) -> Lane:
        """A place to work one conversation, with a time, tool results and run ids of its own;
        `chat` is what its agents ask in place of the sandbox's."""
        spec = self.spec
        own = (  # a desk by itself: time and totals are each lane's own
            f"{spec.name}#{next(self._numbers)}"
        )
        store = SqliteStore(self._database, own, now=clock.now, ids=ids)
        office = desk_office(spec, self._database, store, clock, sealed=True)
        registry = _registry(self._loaded, store, self._outbox, office)
        cited = self._knowledge.texts
        gate = _gate(
            self._loaded,
            store,
            registry,
            office,
            self._own,
            "capture",
            stand_in,
            clock,
            self._terms,
            cited,
        )
        sending = _sending(spec, store, clock, sent_lately)
        if earned is not None and spec.trust is not None:
            sending = replace(
                sending, mode_for=partial(_mode_as_recorded, spec, earned), spot_checks=earned
            )
        agents = Agents(
            spec.profiles, chat or self._chat, tuple(registry), spec.models, spec.default_model
        )
        sources = context_sources(self._database, store, self._knowledge, office)
        known = _answered_before(store)
        parts = _parts(
            self._loaded,
            gate,
            self._brain,
            self._prompts,
            sending=sending,
            agents=agents,
            sources=sources,
            known=known,
        )
        flows = _flows(self._loaded, parts, known)
        if around is not None:
            flows = {
                name: replace(
                    flow, agents={stage: around(stage, work) for stage, work in flow.agents.items()}
                )
                for name, flow in flows.items()
            }
        answering = manual_reply_flow(gate, sending, parts)
        return Lane(
            store,
            _worker(spec, store, flows, clock, screened, answering=answering),
            flow_of(spec),
            self._routed,
        )


def desk_cases(loaded: LoadedDesk) -> "tuple[list[Case], dict[str, Scorer]]":
    """A desk's golden cases and the scorers that its tools.py and evals.py bring."""
    from deskhand.evals.cases import Desk as CaseDesk
    from deskhand.evals.cases import load_cases
    from deskhand.evals.scorers import scorers_in

    own = loaded.spec.folder / "evals.py"
    declared = load_tools(own).declared if own.is_file() else ()
    scorers = scorers_in((*loaded.code.declared, *declared))
    brought = [tool.name for tool in (*loaded.code.tools, *server_tools(loaded))]
    tools = frozenset((*OFFICE_SHAPES, *built_in_shapes(), *brought))
    return load_cases(CaseDesk(loaded.spec, tools, frozenset(scorers))), scorers


def with_brain(loaded: LoadedDesk, kind: str | None) -> LoadedDesk:
    """The same desk with another brain; its own where `kind` is None."""
    spec = loaded.spec
    if kind is None or (kind == spec.brain.kind and kind != "embedded"):
        return loaded
    known = ("scripted", "embedded", "llm", "cascade")
    if kind not in known:
        raise ConfigError(
            f"there is no brain {kind!r}", fix=did_you_mean(kind, known, otherwise="leave it out")
        )
    file = spec.folder / "brain.yaml"
    if kind == "scripted" and not file.is_file():
        raise ConfigError(
            "the desk has no rules for a scripted brain",
            file=file,
            fix="write them, or another brain",
        )
    if kind in ("llm", "cascade") and spec.default_model is None:
        raise ConfigError(
            f"desk {spec.name!r} names no model",
            fix="write `models:` in desk.yaml, or another brain",
        )
    changed = {
        "kind": kind,
        "file": file if kind == "scripted" else None,
        "agents": kind != "embedded",
    }
    brain = spec.brain.model_copy(update=changed)
    return replace(loaded, spec=_with_stand_ins(spec.model_copy(update={"brain": brain})))


@asynccontextmanager
async def judging_brain(loaded: LoadedDesk, name: str | None) -> AsyncIterator[Brain | None]:
    """A model that judges replies, by its name (`provider/model`) or its role on the desk; None
    when none is named."""
    if name is None:
        yield None
        return
    model = loaded.spec.models.get(name, name)
    if "/" not in model:
        known = ", ".join(loaded.spec.models) or "none"
        raise ConfigError(
            f"there is no model {name!r}",
            fix=f"write provider/model, or a role of the desk: {known}",
        )
    chat = OpenAIChatModel(provider_table(_providers(loaded.spec)))
    try:
        yield LlmBrain(ThroughTheSeal(chat), {}, model, name="judge")
    finally:
        await chat.aclose()


@asynccontextmanager
async def open_sandbox(
    loaded: LoadedDesk,
    *,
    chat: Callable[[ChatModel], ChatModel] | None = None,
    rest: float | None = None,
    indexing: Callable[[int, int], None] | None = None,
    agents_ask: bool = True,
) -> AsyncIterator[Sandbox]:
    """A desk to try messages on, its articles indexed anew; `chat` is put before the desk's own
    models.

    Unless its `agents_ask`, what they say is brought along and they need no model.
    """
    spec, clock = loaded.spec, SystemClock()
    if chat is None and agents_ask:
        require_models(spec, without_models(spec))
    own = OpenAIChatModel(provider_table(_providers(spec)))
    with TemporaryDirectory(prefix="deskhand-") as scratch:
        async with open_database(str(Path(scratch) / "sandbox.db")) as database:
            assert isinstance(database, SqliteDatabase)
            store = SqliteStore(database, spec.name)
            knowledge = CitedHere(open_knowledge(database, spec.name))
            asked = ThroughTheSeal(own) if chat is None else chat(ThroughTheSeal(own))
            recording = RecordingChatModel(asked, store.record_call, clock)
            brain = build_brain(spec, recording, clock, knowledge, embedder, rest=rest)
            agents = agent_chat(
                spec, asked, lambda one: RecordingChatModel(one, store.record_call, clock)
            )
            try:
                await prepare(brain)
                await _index_articles(database, spec, indexing)
                yield Sandbox(
                    loaded, database, brain, Path(scratch) / "outbox", store, agents, knowledge
                )
            finally:
                await own.aclose()


async def _index_articles(
    database: Database, spec: DeskSpec, told: Callable[[int, int], None] | None = None
) -> None:
    """New and changed ones of the desk's own articles; a scripted brain looks none up."""
    home = spec.folder / "knowledge"
    if spec.brain.kind == "scripted" or not home.is_dir():
        return
    from deskhand.knowledge.ingest import Indexer

    await Indexer(
        knowledge_store(database, spec.name), home, embedder(), embedder_name(), told
    ).add([home])


def flow_of(spec: DeskSpec) -> Callable[[Message], str]:
    return lambda message: message.route.flow if message.route is not None else spec.default_flow


def routed_by(loaded: LoadedDesk) -> Callable[[Message], Awaitable[Message]]:
    """Decides each message's way by the desk's rules, aside from the event loop where that takes
    reading, and has it read by the preprocessor that its rule or its profile names."""
    router, own = desk_router(loaded.spec), loaded.code.preprocessors

    async def routed(message: Message) -> Message:
        decided = (
            await asyncio.to_thread(router.route, message)
            if router.reads
            else router.route(message)
        )
        agent = loaded.spec.profiles.get(decided.profile or "")
        first = decided.preprocess or (agent.preprocess if agent is not None else None)
        message = message.changed(route=decided.changed(preprocess=first), prepared=None)
        return message if first in (None, UNCHANGED) else await prepared_by(message, first, own)

    return routed


def desk_router(spec: DeskSpec) -> Router:
    """The desk's routing rules, ready to decide."""

    @cache
    def intents() -> "Intents | None":
        from deskhand.brain.build import learned_intents
        from deskhand.language.intent_examples import load_intents

        return learned_intents(spec, load_intents(spec.folder))

    def intent(message: Message) -> str | None:
        model = intents()
        text = f"{message.subject}\n{visible_reply(message.body)}".strip()
        return model.predict([text])[0].label if model is not None and text else None

    return Router(
        spec.routing, spec.default_flow, language=_language, intent=intent, stand_ins=spec.stand_ins
    )


def _language(message: Message) -> str | None:
    from deskhand.language.identify import identify

    return identify(visible_reply(message.body) or message.subject).code


def mail_intake(
    spec: DeskSpec, store: DeskStore, submit: Callable[[Message], Awaitable[Accepted]]
) -> Callable[[Message], Awaitable[Accepted]]:
    """What a mailbox hands its mail to: whose it is and which conversation it belongs to are
    settled before a run."""
    trust = mail_trust(spec)

    own = own_addresses(spec)

    async def hand_in(message: Message) -> Accepted:
        principal = principal_of(message, trust)
        mail = await placed(message.model_copy(update={"principal": principal}), store)
        if automatic(mail, own) is not None:
            # beside the conversation: what a program sends must neither answer nor outdate anything
            # there
            mail = mail.model_copy(update={"conversation": f"automatic:{mail.id}"[:1000]})
        return await submit(mail)

    return hand_in


def mail_trust(spec: DeskSpec) -> MailTrust:
    """Whose word about a mail's sender the desk believes."""
    return MailTrust(spec.mail.trusted_servers, spec.mail.forwarders)


def own_addresses(spec: DeskSpec) -> list[str]:
    """The addresses that the desk itself writes from."""
    return [channel.identity.address for channel in spec.channels.values()]


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


def join_workers(
    database: Database,
    loaded: Sequence[LoadedDesk],
    *,
    in_flight: int | None = None,
    everywhere: int | None = None,
    lease: float = 10.0,
) -> "WorkerProcess":
    """This process as a worker of these desks, or with nothing in flight as one that takes
    messages in for them."""
    if isinstance(database, SqliteDatabase):
        raise ConfigError(
            "many workers need PostgreSQL",
            fix="name one with --database postgresql://user@host/name",
        )
    from deskhand.adapters.dispatch.worker_process import WorkerLimits, WorkerProcess

    specs = [one.spec for one in loaded]
    in_flight = min(spec.limits.max_in_flight for spec in specs) if in_flight is None else in_flight
    limits = WorkerLimits(
        in_flight=in_flight if everywhere is None else min(in_flight, everywhere),
        everywhere=everywhere,
        backlog=min(spec.limits.max_backlog for spec in specs),
        lease=lease,
    )
    return WorkerProcess(database, new_id("own"), [spec.name for spec in specs], limits)


def worker_registry(database: Database) -> "WorkerRegistry":
    """Who works the desks of this database."""
    if isinstance(database, SqliteDatabase):
        raise ConfigError(
            "many workers need PostgreSQL",
            fix="name one with --database postgresql://user@host/name",
        )
    from deskhand.adapters.dispatch.worker_registry import WorkerRegistry

    return WorkerRegistry(database, database.name)


def _flows(loaded: LoadedDesk, parts: Parts, known: KnownSender) -> Mapping[str, Flow]:
    code = loaded.code
    return {
        name: Flow(
            flow,
            {
                stage: (
                    Agent(
                        spec,
                        _parts_in(flow, parts, known),
                        pre_process=code.before.get(stage),
                        post_process=code.after.get(stage),
                    ).process
                )
                for stage, spec in flow.stages.items()
            },
        )
        for name, flow in loaded.spec.flows.items()
    }


def _parts_in(flow: FlowSpec, parts: Parts, known: KnownSender) -> Parts:
    """What the flow's review stage asks of replies holds for those that an agent or a plan hands
    in as well."""
    if parts.sending is None:
        return parts
    return replace(
        parts, sending=replace(parts.sending, reasons=reasons_in(flow.stages.values(), known))
    )


def check_model(spec: DeskSpec, name: str) -> str:
    """Where a desk's model would be asked, without asking it; ConfigError or ModelRefused says
    what is missing."""
    return endpoint_for(name, provider_table(_providers(spec))).shown_url


def _providers(spec: DeskSpec) -> dict[str, dict[str, object]]:
    return {
        name: provider.model_dump(exclude_none=True) for name, provider in spec.providers.items()
    }
