"""What the API shows of reviews. Fields may be added, never renamed."""

from datetime import datetime
from typing import Any, Self

from deskhand.engine.attachment_list import list_files
from deskhand.engine.canned_replies import Canned
from deskhand.engine.decisions import decisions_for, holds_out_an_answer
from deskhand.engine.review_file import ReviewFile
from deskhand.model.causes import Cause
from deskhand.model.queue import BegunEdit
from deskhand.model.run import (
    Decision,
    Event,
    Review,
    ReviewKind,
    ReviewState,
)
from deskhand.web.api.attachments import AttachmentView
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
    """How sure the desk is of the category."""
    answer_confidence: float | None
    """How sure it is of the answer."""
    threshold: float | None
    """The confidence from which it would have left by itself."""
    language: str | None
    assignee: str | None
    snoozed_until: datetime | None
    holding: bool
    """The reply only says that somebody will answer: approved, it leaves a task (`follow_up`)."""
    due_at: datetime | None
    """Until when the customer is owed an answer."""

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
    """What a reviewer has typed so far."""

    by: str
    at: datetime
    edit: dict[str, Any]

    @classmethod
    def of(cls, begun: BegunEdit) -> Self:
        return cls(by=begun.by, at=moment(begun.at), edit=begun.edit)


class ReviewDocument(ReviewView):
    """A review with all that is needed to decide it."""

    age_seconds: float
    message: dict[str, Any] | None
    """What the customer wrote; null once it was erased."""
    tool_calls: list[dict[str, Any]]
    sources: list[dict[str, Any]]
    asks: list[dict[str, Any]]
    """What the message asks, each with the article drafted for it and whether that is sure."""
    history: list[NoteView]
    edits: list[EditView]
    """What reviewers have typed so far."""
    attachments: list[AttachmentView]
    """The files of the message, and those that reviewers brought for a reply."""

    @classmethod
    def of_file(cls, review_file: ReviewFile, now: float) -> Self:
        message = review_file.message
        return cls(
            **_review_facts(review_file.review),
            age_seconds=max(0.0, now - review_file.review.created_at),
            message=message.model_dump(mode="json") if message is not None else None,
            tool_calls=list(review_file.tool_calls),
            sources=list(review_file.sources),
            asks=list(review_file.asks),
            history=list(map(NoteView.of, review_file.history)),
            edits=list(map(EditView.of, review_file.edits)),
            attachments=list(map(AttachmentView.of, list_files(message, review_file.files))),
        )


class CannedView(View):
    name: str
    language: str | None
    text: str
    missing: list[str]
    """Placeholders without a value; they still stand in the text."""

    @classmethod
    def of(cls, canned: Canned) -> Self:
        return cls(
            name=canned.name,
            language=canned.language,
            text=canned.text,
            missing=list(canned.missing),
        )


def _review_facts(review: Review) -> dict[str, Any]:
    facts = review.facts
    decisions = decisions_for(review)
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
        "decisions": list(decisions),
        "created_at": moment(review.created_at),
        "expires_at": _moment(review.expires_at),
        "fallback": review.fallback,
        "decision": review.decision,
        "decided_by": review.decided_by,
        "decided_at": _moment(review.decided_at),
        "note": review.note,
        "edit": review.edit,
        "signed_by": review.signed_by,
        "causes": list(review.causes),
        "category": _of_type(facts.get("category"), str),
        "confidence": _of_type(facts.get("confidence"), int, float),
        "answer_confidence": _of_type(facts.get("answer_confidence"), int, float),
        "threshold": _of_type(facts.get("threshold"), int, float),
        "language": _of_type(facts.get("language"), str),
        "assignee": review.assignee,
        "snoozed_until": _moment(review.snoozed_until),
        "holding": holds_out_an_answer(review),
        "due_at": _moment(review.due_at),
    }


def _moment(at: float | None) -> datetime | None:
    return None if at is None else moment(at)


def _of_type(value: Any, *types: type) -> Any:
    return value if isinstance(value, types) else None
