"""Tool mode: walk the plan an earlier stage made, a step a call; what a crash does again, the
ledger tells."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from deskhand.agents.replying.closing import Closing
from deskhand.agents.replying.delivery import ReplyDelivery, held_result
from deskhand.agents.replying.sending import Sending
from deskhand.config.sections.plans import REFERENCE, RESULTS
from deskhand.errors import PermanentError, RetryableError
from deskhand.model.codes import ErrorCode
from deskhand.model.envelope import Ask, Delta, Envelope, StageResult
from deskhand.model.message import ESCALATE
from deskhand.model.outcome import Outcome
from deskhand.model.plan import PLAN, SKIPPED, AskUser, Plan, ToolCall
from deskhand.model.run import RunStatus
from deskhand.model.spec import AgentSpec
from deskhand.ports import Held, StageContext, ToolGate
from deskhand.tools.effects import outcome_unknown
from deskhand.tools.services import ServiceResult


async def walk_plan(
    spec: AgentSpec,
    envelope: Envelope,
    ctx: StageContext,
    gate: ToolGate,
    sending: Sending | None = None,
) -> ServiceResult:
    """Every call through the gate. A failed tool does not stop the others; a held one stops for a
    reviewer.

    A call that needs what an earlier one found, as `{results.check_calendar.slot}`, is skipped
    where nothing was found. What the stage only intends is noted among the results: the dispatching
    stage does it with the final text.

    A question to the customer ends the walk; with the answer, the stage at `resume_at` makes the
    plan anew. A call of `escalate` ends it as well, and where a reply was handed in the run ends
    with it.
    """
    plan = _plan_of(spec, envelope)
    walk = _Walk(spec, ctx, gate)
    question: Ask | None = None
    for place, step in enumerate(plan.steps):
        if isinstance(step, AskUser):
            question = _question(spec, plan, place)
            break
        stopped = await walk.make(step) if isinstance(step, ToolCall) else None
        if stopped is not None:
            return stopped
        if walk.is_over:
            break

    output = walk.output | {"failed": walk.failed, "reasoning": plan.reasoning}
    if question is not None:
        return ServiceResult(output=output, outcome=Outcome.CLARIFY, ask=question)
    if closing := _closing(walk.results, envelope, sending):
        delivery = ReplyDelivery(ctx.envelope, sending or Sending(), gate, ctx)
        return await delivery.close(closing, output)
    outcome = Outcome.PARTIAL if walk.failed else Outcome.SUCCESS
    return ServiceResult(output=output, outcome=outcome)


@dataclass(slots=True)
class _Walk:
    """How far a plan has been walked."""

    spec: AgentSpec
    ctx: StageContext
    gate: ToolGate
    results: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    executed: int = 0
    failed: int = 0
    is_over: bool = False
    """Whether a call has asked for a person: then no further one is made."""

    @property
    def output(self) -> dict[str, Any]:
        return {RESULTS: self.results, "executed": self.executed}

    async def make(self, step: ToolCall) -> ServiceResult | None:
        """Make one call; returns what the stage ends with, None where the walk goes on."""
        if step.tool in self.spec.intends:
            self.results.append({"tool": step.tool, "status": "success", "intended": True})
            return None
        filled = filled_from(self.results, step.parameters)
        if filled is None:
            reason = "what it needs was not found"
            self.results.append({"tool": step.tool, "status": SKIPPED, "reason": reason})
            return None

        index = self.executed
        call = step.changed(parameters=filled)
        work = partial(_one, self.spec, call, index, self.ctx, self.gate)
        result = await self.ctx.step(f"{index + 1} {step.tool}", work, at_once=False)
        if isinstance(result, Held):
            return held_result(result, self.spec.name).changed(output={RESULTS: self.results})
        self.results += _results_in(self.spec, result)
        made = result.call or {}
        if made.get("requires_escalation"):
            return _escalated(made, self.results)

        succeeded = bool(made.get("ok"))
        self.failed += not succeeded
        self.executed += 1
        self.is_over = step.tool == ESCALATE and succeeded
        return None


def _question(spec: AgentSpec, plan: Plan, place: int) -> Ask:
    """All that is asked at this place of the plan, in one message."""
    asked: list[AskUser] = []
    for step in plan.steps[place:]:
        if not isinstance(step, AskUser):
            break
        asked.append(step)
    return Ask(
        kind="question",
        reason=f"{spec.name} asks the customer",
        text="\n".join(step.prompt for step in asked),
        param=asked[0].param,
    )


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


async def _one(
    spec: AgentSpec, call: ToolCall, index: int, ctx: StageContext, gate: ToolGate
) -> StageResult | Held:
    answer = await gate.call(call.tool, call.parameters, allowed=spec.tools, ctx=ctx, index=index)
    if answer.verdict == "hold":
        return Held(answer, ctx.effect_key(index))
    if outcome_unknown(answer.result):
        error = answer.result.error
        assert error is not None
        if error.details.get("retry") == "same_key":
            raise RetryableError(error.message, ErrorCode.EFFECT_UNKNOWN)
        raise PermanentError(error.message, ErrorCode.EFFECT_UNKNOWN)
    record = answer.record()
    result = {
        "tool": call.tool,
        "arguments": answer.arguments,
        **answer.result.model_dump(mode="json", exclude_none=True),
        **({"optional": True} if call.optional else {}),
    }
    if index == 0:  # what an earlier visit of this stage left belongs to another plan
        return StageResult(call=record, delta=Delta(outputs={spec.output_key: {RESULTS: [result]}}))
    return StageResult(call=record, delta=Delta(append={f"{spec.output_key}.{RESULTS}": [result]}))


def _closing(results: list[dict[str, Any]], envelope: Envelope, sending: Sending | None) -> Closing:
    made = [
        result
        for result in results
        if result.get("status") == "success" and not result.get("intended")
    ]
    calls = [(str(result["tool"]), result["arguments"]) for result in made]
    return Closing.of(calls, envelope, sending.replies_per_run if sending is not None else 1)


def _results_in(spec: AgentSpec, step: StageResult) -> list[dict[str, Any]]:
    whole = step.delta.outputs.get(spec.output_key, {}).get(RESULTS, [])
    return [*whole, *step.delta.append.get(f"{spec.output_key}.{RESULTS}", [])]


def _escalated(call: dict[str, Any], results: list[dict[str, Any]]) -> ServiceResult:
    """The desk's policy wants a person at once, whatever the plan had in mind next."""
    reason = str(call.get("reason") or f"the policy sends {call['tool']} to a person")
    output = {RESULTS: results, "executed": len(results)}
    return ServiceResult(
        output=output, outcome=Outcome.TERMINATE, status=RunStatus.NEEDS_REVIEW, reason=reason
    )


def filled_from(
    results: Sequence[Mapping[str, Any]], parameters: Mapping[str, Any]
) -> dict[str, Any] | None:
    """The parameters with every lone `{results.TOOL.FIELD}` replaced; None where one leads to
    nothing.

    It only ever brings what this run's own calls returned; the gate judges the call with it like
    any other.
    """
    filled: dict[str, Any] = {}
    for name, value in parameters.items():
        reference = REFERENCE.fullmatch(value) if isinstance(value, str) else None
        root, *path = ("",) if reference is None else reference[1].split(".")
        if root == RESULTS:
            value = _value_at(results, path)
            if value is None:
                return None
        filled[name] = value
    return filled


def _value_at(results: Sequence[Mapping[str, Any]], path: Sequence[str]) -> Any:
    """A text or number in the newest successful result of a tool; None where there is none."""
    tool, *fields = path
    made = [
        result
        for result in results
        if result.get("tool") == tool and result.get("status") == "success"
    ]
    here: Any = made[-1].get("data") if made and fields else None
    for name in fields:
        here = here.get(name) if isinstance(here, Mapping) else None
    return here if isinstance(here, str | int | float) else None
