"""What the stages of a conversation tell, read from the rows of its runs."""

import io
from pathlib import Path
from typing import Any

from deskhand.adapters.stores.telemetry_feed import SqlTelemetryFeed
from deskhand.agents.agent import Agent
from deskhand.agents.eligible_intents import EligibleIntents
from deskhand.agents.parts import Parts
from deskhand.agents.replying.sending import Sending
from deskhand.agents.slot_answers import DeskTurns
from deskhand.brain.scripted import ScriptedBrain, ScriptedRule, ScriptedWhen
from deskhand.config.desk import with_planner
from deskhand.config.sections.intents import IntentSpec
from deskhand.config.sections.slots import SlotSpec
from deskhand.engine.journal import result_of
from deskhand.engine.loop import Flow
from deskhand.language.turns import TurnReader
from deskhand.model.documents import iso_at
from deskhand.model.plan import StepRecord
from deskhand.model.spec import AgentSpec, FlowSpec
from deskhand.model.telemetry import TelemetryEvent
from deskhand.routing.intents_registry import IntentsRegistry
from deskhand.telemetry.redaction import Redaction
from deskhand.telemetry.sinks import PrintSink
from deskhand.telemetry.telling import RunTeller
from deskhand.tools import Gate, tool
from tests.kit import Engine, a_message, engine

SLOTS = {
    "order": SlotSpec(name="order", type="order_number", prefix=("O",), min_digits=5, max_digits=5),
    "reason": SlotSpec(name="reason", type="text", about="reason"),
}
ASKS = [{"type": "ask_user", "param": "order", "prompt": "Which order is it?"}]
CALL = {"tool": "refund", "parameters": {"order": "{slots.order}"}}
SPOKEN = [
    {"type": "respond", "when": "pre", "message": "One moment."},
    CALL,
    {"type": "respond", "when": "post", "message": "It is noted for {slots.order}."},
]
BRAIN: list[tuple[str, tuple[str, ...], dict[str, Any]]] = [
    ("classify", ("weather",), {"category": "other", "confidence": 0.2}),
    ("classify", (), {"category": "refund", "confidence": 0.9}),
    ("decide", ("weather",), {"steps": [], "hand_over": True, "reason": "not clear"}),
    ("decide", ("O-1",), {"intent_id": "refund", "steps": SPOKEN, "slots": {"order": "O-10018"}}),
    ("decide", (), {"intent_id": "refund", "steps": [*ASKS, *SPOKEN]}),
]


@tool(effect="read")
async def refund(order: str) -> dict[str, Any]:
    """Refund."""
    if order == "O-10099":
        raise RuntimeError("the till is closed")
    return {"order": order}


def flow(gate: Gate) -> Flow:
    rules = [
        ScriptedRule(said, ScriptedWhen(stage=stage, contains=words))
        for stage, words, said in BRAIN
    ]
    registry = IntentsRegistry({"refund": IntentSpec(name="refund")})
    parts = Parts(
        brain=ScriptedBrain(rules),
        tools=gate,
        sending=Sending(),
        turns=DeskTurns(TurnReader(SLOTS), {"refund": ("order", "reason")}),
        intents=EligibleIntents(registry),
    )
    stages = with_planner(
        {
            "classify": AgentSpec(
                name="classify",
                has_llm=True,
                task="classify",
                choices=("refund", "other"),
                output_key="classify",
                default_next="decide",
            ),
            "decide": AgentSpec(
                name="decide", has_llm=True, task="decide", output_key="plan", default_next="act"
            ),
            "act": AgentSpec(name="act", has_tools=True, tools=("refund",), output_key="act"),
        }
    )
    spec = FlowSpec(name="flow", start="classify", stages=stages, version="v1")
    return Flow(spec, {name: Agent(stage, parts).process for name, stage in stages.items()})


async def told_by(desk: Engine, hidden: tuple[str, ...] = ()) -> list[TelemetryEvent]:
    feed = SqlTelemetryFeed(desk.database, "test")
    registry = IntentsRegistry({"refund": IntentSpec(name="refund", redact=frozenset(hidden))})
    teller = RunTeller(Redaction(registry), frozenset({"refund"}))
    await feed.put_in_order()
    events: list[TelemetryEvent] = []
    for run in await feed.after(0, 100):
        events += teller.told_in(run)
    return events


async def talk(tmp_path: Path, *bodies: str, hidden: tuple[str, ...] = ()) -> list[TelemetryEvent]:
    async with engine(tmp_path / "d.db", flow, tools=(refund,)) as desk:
        for number, body in enumerate(bodies, 1):
            await desk.work(
                a_message(number, conversation="ui-1", body=body).changed(channel="chat")
            )
        return await told_by(desk, hidden)


def shown(events: list[TelemetryEvent]) -> list[tuple[str, str, dict[str, Any]]]:
    """Stage, level and payload, without the times of steps."""
    seen = []
    for event in events:
        of_steps = ("step", "plan_steps")
        payload = {key: value for key, value in event.payload.items() if key not in of_steps}
        seen.append((str(event.stage), str(event.level), payload))
    return seen


async def test_a_message_tells_its_eight_stages(tmp_path: Path) -> None:
    events = await talk(tmp_path, "A refund for O-10018 please")
    memory = {"history_count": 1, "params_keys": [], "waiting_for_param": None}
    assert shown(events) == [
        ("received", "info", {"memory": memory}),
        ("intents_eligible", "info", {"eligible": ["refund"]}),
        ("intent_classified", "info", {"intent_id": "refund", "redacted_params": []}),
        (
            "plan_created",
            "info",
            {"intent_id": "refund", "steps": ["respond", "tool_call", "respond"]},
        ),
        ("plan_communicated", "info", {"message": "One moment.", "intent_id": "refund"}),
        ("policy_check", "info", {"allowed": True, "intent_id": "refund"}),
        ("tool_execute", "info", {"ok": True, "tool": "refund", "intent_id": "refund"}),
        ("respond", "info", {"message": "It is noted for O-10018.", "intent_id": "refund"}),
    ]
    assert {(event.interaction_id, event.session_id) for event in events} == {("m1", "ui-1")}
    assert len({event.id for event in events}) == len(events)
    assert all(event.timestamp.endswith("+00:00") for event in events)
    step = events[6].payload["step"]
    assert (step["type"], step["status"]) == ("tool_call", "completed")
    assert step["started_at"]
    assert step["finished_at"]


async def test_a_question_tells_what_it_waits_for_and_the_answer_that_it_was(
    tmp_path: Path,
) -> None:
    events = shown(await talk(tmp_path, "A refund please", "O-10018"))
    asked = {"message": "Which order is it?", "intent_id": "refund", "waiting_for_param": "order"}
    assert ("respond", "info", asked) in events
    second = events[events.index(("respond", "info", asked)) + 1 :]
    memory = {"history_count": 2, "params_keys": [], "waiting_for_param": "order"}
    assert second[0] == ("received", "info", {"memory": memory})
    assert [stage for stage, _, _ in second] == [
        "received",
        "intents_eligible",
        "intent_classified",
        "plan_communicated",
        "policy_check",
        "tool_execute",
        "respond",
    ]


async def test_values_under_redact_reach_no_event(tmp_path: Path) -> None:
    events = await talk(tmp_path, "A refund for O-10018 please", hidden=("order",))
    assert "O-10018" not in str([event.document() for event in events])
    classified = next(event for event in events if event.stage == "intent_classified")
    assert classified.payload["redacted_params"] == ["order"]
    assert events[-1].payload["message"] == "It is noted for [redacted]."


async def test_a_failed_tool_is_an_error(tmp_path: Path) -> None:
    events = shown(await talk(tmp_path, "A refund please", "O-10099"))
    assert ("tool_execute", "error", {"ok": False, "tool": "refund", "intent_id": "refund"}) in (
        events
    )


async def steps_of(
    tmp_path: Path, *bodies: str
) -> tuple[list[list[StepRecord]], list[TelemetryEvent]]:
    """The steps in the last row of each message, and the events that tell of steps."""
    async with engine(tmp_path / "d.db", flow, tools=(refund,)) as desk:
        in_rows: list[list[StepRecord]] = []
        for number, body in enumerate(bodies, 1):
            message = a_message(number, conversation="ui-1", body=body).changed(channel="chat")
            rows = await desk.store.rows(await desk.work(message))
            walked = [result_of(row).plan_steps for row in rows if row.name == "act"]
            in_rows.append(list(walked[-1]))
        told = [event for event in await told_by(desk) if "step" in event.payload]
    return in_rows, told


def written(record: StepRecord) -> dict[str, Any]:
    """A step as events tell it."""
    return {
        "place": record.place,
        "type": record.type,
        "status": str(record.status),
        "started_at": moment(record.started_at),
        "finished_at": moment(record.finished_at),
    }


def moment(at: float | None) -> str | None:
    return None if at is None else iso_at(at)


def told_steps(events: list[TelemetryEvent]) -> list[tuple[int, str, str]]:
    steps = [event.payload["step"] for event in events]
    return [(step["place"], step["type"], step["status"]) for step in steps]


async def test_steps_of_a_plan_that_succeeds_have_their_status_and_times(tmp_path: Path) -> None:
    (asked, ended), told = await steps_of(tmp_path, "A refund please", "O-10018")
    assert [(step.type, str(step.status)) for step in asked] == [
        ("ask_user", "in_progress"),
        ("respond", "pending"),
        ("tool_call", "pending"),
        ("respond", "pending"),
    ]
    assert [step.started_at is not None for step in asked] == [True, False, False, False]
    assert [step.finished_at for step in asked] == [None] * 4
    assert [str(step.status) for step in ended] == ["completed"] * 4
    assert all(step.started_at and step.finished_at for step in ended)
    assert told_steps(told) == [
        (0, "ask_user", "in_progress"),
        (1, "respond", "completed"),
        (2, "tool_call", "completed"),
    ]
    for event, record in zip(told, (asked[0], *ended[1:3]), strict=True):
        assert event.payload["step"] == written(record)
    assert told[0].payload["plan_steps"] == [written(record) for record in asked]


async def test_the_step_that_fails_is_told_as_failed_with_its_times(tmp_path: Path) -> None:
    (_, ended), told = await steps_of(tmp_path, "A refund please", "O-10099")
    assert [str(step.status) for step in ended] == ["completed", "completed", "failed", "failed"]
    assert all(step.finished_at for step in ended)
    assert told_steps(told) == [
        (0, "ask_user", "in_progress"),
        (1, "respond", "completed"),
        (2, "tool_call", "failed"),
    ]
    assert told[-1].payload["step"] == written(ended[2])


async def test_an_unknown_intent_is_told_as_one(tmp_path: Path) -> None:
    events = shown(await talk(tmp_path, "How is the weather?"))
    assert events[2] == (
        "intent_classified",
        "info",
        {"intent_id": None, "unknown_intent": True},
    )
    assert "plan_created" not in [stage for stage, _, _ in events]


async def test_print_shows_what_the_seed_shows(tmp_path: Path) -> None:
    events = await talk(tmp_path, "A refund for O-10018 please")
    stream = io.StringIO()
    await PrintSink(stream).record(*events[:2])
    assert stream.getvalue() == (
        "{'interaction_id': 'm1',\n"
        " 'level': 'info',\n"
        " 'payload': {'memory': {'history_count': 1,\n"
        "                        'params_keys': [],\n"
        "                        'waiting_for_param': None}},\n"
        " 'session_id': 'ui-1',\n"
        " 'stage': 'received'}\n\n"
        "{'interaction_id': 'm1',\n"
        " 'level': 'info',\n"
        " 'payload': {'eligible': ['refund']},\n"
        " 'session_id': 'ui-1',\n"
        " 'stage': 'intents_eligible'}\n\n"
    )
