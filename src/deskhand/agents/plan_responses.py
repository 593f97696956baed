"""What a plan says itself: `pre` before its calls, `post` after them."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from deskhand.agents.replying.reply import reply_from_call
from deskhand.agents.replying.sending import Sending
from deskhand.brain.declared_plans import Unresolved, in_words
from deskhand.config.sections.plans import RESULTS
from deskhand.model.envelope import Delta, StageResult
from deskhand.model.message import DELIVER
from deskhand.model.plan import SAID, SKIPPED, Respond, StepRecord, StepStatus
from deskhand.model.understanding import SLOTS
from deskhand.ports import Held, StageContext, ToolGate

FIRST_SAID = 3_000_000
"""The call index of what a plan's first step says, out of the way of its calls."""


def worded(
    step: Respond, results: Sequence[Mapping[str, Any]], slots: Mapping[str, Any]
) -> str | None:
    """The step's text with its references filled in; None where one leads to nothing, or where it
    would come after a call that failed."""
    if step.when == "post" and any(_went_wrong(result) for result in results):
        return None
    by_tool = {result["tool"]: result.get("data") for result in results if _is_good(result)}
    try:
        return in_words(step.message, {RESULTS: by_tool, SLOTS: dict(slots)}).strip() or None
    except Unresolved:
        return None


async def say(
    text: str, record: StepRecord, output_key: str, ctx: StageContext, gate: ToolGate
) -> StageResult:
    """Send a text to the customer at once, and record whether it left. The plan goes on either
    way: a word in between is nothing that a plan depends on."""
    name = f"respond {record.place + 1}"
    made = await ctx.step(name, partial(_send, text, record, output_key, ctx, gate))
    if isinstance(made, Held):
        return ctx.note(name, _failed(record, ctx))
    return made


def write_down(
    text: str | None, when: str, record: StepRecord, output_key: str, ctx: StageContext
) -> StageResult:
    """Record a text without sending it; a step that has none failed."""
    if text is None:
        return ctx.note(f"respond {record.place + 1}", _failed(record, ctx))
    finished = _finished(record, StepStatus.COMPLETED, ctx)
    said = {"when": when, "text": text, "sent": False}
    delta = Delta(append={f"{output_key}.{SAID}": [said]})
    return ctx.note(f"respond {record.place + 1}", StageResult(delta=delta, plan_steps=(finished,)))


async def may_be_said(text: str, sending: Sending | None, ctx: StageContext) -> bool:
    """Whether a text may go to the customer by itself, as a question may."""
    if sending is None or ctx.envelope.message is None:
        return False
    return await sending.keeps_question(ctx.envelope, text) is None


def said_in(result: StageResult, output_key: str) -> list[dict[str, Any]]:
    """What a recorded step said."""
    said: list[dict[str, Any]] = result.delta.append.get(f"{output_key}.{SAID}", [])
    return said


async def _send(
    text: str, record: StepRecord, output_key: str, ctx: StageContext, gate: ToolGate
) -> StageResult | Held:
    reply = reply_from_call({"body": text}, ctx.envelope)
    index = FIRST_SAID + record.place
    answer = await gate.call(DELIVER, reply, allowed=(DELIVER,), ctx=ctx, index=index)
    if answer.verdict == "hold":
        return Held(answer, ctx.effect_key(index))
    status = StepStatus.COMPLETED if answer.result.ok else StepStatus.FAILED
    said = {"when": "pre", "text": text, "sent": answer.result.ok}
    return StageResult(
        call=answer.record(),
        delta=Delta(append={f"{output_key}.{SAID}": [said]}),
        plan_steps=(_finished(record, status, ctx),),
    )


def _failed(record: StepRecord, ctx: StageContext) -> StageResult:
    return StageResult(plan_steps=(_finished(record, StepStatus.FAILED, ctx),))


def _finished(record: StepRecord, status: StepStatus, ctx: StageContext) -> StepRecord:
    return record.changed(status=status, finished_at=ctx.now())


def _is_good(result: Mapping[str, Any]) -> bool:
    return result.get("status") == "success"


def _went_wrong(result: Mapping[str, Any]) -> bool:
    """A call that was not made, since what it needs was not found, did not go wrong."""
    return result.get("status") not in ("success", SKIPPED) and not result.get("optional")
