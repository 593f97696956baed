"""What a person may decide about a review, and what the decision means for the run."""

from collections.abc import Mapping
from typing import Any

from deskhand.engine.descriptions import describe_decision
from deskhand.errors import Conflict, IncompleteDecision, PermanentError
from deskhand.model.causes import Cause
from deskhand.model.envelope import Ask, Delta, Envelope, StageResult
from deskhand.model.message import DELIVER, INVITATION_ANSWERS, REPLY
from deskhand.model.outcome import Outcome
from deskhand.model.placeholders import unfilled_placeholders
from deskhand.model.run import (
    DECISIONS,
    EXPIRY,
    Decision,
    Review,
    ReviewKind,
    ReviewState,
    RunStatus,
    Verdict,
    canonical_hash,
)
from deskhand.model.waiting import ATTEMPT, WAITS, waiting_fields

MAX_REVISIONS = 3
LONGEST_NOTE = 10_000
"""Characters."""
LONGEST_NAME = 100
"""Characters of the name that a review is assigned to."""
EDITABLE = ("text", "subject", "invitation")
"""What a reviewer may change in a reply. Its recipient is not among them."""


# --- whether a person may decide so


def check_decision(review: Review, verdict: Verdict, now: float) -> None:
    """Raise Conflict unless a person may decide this review in this way, as it stands `now`.

    The only place with these rules: stores ask it in the transaction that writes the decision, so
    the page, the API and the command line need no checks of their own.
    """
    check_open(review)
    _check_same_as_shown(review, verdict)
    _check_note(verdict)
    _check_edit(review, verdict)
    if verdict.decision not in DECISIONS[review.kind]:
        possible = ", ".join(DECISIONS[review.kind])
        raise Conflict(
            f"a {review.kind} review cannot be decided with '{verdict.decision}'; choose {possible}"
        )
    if review.expires_at is not None and review.expires_at <= now:
        raise Conflict(f"{review.id} has expired")
    if verdict.decision is Decision.APPROVE:
        _check_second_person(review, verdict)


def is_first_approval(review: Review, verdict: Verdict) -> bool:
    """Whether two people must approve and this is the first of them."""
    needed = review.payload.get("approvals_needed", 1)
    return verdict.decision is Decision.APPROVE and needed > 1 and review.signed_by is None


def check_open(review: Review) -> None:
    """Raise Conflict with who decided what, unless the review is still open."""
    if review.state is ReviewState.STALE:
        raise Conflict(
            f"{review.id} is stale: the customer wrote again or the run is over; look at the newer"
            " review"
        )
    if review.state is not ReviewState.OPEN:
        raise Conflict(f"{review.id} was already decided: {describe_decision(review)}")


def check_colleagues_note(text: str) -> None:
    """Raise Conflict for a note to colleagues that is blank or too long."""
    if not text.strip():
        raise Conflict("the note is empty")
    _check_note_length(text)


def check_assignee(name: str | None) -> None:
    """Raise Conflict for a name that is blank or too long; None stands for nobody."""
    if name is None:
        return
    if not name.strip() or len(name) > LONGEST_NAME:
        raise Conflict(f"write a name of 1 to {LONGEST_NAME} characters")


def _check_same_as_shown(review: Review, verdict: Verdict) -> None:
    if review.version != verdict.version:
        raise Conflict(
            f"{review.id} has changed since you looked at it (version {review.version}); look again"
        )
    if verdict.payload_hash is not None and verdict.payload_hash != review.payload_hash:
        raise Conflict(f"{review.id} does not hold what you approved; look again")


def _check_note(verdict: Verdict) -> None:
    note = verdict.note or ""
    if verdict.decision is Decision.REVISE and not note.strip():
        raise IncompleteDecision("note", "say what the next draft should do differently")
    _check_note_length(note)


def _check_note_length(note: str) -> None:
    if len(note) > LONGEST_NOTE:
        raise IncompleteDecision(
            "note", f"the note is too long; write at most {LONGEST_NOTE:,} characters"
        )


def _check_edit(review: Review, verdict: Verdict) -> None:
    """Only `edit` and `answer` bring a text; it must be complete, and ready to be sent."""
    if verdict.decision not in (Decision.EDIT, Decision.ANSWER):
        if verdict.edit is not None:
            raise IncompleteDecision(
                "edit", f"'{verdict.decision}' changes no reply; leave the new text out"
            )
        return

    edit = verdict.edit or {}
    text = edit.get("text")
    if not isinstance(text, str) or not text.strip():
        is_answer = verdict.decision is Decision.ANSWER
        raise IncompleteDecision("edit", _EMPTY_ANSWER if is_answer else _EMPTY_REPLY)
    for name in edit:
        if name not in EDITABLE:
            raise IncompleteDecision("edit", f"{name!r} cannot be edited; leave it out")
    if not str(edit.get("subject", "unchanged")).strip():
        raise IncompleteDecision("edit", "the subject is empty; write one, or leave it out")
    _check_invitation_answer(review, edit)
    for placeholder in unfilled_placeholders(text):
        raise Conflict(f"the text still says {{{placeholder}}}; write what belongs there")


_EMPTY_ANSWER = "the answer is empty; write something"
_EMPTY_REPLY = "the reply is empty; write the new text, or reject it"


def _check_invitation_answer(review: Review, edit: Mapping[str, Any]) -> None:
    answer = edit.get("invitation")
    if not answer:
        return
    reply = review.payload.get(REPLY) or {}
    if not reply.get("invitation"):
        raise Conflict("this reply answers no invitation")
    if answer not in INVITATION_ANSWERS:
        raise IncompleteDecision("edit", f"answer with one of: {', '.join(INVITATION_ANSWERS)}")


def _check_second_person(review: Review, verdict: Verdict) -> None:
    if review.signed_by is None:
        return
    if review.signed_by.strip().casefold() == verdict.by.strip().casefold():
        raise Conflict(f"{review.id} needs two people: {review.signed_by} has approved it already")


# --- what follows for the run


def after_decision(
    stage: str, asked: StageResult, review: Review, envelope: Envelope
) -> StageResult:
    """The recorded result that stands in for the asking stage's own, once somebody has decided."""
    assert review.decision is not None
    delta = _decision_delta(review, envelope)
    match review.decision:
        case Decision.APPROVE | Decision.EDIT if review.kind is ReviewKind.REPLY:
            return _let_reply_pass(stage, asked, review, envelope)
        case Decision.REJECT if review.kind is ReviewKind.REPLY:
            return _end(delta, RunStatus.REJECTED, _rejection(review))
        case Decision.REVISE:
            return _revise(delta, asked, review, envelope)
        case Decision.APPROVE | Decision.REJECT | Decision.RETRY:
            return StageResult(outcome=Outcome.LOOP_BACK, delta=delta, next=asked.resume or stage)
        case Decision.TAKE_OVER | Decision.CLOSE:
            return _end(delta, RunStatus.DONE, review.decision)
        case Decision.HAND_OVER | Decision.REASSIGN:
            return _hand_over(delta, _undecided(asked, review), Cause.EXPIRED)
        case Decision.ANSWER | Decision.EDIT:
            raise PermanentError(
                "nothing here sends what a person wrote; write it from a mail program"
            )


def _decision_delta(review: Review, envelope: Envelope) -> Delta:
    """The decision as the run remembers it; a retry starts the count of hops anew."""
    note = decision_note(review)
    if review.kind is not ReviewKind.REPLY:
        note |= _let_pass_before(review, envelope)
    delta = Delta(metadata={"decision": note})
    if review.decision is Decision.RETRY:
        return delta.changed(hops=-envelope.hops)
    return delta


def _let_reply_pass(
    stage: str, asked: StageResult, review: Review, envelope: Envelope
) -> StageResult:
    """Go on with the reply as it was shown, or as the reviewer changed it."""
    if review.decision is Decision.EDIT:
        reply = {**(envelope.output(REPLY) or {}), **(review.edit or {})}
        delta = Delta(outputs={REPLY: reply}, metadata=_passing_note(review, reply))
    else:
        delta = Delta(metadata=_passing_note(review, review.payload.get(REPLY)))
    asks_again = asked.ask is not None and asked.ask.again
    return StageResult(delta=delta, next=stage if asks_again else asked.next, status=asked.status)


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
    """Which reply was let pass earlier, or is now, where its delivery was held and approved."""
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
    """The reply that a person let go, as shown or as edited; None when nobody did."""
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
    """Back to the drafting stage with the reviewer's instruction; after three times to a person."""
    rounds = int(envelope.metadata.get("revisions", 0)) + 1
    if rounds > MAX_REVISIONS or asked.resume is None:
        reason = f"revised {MAX_REVISIONS} times" if asked.resume else "this stage cannot revise"
        return _hand_over(delta, reason, Cause.REVISIONS)
    metadata = {**delta.metadata, "revisions": rounds, "instruction": review.note or ""}
    return StageResult(
        outcome=Outcome.LOOP_BACK, delta=delta.changed(metadata=metadata), next=asked.resume
    )
