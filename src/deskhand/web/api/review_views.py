"""What the API shows of reviews. Fields may be added, never renamed."""

from datetime import datetime
from typing import Any, Self

from deskhand.engine.review_file import ReviewFile
from deskhand.model.causes import Cause
from deskhand.model.run import DECISIONS, Decision, Event, Review, ReviewKind, ReviewState
from deskhand.web.api.views import View, moment


class ReviewView(View):
    review: str
    desk: str
    run: str
    conversation: str
    kind: ReviewKind
    reason: str
    payload: dict[str, Any]
    payload_hash: str
    state: ReviewState
    version: int
    decisions: list[Decision]
    """What may be decided; nothing once it is closed."""
    created_at: datetime
    expires_at: datetime | None
    fallback: Decision | None
    decision: Decision | None
    decided_by: str | None
    decided_at: datetime | None
    note: str | None
    edit: dict[str, Any] | None
    signed_by: str | None
    """Who has approved it already, where two people must."""
    causes: list[Cause]
    """Why it is here; the first is the one that counted. `reason` says it in words."""
    category: str | None
    confidence: float | None
    threshold: float | None
    """The confidence from which it would have left by itself."""
    language: str | None
    assignee: str | None
    snoozed_until: datetime | None

    @classmethod
    def of(cls, review: Review) -> Self:
        return cls(**_review_facts(review))


class NoteView(View):
    """What somebody did with a review, or said about it."""

    kind: str
    by: str | None
    at: datetime
    about: dict[str, Any]

    @classmethod
    def of(cls, event: Event) -> Self:
        kind = event.kind.removeprefix("review.")
        return cls(kind=kind, by=event.by, at=moment(event.at), about=event.payload)


class EditView(View):
    by: str
    at: datetime
    edit: dict[str, Any]


class ReviewDocument(ReviewView):
    """A review with all that is needed to decide it."""

    age_seconds: float
    message: dict[str, Any] | None
    """What the customer wrote; null once it was erased."""
    tool_calls: list[dict[str, Any]]
    sources: list[dict[str, Any]]
    history: list[NoteView]
    edits: list[EditView]
    """What reviewers have typed so far."""

    @classmethod
    def told(cls, review_file: ReviewFile, now: float) -> Self:
        message = review_file.message
        return cls(
            **_review_facts(review_file.review),
            age_seconds=max(0.0, now - review_file.review.created_at),
            message=None if message is None else message.model_dump(mode="json"),
            tool_calls=list(review_file.tool_calls),
            sources=list(review_file.sources),
            history=[NoteView.of(event) for event in review_file.history],
            edits=[
                EditView(by=one.by, at=moment(one.at), edit=one.edit) for one in review_file.edits
            ],
        )


class CannedView(View):
    name: str
    language: str | None
    text: str
    missing: list[str]
    """Placeholders that nothing is known for; they still stand in the text."""


def _review_facts(review: Review) -> dict[str, Any]:
    facts, later = review.facts, (review.expires_at, review.decided_at, review.snoozed_until)
    expires_at, decided_at, snoozed_until = (None if at is None else moment(at) for at in later)
    return {
        "review": review.id,
        "desk": review.desk,
        "run": review.run_id,
        "conversation": review.conversation,
        "kind": review.kind,
        "reason": review.reason,
        "payload": review.payload,
        "payload_hash": review.payload_hash,
        "state": review.state,
        "version": review.version,
        "decisions": list(DECISIONS[review.kind]) if review.state is ReviewState.OPEN else [],
        "created_at": moment(review.created_at),
        "expires_at": expires_at,
        "fallback": review.fallback,
        "decision": review.decision,
        "decided_by": review.decided_by,
        "decided_at": decided_at,
        "note": review.note,
        "edit": review.edit,
        "signed_by": review.signed_by,
        "causes": list(review.causes),
        "category": _of_type(facts.get("category"), str),
        "confidence": _of_type(facts.get("confidence"), int, float),
        "threshold": _of_type(facts.get("threshold"), int, float),
        "language": _of_type(facts.get("language"), str),
        "assignee": review.assignee,
        "snoozed_until": snoozed_until,
    }


def _of_type(value: Any, *types: type) -> Any:
    return value if isinstance(value, types) else None
