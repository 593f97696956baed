"""Tool mode: walk the plan an earlier stage made, a step a call; what a crash does again, the
ledger tells.

A question to the customer ends the walk. The run of the answer goes on at the question: what was
done before it stays done.
"""

from collections.abc import Sequence
from typing import Any

from deskhand.agents.plan_progress import (
    PlanProgress,
    count_before,
    digest_of,
    done_call,
    done_in,
    results_before,
)
from deskhand.agents.plan_walk import PlanWalk
from deskhand.agents.replying.closing import Closing
from deskhand.agents.replying.delivery import ReplyDelivery
from deskhand.agents.replying.sending import Sending
from deskhand.agents.slot_answers import ReadsAnswers, answers_in
from deskhand.agents.turn_endings import Taken
from deskhand.agents.turn_taking import TurnParts, take_turn
from deskhand.config.sections.plans import RESULTS
from deskhand.errors import PermanentError
from deskhand.model.authorship import AGENT, BY_MODEL, DESK_PLAN, Written
from deskhand.model.codes import ErrorCode
from deskhand.model.envelope import Delta, Envelope, StageResult
from deskhand.model.outcome import Outcome
from deskhand.model.plan import PLAN, AskUser, Plan
from deskhand.model.spec import AgentSpec
from deskhand.model.understanding import SLOTS, Understanding
from deskhand.ports import StageContext, ToolGate
from deskhand.tools.services import ServiceResult


async def walk_plan(
    spec: AgentSpec,
    envelope: Envelope,
    ctx: StageContext,
    gate: ToolGate,
    sending: Sending | None = None,
    reader: ReadsAnswers | None = None,
    turns: TurnParts | None = None,
) -> ServiceResult:
    """Every call through the gate. A failed tool does not stop the others; a held one stops for a
    reviewer.

    A call that needs what an earlier one found, as `{results.check_calendar.slot}`, is skipped
    where nothing was found. What the stage only intends is noted among the results: the dispatching
    stage does it with the final text.

    A question to the customer ends the walk; with the answer, it goes on there. A plan that has
    nothing left then is made anew by the stage that made it, and so is one of questions alone. A
    call of `escalate` ends the walk as well, and where a reply was handed in the run ends with it.

    What the plan says `pre` is sent in a chat and only recorded elsewhere. What it says `post`,
    after calls that all went well, is the reply, and the run ends with it.
    """
    plan = _plan_of(spec, envelope)
    walk = PlanWalk(spec, plan, ctx, gate, sending, reads_turns=turns is not None)
    if turns is not None:
        walk.labels = turns.labels
        walk.tell = turns.tell
        walk.failure_questions = turns.failure_questions.get(plan.intent_id or "", {})
    taken = await _take_up(walk, envelope, reader, turns)
    if taken.stopped is not None:
        return taken.stopped
    if taken.says:
        closing = Closing.answering(envelope, taken.says, Written(DESK_PLAN))
        delivery = ReplyDelivery(ctx.envelope, sending or Sending(), gate, ctx)
        return walk.ended(await delivery.close(closing, walk.output))
    is_answered = taken.is_answer
    begun_at = walk.place
    stopped = await walk.go_on()
    if stopped is not None:
        return stopped

    if is_answered and spec.replan_at and not _has_calls(plan, begun_at):
        return walk.replan()
    if closing := _closing(walk, envelope, sending):
        delivery = ReplyDelivery(ctx.envelope, sending or Sending(), gate, ctx)
        return walk.ended(await delivery.close(closing, walk.output))
    outcome = Outcome.PARTIAL if walk.failed else Outcome.SUCCESS
    return walk.ended(ServiceResult(output=walk.output, outcome=outcome))


async def _take_up(
    walk: PlanWalk,
    envelope: Envelope,
    reader: ReadsAnswers | None,
    turns: TurnParts | None,
) -> Taken:
    """Bring the walk to where an earlier run left it, and read what the customer said since."""
    key = walk.spec.output_key
    progress = PlanProgress.of(envelope, key)
    if progress is None and "adopted_from" not in envelope.metadata:
        return Taken()
    progress = progress or PlanProgress()
    walk.adopt(progress)
    before = results_before(envelope, key)
    if progress.at is None or progress.plan != digest_of(walk.plan):
        await _keep_done(walk, before)
        return Taken()
    walk.place = progress.at
    walk.results = before[: progress.results]
    walk.adds = True
    walk.executed = count_before(envelope, key, "executed")
    walk.failed = count_before(envelope, key, "failed")
    asked = envelope.metadata.get("asked") or {}
    if envelope.message is None or asked.get("param") not in progress.waits_for:
        return Taken()
    if turns is not None:
        return await take_turn(walk, envelope, progress, turns)
    walk.answers |= await _read(walk, envelope, progress.waits_for, reader)
    return Taken(is_answer=True)


async def _keep_done(walk: PlanWalk, before: Sequence[dict[str, Any]]) -> None:
    """Of a plan that was made anew, what took effect is not repeated; what was read, is."""
    done = done_in(before)
    if not done:
        return
    key = walk.spec.output_key

    async def keep() -> StageResult:
        return StageResult(delta=Delta(merge={key: {RESULTS: done}}))

    kept = await walk.ctx.step("kept", keep, at_once=False)
    walk.results = list(kept.delta.merge[key][RESULTS])
    walk.done = [done_call(result) for result in walk.results]
    walk.adds = True


async def _read(
    walk: PlanWalk, envelope: Envelope, asked: Sequence[str], reader: ReadsAnswers | None
) -> dict[str, Any]:
    """The values in the customer's answer, recorded: another reader would not change them."""
    message = envelope.message
    assert message is not None
    questions = [step for step in walk.plan.steps[walk.place :] if isinstance(step, AskUser)]
    later = [step.param for step in questions if step.param not in asked]
    key = walk.spec.output_key
    earlier = Understanding.of(envelope).slots

    async def read() -> StageResult:
        values = dict(await answers_in(message, asked, later, reader))
        answers = {**walk.answers, **values}
        return StageResult(delta=Delta(merge={key: {SLOTS: {**earlier, **answers}}}))

    made = await walk.ctx.step("answer", read, at_once=False)
    slots: dict[str, Any] = made.delta.merge[key][SLOTS]
    params = {*asked, *later}
    return {name: value for name, value in slots.items() if name in params}


def _has_calls(plan: Plan, place: int) -> bool:
    return any(not isinstance(step, AskUser) for step in plan.steps[place:])


def _plan_of(spec: AgentSpec, envelope: Envelope) -> Plan:
    raw = envelope.output(PLAN)
    if raw is None:
        raise PermanentError(
            f"stage {spec.name!r} runs tools but no stage before it wrote `plan`; give one `output:"
            " plan`",
            ErrorCode.PLAN_MISSING,
        )
    try:
        return Plan.parse(raw)
    except ValueError as error:
        raise PermanentError(f"stage {spec.name!r}: {error}", ErrorCode.PLAN_INVALID) from None


def _closing(walk: PlanWalk, envelope: Envelope, sending: Sending | None) -> Closing:
    """What the run ends with: replies that calls handed in, else what the plan says `post`."""
    made = [
        result
        for result in walk.results
        if result.get("status") == "success" and not result.get("intended")
    ]
    calls = [(str(result["tool"]), result["arguments"]) for result in made]
    most = sending.replies_per_run if sending is not None else 1
    by = AGENT if envelope.metadata.get(BY_MODEL) else DESK_PLAN
    handed_in = Closing.of(calls, envelope, most, by)
    if handed_in or not walk.reply or envelope.message is None:
        return handed_in
    return Closing.answering(envelope, walk.reply, Written(by))
