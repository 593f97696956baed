"""The review queue: finding what waits, and all that people do with it short of deciding."""

from collections.abc import Iterator, Sequence
from typing import Any

import sqlalchemy as sa

from deskhand.adapters.stores import tables as t
from deskhand.adapters.stores.review_decisions import find_review, record_event
from deskhand.adapters.stores.review_texts import write_text
from deskhand.adapters.stores.rows import REVIEW_COLUMNS, pack, review_of, unpack
from deskhand.engine.decisions import check_assignee, check_colleagues_note, check_open
from deskhand.errors import Conflict, NotFound
from deskhand.model.access import User
from deskhand.model.causes import Cause, Rank
from deskhand.model.queue import AlikeReviews, BegunEdit, QueuePosition, ReviewFilter
from deskhand.model.run import Decision, Review, ReviewState


def list_reviews(
    core: sa.Connection,
    desk: str,
    wanted: ReviewFilter,
    *,
    now: float,
    limit: int,
    after: tuple[float, str] | None,
    backwards: bool = False,
) -> list[Review]:
    """Oldest first, or the newest first; `after` is where the last one stood."""
    here = t.reviews.c
    order: list[sa.ColumnElement[Any]] = [here.created_at, here.id]
    if backwards:
        order = [column.desc() for column in order]
    query = _review_ids(core, desk, wanted, now).order_by(*order).limit(limit)
    if after is not None:
        place, seen = (
            sa.tuple_(here.created_at, here.id),
            sa.tuple_(sa.literal(after[0]), sa.literal(after[1])),
        )
        query = query.where(place < seen if backwards else place > seen)
    return _read(core, query, order)


def next_due(
    core: sa.Connection,
    desk: str,
    wanted: ReviewFilter,
    *,
    now: float,
    limit: int,
    after: QueuePosition | None,
    backwards: bool,
) -> list[Review]:
    """In the order of `Review.place`; `after` is where the last one stood."""
    here = t.reviews.c
    place = (here.rank, here.deadline, here.created_at, here.id)
    order: list[sa.ColumnElement[Any]] = list(place)
    if backwards:
        order = [column.desc() for column in place]
    query = _review_ids(core, desk, wanted, now).order_by(*order).limit(limit)
    if after is not None:
        seen = sa.tuple_(*map(sa.literal, after))
        query = query.where(sa.tuple_(*place) < seen if backwards else sa.tuple_(*place) > seen)
    return _read(core, query, order)


def _review_ids(
    core: sa.Connection, desk: str, wanted: ReviewFilter, now: float
) -> sa.Select[tuple[str]]:
    """The names of reviews: an index has them, and whole rows are read only of those shown."""
    query = sa.select(t.reviews.c.id)
    if wanted.run_id is not None:
        query = query.join(t.runs, t.runs.c.position == t.reviews.c.run)
    return query.where(t.reviews.c.desk == desk, *_conditions(core, wanted, now))


def _read(
    core: sa.Connection,
    review_ids: sa.Select[tuple[str]],
    order: Sequence[sa.ColumnElement[Any]],
) -> list[Review]:
    query = (
        sa.select(*REVIEW_COLUMNS, t.runs.c.id.label("run_id"))
        .join(t.runs, t.runs.c.position == t.reviews.c.run)
        .where(t.reviews.c.id.in_(review_ids))
        .order_by(*order)
    )
    return [review_of(row.run_id, row) for row in core.execute(query)]


def count_reviews(core: sa.Connection, desk: str, wanted: ReviewFilter, now: float) -> int:
    query = _review_ids(core, desk, wanted, now).with_only_columns(
        sa.func.count(), maintain_column_froms=True
    )
    return core.execute(query).scalar_one()


def count_queue(
    core: sa.Connection,
    desk: str,
    wanted: ReviewFilter,
    *,
    now: float,
    soon: float,
    place: QueuePosition | None,
) -> list[AlikeReviews]:
    """From the index of open reviews, unless a cause or words are asked for."""
    here = t.reviews.c
    where = (here.desk == desk, _is(ReviewState.OPEN), *_conditions(core, wanted, now))
    seen = sa.select(
        here.rank,
        here.category,
        here.language,
        here.assignee,
        _is_snoozed(now).label("snoozed"),
        _is_leaving().label("leaving"),
        sa.case((here.deadline < now, 1), else_=0).label("late"),
        sa.case((here.deadline.between(now, soon), 1), else_=0).label("soon"),
        sa.case((_stands_before(place), 1), else_=0).label("before"),
    ).where(*where)
    columns = seen.subquery().c
    alike = (
        columns.rank,
        columns.category,
        columns.language,
        columns.assignee,
        columns.snoozed,
        columns.leaving,
    )
    sums = [sa.func.sum(columns[name]).label(name) for name in ("late", "soon", "before")]
    query = sa.select(*alike, sa.func.count().label("number"), *sums).group_by(*alike)
    return [_alike(row) for row in core.execute(query)]


def _alike(row: sa.Row[Any]) -> AlikeReviews:
    return AlikeReviews(
        Rank(row.rank),
        row.category,
        row.language,
        row.assignee,
        bool(row.snoozed),
        bool(row.leaving),
        row.number,
        row.late,
        row.soon,
        row.before,
    )


def _stands_before(place: QueuePosition | None) -> sa.ColumnElement[bool]:
    here = t.reviews.c
    if place is None:
        return sa.false()
    columns = sa.tuple_(here.rank, here.deadline, here.created_at, here.id)
    return columns < sa.tuple_(*map(sa.literal, place))


def _conditions(
    core: sa.Connection, wanted: ReviewFilter, now: float
) -> list[sa.ColumnElement[bool]]:
    return [*_exact(wanted), *_yes_or_no(wanted, now), *_has_terms(core, wanted)]


def _exact(wanted: ReviewFilter) -> Iterator[sa.ColumnElement[bool]]:
    """Conditions on what a review's fields must be."""
    here = t.reviews.c
    if wanted.state is not None:
        yield _is(wanted.state)
    if wanted.run_id is not None:
        yield t.runs.c.id == wanted.run_id
    if wanted.cause is not None:
        yield _has(wanted.cause)
    exact = (
        (here.rank, wanted.rank),
        (here.category, wanted.category),
        (here.language, wanted.language),
    )
    for column, value in exact:
        if value is not None:
            yield column == value
    if wanted.assignee is not None:
        yield here.assignee == wanted.assignee if wanted.assignee else here.assignee.is_(None)


def _is(state: ReviewState) -> sa.ColumnElement[bool]:
    """Written out: the index of open reviews is used only where it is certain that no others are
    asked for."""
    return t.reviews.c.state == sa.literal_column(f"'{state.value}'")


def _yes_or_no(wanted: ReviewFilter, now: float) -> Iterator[sa.ColumnElement[bool]]:
    """Conditions that hold or do not: snoozed, leaving by itself."""
    asked = ((wanted.snoozed, _is_snoozed(now)), (wanted.leaving, _is_leaving()))
    for answer, condition in asked:
        if answer is not None:
            yield condition if answer else sa.not_(condition)


def _is_snoozed(now: float) -> sa.ColumnElement[bool]:
    return sa.func.coalesce(t.reviews.c.snoozed_until, 0.0) > now


def _is_leaving() -> sa.ColumnElement[bool]:
    """A reply that leaves by itself unless somebody stops it."""
    by_itself = sa.func.coalesce(t.reviews.c.fallback, "") == Decision.APPROVE
    return sa.and_(_is(ReviewState.OPEN), by_itself)


def _has_terms(core: sa.Connection, wanted: ReviewFilter) -> Iterator[sa.ColumnElement[bool]]:
    """Conditions on the searched text, by the function that finds a text in another as it is."""
    find = sa.func.strpos if core.dialect.name == "postgresql" else sa.func.instr
    for term in wanted.terms:
        yield find(t.reviews.c.search_text, term) > 0


def _has(cause: Cause) -> sa.ColumnElement[bool]:
    listed = sa.literal(" ") + sa.func.coalesce(t.reviews.c.causes, "") + sa.literal(" ")
    return listed.contains(f" {cause} ", autoescape=True)


def snooze(
    core: sa.Connection, desk: str, review_id: str, by: str, until: float | None, now: float
) -> Review:
    """Out of sight until then; None brings it back at once."""
    review = find_review(core, desk, review_id, lock=True)
    check_open(review)
    if review.leaves_by_itself:
        raise Conflict(f"{review.id} leaves by itself; undo it first")
    if until is not None and until <= now:
        raise Conflict("that time has passed; name a later one")
    if until is not None and review.expires_at is not None and review.expires_at <= until:
        raise Conflict(f"{review.id} expires before that; name an earlier time, or decide it")
    if until is not None and review.due_at is not None and now < review.due_at <= until:
        raise Conflict(f"{review.id} is due before that; name an earlier time, or answer it")
    return _changed(
        core, review, {"snoozed_until": until}, "review.snoozed", by, {"until": until}, now
    )


def assign(
    core: sa.Connection, desk: str, review_id: str, by: str, to: str | None, now: float
) -> Review:
    """Somebody's to look at; others may still decide it. None gives it back to all."""
    review = find_review(core, desk, review_id, lock=True)
    check_open(review)
    check_assignee(to)
    _check_reviewer(core, desk, to)
    return _changed(core, review, {"assignee": to}, "review.assigned", by, {"to": to}, now)


def reviewers(core: sa.Connection, desk: str) -> list[str]:
    """Everybody who has an account and may work on this desk."""
    here = t.users.c
    query = sa.select(here.name, here.desks).where(here.removed_at.is_(None)).order_by(here.name)
    people = [User(row.name, tuple(row.desks.split()), 0.0) for row in core.execute(query)]
    return [user.name for user in people if user.touches(desk)]


def _check_reviewer(core: sa.Connection, desk: str, name: str | None) -> None:
    """Raise Conflict for somebody who could not see what is assigned to them."""
    if name is None:
        return
    names = reviewers(core, desk)
    if name in names:
        return
    listed = ", ".join(names) or "nobody"
    raise Conflict(
        f"there is no user {name!r} on desk {desk}; assign it to one of: {listed}"
        " (deskhand users add)"
    )


def note(core: sa.Connection, desk: str, review_id: str, by: str, text: str, now: float) -> Review:
    """A word among colleagues, kept with the run; also about what is decided already."""
    review = find_review(core, desk, review_id)
    check_colleagues_note(text)
    record_event(
        core, desk, "review.note", review.run_id, by, {"review": review.id, "text": text}, now
    )
    return review


def _changed(
    core: sa.Connection,
    review: Review,
    values: dict[str, Any],
    kind: str,
    by: str,
    details: dict[str, Any],
    now: float,
) -> Review:
    """The version stays: what would be decided about is still the same."""
    core.execute(t.reviews.update().where(t.reviews.c.id == review.id).values(**values))
    write_text(core, review.id)
    record_event(core, review.desk, kind, review.run_id, by, {"review": review.id, **details}, now)
    return find_review(core, review.desk, review.id)


# --- what reviewers have typed


def keep_edit(
    core: sa.Connection, desk: str, review_id: str, by: str, edit: dict[str, Any], now: float
) -> None:
    """Each reviewer's own: nobody writes over a colleague's words."""
    of_run = sa.select(t.reviews.c.run).where(t.reviews.c.id == review_id, t.reviews.c.desk == desk)
    position = core.execute(of_run).scalar()
    if position is None:
        raise NotFound(f"there is no review {review_id} on desk {desk}")
    mine = sa.and_(t.review_edits.c.review == review_id, t.review_edits.c.by == by)
    values = {"edit": pack(edit), "at": now}
    if core.execute(t.review_edits.update().where(mine).values(**values)).rowcount == 0:
        core.execute(
            t.review_edits.insert().values(
                review=review_id, by=by, desk=desk, run=position, **values
            )
        )


def begun_edits(core: sa.Connection, desk: str, review_id: str) -> list[BegunEdit]:
    query = (
        sa.select(t.review_edits)
        .where(t.review_edits.c.review == review_id, t.review_edits.c.desk == desk)
        .order_by(t.review_edits.c.at.desc())
    )
    return [BegunEdit(row.by, unpack(row.edit), row.at) for row in core.execute(query)]
