"""A plan that asks the customer: with the answer it goes on at the question, and nothing that it
had done is done again."""

from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from deskhand.agents.agent import Agent
from deskhand.agents.parts import Parts
from deskhand.agents.slot_answers import LONGEST_ANSWER
from deskhand.config.desk import with_planner
from deskhand.engine.journal import fold, result_of
from deskhand.engine.loop import Flow
from deskhand.model.envelope import Envelope
from deskhand.model.plan import StepStatus
from deskhand.model.queue import ReviewFilter
from deskhand.model.run import Decision, ReviewKind, RunStatus, Verdict
from deskhand.model.spec import AgentSpec, FlowSpec, RoutingRule
from deskhand.tools import Gate, tool
from tests.kit import Engine, TestClock, a_message, engine

YEAR = 365 * 86400
done: list[str] = []


@pytest.fixture(autouse=True)
def _nothing_done() -> None:
    done.clear()


@tool(effect="read")
async def look(at: str) -> dict[str, Any]:
    """Look something up."""
    done.append(f"look {at}")
    return {"seen": at}


@tool(effect="keyed")
async def charge(text: str) -> dict[str, Any]:
    """Charge."""
    done.append(f"charge {text}")
    return {"charged": text}


@tool(effect="keyed")
async def paint(colour: str) -> dict[str, Any]:
    """Paint."""
    done.append(f"paint {colour}")
    return {"painted": colour}


TOOLS = (look, charge, paint)
NAMES = tuple(one.name for one in TOOLS)
ASK = {"type": "ask_user", "param": "colour", "prompt": "Which colour?"}


def call(name: str, **parameters: Any) -> dict[str, Any]:
    return {"tool": name, "parameters": parameters}


class Colours:
    """Finds colours, and nothing else."""

    names = frozenset(["colour"])

    def find(self, text: str, names: Any, received_at: datetime) -> dict[str, Any]:
        return {"colour": text} if text in ("blue", "red") else {}


def asking(plans: Any, calls: Counter[str] | None = None, reader: Any = None, **fields: Any) -> Any:
    """A flow whose planner says what `plans` says to the number of times that it was asked."""
    counted = Counter[str]() if calls is None else calls

    async def think(env: Envelope, ctx: Any, settings: Any) -> Any:
        counted["plan"] += 1
        return {"steps": plans(counted["plan"]) if callable(plans) else plans}

    def build(gate: Gate) -> Flow:
        parts = Parts(tools=gate, services={"think": think}, answers=reader)
        stages = with_planner(
            {
                "plan": AgentSpec(
                    name="plan", service="think", output_key="plan", default_next="act"
                ),
                "act": AgentSpec(
                    name="act", has_tools=True, tools=NAMES, output_key="act", **fields
                ),
            }
        )
        flow = FlowSpec(name="flow", start="plan", stages=stages, version="v1")
        return Flow(flow, {name: Agent(stage, parts).process for name, stage in stages.items()})

    return build


async def said(desk: Engine, *bodies: str) -> list[str]:
    """Hand in one message after the other; returns their runs."""
    messages = [
        a_message(number, conversation="c", body=body) for number, body in enumerate(bodies, 1)
    ]
    return [await desk.work(message) for message in messages]


async def test_the_plan_is_not_made_anew_while_it_has_steps_left(tmp_path: Path) -> None:
    plan = [call("charge", text="deposit"), ASK, call("paint", colour="{slots.colour}")]
    calls: Counter[str] = Counter()
    async with engine(tmp_path / "d.db", asking(plan, calls), tools=TOOLS) as desk:
        first, second = await said(desk, "Paint it", "blue")
        rows = await desk.store.rows(second)
        effects = [str(effect.key) for effect in await desk.store.effects(first)]
        effects += [str(effect.key) for effect in await desk.store.effects(second)]
        status = (await desk.store.run(second)).status
    assert done == ["charge deposit", "paint blue"]
    assert (status, calls["plan"]) == (RunStatus.DONE, 1)
    assert [row.name for row in rows] == ["@adopt", "act/answer", "act/2 paint", "act"]
    assert len(effects) == len(set(effects)) == 3, "the question, too, is an effect"
    output = fold(Envelope(), rows).outputs["act"]
    assert [result["tool"] for result in output["results"]] == ["charge", "paint"]
    assert (output["executed"], output["slots"]) == (2, {"colour": "blue"})
    assert "progress" not in output


async def test_each_step_has_a_status_and_times(tmp_path: Path) -> None:
    plan = [call("charge", text="deposit"), ASK, call("paint", colour="{slots.colour}")]
    async with engine(tmp_path / "d.db", asking(plan), tools=TOOLS) as desk:
        first, second = await said(desk, "Paint it", "blue")
        asked = result_of((await desk.store.rows(first))[-1]).plan_steps
        ended = result_of((await desk.store.rows(second))[-1]).plan_steps
    assert [(step.name, step.status) for step in asked] == [
        ("charge", StepStatus.COMPLETED),
        ("colour", StepStatus.IN_PROGRESS),
        ("paint", StepStatus.PENDING),
    ]
    assert asked[0].started_at is not None
    assert asked[0].finished_at is not None
    assert asked[1].started_at is not None
    assert asked[1].finished_at is None
    assert asked[2].started_at is None
    assert {step.status for step in ended} == {StepStatus.COMPLETED}


@pytest.mark.parametrize("jump", [-YEAR, -3600, 3600, YEAR])
async def test_a_clock_that_jumps_before_the_answer_changes_nothing(
    tmp_path: Path, jump: float
) -> None:
    plan = [call("charge", text="deposit"), ASK, call("paint", colour="{slots.colour}")]
    calls: Counter[str] = Counter()
    clock = TestClock()
    building = asking(plan, calls)
    async with engine(tmp_path / "d.db", building, tools=TOOLS, clock=clock) as desk:
        (first,) = await said(desk, "Paint it")
        clock.at += jump
        later = datetime.fromtimestamp(clock.at, UTC)
        answer = a_message(2, conversation="c", body="blue").changed(received_at=later)
        second = await desk.work(answer)
        clock.at -= 2 * jump
        await desk.work(answer)
        rows = await desk.store.rows(second)
        statuses = [(await desk.store.run(run)).status for run in (first, second)]
    assert done == ["charge deposit", "paint blue"]
    assert (statuses, calls["plan"]) == ([RunStatus.DONE, RunStatus.DONE], 1)
    assert [row.name for row in rows] == ["@adopt", "act/answer", "act/2 paint", "act"]
    painted = result_of(rows[-1]).plan_steps[-1]
    assert (painted.status, painted.started_at) == (StepStatus.COMPLETED, later.timestamp())


async def test_a_plan_with_nothing_left_is_made_anew_and_repeats_no_effect(tmp_path: Path) -> None:
    def plans(time: int) -> list[Any]:
        before = [call("look", at="fence"), call("charge", text="deposit")]
        return [*before, ASK] if time == 1 else [*before, call("paint", colour="blue")]

    async with engine(tmp_path / "d.db", asking(plans), tools=TOOLS) as desk:
        _, second = await said(desk, "Paint it", "blue")
        run, rows = await desk.store.run(second), await desk.store.rows(second)
    assert run.status is RunStatus.DONE
    assert done == ["look fence", "charge deposit", "look fence", "paint blue"]
    results = fold(Envelope(), rows).outputs["act"]["results"]
    assert sorted(result["tool"] for result in results) == ["charge", "look", "paint"]
    records = [result_of(row).call for row in rows]
    made = [record["tool"] for record in records if record is not None]
    assert made == ["look", "paint"], "what was not made is not told as a call"


async def test_a_planner_that_says_the_same_again_does_nothing_again(tmp_path: Path) -> None:
    plan = [call("charge", text="deposit"), ASK]
    async with engine(tmp_path / "d.db", asking(plan), tools=TOOLS) as desk:
        _, second = await said(desk, "Paint it", "blue")
        status = (await desk.store.run(second)).status
    assert status is RunStatus.DONE
    assert done == ["charge deposit"]
    assert len(desk.outbox.sent) == 1, "and nobody is asked what he has answered"


async def test_an_effect_that_comes_in_other_words_waits_for_a_person(tmp_path: Path) -> None:
    def plans(time: int) -> list[Any]:
        return [call("charge", text=f"deposit {time}"), *([ASK] if time == 1 else [])]

    async with engine(tmp_path / "d.db", asking(plans), tools=TOOLS) as desk:
        _, second = await said(desk, "Paint it", "blue")
        assert done == ["charge deposit 1"]
        [review] = await desk.store.find_reviews(ReviewFilter(run_id=second))
        assert review.kind is ReviewKind.TOOL_CALL
        assert "was carried out before the customer was asked" in review.reason
        verdict = Verdict(Decision.APPROVE, "eve", review.version, review.payload_hash)
        await desk.store.decide(review.id, verdict)
        desk.dispatcher.wake()
        assert await desk.dispatcher.wait(second) is RunStatus.DONE
    assert done == ["charge deposit 1", "charge deposit 2"]


async def test_a_route_that_asks_after_the_plan_repeats_no_effect_either(tmp_path: Path) -> None:
    rule = {"when": {"executed": 1}, "outcome": "clarify", "ask": "Anything else?"}
    build = asking(
        lambda time: [call("charge", text="deposit"), *([call("look", at="it")] * (time - 1))],
        routing_rules=(RoutingRule.model_validate(rule),),
    )
    async with engine(tmp_path / "d.db", build, tools=TOOLS) as desk:
        _, second = await said(desk, "Charge me", "no")
        status = (await desk.store.run(second)).status
    assert status is RunStatus.DONE
    assert done == ["charge deposit", "look it"]


async def test_two_equal_effects_that_are_both_meant_both_happen(tmp_path: Path) -> None:
    def plans(time: int) -> list[Any]:
        return [call("charge", text="deposit"), *([ASK] if time == 1 else [])] * time

    async with engine(tmp_path / "d.db", asking(plans), tools=TOOLS) as desk:
        _, second = await said(desk, "Paint it", "blue")
        reviews = await desk.store.find_reviews(ReviewFilter(run_id=second))
    assert reviews == []
    assert done == ["charge deposit", "charge deposit"]


async def test_a_value_that_is_not_in_the_answer_is_asked_for_three_times(tmp_path: Path) -> None:
    plan = [call("charge", text="deposit"), ASK, call("paint", colour="{slots.colour}")]
    build = asking(plan, reader=Colours())
    async with engine(tmp_path / "d.db", build, tools=TOOLS) as desk:
        *_, last = await said(desk, "Paint it", "hm", "well", "I do not know")
        run = await desk.store.run(last)
    assert len(desk.outbox.sent) == 3
    assert run.status is RunStatus.NEEDS_REVIEW
    assert "asked for colour 3 times" in (run.reason or "")
    assert done == ["charge deposit"]


async def test_a_plan_says_how_often_it_asks(tmp_path: Path) -> None:
    plan = [{**ASK, "at_most": 1}, call("paint", colour="{slots.colour}")]
    async with engine(tmp_path / "d.db", asking(plan, reader=Colours()), tools=TOOLS) as desk:
        _, last = await said(desk, "Paint it", "hm")
        run = await desk.store.run(last)
    assert len(desk.outbox.sent) == 1
    assert "asked for colour 1 time, and" in (run.reason or "")


async def test_a_late_good_answer_still_counts(tmp_path: Path) -> None:
    plan = [call("charge", text="deposit"), ASK, call("paint", colour="{slots.colour}")]
    async with engine(tmp_path / "d.db", asking(plan, reader=Colours()), tools=TOOLS) as desk:
        *_, last = await said(desk, "Paint it", "hm", "red")
        status = (await desk.store.run(last)).status
    assert status is RunStatus.DONE
    assert done == ["charge deposit", "paint red"]


async def test_an_answer_of_100_kb_is_no_value(tmp_path: Path) -> None:
    plan = [ASK, call("paint", colour="{slots.colour}")]
    async with engine(tmp_path / "d.db", asking(plan), tools=TOOLS) as desk:
        _, second = await said(desk, "Paint it", "blue " * (LONGEST_ANSWER * 10))
        status = (await desk.store.run(second)).status
    assert status is RunStatus.WAITING_USER
    assert done == []


async def test_a_plan_of_questions_alone_is_made_anew_with_the_answer(tmp_path: Path) -> None:
    def plans(time: int) -> list[Any]:
        return [ASK] if time == 1 else [call("paint", colour="blue")]

    calls: Counter[str] = Counter()
    async with engine(tmp_path / "d.db", asking(plans, calls), tools=TOOLS) as desk:
        _, second = await said(desk, "Paint it", "blue")
        status = (await desk.store.run(second)).status
    assert (status, calls["plan"]) == (RunStatus.DONE, 2)
    assert done == ["paint blue"]
