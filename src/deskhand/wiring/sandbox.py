"""A desk on a throw-away database, to try messages on."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

from deskhand.adapters.chat_models.openai import OpenAIChatModel
from deskhand.adapters.chat_models.providers import provider_table
from deskhand.adapters.chat_models.recording import RecordingChatModel
from deskhand.adapters.stores.sqlite import SqliteStore
from deskhand.adapters.stores.sqlite_database import SqliteDatabase
from deskhand.agents.profiled import Agents
from deskhand.agents.prompts import PromptRegistry
from deskhand.brain.build import agent_chat, build_brain, prepare
from deskhand.brain.llm import LlmBrain
from deskhand.config.without_model import require_models
from deskhand.engine.clock import SystemClock
from deskhand.engine.manual_reply import manual_reply_flow
from deskhand.engine.worker import Screening
from deskhand.errors import ConfigError
from deskhand.evals.lane import Around, EarnedModes, Lane, SandboxKnowledge, SentLately
from deskhand.evals.sealed import ThroughTheSeal
from deskhand.model.ids import new_id
from deskhand.policy.rule_policy import RulePolicy
from deskhand.ports import (
    Brain,
    ChatModel,
    Clock,
)
from deskhand.tools.gate import StandIn
from deskhand.wiring.assembly import (
    answered_before,
    desk_flows,
    desk_worker,
    mode_as_recorded,
    reply_sending,
    stage_parts,
)
from deskhand.wiring.databases import open_database, own_database
from deskhand.wiring.desks import LoadedDesk
from deskhand.wiring.knowledge import context_sources, index_articles, open_knowledge
from deskhand.wiring.models import embedder, own_providers, without_models
from deskhand.wiring.office import desk_office
from deskhand.wiring.routing import flow_of, routed_as_said
from deskhand.wiring.tools import desk_gate, desk_terms, tool_registry


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
        knowledge: SandboxKnowledge,
    ) -> None:
        self.spec, self.store = loaded.spec, store
        self._chat, self._knowledge = chat, knowledge
        self._loaded, self._database, self._brain, self._outbox = loaded, database, brain, outbox
        office = desk_office(loaded.spec, database, store, SystemClock(), sealed=True)
        self._terms = desk_terms(loaded, tool_registry(loaded, store, outbox, office))
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
        registry = tool_registry(self._loaded, store, self._outbox, office)
        cited = self._knowledge.texts
        gate = desk_gate(
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
        sending = reply_sending(spec, store, clock, sent_lately)
        if earned is not None and spec.trust is not None:
            sending = replace(
                sending, mode_for=partial(mode_as_recorded, spec, earned), spot_checks=earned
            )
        agents = Agents(
            spec.profiles, chat or self._chat, tuple(registry), spec.models, spec.default_model
        )
        sources = context_sources(self._database, store, self._knowledge, office)
        known = answered_before(store)
        parts = stage_parts(
            self._loaded,
            gate,
            self._brain,
            self._prompts,
            sending=sending,
            agents=agents,
            sources=sources,
            known=known,
        )
        flows = desk_flows(self._loaded, parts, known)
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
            desk_worker(spec, store, flows, clock, screened, answering=answering),
            flow_of(spec),
            self._routed,
        )


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
    chat = OpenAIChatModel(provider_table(own_providers(loaded.spec)))
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
    own = OpenAIChatModel(provider_table(own_providers(spec)))
    with TemporaryDirectory(prefix="deskhand-") as scratch:
        async with open_database(str(Path(scratch) / "sandbox.db")) as database:
            assert isinstance(database, SqliteDatabase)
            store = SqliteStore(database, spec.name)
            knowledge = SandboxKnowledge(open_knowledge(database, spec.name))
            asked = ThroughTheSeal(own) if chat is None else chat(ThroughTheSeal(own))
            recording = RecordingChatModel(asked, store.record_call, clock)
            brain = build_brain(spec, recording, clock, knowledge, embedder, rest=rest)
            agents = agent_chat(
                spec, asked, lambda one: RecordingChatModel(one, store.record_call, clock)
            )
            try:
                await prepare(brain)
                await index_articles(database, spec, indexing)
                yield Sandbox(
                    loaded, database, brain, Path(scratch) / "outbox", store, agents, knowledge
                )
            finally:
                await own.aclose()
