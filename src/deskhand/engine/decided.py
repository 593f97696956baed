"""What a decision about a review means for its run."""

from collections.abc import Mapping
from typing import Any

from deskhand.engine.decisions import FINAL
from deskhand.errors import PermanentError
from deskhand.model.causes import Cause
from deskhand.model.envelope import Ask, Delta, Envelope, StageResult
from deskhand.model.message import DELIVER, REPLY, Reply
from deskhand.model.outcome import Outcome
from deskhand.model.run import (
    DUE_AT,
    EXPIRY,
    Decision,
    Review,
    ReviewKind,
    RunStatus,
    Verdict,
    canonical_hash,
)
from deskhand.model.waiting import ATTEMPT, WAITS, waiting_fields

MAX_REVISIONS = 3
ACKNOWLEDGED = "acknowledged"
"""Metadata: who told the customer that somebody will answer, and until when; None once the reply
counts as the answer."""


def after_decision(
    stage: str, asked: StageResult, review: Review, envelope: Envelope
) -> StageResult:
    """The recorded result that stands in for the asking stage's own, once somebody has decided."""
    assert review.decision is not None
    delta = _decision_delta(review, envelope)
    match review.decision:
        case Decision.APPROVE | Decision.EDIT | Decision.ACKNOWLEDGE if (
            review.kind is ReviewKind.REPLY
        ):
            return _let_reply_pass(stage, asked, review, envelope)
        case Decision.REJECT if review.kind is ReviewKind.REPLY:
            return _end(delta, RunStatus.REJECTED, _rejection(review))
        case Decision.REVISE:
            return _revise(delta, asked, review, envelope)
        case (
            Decision.APPROVE
            | Decision.REJECT
            | Decision.RETRY
            | Decision.LEFT
            | Decision.SEND_AGAIN
        ):
            return StageResult(outcome=Outcome.LOOP_BACK, delta=delta, next=asked.resume or stage)
        case Decision.TAKE_OVER | Decision.CLOSE:
            return _end(delta, RunStatus.DONE, review.decision)
        case Decision.HAND_OVER | Decision.REASSIGN:
            return _hand_over(delta, _undecided(asked, review), Cause.EXPIRED)
        case Decision.ANSWER | Decision.EDIT | Decision.ACKNOWLEDGE:
            raise PermanentError(
                "nothing here sends what a person wrote; write it from a mail program"
            )


def _decision_delta(review: Review, envelope: Envelope) -> Delta:
    """The decision as the run remembers it; a retry starts the count of hops anew."""
    note = decision_note(review)
    if review.kind is not ReviewKind.REPLY:
        note |= _let_pass_before(review, envelope)
    delta = Delta(metadata={"decision": note})
    if review.decision is Decision.RETRY or review.kind is ReviewKind.DELIVERY:
        return delta.changed(hops=-envelope.hops)
    return delta


def _let_reply_pass(
    stage: str, asked: StageResult, review: Review, envelope: Envelope
) -> StageResult:
    """Go on with the reply as it was shown, or as the reviewer changed it."""
    if review.decision in (Decision.EDIT, Decision.ACKNOWLEDGE):
        reply = {**(envelope.output(REPLY) or {}), **(review.edit or {})}
        delta = Delta(outputs={REPLY: reply}, metadata=_passing_note(review, reply))
    else:
        delta = Delta(metadata=_passing_note(review, review.payload.get(REPLY)))
    delta = delta.changed(metadata={**delta.metadata, **acknowledgement(review)})
    asks_again = asked.ask is not None and asked.ask.again
    return StageResult(delta=delta, next=stage if asks_again else asked.next, status=asked.status)


def acknowledgement(review: Review) -> dict[str, Any]:
    """What a run notes about the answer that is owed: by whom, until when, or that none is."""
    if review.decision is Decision.ACKNOWLEDGE:
        owed = {
            "run": review.run_id,
            "by": review.decided_by,
            "at": review.decided_at,
            DUE_AT: review.due_at,
        }
        return {ACKNOWLEDGED: owed}
    is_answer = review.decision in (Decision.EDIT, Decision.ANSWER) or review.facts.get(FINAL)
    return {ACKNOWLEDGED: None} if is_answer else {}


def _end(delta: Delta, status: RunStatus, reason: str) -> StageResult:
    return StageResult(outcome=Outcome.TERMINATE, delta=delta, status=status, reason=reason)


def _hand_over(delta: Delta, reason: str, cause: Cause) -> StageResult:
    ask = Ask(kind=ReviewKind.HAND_OVER, reason=reason, causes=(cause,))
    return _end(delta, RunStatus.NEEDS_REVIEW, reason).changed(ask=ask)


def _rejection(review: Review) -> str:
    reason = f"rejected by {review.decided_by}"
    return f"{reason}: {review.note}" if review.note else reason


def _undecided(asked: StageResult, review: Review) -> str:
    question = asked.ask.reason if asked.ask else asked.reason
    return f"{review.note or 'nobody decided it'}: {question}"


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
    """Which reply was let pass earlier, or is now, where its delivery was held and approved, or
    was begun and is in doubt."""
    if review.kind is ReviewKind.DELIVERY:
        return {
            "reply_hash": canonical_hash(review.payload.get(REPLY)),
            **waiting_fields(review.payload),
        }
    if review.payload.get("tool") == DELIVER and review.decision is Decision.APPROVE:
        return {
            "reply_hash": canonical_hash(envelope.output(REPLY)),
            **waiting_fields(review.payload),
        }
    earlier = envelope.metadata.get("decision") or {}
    kept = ("reply_hash", WAITS, ATTEMPT)
    return {name: earlier[name] for name in kept if name in earlier}


def _passing_note(review: Review, reply: Any) -> dict[str, Any]:
    """The decision with the reply it let pass and what that waited for: dispatch goes by it."""
    note = {
        **decision_note(review),
        "reply_hash": canonical_hash(reply),
        **waiting_fields(review.payload),
    }
    return {"decision": note}


def verdict_of(review: Review) -> Verdict:
    """What was decided about a review; it must be decided."""
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
    """The verdict that a recorded decision's note stands for."""
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
    """The reply that a person let go, as shown or as edited; None when nobody did.

    It has every field of a reply, as the call has by which it is delivered.
    """
    payload = asked.ask.payload if asked.ask is not None else {}
    if asked.ask is None or asked.ask.kind != ReviewKind.REPLY or verdict.by == EXPIRY:
        return None
    match verdict.decision:
        case Decision.APPROVE:
            return _complete(payload.get(REPLY))
        case Decision.EDIT | Decision.ACKNOWLEDGE:
            return _complete(envelope.output(REPLY))
        case _:
            return None


def _complete(reply: Any) -> Any:
    """The reply with the fields that its writer left out; as it is where it cannot be sent."""
    try:
        return Reply.model_validate(reply).model_dump(mode="json")
    except ValueError:
        return reply


def _revise(delta: Delta, asked: StageResult, review: Review, envelope: Envelope) -> StageResult:
    """Back to the drafting stage with the reviewer's instruction; after three times to a person."""
    rounds = int(envelope.metadata.get("revisions", 0)) + 1
    if rounds > MAX_REVISIONS or asked.resume is None:
        reason = f"revised {MAX_REVISIONS} times" if asked.resume else "this stage cannot revise"
        return _hand_over(delta, reason, Cause.REVISIONS)
    metadata = {**delta.metadata, "revisions": rounds, "instruction": review.note or ""}
    return StageResult(
        outcome=Outcome.LOOP_BACK, delta=delta.changed(metadata=metadata), next=asked.resume
    )
