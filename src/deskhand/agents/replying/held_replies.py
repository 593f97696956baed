"""What a stage ends with where a reply stays: it waits, or a person has the conversation."""

from collections.abc import Sequence
from typing import Any

from deskhand.agents.replying.sending import ReviewReason
from deskhand.model.causes import words_by_cause
from deskhand.model.envelope import Ask
from deskhand.model.outcome import Outcome
from deskhand.model.run import Decision, ReviewKind, RunStatus
from deskhand.model.waiting import Waiting
from deskhand.tools.services import ServiceResult


def wait_for_person(
    reply: dict[str, Any],
    waiting: Waiting,
    reasons: Sequence[ReviewReason],
    more: dict[str, Any] | None = None,
) -> ServiceResult:
    """The reply waits for a person; `more` is added to what the review keeps."""
    words = words_by_cause(reasons)
    reason = "; ".join(words.values())
    ask = Ask(
        kind=ReviewKind.REPLY,
        reason=reason,
        text=str(reply["text"]),
        payload={"reply": reply, **waiting.as_json(), **(more or {})},
        causes=tuple(words),
        words=words,
        again=True,
    )
    output = {"sent": False, "waits": str(waiting.kind)}
    return ServiceResult(output=output, outcome=Outcome.CONFIRM, ask=ask, reason=reason)


def handed_over(reason: str) -> ServiceResult:
    """A person has the conversation: the reply stays here, and he sees the message."""
    return ServiceResult(
        output={"sent": False},
        outcome=Outcome.TERMINATE,
        status=RunStatus.NEEDS_REVIEW,
        reason=reason,
    )


def released_after(seconds: float, result: ServiceResult) -> ServiceResult:
    """The same, with a reply that leaves by itself when nobody decides in time."""
    assert result.ask is not None
    ask = result.ask.changed(expires_in=seconds, fallback=Decision.APPROVE)
    return result.changed(ask=ask)
