"""How a tool loop ends: with the model's last word, at a limit, or because no model answered."""

from deskhand.agents.transcript import Transcript
from deskhand.errors import DeskhandError, ModelAway, RetryableError
from deskhand.model.codes import ErrorCode
from deskhand.model.loop import AgentResult, LoopStatus
from deskhand.model.profile import ProfileSpec

MODEL_FAULTS = frozenset(
    (
        ErrorCode.MODEL_UNAVAILABLE,
        ErrorCode.MODEL_REFUSED,
        ErrorCode.MODEL_ANSWER_INVALID,
        ErrorCode.MODEL_ANSWER_EMPTY,
    )
)
"""Errors that end the loop; any other passes through it."""


def ends_loop(error: DeskhandError) -> bool:
    """Whether the loop ends with this error; one for which the run waits passes through it."""
    return error.code in MODEL_FAULTS and not isinstance(error, ModelAway)


def last_word(profile: ProfileSpec, talk: Transcript) -> AgentResult:
    """The end after the model's last word; an answer that was cut off is not sent to anybody."""
    if talk.last is None or talk.last["finish"] != "length":
        return _ended(talk, "completed")
    words = f"the agent's last answer was cut off at {profile.max_tokens} tokens (`max_tokens`)"
    return _ended(talk, "error", words)


def end_at_limit(profile: ProfileSpec, talk: Transcript) -> AgentResult | None:
    """The end where the profile allows no further turn; None where it does."""
    if talk.iterations - talk.before >= profile.max_iterations:
        words = f"the agent took {profile.max_iterations} turns without an end"
        return _ended(talk, "max_iterations", words)
    over = _over_budget(profile, talk)
    return None if over is None else _ended(talk, "error", over)


def failed(talk: Transcript, error: DeskhandError) -> AgentResult:
    """The end where the model could not be asked, or did not answer."""
    ended = _ended(talk, "error", str(error))
    return ended.changed(code=error.code, retryable=isinstance(error, RetryableError))


def _ended(talk: Transcript, status: LoopStatus, error: str | None = None) -> AgentResult:
    return AgentResult(
        status=status,
        final_message=talk.final_message,
        tool_calls=talk.tool_calls(),
        iterations=talk.iterations,
        began=talk.before,
        error=error,
    )


def _over_budget(profile: ProfileSpec, talk: Transcript) -> str | None:
    budget = profile.budget
    if budget.tokens is None and budget.money is None:
        return None
    tokens, money = talk.spent()
    turns = f"after {talk.iterations} turns"
    if budget.tokens is not None and tokens >= budget.tokens:
        return f"the run's budget of {budget.tokens} tokens is used up ({tokens} {turns})"
    if budget.money is not None and money >= budget.money:
        return f"the run's budget of {budget.money:g} is used up ({money:.4f} {turns})"
    return None
