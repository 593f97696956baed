"""The review queue: finding what is to be looked at, and all that people do with it short of deciding."""

from typing import Any

import sqlalchemy as sa

from deskhand.adapters.stores import tables as t
from deskhand.adapters.stores.reviewing import check_open, find_review, record_event
from deskhand.adapters.stores.rows import pack, review_of, unpack
from deskhand.errors import Conflict, NotFound
from deskhand.model.causes import Cause
from deskhand.model.run import BegunEdit, Review, ReviewState


def list_reviews(
    core: sa.Connection,
    desk: str,
    *,
    state: ReviewState | None,
    run_id: str | None,
    cause: Cause | None,
    assignee: str | None,
    snoozed: bool | None,
    now: float,
    limit: int,
    after: tuple[float, str] | None,
) -> list[Review]:
    here = t.reviews.c
    query = (
        sa.select(t.reviews, t.runs.c.id.label("run_id"))
        .join(t.runs, t.runs.c.position == here.run)
        .where(here.desk == desk)
        .order_by(here.created_at, here.id)
        .limit(limit)
    )
    if state is not None:
        query = query.where(here.state == state)
    if run_id is not None:
        query = query.where(t.runs.c.id == run_id)
    if cause is not None:
        listed = sa.literal(" ") + sa.func.coalesce(here.causes, "") + sa.literal(" ")
        query = query.where(listed.contains(f" {cause} ", autoescape=True))
    if assignee is not None:
        query = query.where(here.assignee == assignee)
    if snoozed is not None:
        asleep = sa.func.coalesce(here.snoozed_until, 0.0) > now
        query = query.where(asleep if snoozed else sa.not_(asleep))
    if after is not None:
        place = sa.tuple_(here.created_at, here.id)
        query = query.where(place > sa.tuple_(sa.literal(after[0]), sa.literal(after[1])))
    return [review_of(row.run_id, row) for row in core.execute(query)]


def snooze(core: sa.Connection, desk: str, review_id: str, by: str, until: float | None, now: float) -> Review:
    """Out of sight until then; None brings it back at once."""
    review = find_review(core, desk, review_id, lock=True)
    check_open(review)
    if review.leaves_by_itself:
        raise Conflict(f"{review.id} leaves by itself; undo it first")
    if until is not None and until <= now:
        raise Conflict("that time has passed; name a later one")
    if until is not None and review.expires_at is not None and review.expires_at <= until:
        raise Conflict(f"{review.id} expires before that; name an earlier time, or decide it")
    return _changed(core, review, {"snoozed_until": until}, "review.snoozed", by, {"until": until}, now)


def assign(core: sa.Connection, desk: str, review_id: str, by: str, to: str | None, now: float) -> Review:
    """Somebody's to look at; others may still decide it. None gives it back to all."""
    review = find_review(core, desk, review_id, lock=True)
    check_open(review)
    return _changed(core, review, {"assignee": to}, "review.assigned", by, {"to": to}, now)


def note(core: sa.Connection, desk: str, review_id: str, by: str, text: str, now: float) -> Review:
    """A word among colleagues, kept with the run; also about what is decided already."""
    review = find_review(core, desk, review_id)
    record_event(core, desk, "review.note", review.run_id, by, {"review": review.id, "text": text}, now)
    return review


def _changed(
    core: sa.Connection, review: Review, values: dict[str, Any], kind: str, by: str, told: dict[str, Any], now: float
) -> Review:
    """The version stays: what would be decided about is still the same."""
    core.execute(t.reviews.update().where(t.reviews.c.id == review.id).values(**values))
    record_event(core, review.desk, kind, review.run_id, by, {"review": review.id, **told}, now)
    return find_review(core, review.desk, review.id)


# --- what reviewers have typed


def keep_edit(core: sa.Connection, desk: str, review_id: str, by: str, edit: dict[str, Any], now: float) -> None:
    """Each reviewer's own: nobody writes over a colleague's words."""
    of_run = sa.select(t.reviews.c.run).where(t.reviews.c.id == review_id, t.reviews.c.desk == desk)
    position = core.execute(of_run).scalar()
    if position is None:
        raise NotFound(f"there is no review {review_id} on desk {desk}")
    mine = sa.and_(t.review_edits.c.review == review_id, t.review_edits.c.by == by)
    values = {"edit": pack(edit), "at": now}
    if core.execute(t.review_edits.update().where(mine).values(**values)).rowcount == 0:
        core.execute(t.review_edits.insert().values(review=review_id, by=by, desk=desk, run=position, **values))


def begun_edits(core: sa.Connection, desk: str, review_id: str) -> list[BegunEdit]:
    query = (
        sa.select(t.review_edits)
        .where(t.review_edits.c.review == review_id, t.review_edits.c.desk == desk)
        .order_by(t.review_edits.c.at.desc())
    )
    return [BegunEdit(row.by, unpack(row.edit), row.at) for row in core.execute(query)]
