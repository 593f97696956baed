"""What the calls of a plan came to, as the stage that makes them keeps it."""

from collections.abc import Mapping, Sequence
from typing import Any

from deskhand.agents.plan_progress import DONE
from deskhand.config.sections.plans import RESULTS
from deskhand.errors import PermanentError, RetryableError
from deskhand.model.codes import ErrorCode
from deskhand.model.envelope import StageResult
from deskhand.model.outcome import Outcome
from deskhand.model.plan import ToolCall
from deskhand.model.run import RunStatus
from deskhand.model.share import as_argument
from deskhand.model.spec import AgentSpec
from deskhand.ports import GateAnswer
from deskhand.tools.effects import outcome_unknown
from deskhand.tools.rules.unsure_readings import UNSURE, UNSURE_READING
from deskhand.tools.services import ServiceResult


def raise_if_unknown(answer: GateAnswer) -> None:
    """Raise where nobody knows whether the call took effect: the same step is repeated, or a
    person looks."""
    if not outcome_unknown(answer.result):
        return
    error = answer.result.error
    assert error is not None
    if error.details.get("retry") == "same_key":
        raise RetryableError(error.message, ErrorCode.EFFECT_UNKNOWN)
    raise PermanentError(error.message, ErrorCode.EFFECT_UNKNOWN)


def result_of(call: ToolCall, answer: GateAnswer) -> dict[str, Any]:
    result: dict[str, Any] = {
        "tool": call.tool,
        "arguments": answer.arguments,
        **answer.result.model_dump(mode="json", exclude_none=True),
    }
    if call.optional:
        result["optional"] = True
    if answer.took_effect:
        result[DONE] = answer.call_hash
    return result


def results_in(spec: AgentSpec, step: StageResult) -> list[dict[str, Any]]:
    key = spec.output_key
    whole = step.delta.outputs.get(key, {}).get(RESULTS, [])
    first = step.delta.merge.get(key, {}).get(RESULTS, [])
    return [*whole, *first, *step.delta.append.get(f"{key}.{RESULTS}", [])]


def escalated(call: dict[str, Any], results: list[dict[str, Any]]) -> ServiceResult:
    """The desk's policy wants a person at once, whatever the plan had in mind next."""
    reason = str(call.get("reason") or f"the policy sends {call['tool']} to a person")
    output = {RESULTS: results, "executed": len(results)}
    return ServiceResult(
        output=output, outcome=Outcome.TERMINATE, status=RunStatus.NEEDS_REVIEW, reason=reason
    )


def given_up(names: Sequence[str], most: int, output: dict[str, Any]) -> ServiceResult:
    """A customer who was asked often enough: a person takes over with all that is known."""
    times = f"{most} time{'s' * (most != 1)}"
    asked = ", ".join(names)
    return ServiceResult(
        output=output,
        outcome=Outcome.TERMINATE,
        status=RunStatus.NEEDS_REVIEW,
        reason=f"the customer was asked for {asked} {times}, and it is still not known",
    )


def unsure_values(answer: GateAnswer, slots: Mapping[str, Any]) -> dict[str, Any]:
    """The values that only the customer can settle, where nothing else holds a call back."""
    if answer.rule != UNSURE_READING:
        return {}
    readings = answer.record()["read"]
    names = {name for name, reading in readings.items() if reading in UNSURE}
    said = [answer.arguments[name] for name in names if name in answer.arguments]
    return {name: value for name, value in slots.items() if as_argument(value) in said}


def used_values(answer: GateAnswer, slots: Mapping[str, Any]) -> dict[str, Any]:
    """All values that a call would be made with: the customer sees what he says yes to."""
    said = list(answer.arguments.values())
    return {name: value for name, value in slots.items() if as_argument(value) in said}
