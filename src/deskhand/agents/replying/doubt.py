"""A reply that may have left: its copy is looked for, then a person says whether it did."""

from typing import Any

from deskhand.errors import RetryableError
from deskhand.model.causes import Cause
from deskhand.model.codes import ErrorCode
from deskhand.model.envelope import Ask
from deskhand.model.outcome import Outcome
from deskhand.model.results import ToolResult
from deskhand.model.run import Decision, EffectKey, ReviewKind
from deskhand.model.waiting import Waiting
from deskhand.tools.services import ServiceResult

LOOK_AFTER = (2.0, 3.0, *[5.0] * 4, 15.0, 60.0, 300.0, 900.0, *[3600.0] * 23)
"""Seconds before each further look for a copy: often while one usually arrives, then for about a
day, as long as the mailbox itself is away."""
ASK = "It may have left. Say that it left, or send it again."


class InDoubt(RetryableError):
    """Nobody knows whether a reply has left."""

    code = ErrorCode.EFFECT_UNKNOWN

    def __init__(self, problem: str, *, for_good: bool) -> None:
        """`for_good` says that looking again would tell nothing more."""
        super().__init__(f"nobody knows whether the reply has left: {problem}")
        self.problem = problem
        self.for_good = for_good

    @classmethod
    def of(cls, result: ToolResult) -> "InDoubt":
        """The doubt that the result of a delivery speaks of."""
        details = result.error.details if result.error is not None else {}
        problem = str(result.for_model()["error"])
        return cls(problem, for_good=details.get("retry") == "ask_person")


def asked_about(
    reply: dict[str, Any], waiting: Waiting, key: EffectKey, look_after: float | None
) -> ServiceResult:
    """The reply is shown to a person, who says whether it left.

    Meanwhile its copy is looked for again after so many seconds; None where that is over. A newer
    message of the customer does not withdraw it: its answer would repeat what may have been said.
    """
    reason = f"{ASK} ({waiting.problem})"
    if look_after is not None:
        reason = f"It may have left; its copy is looked for again after {look_after:g} s"
    ask = Ask(
        kind=ReviewKind.DELIVERY,
        reason=reason,
        text=str(reply["text"]),
        payload={"reply": reply, **waiting.as_json(), "effect_key": str(key)},
        causes=(Cause.EFFECT_UNKNOWN,),
        expires_in=look_after,
        fallback=None if look_after is None else Decision.RETRY,
    )
    output = {"sent": False, "waits": str(waiting.kind)}
    return ServiceResult(output=output, outcome=Outcome.CONFIRM, ask=ask, reason=reason)
