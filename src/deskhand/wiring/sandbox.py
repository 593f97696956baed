"""A desk on a throw-away database, to try messages on."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from functools import partial
from itertools import count

from deskhand.adapters.chat_models.recording import RecordingChatModel
from deskhand.adapters.stores.sqlite import SqliteStore
from deskhand.adapters.stores.sqlite_backend import SqliteBackend
from deskhand.agents.prompts import PromptRegistry
from deskhand.agents.replying.sending import Sending
from deskhand.brain.build import agent_chat, build_brain, prepare
from deskhand.brain.llm import LlmBrain
from deskhand.config.without_model import require_models
from deskhand.engine.clock import SystemClock
from deskhand.engine.worker import Screening
from deskhand.errors import ConfigError
from deskhand.evals.lane import (
    Around,
    EarnedModes,
    Lane,
    SandboxKnowledge,
    SentLately,
    recorded_mode,
)
from deskhand.evals.sealed import ThroughTheSeal
from deskhand.model.ids import new_id
from deskhand.policy.rule_policy import RulePolicy
from deskhand.ports import Brain, ChatModel, Clock
from deskhand.tools.gate import StandIn
from deskhand.trust.standing import first_mode
from deskhand.wiring.assembly import DeskSetup, assemble
from deskhand.wiring.databases import scratch_database
from deskhand.wiring.desks import LoadedDesk
from deskhand.wiring.knowledge import index_articles, open_knowledge
from deskhand.wiring.models import embedder, open_chat, with_fall_backs, without_models
from deskhand.wiring.office import desk_office
from deskhand.wiring.routing import flow_of, routed_as_said
from deskhand.wiring.sending import HOUR, reply_sending, sent_within_the_hour
from deskhand.wiring.tickets import own_tickets
from deskhand.wiring.tools import desk_terms, tool_registry


class Sandbox:
    """A desk whose messages are worked as ever, while effects are captured and nothing leaves."""

    def __init__(
        self,
        loaded: LoadedDesk,
        database: SqliteBackend,
        store: SqliteStore,
        brain: Brain | None,
        chat: ChatModel,
        knowledge: SandboxKnowledge,
    ) -> None:
        self.spec = loaded.spec
        self.store = store
        self._loaded = loaded
        self._database = database
        self._brain = brain
        self._chat = chat
        self._knowledge = knowledge
        self._outbox = database.path.with_name("outbox")
        office = desk_office(loaded.spec, database, store, SystemClock(), sealed=True)
        self._terms = desk_terms(loaded, tool_registry(loaded, store, self._outbox, office))
        self._prompts = PromptRegistry(loaded.spec.prompts)
        self._routed = routed_as_said(loaded)
        self.own_tables = database.own_tables(loaded.spec.name)
        self._numbers = count(1)

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
        mode: str | None = None,
    ) -> Lane:
        """A place to work one conversation, with a time, tool results and run ids of its own.

        Its agents ask `chat` in place of the sandbox's model. `mode` stands in for all modes that
        desk.yaml names.
        """
        alone = f"{self.spec.name}#{next(self._numbers)}"  # time and totals are each lane's own
        store = self._database.store(alone, now=clock.now, ids=ids)
        tickets = own_tickets(self._database, alone, self.spec, clock.now)
        worker = assemble(
            DeskSetup(
                loaded=self._loaded,
                database=self._database,
                store=store,
                clock=clock,
                office=desk_office(self.spec, self._database, store, clock, sealed=True),
                own_tables=self.own_tables,
                outbox=self._outbox,
                effects="capture",
                prompts=self._prompts,
                brain=self._brain,
                agent_chat=chat or self._chat,
                knowledge=self._knowledge,
                cited=self._knowledge.texts,
                sending=self._sending(store, clock, sent_lately, earned, mode),
                tickets=tickets,
                terms=self._terms,
                stand_in=stand_in,
                around=around,
                screened=screened,
            )
        )
        return Lane(store, worker, flow_of(self.spec), self._routed, tickets)

    def _sending(
        self,
        store: SqliteStore,
        clock: Clock,
        sent_lately: SentLately | None,
        earned: EarnedModes | None,
        mode: str | None,
    ) -> Sending:
        """What sends replies, by desk.yaml and by what the caller knows of earlier replies and
        modes."""
        counted = sent_within_the_hour(store, clock)
        if sent_lately is not None:
            counted = _counted_by(sent_lately, clock)
        if earned is None or self.spec.trust is None:
            first = partial(self._first_mode, mode)
            return reply_sending(self.spec, mode_for=first, sent_lately=counted)
        mode_for = partial(recorded_mode, self.spec, earned)
        sending = reply_sending(self.spec, mode_for=mode_for, sent_lately=counted)
        return replace(sending, spot_checks=earned)

    async def _first_mode(self, said: str | None, category: str | None) -> str:
        """The mode that the caller said, else what desk.yaml gives a category at first."""
        return said or first_mode(self.spec.trust, self.spec.mode_for(category))


def _counted_by(sent_lately: SentLately, clock: Clock) -> Callable[[str, str], Awaitable[int]]:
    """The caller's count in place of the store's, which knows the sandbox's own runs alone."""

    async def counted(conversation: str, run_id: str) -> int:
        return sent_lately(run_id, clock.now() - HOUR)

    return counted


@asynccontextmanager
async def open_sandbox(
    loaded: LoadedDesk,
    *,
    chat: Callable[[ChatModel], ChatModel] | None = None,
    rest: float | None = None,
    indexing: Callable[[int, int], None] | None = None,
    agents_ask: bool = True,
) -> AsyncIterator[Sandbox]:
    """A desk to try messages on, its articles indexed anew; `chat` wraps the desk's own models.

    Unless its `agents_ask`, what they say is brought along and they need no model.
    """
    spec, clock = loaded.spec, SystemClock()
    if chat is None and agents_ask:
        require_models(spec, without_models(spec))
    async with AsyncExitStack() as closing:
        database = await closing.enter_async_context(scratch_database())
        own_chat = open_chat(spec)
        closing.push_async_callback(own_chat.aclose)
        asked: ChatModel = ThroughTheSeal(own_chat)
        if chat is not None:
            asked = chat(asked)
        store = database.store(spec.name)

        def recorded(model: ChatModel) -> ChatModel:
            return with_fall_backs(RecordingChatModel(model, store.record_call, clock), spec)

        knowledge = SandboxKnowledge(open_knowledge(database, spec.name))
        brain = build_brain(spec, recorded(asked), clock, knowledge, embedder, rest=rest)
        agents = agent_chat(spec, asked, recorded)
        await prepare(brain)
        await index_articles(database, spec, indexing)
        yield Sandbox(loaded, database, store, brain, agents, knowledge)


@asynccontextmanager
async def judging_brain(loaded: LoadedDesk, name: str | None) -> AsyncIterator[Brain | None]:
    """A model that judges replies, by its name (`provider/model`) or its role on the desk.

    None when no model is named.
    """
    if name is None:
        yield None
        return
    model = loaded.spec.models.get(name, name)
    if "/" not in model:
        roles = ", ".join(loaded.spec.models) or "none"
        raise ConfigError(
            f"there is no model {name!r}",
            fix=f"write provider/model, or a role of the desk: {roles}",
        )
    chat = open_chat(loaded.spec)
    try:
        yield LlmBrain(ThroughTheSeal(chat), {}, model, name="judge")
    finally:
        await chat.aclose()
