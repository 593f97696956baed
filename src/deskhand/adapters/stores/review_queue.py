"""The review queue: finding what waits, and all that people do with it short of deciding."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa

from deskhand.adapters.stores import tables as t
from deskhand.adapters.stores.review_decisions import find_review, record_event
from deskhand.adapters.stores.review_texts import write_text
from deskhand.adapters.stores.rows import REVIEW_COLUMNS, pack, review_of, unpack
from deskhand.engine.decisions import check_assignee, check_colleagues_note, check_open
from deskhand.errors import Conflict, NotFound
from deskhand.model.access import User
from deskhand.model.causes import QUIET, RED, Cause, Rank
from deskhand.model.queue import BegunEdit, DeadlinePlace, Facets, ReviewFilter
from deskhand.model.run import DUE_AT, NO_DEADLINE, Decision, Review, ReviewKind, ReviewState


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
    order = (here.created_at.desc(), here.id.desc()) if backwards else (here.created_at, here.id)
    query = (
        sa.select(*REVIEW_COLUMNS, t.runs.c.id.label("run_id"))
        .join(t.runs, t.runs.c.position == here.run)
        .where(here.desk == desk, *_conditions(core, wanted, now))
        .order_by(*order)
        .limit(limit)
    )
    if after is not None:
        place, seen = (
            sa.tuple_(here.created_at, here.id),
            sa.tuple_(sa.literal(after[0]), sa.literal(after[1])),
        )
        query = query.where(place < seen if backwards else place > seen)
    return [review_of(row.run_id, row) for row in core.execute(query)]


def next_due(
    core: sa.Connection,
    desk: str,
    wanted: ReviewFilter,
    *,
    now: float,
    limit: int,
    after: DeadlinePlace | None,
    backwards: bool,
) -> list[Review]:
    """By deadline, then the oldest first; `after` is where the last one stood."""
    here = t.reviews.c
    place = (_deadline(core), here.created_at, here.id)
    order: list[sa.ColumnElement[Any]] = list(place)
    if backwards:
        order = [column.desc() for column in place]
    query = (
        sa.select(*REVIEW_COLUMNS, t.runs.c.id.label("run_id"))
        .join(t.runs, t.runs.c.position == here.run)
        .where(here.desk == desk, *_conditions(core, wanted, now))
        .order_by(*order)
        .limit(limit)
    )
    if after is not None:
        seen = sa.tuple_(*map(sa.literal, after))
        query = query.where(sa.tuple_(*place) < seen if backwards else sa.tuple_(*place) > seen)
    return [review_of(row.run_id, row) for row in core.execute(query)]


def _deadline(core: sa.Connection) -> sa.ColumnElement[float]:
    """What `Review.deadline` says, in the database's words."""
    never = sa.literal(NO_DEADLINE)
    expires = sa.func.coalesce(t.reviews.c.expires_at, never)
    if core.dialect.name == "postgresql":
        due = sa.cast(_fact(core, DUE_AT), sa.Float(53))
        return sa.func.least(expires, sa.func.coalesce(due, never), type_=sa.Float(53))
    number = sa.func.json_extract(sa.cast(t.reviews.c.facts, sa.Text), f"$.{DUE_AT}")
    # `min` of two values, which SQLAlchemy would take for that of a column
    earlier = sa.func.iif(sa.func.coalesce(number, never) < expires, number, expires)
    return sa.type_coerce(earlier, sa.Float(53))


def count_reviews(core: sa.Connection, desk: str, wanted: ReviewFilter, now: float) -> int:
    counted: sa.FromClause = t.reviews
    if wanted.run_id is not None:
        counted = t.reviews.join(t.runs, t.runs.c.position == t.reviews.c.run)
    query = (
        sa.select(sa.func.count())
        .select_from(counted)
        .where(t.reviews.c.desk == desk, *_conditions(core, wanted, now))
    )
    return core.execute(query).scalar_one()


def facets(core: sa.Connection, desk: str) -> Facets:
    here = t.reviews.c
    query = (
        sa.select(_fact(core, "category"), _fact(core, "language"), here.assignee, sa.func.count())
        .where(here.desk == desk, here.state == ReviewState.OPEN)
        .group_by(sa.literal_column("1"), sa.literal_column("2"), here.assignee)
    )
    counters: tuple[Counter[str], Counter[str], Counter[str]] = (Counter(), Counter(), Counter())
    for category, language, assignee, count in core.execute(query):
        for counter, value in zip(counters, (category, language, assignee or ""), strict=True):
            if value is not None:
                counter[value] += count
    return Facets(*(dict(sorted(counter.items())) for counter in counters))


def _conditions(
    core: sa.Connection, wanted: ReviewFilter, now: float
) -> list[sa.ColumnElement[bool]]:
    return [*_exact(core, wanted), *_yes_or_no(wanted, now), *_has_terms(core, wanted)]


def _exact(core: sa.Connection, wanted: ReviewFilter) -> Iterator[sa.ColumnElement[bool]]:
    """Conditions on what a review's fields must be."""
    here = t.reviews.c
    if wanted.state is not None:
        yield here.state == wanted.state
    if wanted.run_id is not None:
        yield t.runs.c.id == wanted.run_id
    if wanted.cause is not None:
        yield _has(wanted.cause)
    if wanted.rank is not None:
        yield _rank() == wanted.rank
    for name, value in (("category", wanted.category), ("language", wanted.language)):
        if value is not None:
            yield _fact(core, name) == value
    if wanted.assignee is not None:
        yield here.assignee == wanted.assignee if wanted.assignee else here.assignee.is_(None)


def _yes_or_no(wanted: ReviewFilter, now: float) -> Iterator[sa.ColumnElement[bool]]:
    """Conditions that hold or do not: snoozed, leaving by itself."""
    here = t.reviews.c
    leaving = sa.and_(
        here.state == ReviewState.OPEN, sa.func.coalesce(here.fallback, "") == Decision.APPROVE
    )
    asked = (
        (wanted.snoozed, sa.func.coalesce(here.snoozed_until, 0.0) > now),
        (wanted.leaving, leaving),
    )
    for answer, condition in asked:
        if answer is not None:
            yield condition if answer else sa.not_(condition)


def _has_terms(core: sa.Connection, wanted: ReviewFilter) -> Iterator[sa.ColumnElement[bool]]:
    """Conditions on the searched text, by the function that finds a text in another as it is."""
    find = sa.func.strpos if core.dialect.name == "postgresql" else sa.func.instr
    for term in wanted.terms:
        yield find(t.reviews.c.search_text, term) > 0


def _has(cause: Cause) -> sa.ColumnElement[bool]:
    listed = sa.literal(" ") + sa.func.coalesce(t.reviews.c.causes, "") + sa.literal(" ")
    return listed.contains(f" {cause} ", autoescape=True)


def _rank() -> sa.ColumnElement[int]:
    """What `rank_of` says, in the database's words."""
    causes = sa.func.coalesce(t.reviews.c.causes, "")
    loud: sa.ColumnElement[str] = (
        sa.literal(" ") + sa.func.replace(causes, " ", "  ") + sa.literal(" ")
    )
    for cause in sorted(QUIET):
        loud = sa.func.replace(loud, f" {cause} ", "")
    return sa.case(
        (_has(Cause.EMERGENCY), int(Rank.EMERGENCY)),
        (t.reviews.c.kind == ReviewKind.TOOL_CALL, int(Rank.ACTION)),
        (sa.or_(*map(_has, sorted(RED))), int(Rank.DANGER)),
        (sa.and_(causes != "", sa.func.trim(loud) == ""), int(Rank.ROUTINE)),
        else_=int(Rank.DOUBT),
    )


def _fact(core: sa.Connection, name: str) -> sa.ColumnElement[str]:
    """A field of what was known about the message, in the database's own words for JSON."""
    facts = t.reviews.c.facts
    if core.dialect.name == "postgresql":
        document = sa.cast(sa.func.convert_from(facts, "UTF8"), sa.JSON)
        return document.op("->>", return_type=sa.Text())(name)
    return sa.cast(sa.func.json_extract(sa.cast(facts, sa.Text), f"$.{name}"), sa.Text)


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
    known = reviewers(core, desk)
    if name in known:
        return
    listed = ", ".join(known) or "nobody"
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
