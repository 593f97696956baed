"""What a plan says itself, and how it asks: in a chat at once and one thing at a time, in a mail
all in one."""

from pathlib import Path
from typing import Any

import pytest

from deskhand.agents.agent import Agent
from deskhand.agents.parts import Parts
from deskhand.agents.replying.sending import Sending
from deskhand.config.desk import with_planner
from deskhand.engine.journal import fold, result_of
from deskhand.engine.loop import Flow
from deskhand.engine.story import read_records, story_of
from deskhand.errors import ToolError
from deskhand.model.envelope import Envelope
from deskhand.model.plan import StepStatus
from deskhand.model.run import RunStatus
from deskhand.model.spec import AgentSpec, FlowSpec
from deskhand.tools import Gate, tool
from tests.kit import Engine, a_message, engine

happened: list[str] = []


@pytest.fixture(autouse=True)
def _nothing_happened() -> None:
    happened.clear()


@tool(effect="read")
async def look(at: str) -> dict[str, Any]:
    """Look something up."""
    happened.append(f"look {at}")
    return {"state": "on its way"}


@tool(effect="read")
async def fail() -> dict[str, Any]:
    """Fail."""
    raise ToolError("carrier_down", "the carrier does not answer")


PRE = {"type": "respond", "when": "pre", "message": "One moment, I am looking."}
POST = {"type": "respond", "when": "post", "message": "Your parcel is {results.look.state}."}
LOOK = {"tool": "look", "parameters": {"at": "O-1"}}
ASKS = [
    {"type": "ask_user", "param": "order", "prompt": "Which order?"},
    {"type": "ask_user", "param": "reason", "prompt": "Why?"},
]


async def _in_shadow(topic: str | None) -> str:
    return "shadow"


def saying(steps: list[Any], sending: Sending | None = None) -> Any:
    async def think(env: Envelope, ctx: Any, settings: Any) -> Any:
        return {"steps": steps}

    async def answer(env: Envelope, ctx: Any, settings: Any) -> Any:
        return {"answered": "by the next stage"}

    def build(gate: Gate) -> Flow:
        services = {"think": think, "answer": answer}
        parts = Parts(tools=gate, services=services, sending=sending or Sending())
        stages = with_planner(
            {
                "plan": AgentSpec(
                    name="plan", service="think", output_key="plan", default_next="act"
                ),
                "act": AgentSpec(
                    name="act",
                    has_tools=True,
                    tools=("look", "fail"),
                    output_key="act",
                    default_next="answer",
                ),
                "answer": AgentSpec(name="answer", service="answer", output_key="answer"),
            }
        )
        flow = FlowSpec(name="flow", start="plan", stages=stages, version="v1")
        return Flow(flow, {name: Agent(stage, parts).process for name, stage in stages.items()})

    return build


async def told(
    desk: Engine, channel: str, number: int = 1, body: str = "Where is it?"
) -> tuple[str, list[str]]:
    """Hand in a message; returns its run and all texts that have left since the beginning."""
    message = a_message(number, conversation="c", body=body).changed(channel=channel)
    run_id = await desk.work(message)
    return run_id, [reply.text for _, reply in desk.outbox.sent]


async def test_in_a_chat_a_plan_speaks_before_and_after_its_calls(tmp_path: Path) -> None:
    build = saying([PRE, LOOK, POST])
    async with engine(tmp_path / "d.db", build, tools=(look, fail)) as desk:
        run_id, texts = await told(desk, "chat")
        run, rows = await desk.store.run(run_id), await desk.store.rows(run_id)
        story = story_of(await read_records(desk.store, run_id))
    assert texts == ["One moment, I am looking.", "Your parcel is on its way."]
    assert run.status is RunStatus.SENT
    names = [row.name for row in rows]
    assert names[:4] == ["plan", "act/respond 1", "act/1 look", "act/respond 3"]
    steps = result_of(rows[-1]).plan_steps
    assert [(step.type, step.name, step.status) for step in steps] == [
        ("respond", "pre", StepStatus.COMPLETED),
        ("tool_call", "look", StepStatus.COMPLETED),
        ("respond", "post", StepStatus.COMPLETED),
    ]
    assert all(step.started_at and step.finished_at for step in steps)
    assert [(step["name"], step["status"]) for step in story["plan_steps"]] == [
        ("pre", "completed"),
        ("look", "completed"),
        ("post", "completed"),
    ]
    assert story["plan_steps"][0]["started_at"].startswith("2027-")


async def test_in_a_mail_the_word_before_is_only_recorded(tmp_path: Path) -> None:
    build = saying([PRE, LOOK, POST])
    async with engine(tmp_path / "d.db", build, tools=(look, fail)) as desk:
        run_id, texts = await told(desk, "support")
        output = fold(Envelope(), await desk.store.rows(run_id)).outputs["act"]
    assert texts == ["Your parcel is on its way."]
    assert [(said["when"], said["sent"]) for said in output["said"]] == [
        ("pre", False),
        ("post", False),
    ]


async def test_nothing_is_said_after_a_call_that_failed(tmp_path: Path) -> None:
    done = POST | {"message": "All is done."}
    build = saying([{"tool": "fail"}, LOOK, done])
    async with engine(tmp_path / "d.db", build, tools=(look, fail)) as desk:
        run_id, texts = await told(desk, "chat")
        rows = await desk.store.rows(run_id)
    assert texts == []
    assert rows[-1].name == "answer", "the flow goes on and finds other words"
    [step] = [result_of(row).plan_steps[0] for row in rows if row.name == "act/respond 3"]
    assert step.status is StepStatus.FAILED


async def test_a_text_that_lacks_a_value_is_not_said(tmp_path: Path) -> None:
    async with engine(tmp_path / "d.db", saying([POST]), tools=(look, fail)) as desk:
        _, texts = await told(desk, "chat")
    assert texts == []


async def test_where_replies_may_not_leave_nothing_is_said_in_between(tmp_path: Path) -> None:
    build = saying([PRE, LOOK], Sending(mode_for=_in_shadow))
    async with engine(tmp_path / "d.db", build, tools=(look, fail)) as desk:
        _, texts = await told(desk, "chat")
    assert texts == []
    assert happened == ["look O-1"]


async def test_a_chat_asks_one_thing_at_a_time(tmp_path: Path) -> None:
    build = saying([*ASKS, LOOK | {"parameters": {"at": "{slots.order}"}}])
    async with engine(tmp_path / "d.db", build, tools=(look, fail)) as desk:
        _, texts = await told(desk, "chat")
        assert texts == ["Which order?"]
        _, texts = await told(desk, "chat", 2, "O-7")
        assert texts == ["Which order?", "Why?"]
        run_id, texts = await told(desk, "chat", 3, "It is broken")
        rows = await desk.store.rows(run_id)
    assert len(texts) == 2
    assert happened == ["look O-7"]
    slots = fold(Envelope(), rows).outputs["act"]["slots"]
    assert slots == {"order": "O-7", "reason": "It is broken"}


async def test_a_mail_asks_everything_at_once(tmp_path: Path) -> None:
    async with engine(tmp_path / "d.db", saying([*ASKS, LOOK]), tools=(look, fail)) as desk:
        _, texts = await told(desk, "support")
    assert texts == ["Which order?\nWhy?"]
