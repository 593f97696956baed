"""`AgentRouter`: from what a customer says to an answer, in code, without a desk and a database.

It runs the engine's own loop and stages on rows that it keeps in memory. So plans go on at their
questions, steps have their status, and the events are told by the same reader as a desk's.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Protocol

from deskhand.agent_router.gate import RouterGate
from deskhand.agent_router.memory import InMemoryConversationMemory, MemoryJournal
from deskhand.agents.agent import Agent
from deskhand.agents.eligible_intents import ELIGIBLE, EligibleIntents
from deskhand.agents.parts import Parts
from deskhand.agents.replying.sending import Sending
from deskhand.agents.turn_taking import ReadsTurns
from deskhand.agents.turn_words import SlotLabels
from deskhand.agents.unknown_intent import handed_over_text, unknown_intent_through
from deskhand.config.desk import with_planner
from deskhand.engine.clock import SystemClock
from deskhand.engine.context import RunContext
from deskhand.engine.loop import End, Flow, run_flow
from deskhand.model.envelope import Delta, Envelope, StageResult
from deskhand.model.ids import new_id
from deskhand.model.interaction import AgentResponse, Classification, Interaction, SessionMemory
from deskhand.model.message import Address, Message
from deskhand.model.plan import PLAN
from deskhand.model.principal import ANONYMOUS, Principal, PrincipalKind
from deskhand.model.run import RunStatus
from deskhand.model.spec import AgentSpec, FlowSpec, RoutingRule
from deskhand.model.tasks import OTHER
from deskhand.model.understanding import (
    CATEGORY,
    CONFIDENCE,
    INTENT_ID,
    SLOTS,
    UNKNOWN_INTENT,
    Understanding,
)
from deskhand.ports import Clock, StageContext
from deskhand.ports.agent_router import (
    ConversationMemory,
    FallbackResponder,
    IntentClassifier,
    Planner,
    PolicyEngine,
    ToolExecutor,
)
from deskhand.ports.telemetry import TelemetrySink
from deskhand.routing.intents_registry import IntentContext, IntentsRegistry
from deskhand.telemetry.redaction import Redaction
from deskhand.telemetry.stage_reader import StageReader, ToldMessage
from deskhand.tools.services import ServiceResult

_CLASSIFY, _PLAN, _ACT = "classify", "make_plan", "act"
_FLOW = "agent_router"
_ANY = "any"
"""Which tools there are is the executor's matter, and which may be called the policy's."""
_FAILED = "I could not do that. A colleague has to look at it."


class Intents(Protocol):
    """Says which intents count; `IntentsRegistry` is one."""

    def eligible(self, context: IntentContext) -> list[str]: ...


class AgentRouter:
    """Coordinates swappable parts. One instance serves all sessions."""

    def __init__(
        self,
        intents: Intents,
        classifier: IntentClassifier,
        planner: Planner,
        policy: PolicyEngine,
        executor: ToolExecutor,
        telemetry: TelemetrySink,
        memory: ConversationMemory | None = None,
        fallback: FallbackResponder | None = None,
        *,
        turns: ReadsTurns | None = None,
        labels: SlotLabels | None = None,
        clock: Clock | None = None,
    ) -> None:
        """`turns` tells what customers say to a question apart; without it, a message answers a
        question if the classifier finds the parameter in it. `labels` are what customers read as
        the names of parameters, where `turns` leads to a question whether values are right."""
        self._intents = intents
        self._classifier = classifier
        self._planner = planner
        self._policy = policy
        self._executor = executor
        self._telemetry = telemetry
        self._memory = memory or InMemoryConversationMemory()
        self._fallback = fallback
        self._turns = turns
        self._labels = labels
        self._clock = clock or SystemClock()
        registry = intents if isinstance(intents, IntentsRegistry) else None
        self._redaction = Redaction(registry)
        self._counting = None if registry is None else EligibleIntents(registry)

    async def handle(self, interaction: Interaction) -> AgentResponse:
        """Work what the customer says, and return what he is answered."""
        session = interaction.session_id
        memory = await self._memory.load(session)
        gate = RouterGate(self._policy, self._executor, interaction, memory.history)
        message = self._message(interaction)
        first = Envelope.of(message, run_id=new_id("run"))
        journal = MemoryJournal(first, self._reader(first, interaction, memory), self._telemetry)
        ctx = RunContext(first, b"", journal, self._clock, flow_version=_FLOW)  # type: ignore[arg-type]
        start = await ctx.adopt(lambda: _left_by(memory))
        flow = await self._flow(interaction, memory, gate, first)
        end = await run_flow(flow, ctx, start=start)
        await ctx.rest(journal.rest)
        response = _response(end, gate, interaction)
        await self._remember(session, interaction, response, end, journal)
        return response

    async def _remember(
        self,
        session: str,
        interaction: Interaction,
        response: AgentResponse,
        end: End,
        journal: MemoryJournal,
    ) -> None:
        await self._memory.append(session, interaction.text, response.text)
        last = journal.last
        state: dict[str, Any] = {}
        param = None
        if end.status is RunStatus.WAITING_USER and last is not None and last.result.ask:
            param = last.result.ask.param
            state = {
                "outputs": last.after.outputs,
                "metadata": last.after.metadata,
                "text": last.result.ask.text,
                "resume": last.result.resume or last.row.name,
            }
        await self._memory.waiting(session, param, state)

    def _reader(
        self, first: Envelope, interaction: Interaction, memory: SessionMemory
    ) -> StageReader:
        message = ToldMessage(
            run_id=first.run_id,
            interaction_id=interaction.id,
            session_id=interaction.session_id,
            at=self._clock.now(),
            history_count=memory.messages + 1,
        )
        return StageReader(message, self._redaction)

    def _message(self, interaction: Interaction) -> Message:
        customer = interaction.customer_id
        principal = ANONYMOUS
        if customer is not None:
            principal = Principal(
                kind=PrincipalKind.ASSERTED,
                customer_id=customer,
                tier=interaction.context.get("tier"),
            )
        return Message(
            id=interaction.id,
            channel=str(interaction.context.get("channel") or "chat"),
            conversation=interaction.session_id,
            sender=Address(address=customer or interaction.session_id),
            principal=principal,
            body=interaction.text,
            received_at=datetime.fromtimestamp(self._clock.now(), UTC),
        )

    # --- the flow

    async def _flow(
        self, interaction: Interaction, memory: SessionMemory, gate: RouterGate, first: Envelope
    ) -> Flow:
        """classify, plan, act; or the fallback, where no intent fits."""
        stages = _Stages(self, interaction, memory)
        answers = None
        if memory.waiting_for is not None and self._turns is None:
            first_reading = await stages.found_in(first)
            answers = _FoundAnswers(_asked_in(memory), first_reading.parameters)
        parts = Parts(
            tools=gate,
            services={
                _CLASSIFY: stages.classify,
                _PLAN: stages.plan,
                UNKNOWN_INTENT: unknown_intent_through(self._fallback),
            },
            sending=Sending(),
            answers=answers,
            turns=self._turns,
            labels=self._labels,
            intents=self._counting,
        )
        agents = {name: Agent(spec, parts).process for name, spec in _SPECS.items()}
        flow = FlowSpec(name=_FLOW, start=_CLASSIFY, stages=_SPECS, version=_FLOW)
        return Flow(flow, agents)


class _Stages:
    """The stages of one interaction that ask the router's parts."""

    def __init__(
        self, router: AgentRouter, interaction: Interaction, memory: SessionMemory
    ) -> None:
        self._router = router
        self._interaction = interaction
        self._memory = memory

    async def classify(
        self, envelope: Envelope, ctx: StageContext, settings: Mapping[str, Any]
    ) -> ServiceResult:
        eligible = self._eligible(envelope)
        understood = await self.found_in(envelope)
        answered = {ELIGIBLE: eligible}
        if understood.intent_id is None or understood.intent_id not in eligible:
            unknown = {CATEGORY: OTHER, CONFIDENCE: 0.0}
            return ServiceResult(output=unknown, answered=answered)
        output = {INTENT_ID: understood.intent_id, SLOTS: understood.parameters}
        return ServiceResult(output=output | {CONFIDENCE: understood.confidence}, answered=answered)

    async def found_in(self, envelope: Envelope) -> Classification:
        """What the classifier says about the interaction."""
        eligible = self._eligible(envelope)
        classifier = self._router._classifier
        return await classifier.classify(self._interaction, eligible, self._memory.history)

    async def plan(
        self, envelope: Envelope, ctx: StageContext, settings: Mapping[str, Any]
    ) -> dict[str, Any]:
        intent = envelope.outputs[_CLASSIFY][INTENT_ID]
        slots = Understanding.of(envelope).slots  # what was answered since is among it
        plan = self._router._planner.plan(intent, slots)
        steps = [step.model_dump(mode="json", exclude_defaults=True) for step in plan.steps]
        for step, written in zip(plan.steps, steps, strict=True):
            written["type"] = step.type
        return {INTENT_ID: intent, "steps": steps, "reasoning": plan.reasoning}

    def _eligible(self, envelope: Envelope) -> list[str]:
        assert envelope.message is not None
        context = IntentContext.of(envelope.message)
        tier = self._interaction.context.get("tier")
        return self._router._intents.eligible(context._replace(tier=tier or context.tier))


class _FoundAnswers:
    """Answers to a question, by what the classifier found in the message."""

    def __init__(self, asked: frozenset[str], values: Mapping[str, Any]) -> None:
        self.names = asked
        self._values = values

    def find(self, text: str, names: Sequence[str], received_at: datetime) -> dict[str, Any]:
        given = {name: self._values.get(name) for name in names}
        return {name: value for name, value in given.items() if value is not None}


def _asked_in(memory: SessionMemory) -> frozenset[str]:
    """The parameters that the waiting plan asks for."""
    plan = (memory.state.get("outputs") or {}).get(PLAN) or {}
    params = [step.get("param") for step in plan.get("steps") or ()]
    return frozenset(filter(None, (memory.waiting_for, *params)))


def _response(end: End, gate: RouterGate, interaction: Interaction) -> AgentResponse:
    if gate.replies:
        text = gate.replies[-1]
    elif end.reason == "the customer wants a person":
        text = handed_over_text(interaction.text)
    else:
        went_wrong = gate.has_failed or end.status is not RunStatus.DONE
        text = _FAILED if went_wrong else ""
    return AgentResponse(text=text, tool_result=gate.last_result)


async def _left_by(memory: SessionMemory) -> StageResult | None:
    """What the session's last interaction left: the plan that waits for this one."""
    if memory.waiting_for is None:
        return None
    state = memory.state
    asked = {"param": memory.waiting_for, "text": state.get("text", "")}
    metadata = {**(state.get("metadata") or {}), "adopted_from": "session", "asked": asked}
    delta = Delta(outputs=state.get("outputs") or {}, metadata=metadata)
    return StageResult(delta=delta, next=state.get("resume"))


def _specs() -> dict[str, AgentSpec]:
    unknown = RoutingRule(when={CATEGORY: OTHER}, target=UNKNOWN_INTENT)
    stages: Sequence[AgentSpec] = (
        AgentSpec(
            name=_CLASSIFY,
            service=_CLASSIFY,
            output_key=_CLASSIFY,
            routing_rules=(unknown,),
            default_next=_PLAN,
        ),
        AgentSpec(name=_PLAN, service=_PLAN, output_key=PLAN, default_next=_ACT),
        AgentSpec(name=_ACT, has_tools=True, tools=(_ANY,), output_key=_ACT),
        AgentSpec(name=UNKNOWN_INTENT, service=UNKNOWN_INTENT, output_key=UNKNOWN_INTENT),
    )
    return with_planner({stage.name: stage for stage in stages})


_SPECS = _specs()
