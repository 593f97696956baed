"""What a run does in its flow: results, routes, attempts, limits, waiting and continuing."""

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from deskhand.adapters.stores.sqlite import SqliteStore
from deskhand.agents.parts import Parts
from deskhand.engine.journal import fold, result_of, states
from deskhand.engine.loop import Flow
from deskhand.errors import Conflict, PermanentError
from deskhand.model.envelope import Ask, Envelope
from deskhand.model.outcome import Outcome
from deskhand.model.queue import ReviewFilter
from deskhand.model.run import Decision, ReviewKind, ReviewState, RunStatus, Verdict
from deskhand.model.spec import AgentSpec, RoutingRule
from deskhand.tools.gate import Gate
from deskhand.tools.registry import tool
from deskhand.tools.services import ServiceResult
from tests.kit import TestClock, a_flow, a_message, chain_of, engine


def services(**work: Any) -> Parts:
    return Parts(services=work)


async def test_every_step_says_what_it_met_and_left(tmp_path: Path) -> None:
    async def one(env: Envelope, ctx: Any, settings: Any) -> dict[str, Any]:
        return {"seen": env.raw_input}

    async def two(env: Envelope, ctx: Any, settings: Any) -> dict[str, Any]:
        return {"before": env.outputs["one"]["seen"].upper()}

    def build(gate: Gate) -> Flow:
        return a_flow(chain_of(["one", "two"]), services(one=one, two=two))

    async with engine(tmp_path / "d.db", build) as desk:
        run_id = await desk.work(a_message(body="hello"))
        run, rows = await desk.store.run(run_id), await desk.store.rows(run_id)
        message = await desk.store.message(run_id)
    assert run.status is RunStatus.DONE
    assert message is not None
    traced = list(states(Envelope.of(message, run_id=run_id), rows))
    assert [(state.row.seq, state.row.name, state.row.attempt) for state in traced] == [
        (0, "one", 1),
        (1, "two", 1),
    ]
    assert traced[0].before.outputs == {}
    assert traced[1].before.outputs == {"one": {"seen": "hello"}}
    assert traced[1].after.outputs == {"one": {"seen": "hello"}, "two": {"before": "HELLO"}}
    assert traced[1].after.hops == 2
    assert all(row.flow_version == "v1" and row.latency_ms >= 0 for row in rows)


async def test_a_stage_is_tried_three_times_with_growing_pauses_then_a_person_gets_it(
    tmp_path: Path,
) -> None:
    tries: list[int] = []

    async def broken(env: Envelope, ctx: Any, settings: Any) -> dict[str, Any]:
        tries.append(1)
        raise ValueError("no carrier")

    clock = TestClock()
    async with engine(
        tmp_path / "d.db",
        lambda gate: a_flow(chain_of(["broken"]), services(broken=broken)),
        clock=clock,
    ) as desk:
        run_id = await desk.work(a_message())
        run, rows = await desk.store.run(run_id), await desk.store.rows(run_id)
        [review] = await desk.store.find_reviews(ReviewFilter(run_id=run_id))
    assert len(tries) == 3
    assert [round(pause, 6) for pause in clock.slept] == [1.0, 2.0]
    assert run.status is RunStatus.NEEDS_REVIEW
    assert run.error_code == "stage_failed"
    assert [(row.attempt, row.outcome) for row in rows] == [
        (1, "error"),
        (2, "error"),
        (3, "error"),
    ]
    assert review.kind is ReviewKind.HAND_OVER
    assert "no carrier" in review.payload["error"]["message"]
    assert fold(Envelope(), rows).errors[0].message == "ValueError: no carrier"


async def test_a_permanent_error_is_not_tried_again(tmp_path: Path) -> None:
    tries: list[int] = []

    async def broken(env: Envelope, ctx: Any, settings: Any) -> dict[str, Any]:
        tries.append(1)
        raise PermanentError("nobody can mend this")

    async with engine(
        tmp_path / "d.db", lambda gate: a_flow(chain_of(["broken"]), services(broken=broken))
    ) as desk:
        run = await desk.store.run(await desk.work(a_message()))
    assert tries == [1]
    assert run.status is RunStatus.NEEDS_REVIEW


async def test_a_stage_that_hangs_is_cut_off_and_says_so(tmp_path: Path) -> None:
    async def hangs(env: Envelope, ctx: Any, settings: Any) -> dict[str, Any]:
        await asyncio.sleep(60)
        return {}

    stages = chain_of(["hangs"], timeout=0.01, attempts=1)
    async with engine(
        tmp_path / "d.db", lambda gate: a_flow(stages, services(hangs=hangs))
    ) as desk:
        run = await desk.store.run(await desk.work(a_message()))
    assert (run.status, run.error_code) == (RunStatus.NEEDS_REVIEW, "stage_timeout")


async def test_a_person_may_retry_what_failed_and_finished_steps_are_not_repeated(
    tmp_path: Path,
) -> None:
    calls: Counter[str] = Counter()
    mended = False

    async def first(env: Envelope, ctx: Any, settings: Any) -> dict[str, Any]:
        calls["first"] += 1
        return {"done": True}

    async def second(env: Envelope, ctx: Any, settings: Any) -> dict[str, Any]:
        calls["second"] += 1
        if not mended:
            raise PermanentError("not yet")
        return {"done": True}

    def build(gate: Gate) -> Flow:
        return a_flow(chain_of(["first", "second"]), services(first=first, second=second))

    async with engine(tmp_path / "d.db", build) as desk:
        run_id = await desk.work(a_message())
        assert (await desk.store.run(run_id)).status is RunStatus.NEEDS_REVIEW
    mended = True
    async with engine(tmp_path / "d.db", build) as desk:
        await desk.store.requeue(run_id, "eve")
        desk.dispatcher.wake()
        assert await desk.dispatcher.wait(run_id) is RunStatus.DONE
        rows = await desk.store.rows(run_id)
    assert calls == {"first": 1, "second": 2}
    assert [row.name for row in rows] == ["first", "second", "@decision", "second"]


async def test_the_hop_limit_stops_a_run_that_goes_in_circles(tmp_path: Path) -> None:
    async def again(env: Envelope, ctx: Any, settings: Any) -> dict[str, Any]:
        return {}

    stages = {
        "again": AgentSpec(name="again", service="again", output_key="again", default_next="again")
    }
    async with engine(
        tmp_path / "d.db", lambda gate: a_flow(stages, services(again=again), max_hops=5)
    ) as desk:
        run_id = await desk.work(a_message())
        run, rows = await desk.store.run(run_id), await desk.store.rows(run_id)
    assert (run.status, run.error_code) == (RunStatus.NEEDS_REVIEW, "hop_limit")
    assert len(rows) == 6


@pytest.mark.parametrize("outcome", [Outcome.LOOP_BACK, Outcome.REPLAN])
async def test_looping_outcomes_lead_back_until_the_visits_are_used_up(
    tmp_path: Path, outcome: Outcome
) -> None:
    calls: Counter[str] = Counter()

    async def plan(env: Envelope, ctx: Any, settings: Any) -> dict[str, Any]:
        calls["plan"] += 1
        return {}

    async def check(env: Envelope, ctx: Any, settings: Any) -> ServiceResult:
        calls["check"] += 1
        return ServiceResult(outcome=outcome if calls["check"] < 3 else Outcome.SUCCESS)

    stages = {
        "plan": AgentSpec(
            name="plan", service="plan", output_key="plan", default_next="check", max_visits=5
        ),
        "check": AgentSpec(name="check", service="check", output_key="check", loop_to="plan"),
    }
    async with engine(
        tmp_path / "d.db", lambda gate: a_flow(stages, services(plan=plan, check=check))
    ) as desk:
        assert (await desk.store.run(await desk.work(a_message()))).status is RunStatus.DONE
    assert calls == {"plan": 3, "check": 3}


async def test_visits_are_limited(tmp_path: Path) -> None:
    async def plan(env: Envelope, ctx: Any, settings: Any) -> dict[str, Any]:
        return {}

    async def check(env: Envelope, ctx: Any, settings: Any) -> ServiceResult:
        return ServiceResult(outcome=Outcome.LOOP_BACK)

    stages = {
        "plan": AgentSpec(
            name="plan", service="plan", output_key="plan", default_next="check", max_visits=2
        ),
        "check": AgentSpec(name="check", service="check", output_key="check", loop_to="plan"),
    }
    async with engine(
        tmp_path / "d.db", lambda gate: a_flow(stages, services(plan=plan, check=check))
    ) as desk:
        run = await desk.store.run(await desk.work(a_message()))
    assert (run.status, run.error_code) == (RunStatus.NEEDS_REVIEW, "loop_limit")


async def test_a_failed_stage_may_lead_to_another_instead_of_a_person(tmp_path: Path) -> None:
    async def broken(env: Envelope, ctx: Any, settings: Any) -> dict[str, Any]:
        raise PermanentError("down")

    async def rescue(env: Envelope, ctx: Any, settings: Any) -> dict[str, Any]:
        return {"saw": env.errors[0].message}

    stages = {
        "broken": AgentSpec(
            name="broken", service="broken", output_key="broken", error_next="rescue"
        ),
        "rescue": AgentSpec(name="rescue", service="rescue", output_key="rescue"),
    }
    async with engine(
        tmp_path / "d.db", lambda gate: a_flow(stages, services(broken=broken, rescue=rescue))
    ) as desk:
        run_id = await desk.work(a_message())
        run, rows = await desk.store.run(run_id), await desk.store.rows(run_id)
    assert run.status is RunStatus.DONE
    assert fold(Envelope(), rows).outputs["rescue"] == {"saw": "down"}


def asking_flow(calls: Counter[str]) -> Flow:
    async def draft(env: Envelope, ctx: Any, settings: Any) -> dict[str, Any]:
        calls["draft"] += 1
        return {"text": f"draft {calls['draft']} {env.metadata.get('instruction', '')}".strip()}

    async def ask(env: Envelope, ctx: Any, settings: Any) -> ServiceResult:
        calls["ask"] += 1
        reply = {"to": "ann@example.com", "text": env.outputs["draft"]["text"]}
        return ServiceResult(
            outcome=Outcome.CONFIRM,
            reason="unsure",
            ask=Ask(kind="reply", reason="unsure", payload={"reply": reply}),
        )

    async def send(env: Envelope, ctx: Any, settings: Any) -> ServiceResult:
        calls["send"] += 1
        return ServiceResult(
            status="sent", output={"decision": env.metadata["decision"]["decision"]}
        )

    stages = {
        "draft": AgentSpec(
            name="draft", service="draft", output_key="draft", default_next="ask", max_visits=9
        ),
        "ask": AgentSpec(
            name="ask", service="ask", output_key="ask", default_next="send", loop_to="draft"
        ),
        "send": AgentSpec(name="send", service="send", output_key="send"),
    }
    return a_flow(stages, services(draft=draft, ask=ask, send=send))


async def test_a_run_waits_for_a_reviewer_and_goes_on_days_later_in_another_process(
    tmp_path: Path,
) -> None:
    calls: Counter[str] = Counter()
    clock = TestClock()
    async with engine(tmp_path / "d.db", lambda gate: asking_flow(calls), clock=clock) as desk:
        run_id = await desk.work(a_message())
        assert (await desk.store.run(run_id)).status is RunStatus.WAITING_REVIEW
        [review] = await desk.store.find_reviews(ReviewFilter(state=ReviewState.OPEN))
    clock.at += 3 * 86400
    async with engine(tmp_path / "d.db", lambda gate: asking_flow(calls), clock=clock) as desk:
        assert (await desk.store.run(run_id)).status is RunStatus.WAITING_REVIEW
        await desk.store.decide(
            review.id, Verdict(Decision.APPROVE, "eve", review.version, review.payload_hash)
        )
        desk.dispatcher.wake()
        assert await desk.dispatcher.wait(run_id) is RunStatus.SENT
        with pytest.raises(Conflict, match="already decided"):
            await desk.store.decide(review.id, Verdict(Decision.APPROVE, "bob", review.version))
    assert calls == {"draft": 1, "ask": 1, "send": 1}


async def test_a_rejected_reply_ends_the_run(tmp_path: Path) -> None:
    calls: Counter[str] = Counter()
    async with engine(tmp_path / "d.db", lambda gate: asking_flow(calls)) as desk:
        run_id = await desk.work(a_message())
        [review] = await desk.store.find_reviews()
        await desk.store.decide(
            review.id, Verdict(Decision.REJECT, "eve", review.version, note="rude")
        )
        desk.dispatcher.wake()
        assert await desk.dispatcher.wait(run_id) is RunStatus.REJECTED
        run = await desk.store.run(run_id)
    assert run.reason == "rejected by eve: rude"
    assert calls["send"] == 0


async def test_a_revision_goes_back_to_the_draft_with_the_instruction_at_most_three_times(
    tmp_path: Path,
) -> None:
    calls: Counter[str] = Counter()
    async with engine(tmp_path / "d.db", lambda gate: asking_flow(calls)) as desk:
        run_id = await desk.work(a_message())
        for expected in (2, 3, 4):
            [review] = await desk.store.find_reviews(ReviewFilter(state=ReviewState.OPEN))
            await desk.store.decide(
                review.id, Verdict(Decision.REVISE, "eve", review.version, note="warmer")
            )
            desk.dispatcher.wake()
            assert await desk.dispatcher.wait(run_id) is RunStatus.WAITING_REVIEW
            assert calls["draft"] == expected
        [review] = await desk.store.find_reviews(ReviewFilter(state=ReviewState.OPEN))
        assert review.payload["reply"]["text"] == "draft 4 warmer"
        await desk.store.decide(
            review.id, Verdict(Decision.REVISE, "eve", review.version, note="warmer still")
        )
        desk.dispatcher.wake()
        assert await desk.dispatcher.wait(run_id) is RunStatus.NEEDS_REVIEW


async def test_a_newer_message_makes_a_waiting_draft_stale(tmp_path: Path) -> None:
    calls: Counter[str] = Counter()
    async with engine(tmp_path / "d.db", lambda gate: asking_flow(calls)) as desk:
        first = await desk.work(a_message(1, conversation="c"))
        [review] = await desk.store.find_reviews()
        second = await desk.work(a_message(2, conversation="c"))
        with pytest.raises(Conflict, match="stale"):
            await desk.store.decide(review.id, Verdict(Decision.APPROVE, "eve", review.version))
        run = await desk.store.run(first)
        turns = await desk.store.conversation("c", before=(await desk.store.run(second)).position)
    assert (run.status, run.successor) == (RunStatus.DONE, second)
    assert [turn.message.id for turn in turns] == ["m1"]


async def test_the_customers_answer_goes_on_where_the_question_was_asked(tmp_path: Path) -> None:
    calls: Counter[str] = Counter()

    async def plan(env: Envelope, ctx: Any, settings: Any) -> dict[str, Any]:
        calls["plan"] += 1
        return {"tool": "find_order"}

    async def order(env: Envelope, ctx: Any, settings: Any) -> dict[str, Any]:
        calls["order"] += 1
        return {"number": env.raw_input if env.raw_input.startswith("O-") else None}

    def build(gate: Gate) -> Flow:
        stages = {
            "plan": AgentSpec(name="plan", service="plan", output_key="plan", default_next="order"),
            "order": AgentSpec(
                name="order",
                service="order",
                output_key="order",
                routing_rules=(
                    RoutingRule(
                        when={"number": {"is": None}}, outcome=Outcome.CLARIFY, ask="Which?"
                    ),
                ),
            ),
        }
        return a_flow(stages, Parts(tools=gate, services={"plan": plan, "order": order}))

    async with engine(tmp_path / "d.db", build) as desk:
        first = await desk.work(a_message(1, conversation="c", body="where is it?"))
        assert (await desk.store.run(first)).status is RunStatus.WAITING_USER
        [(_, question)] = desk.outbox.sent
        second = await desk.work(a_message(2, conversation="c", body="O-12345"))
        run, rows = await desk.store.run(second), await desk.store.rows(second)
        parked = await desk.store.run(first)
    assert question.text == "Which?"
    assert (question.to, question.in_reply_to) == ("ann@example.com", "m1")
    assert run.status is RunStatus.DONE
    assert [row.name for row in rows] == ["@adopt", "order"]
    assert fold(Envelope(), rows).outputs == {
        "plan": {"tool": "find_order"},
        "order": {"number": "O-12345"},
        "reply": fold(Envelope(), rows).outputs["reply"],
    }
    assert (parked.status, parked.successor) == (RunStatus.DONE, second)
    assert calls == {"plan": 1, "order": 2}


async def test_a_conversation_taken_over_stays_silent_until_given_back(tmp_path: Path) -> None:
    calls: Counter[str] = Counter()
    async with engine(tmp_path / "d.db", lambda gate: asking_flow(calls)) as desk:
        await desk.work(a_message(1, conversation="c"))
        [review] = await desk.store.find_reviews()
        await desk.store.decide(review.id, Verdict(Decision.TAKE_OVER, "eve", review.version))
        silent = await desk.store.run(await desk.work(a_message(2, conversation="c")))
        assert (silent.status, silent.error_code) == (RunStatus.NEEDS_REVIEW, "taken_over")
        assert calls["draft"] == 1
        assert await desk.store.give_back("c", "eve")
        again = await desk.store.run(await desk.work(a_message(3, conversation="c")))
    assert again.status is RunStatus.WAITING_REVIEW
    assert calls["draft"] == 2


async def test_an_edited_flow_goes_on_from_what_was_recorded(tmp_path: Path) -> None:
    calls: Counter[str] = Counter()
    async with engine(tmp_path / "d.db", lambda gate: asking_flow(calls)) as desk:
        run_id = await desk.work(a_message())
        [review] = await desk.store.find_reviews()
        await desk.store.decide(review.id, Verdict(Decision.APPROVE, "eve", review.version))

    def without_send(gate: Gate) -> Flow:
        flow = asking_flow(calls)
        stages = {name: stage for name, stage in flow.spec.stages.items() if name != "send"}
        return Flow(flow.spec.model_copy(update={"stages": stages, "version": "v2"}), flow.agents)

    async with engine(tmp_path / "d.db", without_send) as desk:
        await desk.dispatcher.wait(run_id)
        run, rows = await desk.store.run(run_id), await desk.store.rows(run_id)
    assert (run.status, run.error_code) == (RunStatus.NEEDS_REVIEW, "flow_changed")
    assert [(row.name, row.flow_version) for row in rows[-2:]] == [
        ("@decision", "v2"),
        ("send", "v2"),
    ]
    assert result_of(rows[-1]).error is not None
    assert calls == {"draft": 1, "ask": 1}


async def test_an_approval_is_good_for_one_of_two_equal_calls(tmp_path: Path) -> None:
    paid: list[int] = []

    @tool(effect="irreversible")
    async def pay(amount: int) -> dict[str, Any]:
        """Pay."""
        paid.append(amount)
        return {}

    async def plan(env: Envelope, ctx: Any, settings: Any) -> dict[str, Any]:
        return {"steps": [{"tool": "pay", "parameters": {"amount": 5}}] * 2}

    def build(gate: Gate) -> Flow:
        stages = {
            "plan": AgentSpec(name="plan", service="plan", output_key="plan", default_next="act"),
            "act": AgentSpec(name="act", has_tools=True, tools=("pay",), output_key="act"),
        }
        return a_flow(stages, Parts(tools=gate, services={"plan": plan}))

    async with engine(tmp_path / "d.db", build, tools=(pay,)) as desk:
        run_id = await desk.work(a_message())
        for expected in ([], [5]):
            assert paid == expected
            [review] = await desk.store.find_reviews(ReviewFilter(state=ReviewState.OPEN))
            assert review.kind is ReviewKind.TOOL_CALL
            await desk.store.decide(
                review.id, Verdict(Decision.APPROVE, "eve", review.version, review.payload_hash)
            )
            desk.dispatcher.wake()
            await desk.dispatcher.wait(run_id)
        assert (await desk.store.run(run_id)).status is RunStatus.DONE
    assert paid == [5, 5]


async def test_the_newer_run_answers_the_messages_whose_drafts_it_made_stale(
    tmp_path: Path,
) -> None:
    texts: list[str] = []

    def build(gate: Gate) -> Flow:
        calls: Counter[str] = Counter()
        flow = asking_flow(calls)

        async def draft(env: Envelope, ctx: Any) -> Any:
            texts.append(env.raw_input)
            return await flow.agents["draft"](env, ctx)

        return Flow(flow.spec, {**flow.agents, "draft": draft})

    async with engine(tmp_path / "d.db", build) as desk:
        first = await desk.work(a_message(1, conversation="c", body="I want a refund."))
        second = await desk.work(a_message(2, conversation="c", body="And where is P-1001?"))
        third = await desk.work(a_message(3, conversation="c", body="Hello?"))
        rows = await desk.store.rows(third)
    assert texts[-1] == "I want a refund.\n\nAnd where is P-1001?\n\nHello?"
    assert rows[0].name == "@adopt"
    assert result_of(rows[0]).delta.metadata["also_answers"] == [first, second]


async def test_an_unreadable_stored_message_goes_to_a_person_without_being_quoted(
    tmp_path: Path,
) -> None:
    calls: Counter[str] = Counter()
    async with engine(tmp_path / "d.db", lambda gate: asking_flow(calls)) as desk:
        gone = desk.store
        accepted = await gone.accept(a_message(), flow="flow")
        await desk.database.write_core(
            lambda core: core.exec_driver_sql(
                "UPDATE messages SET body = CAST('{\"secret\": 1}' AS BLOB)"
            ).close()
        )
        desk.dispatcher.wake()
        assert await desk.dispatcher.wait(accepted.run_id) is RunStatus.NEEDS_REVIEW
        run = await gone.run(accepted.run_id)
    assert run.error_code == "message_unreadable"
    assert "secret" not in (run.reason or "")


async def test_a_run_restarted_after_a_take_over_stays_silent(tmp_path: Path) -> None:
    calls: Counter[str] = Counter()
    async with engine(tmp_path / "d.db", lambda gate: asking_flow(calls)) as desk:
        victim = SqliteStore(desk.database, "test", "somebody who died")
        run_id = (await victim.accept(a_message(1, conversation="c"), flow="flow")).run_id
        await victim.claim(run_id, {"flow": "v1"})
        await desk.store.take_over("c", "eve")
        await desk.store.recover()
        desk.dispatcher.wake()
        assert await desk.dispatcher.wait(run_id) is RunStatus.NEEDS_REVIEW
        assert (await desk.store.run(run_id)).error_code == "taken_over"
    assert calls["draft"] == 0
