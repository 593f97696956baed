"""A golden conversation played by a desk and by an `AgentRouter`, and the events that both tell.

The router has the desk's own intents and its own reading of turns. Its other parts say what the
desk's brain, gate and tools said of the same turn: so what is compared is what both make of it.
"""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from deskhand import (
    AgentRouter,
    Classification,
    Interaction,
    ListSink,
    Plan,
    PolicyDecision,
    ToolCall,
)
from deskhand.engine.journal import ADOPTION, State, states
from deskhand.engine.story import Records, read_records
from deskhand.evals.cases import Case
from deskhand.evals.lane import LaneClock
from deskhand.model.envelope import Envelope
from deskhand.model.message import DELIVER, Message
from deskhand.model.plan import PLAN
from deskhand.model.results import ToolResult
from deskhand.model.telemetry import TelemetryEvent
from deskhand.model.understanding import CATEGORY, INTENT_ID, RESULTS, Understanding
from deskhand.routing.intents_registry import IntentsRegistry
from deskhand.telemetry.telling import RunTeller
from deskhand.wiring import LoadedDesk
from deskhand.wiring.assembly import _labels as labels_of
from deskhand.wiring.assembly import _turns as turns_of
from deskhand.wiring.sandbox import Sandbox

Told = list[tuple[str, str, dict[str, Any]]]
"""Stage, level and payload of events."""


AFTER_FAILURE = "asks what would let a failed call succeed, which intents.yaml says to desks alone"
GUESSED = "asks whether a value is right that the desk's gate knows to be guessed"
REMEMBERED = "goes on from the memory that a desk keeps in its rows of what is done already"


@dataclass
class DeskTurn:
    """What the desk made of a message."""

    message: Message
    told: Told
    intents: deque[str | None] = field(default_factory=deque)
    slots: dict[str, Any] = field(default_factory=dict)
    """What the planning stage found in the message."""
    plans: deque[dict[str, Any]] = field(default_factory=deque)
    calls: deque[tuple[PolicyDecision, ToolResult]] = field(default_factory=deque)
    reply: str = ""
    """What the drafting stage wrote; empty where the plan said it all."""
    left_out: str = ""
    """Why the router cannot play the conversation from here on."""


async def play_desk(case: Case, loaded: LoadedDesk, sandbox: Sandbox) -> list[DeskTurn]:
    """What the desk made of each message, up to one that the router cannot play."""
    clock = LaneClock(case.first_at.timestamp())
    lane = sandbox.lane(clock, mode=case.mode)
    teller = RunTeller.of(loaded.spec)
    turns: list[DeskTurn] = []
    for message in messages_of(case):
        clock.at = max(clock.at, message.received_at.timestamp())
        run_id = await lane.accept(message)
        await lane.work(run_id)
        records = await read_records(lane.store, run_id)
        events = teller.told_of(records.run, message.id, records.rows, len(turns) + 1)
        turns.append(_turn_of(message, records, shown(events)))
        if turns[-1].left_out:
            break
    return turns


def messages_of(case: Case) -> Iterator[Message]:
    """What the customer says, as one conversation."""
    spoken = [turn.message for turn in case.turns if turn.message is not None]
    for number, message in enumerate(spoken, 1):
        yield message.changed(id=f"{case.id}/{number}", conversation=case.id)


def shown(events: Sequence[TelemetryEvent]) -> Told:
    """Events without ids and times; of steps, what they are and how far."""
    seen: Told = []
    for event in events:
        payload = dict(event.payload)
        if step := payload.pop("step", None):
            payload["step"] = _how_far(step)
        if steps := payload.pop("plan_steps", None):
            payload["plan_steps"] = [_how_far(one) for one in steps]
        seen.append((str(event.stage), str(event.level), payload))
    return seen


def _how_far(step: Mapping[str, Any]) -> tuple[str, str, bool]:
    return step["type"], step["status"], step["finished_at"] is not None


def _turn_of(message: Message, records: Records, told: Told) -> DeskTurn:
    turn = DeskTurn(message, told)
    if [row.name for row in records.rows][:2] == [ADOPTION, "classify"]:
        turn.left_out = REMEMBERED
    for state in states(Envelope(run_id=records.run.id), records.rows):
        if state.row.name != ADOPTION:
            _note(turn, state)
    return turn


def _note(turn: DeskTurn, state: State) -> None:
    outputs = state.after.outputs
    if state.row.name == "classify":
        category = outputs["classification"][CATEGORY]
        turn.intents.append(None if category == "other" else category)
    elif state.row.name == "decide":
        turn.plans.append(outputs[PLAN])
        turn.slots = dict(Understanding(outputs).slots)
    elif state.row.name == "draft":
        turn.reply = outputs["reply"]["text"]
    call = state.result.call
    if call is not None and state.row.name.startswith("act/") and call["tool"] != DELIVER:
        turn.calls.append(_said_of(call, outputs))
    ask = state.result.ask
    if ask is not None and ask.kind == "tool_call":
        held = PolicyDecision(allowed=False, holds=True, rule="held")
        turn.calls.append((held, ToolResult.success({})))
    own = state.result.delta.outputs.get("act") or state.result.delta.merge.get("act") or {}
    progress = own.get("progress") or {}
    if progress.get("failed"):
        turn.left_out = AFTER_FAILURE
    if progress.get("pending"):
        step = outputs[PLAN]["steps"][progress["at"]]
        turn.left_out = GUESSED if step["type"] == "tool_call" else ""


def _said_of(
    call: Mapping[str, Any], outputs: Mapping[str, Any]
) -> tuple[PolicyDecision, ToolResult]:
    decision = PolicyDecision(allowed=call["verdict"] == "allow", rule=call["rule"])
    result = outputs["act"][RESULTS][-1]
    fields = {name: result[name] for name in ToolResult.model_fields if name in result}
    return decision, ToolResult.model_validate(fields)


class Parts:
    """Everything that the router asks, as the desk answered it."""

    def __init__(self) -> None:
        self.turn: DeskTurn

    async def classify(
        self, interaction: Interaction, eligible: Sequence[str], history: Sequence[str]
    ) -> Classification:
        intent = self.turn.intents.popleft()
        slots = {} if intent is None else self.turn.slots
        return Classification(intent_id=intent, parameters=slots, confidence=0.95)

    def plan(self, intent_id: str, parameters: Mapping[str, Any]) -> Plan:
        """The desk's plan, which says itself what the desk's drafting stage wrote."""
        plan = self.turn.plans.popleft()
        assert plan[INTENT_ID] == intent_id
        assert dict(parameters).items() >= self.turn.slots.items()
        steps = list(plan["steps"])
        if self.turn.reply:  # the desk's drafting stage
            steps.append({"type": "respond", "when": "post", "message": self.turn.reply})
        return Plan.parse({INTENT_ID: intent_id, "steps": steps})

    async def validate(
        self, call: ToolCall, interaction: Interaction, history: Sequence[str]
    ) -> PolicyDecision:
        return self.turn.calls[0][0]

    async def execute(self, call: ToolCall) -> ToolResult:
        return self.turn.calls.popleft()[1]


async def play_router(turns: Sequence[DeskTurn], loaded: LoadedDesk) -> list[Told]:
    """What the router tells of each message."""
    parts, sink = Parts(), ListSink()
    router = AgentRouter(
        IntentsRegistry.of(loaded.spec),
        parts,
        parts,
        parts,
        parts,
        sink,
        turns=turns_of(loaded.spec),
        labels=labels_of(loaded.spec),
    )
    told: list[Told] = []
    for turn in turns:
        parts.turn = turn
        begun = len(sink.events)
        message = turn.message
        context = {"session_id": message.conversation, "channel": message.channel}
        await router.handle(
            Interaction(
                id=message.id,
                text=message.body,
                customer_id=message.principal.customer_id,
                context=context,
            )
        )
        events = shown(sink.events[begun:])
        told.append(_without_own_reply(events) if turn.reply else events)
    return told


def _without_own_reply(told: Told) -> Told:
    """The desk's plans leave the reply to a drafting stage, those of the router end with it."""
    seen: Told = []
    for stage, level, payload in told:
        if stage == "plan_created":
            payload = {**payload, "steps": payload["steps"][:-1]}
        seen.append((stage, level, payload))
    return seen


def expected(turn: DeskTurn) -> Told:
    """What the router has to tell of a turn. It has no words for a call that failed, which a desk
    finds in its drafting stage; whoever asked it sees the result."""
    failed = any(level == "error" for _, level, _ in turn.told)
    return turn.told[:-1] if failed and turn.reply else turn.told
