"""The graph behind every desk: tools, gate, stages and the worker that carries runs through.

A desk at work and a lane of the sandbox are assembled here alike; what differs is in `DeskSetup`.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from deskhand.adapters.stores.chats import SqlChats
from deskhand.agents.agent import Agent
from deskhand.agents.eligible_intents import EligibleIntents
from deskhand.agents.follow_ups import FollowUps
from deskhand.agents.parts import Parts
from deskhand.agents.profiled import Agents
from deskhand.agents.prompts import PromptRegistry
from deskhand.agents.replying.review_reasons import KnownSender, answered_before, review_reasons_of
from deskhand.agents.replying.sending import Sending
from deskhand.agents.replying.services import dispatch_through, match_through, review_through
from deskhand.agents.retrieval import retrieve_from
from deskhand.agents.slot_answers import DeskTurns, SlotAnswers
from deskhand.agents.turn_words import SlotLabels
from deskhand.agents.unknown_intent import BrainFallback, unknown_intent_through
from deskhand.brain.build import ArticleAsides
from deskhand.brain.desk_intents import text_intent_reader
from deskhand.brain.matter_results import ResultTeller
from deskhand.config.desk import DeskSpec
from deskhand.config.sections.slots import naming_slots
from deskhand.config.uses import offers_tool
from deskhand.engine.adoption import TicketTakeUp
from deskhand.engine.conversation_memory import MemoryLimits, RowMemory
from deskhand.engine.loop import End, Flow
from deskhand.engine.manual_reply import manual_reply_flow
from deskhand.engine.offered_slots import offered_before
from deskhand.engine.screening import Pace, Screen
from deskhand.engine.worker import AtRest, BeforeRest, Recall, Screening, Worker
from deskhand.language.slots import SlotExtractor
from deskhand.model.audited import Kept
from deskhand.model.knowledge import CitedText
from deskhand.model.message import Message
from deskhand.model.run import Run
from deskhand.model.spec import FlowSpec
from deskhand.model.understanding import UNKNOWN_INTENT
from deskhand.ports import Brain, ChatModel, Clock, DeskDatabase, SearchesKnowledge, Sink
from deskhand.routing.intents_registry import IntentsRegistry
from deskhand.tickets.service import Tickets
from deskhand.tools.calendar_tools import CHECK_CALENDAR
from deskhand.tools.call_trial import CallTrial, TrialGate
from deskhand.tools.gate import Gate, StandIn
from deskhand.tools.gate_call import Terms
from deskhand.tools.office import Office
from deskhand.tools.registry import Tool, ToolRegistry
from deskhand.tools.services import ServiceFunction
from deskhand.wiring.channels import DeskChannel, sending_names
from deskhand.wiring.databases import Database, DeskStore
from deskhand.wiring.desks import LoadedDesk
from deskhand.wiring.knowledge import context_sources
from deskhand.wiring.models import embedder
from deskhand.wiring.sending import second_reader
from deskhand.wiring.ticket_work import ticket_placing
from deskhand.wiring.tickets import own_tickets
from deskhand.wiring.tools import desk_terms, tool_registry
from deskhand.wiring.triage import triage_services

if TYPE_CHECKING:
    from deskhand.adapters.mcp import McpServers
    from deskhand.evals.lane import Around


AnyGate = TypeVar("AnyGate", bound=Gate)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeskSetup:
    """What a desk is assembled from."""

    loaded: LoadedDesk
    database: Database
    store: DeskStore
    clock: Clock
    office: Office
    own_tables: DeskDatabase
    outbox: Path
    """The folder where replies leave that no channel carries."""
    effects: Literal["live", "capture"]
    """Whether effects are carried out, or only judged and recorded."""
    prompts: PromptRegistry
    brain: Brain | None
    agent_chat: ChatModel
    """The model that the desk's agents ask."""
    knowledge: SearchesKnowledge
    cited: Callable[[str], Awaitable[Sequence[CitedText]]]
    """The texts of articles that a run used."""
    sending: Sending

    channels: Sequence[DeskChannel] = ()
    tickets: Tickets | None = None
    """None for tickets that lie all in the desk's own database."""
    servers: "McpServers | None" = None
    """The servers that bring tools; None where they must not be asked."""
    terms: Terms | None = None
    """The gate's terms where they were worked out before; None to do it here."""
    stand_in: StandIn | None = None
    """Gives tool results in place of the tools."""
    events: Sink | None = None
    around: "Around | None" = None
    """Wraps the work of every stage."""
    screened: Screening | None = None
    """Asked before the desk's own screen, where more is known than the store can say."""
    before_rest: BeforeRest | None = None
    at_rest: AtRest | None = None


def assemble(setup: DeskSetup) -> Worker:
    """The worker of a desk, with everything behind it."""
    reader = second_reader(setup.loaded.spec, setup.brain)
    setup = replace(setup, sending=replace(setup.sending, second_reader=reader))
    tools = tool_registry(
        setup.loaded,
        setup.store,
        setup.outbox,
        setup.office,
        setup.channels,
        setup.servers,
        SqlChats(setup.database, setup.loaded.spec.name),
    )
    gate = _gate(setup, tools, Gate)
    known_sender = answered_before(setup.store)
    parts = _parts(setup, tools, gate, known_sender)
    spec = setup.loaded.spec
    return Worker(
        setup.store,
        _flows(setup, parts, known_sender),
        setup.clock,
        screen=_screen(setup),
        recall=_recall(setup),
        before_rest=setup.before_rest,
        at_rest=setup.at_rest,
        expiry=spec.reviews.expiry,
        manual_reply=manual_reply_flow(gate, setup.sending, parts),
        answer_within=spec.reviews.answer_within,
        revisable=partial(_follows_instructions, spec),
    )


def _recall(setup: DeskSetup) -> Recall:
    """What runs know of their conversation before their first stage."""
    spec = setup.loaded.spec
    ages = spec.retention.ages()
    kept = [ages[kind] for kind in (Kept.RUNS, Kept.STEPS) if kind in ages]
    age = spec.memory.age(min(kept, default=None))
    limits = MemoryLimits(spec.memory.turns, spec.memory.tokens, age)
    chats = SqlChats(setup.database, spec.name)
    answers = _answers(spec)

    def values_in(text: str, at: datetime) -> dict[str, Any]:
        return {} if answers is None else answers.find(text, sorted(answers.names), at)

    memory = RowMemory(setup.store, limits, chats.people_since, values_in)
    offers = offers_tool(spec, CHECK_CALENDAR)

    async def recall(run: Run, message: Message) -> dict[str, Any]:
        recalled = await memory.recall(run, message)
        if offers:
            recalled |= await offered_before(setup.store, run, message)
        return recalled

    return recall


def _follows_instructions(spec: DeskSpec, stage: str) -> bool:
    """Whether a stage can draft again by a reviewer's words: the embedded brain cannot."""
    if spec.brain.kind != "embedded":
        return True
    specs = (flow.stages.get(stage) for flow in spec.flows.values())
    return any(stage_spec is not None and stage_spec.profile is not None for stage_spec in specs)


def call_trial(setup: DeskSetup) -> CallTrial:
    """Where calls are tried: before a gate like the desk's own, which carries nothing out."""
    tried = replace(setup, effects="live", own_tables=setup.own_tables.rehearsal())

    def make() -> tuple[TrialGate, Sequence[Tool]]:
        tools = tool_registry(
            setup.loaded, setup.store, setup.outbox, setup.office, servers=setup.servers
        )
        return _gate(tried, tools, TrialGate), tuple(tools)

    return CallTrial(make, setup.clock.now)


def _gate(setup: DeskSetup, tools: ToolRegistry, kind: type[AnyGate]) -> AnyGate:
    loaded, office = setup.loaded, setup.office
    own_resolvers = loaded.code.resolvers
    return kind(
        tools,
        setup.store,
        desk=loaded.spec.name,
        mode=setup.effects,
        terms=setup.terms or desk_terms(loaded, tools),
        resolvers=(*own_resolvers, *office.resolvers(beside=own_resolvers)),
        now=setup.clock.now,
        record_event=setup.store.record_event,
        stand_in=setup.stand_in,
        cited=setup.cited,
        database=setup.own_tables,
        acquainted=office.acquainted,
    )


def _parts(setup: DeskSetup, tools: ToolRegistry, gate: Gate, known_sender: KnownSender) -> Parts:
    spec = setup.loaded.spec
    sources = context_sources(setup.database, setup.store, setup.knowledge, setup.office)
    store, contacts = setup.store, setup.office.contacts
    tickets = setup.tickets or own_tickets(setup.database, store.desk, spec, setup.clock.now)
    services: dict[str, ServiceFunction] = {
        "match_ticket": match_through(
            ticket_placing(spec, setup.brain, tickets, store, contacts),
            TicketTakeUp(store, tickets),
        ),
        "retrieve": retrieve_from(sources),
        "review": review_through(gate, known_sender),
        "dispatch": dispatch_through(gate, setup.sending),
        **triage_services(setup.loaded.spec, setup.brain, tickets, contacts, setup.knowledge),
        UNKNOWN_INTENT: unknown_intent_through(
            _fallback(setup.brain), follow_ups=_follow_ups(spec)
        ),
        **setup.loaded.code.services,
    }
    agents = Agents(
        spec.profiles,
        setup.agent_chat,
        tuple(tools),
        spec.models,
        spec.default_model,
        streams=getattr(setup.events, "streams", False),
        time_zone=spec.time_zone,
    )
    return Parts(
        setup.brain,
        gate,
        setup.prompts,
        services,
        setup.events,
        setup.sending,
        agents,
        cache(tools.specs),
        _answers(spec),
        _turns(spec),
        ArticleAsides(spec, setup.knowledge, embedder),
        _intents(spec, setup.office),
        _labels(spec),
        {name: plan.failure_questions for name, plan in spec.plans.items()},
        ResultTeller(spec.plans, spec.languages).tell,
    )


def _fallback(brain: Brain | None) -> BrainFallback | None:
    """Words for messages that fit no intent; the fixed ones where there is no brain to ask."""
    return None if brain is None else BrainFallback(brain)


def _turns(spec: DeskSpec) -> DeskTurns | None:
    """Tells what customers' turns do; None for a desk whose plans ask for nothing."""
    if not any(plan.needs for plan in spec.plans.values()):
        return None
    from deskhand.language.turns import TurnReader

    slots = {name: (*plan.needs, *plan.wants) for name, plan in spec.plans.items()}
    reader = TurnReader(
        spec.slots,
        matter_of=text_intent_reader(spec),
        slots_of=lambda matter: slots.get(matter, ()),
        time_zone=spec.calendar.zone,
    )
    return DeskTurns(reader, slots)


def _follow_ups(spec: DeskSpec) -> FollowUps | None:
    """What messages are held against that follow a matter; None where no plan asks for anything."""
    turns = _turns(spec)
    return None if turns is None else FollowUps(turns, spec.plans, naming_slots(spec.slots))


def _labels(spec: DeskSpec) -> SlotLabels:
    """What customers read as the names of slots."""
    labels: dict[str, Mapping[str, str]] = {}
    for plan in spec.plans.values():
        labels |= plan.labels
    return labels


def _intents(spec: DeskSpec, office: Office) -> EligibleIntents | None:
    """Says which intents count for whom; None for a desk without any."""
    registry = IntentsRegistry.of(spec)
    return EligibleIntents(registry, office.acquainted) if registry else None


def _answers(spec: DeskSpec) -> SlotAnswers | None:
    """Reads customers' answers by the desk's slots; None for a desk that has none."""
    if not spec.slots:
        return None
    typed_slots = frozenset(name for name, slot in spec.slots.items() if slot.type != "text")
    return SlotAnswers(SlotExtractor(spec.slots), typed_slots, spec.calendar.zone)


def _flows(setup: DeskSetup, parts: Parts, known_sender: KnownSender) -> Mapping[str, Flow]:
    return {
        name: _flow(setup, spec, parts, known_sender)
        for name, spec in setup.loaded.spec.flows.items()
    }


def _flow(setup: DeskSetup, flow: FlowSpec, parts: Parts, known_sender: KnownSender) -> Flow:
    code = setup.loaded.code
    if parts.sending is not None:
        # what the flow's review stage asks holds for replies of agents and plans as well
        reasons = review_reasons_of(flow.stages.values(), known_sender)
        parts = replace(parts, sending=replace(parts.sending, review_reasons=reasons))
    stages = {}
    for name, spec in flow.stages.items():
        agent = Agent(
            spec,
            parts,
            pre_process=code.before.get(name),
            post_process=code.after.get(name),
        )
        stages[name] = agent.process if setup.around is None else setup.around(name, agent.process)
    return Flow(flow, stages, away=setup.loaded.spec.model_away)


def _screen(setup: DeskSetup) -> Screening:
    spec = setup.loaded.spec
    pace = Pace(sending_names(spec), spec.limits.replies_per_hour)
    screen = Screen(setup.store, setup.clock, spec.own_addresses, pace, spec.mail.forwarders)
    screened = setup.screened
    if screened is None:
        return screen

    async def ask_both(message: Message) -> End | None:
        return await screened(message) or await screen(message)

    return ask_both
