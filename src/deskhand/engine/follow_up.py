"""A run whose reply promised an answer stays open until somebody has given it."""

from typing import Any

from deskhand.engine.decided import ACKNOWLEDGED
from deskhand.engine.loop import End
from deskhand.model.causes import Cause
from deskhand.model.envelope import Ask, Envelope
from deskhand.model.message import REPLY
from deskhand.model.run import DUE_AT, NewReview, ReviewKind, RunStatus
from deskhand.outgoing.holding import is_holding_reply

ANSWER_WITHIN = 86400.0
"""Seconds until an answer is due where neither desk nor reviewer said when."""


def kept_open(end: End, envelope: Envelope) -> End:
    """Where a run rests: a sent reply that owes the customer an answer leaves a task to people."""
    if end.status not in (RunStatus.SENT, RunStatus.ANSWERED):
        return end
    owed = _owed(envelope)
    if owed is None:
        return end
    by = f" by {owed['by']}" if owed.get("by") else ""
    reason = f"acknowledged{by}: the customer was told that somebody will answer"
    ask = Ask(kind=ReviewKind.FOLLOW_UP, reason=reason, causes=(Cause.ANSWER_OWED,))
    return End(RunStatus.NEEDS_REVIEW, reason, ask=ask)


def follow_up(
    end: End, envelope: Envelope, seq: int, facts: dict[str, Any], due: float
) -> NewReview:
    """The task that is left, with the time until which it is to be done.

    `due` is that time where whoever acknowledged the message named none.
    """
    named = (_owed(envelope) or {}).get(DUE_AT)
    facts = facts | {DUE_AT: due if named is None else named}
    assert end.ask is not None
    payload = {"acknowledged_with": str((envelope.output(REPLY) or {}).get("text") or "")}
    return NewReview(
        ReviewKind.FOLLOW_UP, end.ask.reason, payload, seq, causes=end.ask.causes, facts=facts
    )


def _owed(envelope: Envelope) -> dict[str, Any] | None:
    """What was noted when the reply was let go; None where it is the answer."""
    noted = envelope.metadata.get(ACKNOWLEDGED, {})
    if noted is None:
        return None
    if noted.get("run") == envelope.run_id:
        return dict(noted)
    reply = envelope.output(REPLY)
    if not isinstance(reply, dict):
        return None
    holds = is_holding_reply(str(reply.get("text") or ""), reply.get("language"))
    return {} if holds else None
