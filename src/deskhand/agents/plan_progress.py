"""How far a plan has come that stopped to ask the customer: kept in the output of the stage that
walks it, so that the run of the answer goes on there."""

from collections.abc import Mapping, Sequence
from typing import Any, Self

from pydantic import Field, ValidationError

from deskhand.config.sections.plans import RESULTS
from deskhand.model.envelope import Envelope
from deskhand.model.frozen import Frozen
from deskhand.model.plan import AskUser, DoneCall, Plan, StepStatus
from deskhand.model.results import ToolResult
from deskhand.model.run import canonical_hash

PROGRESS = "progress"
"""The field of the stage's output."""
DONE = "done"
"""The field of a result whose call took effect: the call's hash."""


class PlanProgress(Frozen):
    """Where a plan waits, or why it is made anew."""

    plan: str = ""
    """The digest of the plan."""
    at: int | None = None
    """The place of the question that waits; None where the plan has nothing but questions, so
    that it is made anew with the answer."""
    waits_for: tuple[str, ...] = ()
    """The parameters that the question asks for."""
    statuses: tuple[StepStatus, ...] = ()
    """How far each step was then."""
    results: int = 0
    """How many results there were then."""
    asked: dict[str, int] = Field(default_factory=dict)
    """How often the customer was asked for each parameter."""
    said: tuple[dict[str, Any], ...] = ()
    """What the plan had said by then."""
    answers: dict[str, Any] = Field(default_factory=dict)
    """What the customer answered, by parameter."""
    pending: dict[str, Any] = Field(default_factory=dict)
    """Values that were changed, while the customer is asked whether they are right."""
    unsure: tuple[str, ...] = ()
    """The answers that took the place of others: they are confirmed before anything is changed."""
    failed: str = ""
    """The error code of the call after whose failure the customer is asked."""
    author: str = ""
    """Who was asked then, as far as proven: one who has shown since who he is begins anew."""

    @classmethod
    def of(cls, envelope: Envelope, output_key: str) -> Self | None:
        """What the stage left when it stopped; None where it did not stop for an answer."""
        try:
            written = _output(envelope, output_key).get(PROGRESS)
            return None if written is None else cls.model_validate(written)
        except ValidationError:
            return None


def digest_of(plan: Plan) -> str:
    """Equal plans have equal digests, in whatever words they are explained."""
    return canonical_hash(plan.model_dump(mode="json", include={"intent_id", "steps"}))[:16]


def has_more_than_questions(plan: Plan) -> bool:
    return not all(isinstance(step, AskUser) for step in plan.steps)


def readings_of(unsure: set[str], confirmed: set[str]) -> dict[str, str]:
    """How sure a customer's answers are, by name."""
    doubted = dict.fromkeys(sorted(unsure - confirmed), "corrected")
    return doubted | dict.fromkeys(sorted(confirmed), "confirmed")


def results_before(envelope: Envelope, output_key: str) -> list[dict[str, Any]]:
    """The results that stand in the stage's output."""
    results = _output(envelope, output_key).get(RESULTS)
    if not isinstance(results, list):
        return []
    return [dict(result) for result in results]


def count_before(envelope: Envelope, output_key: str, field: str) -> int:
    """A count in the stage's output, 0 where there is none."""
    count = _output(envelope, output_key).get(field)
    return count if isinstance(count, int) else 0


def done_in(results: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Those of the results whose calls took effect."""
    return [dict(result) for result in results if result.get(DONE)]


def done_call(result: Mapping[str, Any]) -> DoneCall:
    """The call of a result that took effect."""
    fields = {name: result[name] for name in ToolResult.model_fields if name in result}
    return DoneCall(str(result["tool"]), str(result[DONE]), ToolResult.model_validate(fields))


def _output(envelope: Envelope, output_key: str) -> Mapping[str, Any]:
    output = envelope.output(output_key)
    return output if isinstance(output, Mapping) else {}
