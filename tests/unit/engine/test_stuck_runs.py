"""Ways in which a run once got stuck, went round for ever, or took up what was not its own."""

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

from deskhand.agents.parts import Parts
from deskhand.engine.dispatcher import DispatchLimits
from deskhand.engine.loop import Flow
from deskhand.errors import Conflict, PermanentError, StoreUnavailable
from deskhand.model.envelope import Ask, Envelope, StageResult
from deskhand.model.outcome import Outcome
from deskhand.model.queue import ReviewFilter
from deskhand.model.run import Review, ReviewState, RunStatus, StepRow
from deskhand.model.spec import AgentSpec
from deskhand.tools.gate import Gate
from deskhand.tools.services import ServiceResult
from tests.kit import Engine, a_flow, a_message, chain_of, engine
from tests.waiting import PATIENCE


async def retried(desk: Engine, run_id: str) -> RunStatus:
    await desk.store.requeue(run_id, "eve")
    desk.dispatcher.wake()
    return await desk.dispatcher.wait(run_id)


async def test_a_stopped_run_does_not_take_up_the_draft_it_made_stale(tmp_path: Path) -> None:
    begun, may_answer = asyncio.Event(), False

    async def draft(env: Envelope, ctx: Any, settings: Any) -> dict[str, Any]:
        if env.raw_input.endswith("second") and not may_answer:
            begun.set()
            await asyncio.sleep(60)
        return {"text": f"answer to {env.raw_input}"}

    async def look(env: Envelope, ctx: Any, settings: Any) -> ServiceResult:
        ask = Ask(kind="reply", reason="look", payload=env.outputs["draft"])
        return ServiceResult(outcome=Outcome.CONFIRM, ask=ask)

    def build(gate: Gate) -> Flow:
        return a_flow(chain_of(["draft", "look"]), Parts(services={"draft": draft, "look": look}))

    async with engine(tmp_path / "d.db", build) as desk:
        await desk.work(a_message(1, conversation="c", body="first"))
        second = await desk.dispatcher.submit(a_message(2, conversation="c", body="second"))
        await begun.wait()
        await desk.dispatcher.stop(grace=0)
    may_answer = True
    async with engine(tmp_path / "d.db", build) as desk:
        await desk.dispatcher.wait(second.run_id)
        [review] = await desk.store.find_reviews(ReviewFilter(state=ReviewState.OPEN))
    assert review.payload == {"text": "answer to first\n\nsecond"}


async def test_a_row_on_its_way_when_the_time_is_up_counts_and_the_run_goes_on(
    tmp_path: Path,
) -> None:
    calls: Counter[str] = Counter()

    async def slow(env: Envelope, ctx: Any, settings: Any) -> dict[str, Any]:
        async def part() -> StageResult:
            calls["part"] += 1
            return StageResult()

        await ctx.step("part", part)
        return {}

    stages = chain_of(["slow"], timeout=5, attempts=2)
    async with engine(
        tmp_path / "d.db", lambda gate: a_flow(stages, Parts(services={"slow": slow}))
    ) as desk:
        append, late = desk.store.append, True

        async def slowly(*rows: StepRow) -> None:
            nonlocal late
            await append(*rows)
            if late:
                late = False
                await asyncio.sleep(5.5)

        desk.store.append = slowly  # type: ignore[method-assign]
        async with asyncio.timeout(PATIENCE):
            run_id = await desk.work(a_message())
        run, rows = await desk.store.run(run_id), await desk.store.rows(run_id)
    assert run.status is RunStatus.DONE
    assert [(row.name, row.outcome) for row in rows] == [
        ("slow/part", "success"),
        ("slow", "error"),
        ("slow", "success"),
    ]
    assert calls == {"part": 1}


async def test_a_row_that_was_committed_although_the_database_said_no_does_not_strand_the_run(
    tmp_path: Path,
) -> None:
    calls: Counter[str] = Counter()

    async def count(env: Envelope, ctx: Any, settings: Any) -> dict[str, Any]:
        calls["count"] += 1
        return {}

    stages = chain_of(["count"])
    async with engine(
        tmp_path / "d.db", lambda gate: a_flow(stages, Parts(services={"count": count}))
    ) as desk:
        append, broken = desk.store.append, True

        async def unsure(*rows: StepRow) -> None:
            nonlocal broken
            await append(*rows)
            if broken:
                broken = False
                raise StoreUnavailable("the connection broke during COMMIT")

        desk.store.append = unsure  # type: ignore[method-assign]
        async with asyncio.timeout(PATIENCE):
            run_id = await desk.work(a_message())
        assert (await desk.store.run(run_id)).status is RunStatus.DONE
        assert [row.name for row in await desk.store.rows(run_id)] == ["count"]
    assert calls == {"count": 1}


async def test_stages_that_rescue_each_other_in_vain_reach_the_hop_limit(tmp_path: Path) -> None:
    async def down(env: Envelope, ctx: Any, settings: Any) -> dict[str, Any]:
        raise PermanentError("down")

    stages = {
        "one": AgentSpec(
            name="one", service="down", output_key="one", error_next="two", max_visits=2
        ),
        "two": AgentSpec(
            name="two", service="down", output_key="two", error_next="one", max_visits=2
        ),
    }
    parts = Parts(services={"down": down})
    async with engine(tmp_path / "d.db", lambda gate: a_flow(stages, parts, max_hops=5)) as desk:
        async with asyncio.timeout(PATIENCE):
            run = await desk.store.run(await desk.work(a_message()))
    assert (run.status, run.error_code) == (RunStatus.NEEDS_REVIEW, "hop_limit")


async def test_a_run_that_a_stage_handed_over_goes_on_when_it_is_retried(tmp_path: Path) -> None:
    calls: Counter[str] = Counter()

    async def escalate(env: Envelope, ctx: Any, settings: Any) -> ServiceResult:
        calls["escalate"] += 1
        if calls["escalate"] == 1:
            return ServiceResult(
                outcome=Outcome.TERMINATE, status=RunStatus.NEEDS_REVIEW, reason="too hard"
            )
        return ServiceResult()

    parts = Parts(services={"escalate": escalate})
    async with engine(
        tmp_path / "d.db", lambda gate: a_flow(chain_of(["escalate"]), parts)
    ) as desk:
        run_id = await desk.work(a_message())
        parked = await desk.store.run(run_id)
        assert (parked.status, parked.reason) == (RunStatus.NEEDS_REVIEW, "too hard")
        assert await retried(desk, run_id) is RunStatus.DONE


async def test_the_hundred_and_first_decision_counts_like_the_first(tmp_path: Path) -> None:
    calls: Counter[str] = Counter()

    async def broken(env: Envelope, ctx: Any, settings: Any) -> dict[str, Any]:
        calls["broken"] += 1
        raise PermanentError("still down")

    parts = Parts(services={"broken": broken})
    async with engine(tmp_path / "d.db", lambda gate: a_flow(chain_of(["broken"]), parts)) as desk:
        run_id = await desk.work(a_message())
        for _ in range(102):
            assert await retried(desk, run_id) is RunStatus.NEEDS_REVIEW
    assert calls == {"broken": 103}


async def test_a_retry_before_the_first_step_is_no_answer_to_what_that_step_asks(
    tmp_path: Path,
) -> None:
    calls: Counter[str] = Counter()

    async def ask(env: Envelope, ctx: Any, settings: Any) -> ServiceResult:
        calls["ask"] += 1
        return ServiceResult(outcome=Outcome.CONFIRM, ask=Ask(kind="reply", reason="look"))

    async with engine(
        tmp_path / "d.db", lambda gate: a_flow(chain_of(["ask"]), Parts(services={"ask": ask}))
    ) as desk:
        await desk.store.take_over("c1", "bob")
        run_id = await desk.work(a_message())
        assert (await desk.store.run(run_id)).error_code == "taken_over"
        await desk.store.give_back("c1", "bob")
        assert await retried(desk, run_id) is RunStatus.WAITING_REVIEW
    assert calls == {"ask": 1}


async def test_a_status_that_ends_no_run_is_not_recorded_and_a_mended_service_can_be_retried(
    tmp_path: Path,
) -> None:
    status = "queued"

    async def finish(env: Envelope, ctx: Any, settings: Any) -> ServiceResult:
        return ServiceResult(status=status)

    async with engine(
        tmp_path / "d.db",
        lambda gate: a_flow(chain_of(["finish"]), Parts(services={"finish": finish})),
    ) as desk:
        async with asyncio.timeout(PATIENCE):
            run_id = await desk.work(a_message())
        run = await desk.store.run(run_id)
        assert run.status is RunStatus.NEEDS_REVIEW
        assert "'queued' is not a valid end of a run" in str(run.reason)
        status = "answered"
        assert await retried(desk, run_id) is RunStatus.ANSWERED


async def test_the_dispatcher_keeps_looking_after_a_look_that_failed(tmp_path: Path) -> None:
    async def nothing(env: Envelope, ctx: Any, settings: Any) -> dict[str, Any]:
        return {}

    parts = Parts(services={"nothing": nothing})
    async with engine(
        tmp_path / "d.db",
        lambda gate: a_flow(chain_of(["nothing"]), parts),
        limits=DispatchLimits(sweep=0.01),
    ) as desk:
        expire, failed, looked = desk.store.expire_reviews, asyncio.Event(), asyncio.Event()

        async def conflict_once(now: float) -> list[Review]:
            if not failed.is_set():
                failed.set()
                raise Conflict("somebody else was faster")
            looked.set()
            return await expire(now)

        desk.store.expire_reviews = conflict_once  # type: ignore[method-assign]
        async with asyncio.timeout(PATIENCE):
            await looked.wait()
