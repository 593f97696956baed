"""What webhooks tell: the events that a fact makes, and what each says."""

from dataclasses import replace
from typing import Any

from deskhand.model.documents import iso_at
from deskhand.model.run import Review, ReviewKind, ReviewState, Run, RunStatus
from deskhand.model.ticket import Ticket
from deskhand.model.webhook import (
    REVIEW_OPENED,
    RUN_ENDED,
    TICKET_BREACHED,
    Happened,
    ToldEvent,
    WebhookEvent,
)

_ANSWERED = (RunStatus.SENT, RunStatus.ANSWERED)
_HANDED_OVER = (ReviewKind.HAND_OVER, ReviewKind.FOLLOW_UP)


def told_events(happened: Happened) -> list[ToldEvent]:
    """Nothing that a customer wrote stands in `data`; that is in `content`."""
    record = happened.record
    if isinstance(record, Run):
        return _of_run(happened, record)
    if isinstance(record, Review):
        return _of_review(happened, record)
    return [_of_ticket(happened, record)]


def trial_event(event_id: str, desk: str, endpoint: str, at: float) -> ToldEvent:
    """What somebody sends to see whether it arrives."""
    data = {"desk": desk, "endpoint": endpoint, "message": "This is a test from Deskhand."}
    return ToldEvent(event_id, WebhookEvent.TEST, at, data, {})


def _of_run(happened: Happened, run: Run) -> list[ToldEvent]:
    assert happened.kind == RUN_ENDED
    status = RunStatus(happened.detail)
    data = {
        "desk": happened.desk,
        "run": run.id,
        "status": status,
        "flow": run.flow,
        "error_code": run.error_code,
        "created_at": iso_at(run.created_at),
        "ended_at": iso_at(happened.at),
    }
    content = _of_message(happened)
    # A run that a person lets go on ends a second time: the moment tells the two apart.
    mark = f"{run.id}.{{}}.{happened.at * 1000:.0f}"
    ended = ToldEvent(mark.format("ended"), WebhookEvent.RUN_ENDED, happened.at, data, content)
    if status not in _ANSWERED:
        return [ended]
    answered = replace(ended, id=mark.format("answered"), type=WebhookEvent.RUN_ANSWERED)
    return [ended, answered]


def _of_review(happened: Happened, review: Review) -> list[ToldEvent]:
    content = {"reason": review.reason, **_of_message(happened)}
    if happened.kind != REVIEW_OPENED:
        data = _review_data(review)
        closed = WebhookEvent.REVIEW_CLOSED
        return [ToldEvent(f"{review.id}.closed", closed, happened.at, data, content)]

    # It may have been decided since.
    as_opened = replace(review, state=ReviewState.OPEN, decision=None, decided_by=None)
    data = _review_data(as_opened)
    opened = ToldEvent(
        f"{review.id}.opened", WebhookEvent.REVIEW_OPENED, happened.at, data, content
    )
    if review.kind not in _HANDED_OVER:
        return [opened]
    handed_over = replace(opened, id=f"{review.id}.handed_over", type=WebhookEvent.HANDED_OVER)
    return [opened, handed_over]


def _review_data(review: Review) -> dict[str, Any]:
    return {
        "desk": review.desk,
        "review": review.id,
        "run": review.run_id,
        "kind": review.kind,
        "state": review.state,
        "causes": list(review.causes),
        "category": review.facts.get("category"),
        "language": review.facts.get("language"),
        "created_at": iso_at(review.created_at),
        "expires_at": None if review.expires_at is None else iso_at(review.expires_at),
        "decision": review.decision,
        "decided_by": review.decided_by,
    }


def _of_ticket(happened: Happened, ticket: Ticket) -> ToldEvent:
    name, _, until = happened.deadline.partition(" ")
    data = {
        "desk": happened.desk,
        "ticket": ticket.id,
        "state": ticket.state,
        "urgency": ticket.urgency,
        "category": ticket.category,
        "language": ticket.language,
        "group": ticket.group,
        "assignee": ticket.assignee,
        "deadline": name,
        "due_at": iso_at(float(until)) if until else None,
    }
    breached = happened.kind == TICKET_BREACHED
    kind = WebhookEvent.SLA_BREACHED if breached else WebhookEvent.SLA_WARNING
    event_id = f"{ticket.id}.{happened.detail}"
    return ToldEvent(event_id, kind, happened.at, data, {"subject": ticket.subject})


def _of_message(happened: Happened) -> dict[str, Any]:
    if happened.message is None:
        return {}
    return {"from": str(happened.message.sender), "subject": happened.message.subject}
