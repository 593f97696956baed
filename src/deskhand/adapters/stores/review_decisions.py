"""Deciding reviews: who was first, what the decision does to the run, and what happens when
nobody decides."""

import sqlalchemy as sa

from deskhand.adapters.stores import tables as t
from deskhand.adapters.stores.judgements import judge_decision
from deskhand.adapters.stores.leaving_mails import settle_doubt
from deskhand.adapters.stores.record_values import queue_columns
from deskhand.adapters.stores.review_texts import text_of_new, write_text
from deskhand.adapters.stores.rows import REVIEW_COLUMNS, pack, review_of, user_of
from deskhand.adapters.stores.statements import mark_record, mark_run
from deskhand.crashpoints import crash_point
from deskhand.engine.decisions import (
    check_decision,
    check_rights,
    decided_facts,
    decision_meant,
    is_first_approval,
)
from deskhand.errors import Conflict, NotFound
from deskhand.model.attached_files import LARGEST_TOGETHER, FileOrigin
from deskhand.model.ids import new_id
from deskhand.model.message import Message
from deskhand.model.run import (
    EXPIRY,
    REASSIGN_TO,
    Decision,
    NewReview,
    Review,
    ReviewKind,
    ReviewState,
    RunStatus,
    Verdict,
    canonical_hash,
)

_WAITS = (RunStatus.WAITING_REVIEW, RunStatus.NEEDS_REVIEW, RunStatus.FAILED)


def open_review(
    core: sa.Connection,
    desk: str,
    position: int,
    conversation: str,
    new: NewReview,
    now: float,
    review_id: str | None = None,
) -> str:
    review_id = review_id or new_id("rev", at=now)
    payload = pack(new.payload)
    core.execute(
        t.reviews.insert().values(
            id=review_id,
            desk=desk,
            run=position,
            seq=new.seq,
            conversation=conversation,
            kind=new.kind,
            reason=new.reason,
            payload=payload,
            payload_hash=canonical_hash(new.payload),
            state=ReviewState.OPEN,
            version=1,
            created_at=now,
            expires_at=new.expires_at,
            fallback=new.fallback,
            causes=" ".join(new.causes),
            facts=pack(new.facts),
            **queue_columns(new.kind, new.causes, new.facts, new.expires_at),
            search_text=text_of_new(core, position, review_id, new.reason, payload),
        )
    )
    return review_id


def find_review(core: sa.Connection, desk: str, review_id: str, *, lock: bool = False) -> Review:
    query = (
        sa.select(*REVIEW_COLUMNS, t.runs.c.id.label("run_id"))
        .join(t.runs, t.runs.c.position == t.reviews.c.run)
        .where(t.reviews.c.id == review_id, t.reviews.c.desk == desk)
    )
    row = core.execute(query.with_for_update(of=t.reviews) if lock else query).one_or_none()
    if row is None:
        raise NotFound(f"there is no review {review_id} on desk {desk}")
    return review_of(row.run_id, row)


def decide_review(
    core: sa.Connection, desk: str, review_id: str, verdict: Verdict, now: float
) -> Review:
    review = find_review(core, desk, review_id, lock=True)
    verdict = decision_meant(review, verdict)
    check_decision(review, verdict, now)
    _check_files(core, review, verdict)
    _check_rights(core, review, verdict)
    if is_first_approval(review, verdict):
        return _sign(core, review, verdict, now)
    return _settle(core, review, verdict, ReviewState.DECIDED, now)


def _check_rights(core: sa.Connection, review: Review, verdict: Verdict) -> None:
    """Whoever has an account keeps to its limit, on the page, over the API and in a terminal."""
    named = sa.func.lower(t.users.c.name) == verdict.by.strip().lower()
    row = core.execute(sa.select(t.users).where(named)).first()
    if row is None:
        return
    user = user_of(row)
    asked_by = None
    if user.addresses:
        written = sa.select(t.messages.c.body).join(t.runs, t.runs.c.position == t.messages.c.run)
        body = core.execute(written.where(t.runs.c.id == review.run_id)).scalar()
        asked_by = None if body is None else Message.model_validate_json(body).writer.address
    check_rights(review, verdict, user, asked_by)


def _check_files(core: sa.Connection, review: Review, verdict: Verdict) -> None:
    """Raise Conflict unless people brought the files that are to be sent, for this very run."""
    named = (verdict.edit or {}).get("attachments") or []
    if not named:
        return
    brought = sa.select(t.attachments.c.size).where(
        t.attachments.c.id.in_(named),
        t.attachments.c.origin == FileOrigin.REPLY,
        t.attachments.c.run == t.runs.c.position,
        t.runs.c.id == review.run_id,
    )
    sizes = list(core.execute(brought).scalars())
    if len(sizes) < len(named):
        raise Conflict("a file is to be sent that nobody attached here; attach it again")
    if sum(sizes) > LARGEST_TOGETHER:
        raise Conflict(
            f"the files together have {sum(sizes):,} bytes; send at most {LARGEST_TOGETHER:,}"
        )


def _sign(core: sa.Connection, review: Review, verdict: Verdict, now: float) -> Review:
    """The first of two approvals: the review stays open, and whoever comes second looks at a new
    version of it."""
    _check_waits(core, review)
    values = {"signed_by": verdict.by, "version": review.version + 1}
    core.execute(t.reviews.update().where(t.reviews.c.id == review.id).values(**values))
    payload = {"review": review.id, "note": verdict.note}
    record_event(core, review.desk, "review.signed", review.run_id, verdict.by, payload, now)
    return find_review(core, review.desk, review.id)


def expire_overdue(core: sa.Connection, desk: str, now: float) -> list[Review]:
    overdue = core.execute(
        sa.select(t.reviews.c.id)
        .where(
            t.reviews.c.desk == desk,
            t.reviews.c.state == ReviewState.OPEN,
            t.reviews.c.expires_at <= now,
            t.reviews.c.fallback.is_not(None),
        )
        .with_for_update(skip_locked=True)
    ).scalars()
    if core.execute(sa.select(t.stops.c.desk).where(t.stops.c.desk == desk)).first() is None:
        release_stopped(
            core, desk, "resume", now
        )  # a run that came to rest while the desk was being resumed
    expired: list[Review] = []
    for review in [find_review(core, desk, review_id) for review_id in overdue]:
        assert review.fallback is not None
        if review.fallback is Decision.REASSIGN:
            expired.append(_reassign(core, review, now))
            continue
        verdict = Verdict(
            review.fallback, by=EXPIRY, version=review.version, note="nobody decided in time"
        )
        expired.append(_settle(core, review, verdict, ReviewState.EXPIRED, now))
    return expired


def _reassign(core: sa.Connection, review: Review, now: float) -> Review:
    """Somebody else's to look at from now on; what would be decided about is still the same, and
    so is the version."""
    to = str(review.facts.get(REASSIGN_TO) or "") or None
    values = {
        "assignee": to,
        "expires_at": None,
        "fallback": None,
        "snoozed_until": None,
        **queue_columns(review.kind, review.causes, review.facts, None),
    }
    core.execute(t.reviews.update().where(t.reviews.c.id == review.id).values(**values))
    write_text(core, review.id)
    details = {"review": review.id, "to": to, "note": "nobody decided in time"}
    record_event(core, review.desk, "review.assigned", review.run_id, EXPIRY, details, now)
    return find_review(core, review.desk, review.id)


def release_stopped(core: sa.Connection, desk: str, by: str, now: float) -> int:
    """Let every run go on that met the desk's stop switch."""
    stopped = core.execute(
        sa.select(t.reviews.c.id)
        .where(
            t.reviews.c.desk == desk,
            t.reviews.c.state == ReviewState.OPEN,
            t.reviews.c.kind == ReviewKind.STOPPED,
        )
        .with_for_update(skip_locked=True)
    ).scalars()
    reviews = [find_review(core, desk, review_id) for review_id in stopped]
    for review in reviews:
        verdict = Verdict(
            Decision.RETRY, by=by, version=review.version, note="the desk was resumed"
        )
        _settle(core, review, verdict, ReviewState.DECIDED, now)
    return len(reviews)


def _settle(
    core: sa.Connection, review: Review, verdict: Verdict, state: ReviewState, now: float
) -> Review:
    core.execute(
        t.reviews.update()
        .where(t.reviews.c.id == review.id)
        .values(
            state=state,
            version=review.version + 1,
            decision=verdict.decision,
            decided_by=verdict.by,
            decided_at=now,
            note=verdict.note,
            edit=None if verdict.edit is None else pack(verdict.edit),
            facts=pack(review.facts | decided_facts(verdict)),
        )
    )
    _move_run(core, review, verdict, now)
    settle_doubt(core, review, verdict, now)
    judge_decision(core, review, verdict, now)
    payload = {"review": review.id, "note": verdict.note}
    record_event(
        core, review.desk, f"review.{verdict.decision}", review.run_id, verdict.by, payload, now
    )
    crash_point("review.before_commit")
    return find_review(core, review.desk, review.id)


def note_copy(core: sa.Connection, desk: str, key: str, now: float) -> None:
    """The copy of a reply has arrived: if somebody is asked whether it left, it did."""
    waiting = (
        sa.select(t.reviews.c.id)
        .join(t.runs, t.runs.c.position == t.reviews.c.run)
        .where(
            t.runs.c.id == key.partition(".")[0],
            t.reviews.c.desk == desk,
            t.reviews.c.state == ReviewState.OPEN,
            t.reviews.c.kind == ReviewKind.DELIVERY,
        )
    )
    for review_id in list(core.execute(waiting).scalars()):
        review = find_review(core, desk, review_id, lock=True)
        is_open = review.state is ReviewState.OPEN
        if is_open and review.payload.get("effect_key") == key:
            verdict = Verdict(Decision.LEFT, by=COPY, version=review.version, note=COPY_FOUND)
            _settle(core, review, verdict, ReviewState.DECIDED, now)


COPY = "the mailbox"
"""Who says that a reply left, where its copy says so."""
COPY_FOUND = "its copy has arrived"


def close_reviews(core: sa.Connection, position: int) -> None:
    """Withdraw what is still open about a run that is over."""
    core.execute(
        t.reviews.update()
        .where(t.reviews.c.run == position, t.reviews.c.state == ReviewState.OPEN)
        .values(state=ReviewState.STALE, version=t.reviews.c.version + 1)
    )


def record_event(
    core: sa.Connection,
    desk: str,
    kind: str,
    run_id: str | None,
    by: str | None,
    payload: object,
    now: float,
) -> None:
    written = core.execute(
        t.events.insert().values(
            desk=desk, run_id=run_id, kind=kind, by=by, payload=pack(payload), at=now
        )
    )
    if run_id is not None:
        mark_run(core, run_id)
    elif written.inserted_primary_key is not None:
        mark_record(core, desk, t.events, *written.inserted_primary_key)


def take_over(core: sa.Connection, desk: str, conversation: str, by: str, now: float) -> None:
    here = sa.and_(t.conversations.c.desk == desk, t.conversations.c.id == conversation)
    values = {"taken_over_by": by, "taken_over_at": now}
    if core.execute(t.conversations.update().where(here).values(**values)).rowcount == 0:
        core.execute(t.conversations.insert().values(desk=desk, id=conversation, **values))
    record_event(
        core, desk, "conversation.taken_over", None, by, {"conversation": conversation}, now
    )


def _check_waits(core: sa.Connection, review: Review) -> None:
    status = core.execute(sa.select(t.runs.c.status).where(t.runs.c.id == review.run_id)).scalar()
    if status not in _WAITS:
        raise Conflict(f"run {review.run_id} no longer waits for {review.id}")


def _move_run(core: sa.Connection, review: Review, verdict: Verdict, now: float) -> None:
    """Queue the run again, or end it where the decision leaves nothing to do."""
    values: dict[str, object] = {"updated_at": now, "owner": None}
    if verdict.decision is Decision.TAKE_OVER:
        take_over(core, review.desk, review.conversation, verdict.by, now)
        values |= {"status": RunStatus.DONE, "reason": f"taken over by {verdict.by}"}
    elif verdict.decision is Decision.CLOSE:
        values |= {"status": RunStatus.DONE, "reason": f"closed by {verdict.by}"}
    else:
        values |= {"status": RunStatus.QUEUED, "reason": None, "error_code": None, "crashes": 0}
    moved = core.execute(
        t.runs.update()
        .where(t.runs.c.id == review.run_id, t.runs.c.status.in_(_WAITS))
        .values(**values)
    )
    if moved.rowcount == 0:
        raise Conflict(f"run {review.run_id} no longer waits for {review.id}")
