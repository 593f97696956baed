"""What a person's decision means for the run: values that the loop goes on with."""

from collections.abc import Mapping
from typing import Any

from deskhand.errors import PermanentError
from deskhand.model.causes import Cause
from deskhand.model.envelope import Ask, Delta, Envelope, StageResult
from deskhand.model.message import DELIVER, REPLY
from deskhand.model.outcome import Outcome
from deskhand.model.run import (
    EXPIRY,
    Decision,
    Review,
    ReviewKind,
    RunStatus,
    Verdict,
    canonical_hash,
)

MAX_REVISIONS = 3


def after_decision(
    stage: str, asked: StageResult, review: Review, envelope: Envelope
) -> StageResult:
    """The recorded result that stands in for the asking stage's own, once somebody has decided."""
    assert review.decision is not None
    note = decision_note(review)
    if review.kind is not ReviewKind.REPLY:
        note |= _let_pass_before(review, envelope)
    delta = Delta(metadata={"decision": note})
    match review.decision:
        case Decision.APPROVE if review.kind is ReviewKind.REPLY:
            passed = _passing(delta, note, review, review.payload.get(REPLY))
            return StageResult(delta=passed, next=_after(stage, asked), status=asked.status)
        case Decision.EDIT:
            edited = {**(envelope.output(REPLY) or {}), **(review.edit or {})}
            passed = _passing(delta, note, review, edited).changed(outputs={REPLY: edited})
            return StageResult(delta=passed, next=_after(stage, asked), status=asked.status)
        case Decision.REVISE:
            return _revise(delta, asked, review, envelope)
        case Decision.REJECT if review.kind is ReviewKind.REPLY:
            reason = f"rejected by {review.decided_by}" + (
                f": {review.note}" if review.note else ""
            )
            return StageResult(
                outcome=Outcome.TERMINATE, delta=delta, status=RunStatus.REJECTED, reason=reason
            )
        case Decision.APPROVE | Decision.REJECT:
            return StageResult(outcome=Outcome.LOOP_BACK, delta=delta, next=asked.resume or stage)
        case Decision.RETRY:
            fresh = delta.changed(hops=-envelope.hops)
            return StageResult(outcome=Outcome.LOOP_BACK, delta=fresh, next=asked.resume or stage)
        case Decision.TAKE_OVER | Decision.CLOSE:
            return StageResult(
                outcome=Outcome.TERMINATE,
                delta=delta,
                status=RunStatus.DONE,
                reason=review.decision,
            )
        case Decision.HAND_OVER | Decision.REASSIGN:
            reason = (
                f"{review.note or 'nobody decided it'}:"
                f" {asked.ask.reason if asked.ask else asked.reason}"
            )
            ask = Ask(kind=ReviewKind.HAND_OVER, reason=reason, causes=(Cause.EXPIRED,))
            status = RunStatus.NEEDS_REVIEW
            return StageResult(
                outcome=Outcome.TERMINATE, delta=delta, status=status, reason=reason, ask=ask
            )
        case Decision.ANSWER:
            raise PermanentError(
                "nothing here sends what a person wrote; write it from a mail program"
            )


def decision_note(review: Review) -> dict[str, Any]:
    """What a run remembers of a decision."""
    return {
        "review": review.id,
        "decision": review.decision,
        "by": review.decided_by,
        "hash": review.payload_hash,
        "note": review.note,
        "at": review.decided_at,
        "signed_by": review.signed_by,
    }


def _let_pass_before(review: Review, envelope: Envelope) -> dict[str, Any]:
    """A reply that was let pass stays so while its delivery is held; approving the delivery lets
    it pass, too."""
    if review.payload.get("tool") == DELIVER and review.decision is Decision.APPROVE:
        return {
            "reply_hash": canonical_hash(envelope.output(REPLY)),
            "waits": review.payload.get("waits"),
        }
    earlier = envelope.metadata.get("decision") or {}
    return {name: earlier[name] for name in ("reply_hash", "waits") if name in earlier}


def _after(stage: str, asked: StageResult) -> str | None:
    return stage if asked.ask is not None and asked.ask.again else asked.next


def _passing(delta: Delta, note: dict[str, Any], review: Review, reply: Any) -> Delta:
    """Which reply was let pass, and what it had waited for: dispatch goes by it."""
    passed = {**note, "reply_hash": canonical_hash(reply), "waits": review.payload.get("waits")}
    return delta.changed(metadata={"decision": passed})


def verdict_of(review: Review) -> Verdict:
    assert review.decision is not None
    return Verdict(
        review.decision,
        review.decided_by or "",
        review.version,
        review.payload_hash,
        review.note,
        review.edit,
        review.decided_at or 0.0,
        review.signed_by,
    )


def noted_verdict(note: Mapping[str, Any]) -> Verdict:
    """The same, read again from the row that recorded it."""
    return Verdict(
        Decision(note["decision"]),
        note["by"] or "",
        0,
        note["hash"],
        note["note"],
        at=note.get("at") or 0.0,
        signed_by=note.get("signed_by"),
    )


def approved_reply(asked: StageResult, verdict: Verdict, envelope: Envelope) -> Any:
    """The reply that a person let go, as it was shown or as he wrote it; None when nobody did."""
    payload = asked.ask.payload if asked.ask is not None else {}
    if asked.ask is None or asked.ask.kind != ReviewKind.REPLY or verdict.by == EXPIRY:
        return None
    match verdict.decision:
        case Decision.APPROVE:
            return payload.get(REPLY)
        case Decision.EDIT:
            return envelope.output(REPLY)
        case _:
            return None


def _revise(delta: Delta, asked: StageResult, review: Review, envelope: Envelope) -> StageResult:
    """Back to the drafting stage with the reviewer's instruction; after three rounds a person
    writes it."""
    rounds = int(envelope.metadata.get("revisions", 0)) + 1
    if rounds > MAX_REVISIONS or asked.resume is None:
        reason = f"revised {MAX_REVISIONS} times" if asked.resume else "this stage cannot revise"
        ask = Ask(kind=ReviewKind.HAND_OVER, reason=reason, causes=(Cause.REVISIONS,))
        return StageResult(
            outcome=Outcome.TERMINATE,
            delta=delta,
            status=RunStatus.NEEDS_REVIEW,
            reason=reason,
            ask=ask,
        )
    metadata = {**delta.metadata, "revisions": rounds, "instruction": review.note or ""}
    return StageResult(
        outcome=Outcome.LOOP_BACK, delta=delta.changed(metadata=metadata), next=asked.resume
    )
