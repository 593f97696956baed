"""Tool mode: a plan's calls one by one, through the gate, each in a row of its own."""

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from deskhand.agents.agent import Agent
from deskhand.agents.parts import Parts
from deskhand.engine.journal import fold, result_of
from deskhand.engine.loop import Flow
from deskhand.errors import PermanentError, ToolError
from deskhand.model.codes import ErrorCode
from deskhand.model.envelope import Envelope
from deskhand.model.outcome import Outcome
from deskhand.model.queue import ReviewFilter
from deskhand.model.run import (
    Decision,
    EffectState,
    Review,
    ReviewKind,
    ReviewState,
    RunStatus,
    Verdict,
)
from deskhand.model.spec import AgentSpec, FlowSpec
from deskhand.tools import Gate, ToolRegistry, tool
from deskhand.tools.services import ServiceResult
from tests.kit import Engine, a_message, engine
from tests.memory_ledger import MemoryLedger

done: list[Any] = []


@tool(effect="read")
async def find_order(order: str) -> dict[str, Any]:
    """Find an order."""
    return {"order": order, "state": "sent"}


@tool(effect="read")
async def raises() -> dict[str, Any]:
    """Fail."""
    raise ToolError("carrier_down", "the carrier does not answer")


@tool(effect="read", timeout=0.05)
async def hangs() -> dict[str, Any]:
    """Hang."""
    await asyncio.sleep(60)
    return {}


@tool(effect="read")
async def junk() -> Any:
    """Return what nobody can store."""
    return {"socket": object()}


@tool(effect="irreversible")
async def send_letter(text: str) -> dict[str, Any]:
    """Send a letter."""
    done.append(text)
    return {"sent": True}


@tool(effect="keyed")
async def refund(order: str) -> dict[str, Any]:
    """Refund an order."""
    done.append(order)
    return {"refunded": order}


TOOLS = (find_order, raises, hangs, junk, send_letter, refund)
NAMES = tuple(each.name for each in TOOLS)


@pytest.fixture(autouse=True)
def _fresh() -> None:
    done.clear()


def acting(**fields: Any) -> AgentSpec:
    return AgentSpec(
        **{"name": "act", "output_key": "acted", "has_tools": True, "tools": NAMES, **fields}
    )


async def acted(plan: Any, **fields: Any) -> tuple[Outcome, dict[str, Any]]:
    """What tool mode alone makes of a plan."""
    agent = Agent(
        acting(**fields), Parts(tools=Gate(ToolRegistry(TOOLS), MemoryLedger(), desk="test"))
    )
    first = Envelope(message=a_message(), outputs={} if plan is None else {"plan": plan})
    result = await agent.process(first)
    return result.outcome, first.apply(result.delta).outputs["acted"]


def step(tool: str, **parameters: Any) -> dict[str, Any]:
    return {"tool": tool, "parameters": parameters}


# --- by itself


async def test_every_call_leaves_its_result_in_order() -> None:
    plan = {
        "steps": [step("find_order", order="O-1"), step("find_order", order="O-2")],
        "reasoning": "both",
    }
    outcome, output = await acted(plan)
    assert outcome is Outcome.SUCCESS
    assert (output["executed"], output["failed"], output["reasoning"]) == (2, 0, "both")
    assert [(one["tool"], one["status"], one["data"]["order"]) for one in output["results"]] == [
        ("find_order", "success", "O-1"),
        ("find_order", "success", "O-2"),
    ]


async def test_what_is_only_intended_is_noted_and_not_called() -> None:
    plan = [
        step("raises") | {"optional": True},
        step("create_draft", text="x"),
        step("find_order", order="O-1"),
    ]
    outcome, output = await acted(plan, intends=("create_draft",))
    assert outcome is Outcome.PARTIAL
    assert [one["tool"] for one in output["results"]] == ["raises", "create_draft", "find_order"]
    assert output["results"][1] == {"tool": "create_draft", "status": "success", "intended": True}
    assert (output["results"][0]["optional"], "optional" in output["results"][2]) == (True, False)
    assert (output["executed"], output["failed"]) == (2, 1)


async def test_a_question_ends_the_walk_after_the_calls_before_it() -> None:
    first = {"type": "ask_user", "param": "order", "prompt": "Which order?"}
    second = {"type": "ask_user", "param": "reason", "prompt": "Why?"}
    later = {"type": "ask_user", "param": "name", "prompt": "Who are you?"}
    plan = [step("find_order", order="O-1"), first, second, step("refund", order="O-1"), later]
    agent = Agent(
        acting(resume_at="decide"),
        Parts(tools=Gate(ToolRegistry(TOOLS), MemoryLedger(), desk="test")),
    )
    envelope = Envelope(outputs={"plan": {"steps": plan}})
    result = await agent.process(envelope)
    assert (result.outcome, result.resume) == (Outcome.CLARIFY, "decide")
    assert result.ask is not None
    assert (result.ask.text, result.ask.param) == ("Which order?\nWhy?", "order")
    assert envelope.apply(result.delta).outputs["acted"]["executed"] == 1
    assert done == []


async def test_results_may_be_required_and_routed_by() -> None:
    _, output = await acted([], required_output_fields=("results", "executed"))
    assert output == {"results": [], "executed": 0, "failed": 0, "reasoning": ""}


@pytest.mark.parametrize(
    ("plan", "code", "words"),
    [
        (None, ErrorCode.PLAN_MISSING, "give one `output: plan`"),
        ("buy milk", ErrorCode.PLAN_INVALID, "a plan is a mapping"),
        ({"reasoning": "none"}, ErrorCode.PLAN_INVALID, "a plan needs `steps`"),
        ({"steps": [{"tool": ""}]}, ErrorCode.PLAN_INVALID, "plan steps.0"),
        ({"steps": [5]}, ErrorCode.PLAN_INVALID, "plan step 1 is int"),
        (
            {"steps": [{"tool": "find_order", "parameters": "O-1"}]},
            ErrorCode.PLAN_INVALID,
            "plan steps.0",
        ),
    ],
)
async def test_without_a_plan_that_can_be_read_nothing_runs(
    plan: Any, code: ErrorCode, words: str
) -> None:
    with pytest.raises(PermanentError, match="stage 'act'") as caught:
        await acted(plan)
    assert caught.value.code is code
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (step("raises"), "carrier_down"),
        (step("hangs"), ErrorCode.TOOL_TIMEOUT),
        (step("junk"), ErrorCode.TOOL_RESULT_INVALID),
        (step("find_order"), ErrorCode.TOOL_ARGUMENTS_INVALID),
        (step("drop_tables"), ErrorCode.TOOL_DENIED),
    ],
)
async def test_a_call_that_fails_does_not_stop_the_others(call: dict[str, Any], code: str) -> None:
    outcome, output = await acted(
        [step("find_order", order="O-1"), call, step("refund", order="O-1")]
    )
    assert outcome is Outcome.PARTIAL
    assert (output["executed"], output["failed"]) == (3, 1)
    assert [one["status"] for one in output["results"]] == ["success", "error", "success"]
    assert output["results"][1]["error"]["error_type"] == code
    assert done == ["O-1"]


async def test_a_tool_the_stage_does_not_list_is_denied_by_exact_name() -> None:
    _, output = await acted(
        [step("refund", order="O-1")], tools=("refund_all", "refun", "find_order")
    )
    assert output["results"][0]["error"]["error_type"] == ErrorCode.TOOL_DENIED
    assert done == []


# --- in a run


def planning(plan: Any, calls: Counter[str] | None = None, pre: Any = None, **fields: Any) -> Any:
    """A flow that plans what `plan` says and then acts."""
    counted = calls if calls is not None else Counter()

    async def think(env: Envelope, ctx: Any, settings: Any) -> Any:
        counted["plan"] += 1
        return {"steps": plan() if callable(plan) else plan}

    def build(gate: Gate) -> Flow:
        parts = Parts(tools=gate, services={"think": think})
        stages = {
            "plan": AgentSpec(
                name="plan", service="think", output_key="plan", default_next="act", max_visits=3
            ),
            "act": acting(**fields),
        }
        flow = FlowSpec(name="flow", start="plan", stages=stages, version="v1")
        agents = {
            "plan": Agent(stages["plan"], parts),
            "act": Agent(stages["act"], parts, pre_process=pre),
        }
        return Flow(flow, {name: agent.process for name, agent in agents.items()})

    return build


async def decided(
    desk: Engine, run_id: str, decision: Decision, note: str | None = None
) -> RunStatus:
    review = await open_review(desk)
    await desk.store.decide(
        review.id, Verdict(decision, "eve", review.version, review.payload_hash, note)
    )
    desk.dispatcher.wake()
    return await desk.dispatcher.wait(run_id)


async def open_review(desk: Engine) -> Review:
    [review] = await desk.store.find_reviews(ReviewFilter(state=ReviewState.OPEN))
    return review


async def outputs_of(desk: Engine, run_id: str) -> dict[str, Any]:
    outputs: dict[str, Any] = fold(Envelope(), await desk.store.rows(run_id)).outputs["acted"]
    return outputs


async def test_every_call_is_a_row_with_verdict_and_timing(tmp_path: Path) -> None:
    plan = [step("find_order", order="O-1"), step("raises"), step("nothing")]
    async with engine(tmp_path / "d.db", planning(plan), tools=TOOLS) as desk:
        run_id = await desk.work(a_message())
        rows = await desk.store.rows(run_id)
        assert (await desk.store.run(run_id)).status is RunStatus.DONE
    assert [row.name for row in rows] == [
        "plan",
        "act/1 find_order",
        "act/2 raises",
        "act/3 nothing",
        "act",
    ]
    records = [call for row in rows if (call := result_of(row).call) is not None]
    assert [(one["tool"], one["verdict"], one["rule"], one["ok"]) for one in records] == [
        ("find_order", "allow", "allowed", True),
        ("raises", "allow", "allowed", False),
        ("nothing", "deny", "not_listed", False),
    ]
    assert records[0]["arguments"] == {"order": "O-1"}
    assert all(one["latency_ms"] >= 0 for one in records)
    assert rows[-1].outcome == "partial"


async def test_results_are_stored_once_and_the_rows_fold_to_what_the_stage_left(
    tmp_path: Path,
) -> None:
    plan = [step("find_order", order=f"O-{n}") for n in range(3)]
    async with engine(tmp_path / "d.db", planning(plan), tools=TOOLS) as desk:
        run_id = await desk.work(a_message())
        rows, output = await desk.store.rows(run_id), await outputs_of(desk, run_id)
    assert [one["data"]["order"] for one in output["results"]] == ["O-0", "O-1", "O-2"]
    assert b"O-1" not in (rows[-1].body or b""), "the last row repeats no result"


async def test_an_approved_call_runs_exactly_once_and_the_rest_goes_on(tmp_path: Path) -> None:
    plan = [
        step("refund", order="O-1"),
        step("send_letter", text="Dear Ann"),
        step("find_order", order="O-1"),
    ]
    calls: Counter[str] = Counter()
    async with engine(tmp_path / "d.db", planning(plan, calls), tools=TOOLS) as desk:
        run_id = await desk.work(a_message())
        review = await open_review(desk)
        assert (await desk.store.run(run_id)).status is RunStatus.WAITING_REVIEW
    assert review.kind is ReviewKind.TOOL_CALL
    assert (review.payload["tool"], review.payload["arguments"]) == (
        "send_letter",
        {"text": "Dear Ann"},
    )
    assert "cannot be taken back" in review.reason
    assert done == ["O-1"]
    async with engine(tmp_path / "d.db", planning(plan, calls), tools=TOOLS) as desk:
        assert await decided(desk, run_id, Decision.APPROVE) is RunStatus.DONE
        effects, output = await desk.store.effects(run_id), await outputs_of(desk, run_id)
    assert done == ["O-1", "Dear Ann"]
    assert [(effect.tool, effect.state) for effect in effects] == [
        ("refund", EffectState.DONE),
        ("send_letter", EffectState.DONE),
    ]
    assert [one["tool"] for one in output["results"]] == ["refund", "send_letter", "find_order"]
    assert (output["executed"], output["failed"]) == (3, 0)
    assert calls == {"plan": 1}


async def test_a_rejected_call_becomes_an_error_and_the_rest_goes_on(tmp_path: Path) -> None:
    plan = [step("send_letter", text="Dear Ann"), step("find_order", order="O-1")]
    async with engine(tmp_path / "d.db", planning(plan), tools=TOOLS) as desk:
        run_id = await desk.work(a_message())
        assert await decided(desk, run_id, Decision.REJECT, "too harsh") is RunStatus.DONE
        output, rows = await outputs_of(desk, run_id), await desk.store.rows(run_id)
    assert done == []
    assert [one["status"] for one in output["results"]] == ["error", "success"]
    assert output["results"][0]["error"]["error_type"] == ErrorCode.TOOL_REJECTED
    assert "too harsh" in output["results"][0]["error"]["message"]
    assert rows[-1].outcome == "partial"


async def test_two_equal_calls_need_two_approvals(tmp_path: Path) -> None:
    plan = [step("send_letter", text="Dear Ann"), step("send_letter", text="Dear Ann")]
    async with engine(tmp_path / "d.db", planning(plan), tools=TOOLS) as desk:
        run_id = await desk.work(a_message())
        assert await decided(desk, run_id, Decision.APPROVE) is RunStatus.WAITING_REVIEW
        assert done == ["Dear Ann"]
        assert await decided(desk, run_id, Decision.APPROVE) is RunStatus.DONE
    assert done == ["Dear Ann", "Dear Ann"]


async def test_a_call_that_changed_after_its_approval_needs_a_new_one(tmp_path: Path) -> None:
    words = ["Dear Ann"]

    def reworded(envelope: Envelope) -> Envelope:
        return envelope.with_output("plan", {"steps": [step("send_letter", text=words[0])]})

    async with engine(tmp_path / "d.db", planning([], pre=reworded), tools=TOOLS) as desk:
        run_id = await desk.work(a_message())
        words[0] = "Pay Mallory"
        assert await decided(desk, run_id, Decision.APPROVE) is RunStatus.WAITING_REVIEW
        assert done == []
        review = await open_review(desk)
        assert review.payload["arguments"] == {"text": "Pay Mallory"}
        words[0] = "Dear Ann"
        assert await decided(desk, run_id, Decision.REJECT) is RunStatus.DONE
    assert done == ["Dear Ann"], "the first approval still stands for exactly what it was given for"


async def test_a_second_plan_starts_with_no_results_of_the_first(tmp_path: Path) -> None:
    plans = iter(
        [[step("find_order", order="old"), step("raises")], [step("find_order", order="new")]]
    )

    async def think(env: Envelope, ctx: Any, settings: Any) -> Any:
        return {"steps": next(plans)}

    async def judge(env: Envelope, ctx: Any, settings: Any) -> ServiceResult:
        return ServiceResult(
            outcome=Outcome.REPLAN if env.outputs["acted"]["failed"] else Outcome.SUCCESS
        )

    def build(gate: Gate) -> Flow:
        stages = {
            "plan": AgentSpec(
                name="plan", service="think", output_key="plan", default_next="act", max_visits=3
            ),
            "act": acting(default_next="judge", max_visits=3),
            "judge": AgentSpec(
                name="judge", service="judge", output_key="judge", loop_to="plan", max_visits=3
            ),
        }
        parts = Parts(tools=gate, services={"think": think, "judge": judge})
        spec = FlowSpec(name="flow", start="plan", stages=stages, version="v1")
        return Flow(spec, {name: Agent(stage, parts).process for name, stage in stages.items()})

    async with engine(tmp_path / "d.db", build, tools=TOOLS) as desk:
        run_id = await desk.work(a_message())
        assert (await desk.store.run(run_id)).status is RunStatus.DONE
        output, rows = await outputs_of(desk, run_id), await desk.store.rows(run_id)
    assert [one["data"]["order"] for one in output["results"]] == ["new"]
    [*_, second] = [number for number, row in enumerate(rows, 1) if row.name == "act/1 find_order"]
    midway = fold(Envelope(), rows[:second]).outputs["acted"]["results"]
    assert [one["data"]["order"] for one in midway] == ["new"], "from its first call on"
    assert (output["executed"], output["failed"]) == (1, 0)
