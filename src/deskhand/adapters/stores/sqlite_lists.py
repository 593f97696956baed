"""Lists of runs and reviews in a SQLite file, in plain statements.

Commands that only list something read them without SQLAlchemy, whose import takes a third of a
second. A store reads them by the same statements.
"""

import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from deskhand.adapters.stores.record_values import RUN_FIELDS, review_of, run_of
from deskhand.errors import NotFound
from deskhand.model.causes import Cause
from deskhand.model.codes import ErrorCode
from deskhand.model.message import Message
from deskhand.model.queue import ALL_REVIEWS, QueuePosition, ReviewFilter
from deskhand.model.run import (
    Decision,
    Review,
    ReviewState,
    Run,
    RunStatus,
)

T = TypeVar("T")
Read = Callable[[sqlite3.Connection], T]
Condition = tuple[str, Sequence[Any]]
"""What must hold, in SQL, and the values of its question marks."""

_PLACE = ("reviews.rank", "reviews.deadline", "reviews.created_at", "reviews.id")
"""The columns of `Review.place`."""
_REVIEWS = "SELECT reviews.*, runs.id AS run_id FROM reviews JOIN runs ON runs.position=reviews.run"


class _ReviewRow(sqlite3.Row):
    """A row whose columns are attributes, as `review_of` reads them."""

    def __getattr__(self, name: str) -> Any:
        return self[name]


class SqliteLists(ABC):
    """What lists need of one desk's records."""

    desk: str
    _now: Callable[[], float]

    @abstractmethod
    async def _look(self, read: Read[T]) -> T:
        """What `read` finds on a connection that is only read from."""

    async def runs(
        self,
        *,
        status: RunStatus | None = None,
        conversation: str | None = None,
        screened: bool = False,
        limit: int = 100,
        before: int | None = None,
    ) -> list[Run]:
        conditions: list[Condition] = [("desk=?", (self.desk,)), ("pruned_at IS NULL", ())]
        if screened:
            sign = (RunStatus.DONE.value, ErrorCode.AUTOMATIC_MAIL.value)
            conditions.append(("status=? AND error_code=?", sign))
        if status is not None:
            conditions.append(("status=?", (status.value,)))
        if conversation is not None:
            conditions.append(("conversation=?", (conversation,)))
        if before is not None:
            conditions.append(("position<?", (before,)))
        where, values = _joined(conditions)
        query = (
            f"SELECT {', '.join(RUN_FIELDS)} FROM runs WHERE {where}"  # noqa: S608
            " ORDER BY position DESC LIMIT ?"
        )
        rows = await self._look(lambda raw: raw.execute(query, (*values, limit)).fetchall())
        return [run_of(row) for row in rows]

    async def messages(self, run_ids: Sequence[str]) -> dict[str, Message]:
        marks = ",".join("?" * len(run_ids))
        query = (
            "SELECT runs.id, messages.body FROM messages"  # noqa: S608
            " JOIN runs ON runs.position=messages.run"
            f" WHERE runs.id IN ({marks}) AND runs.desk=? AND messages.body IS NOT NULL"
        )
        rows = await self._look(lambda raw: raw.execute(query, (*run_ids, self.desk)).fetchall())
        return {run_id: Message.model_validate_json(body) for run_id, body in rows}

    async def review(self, review_id: str) -> Review:
        reviews = await self._reviews(
            f"{_REVIEWS} WHERE reviews.id=? AND reviews.desk=?", (review_id, self.desk)
        )
        if not reviews:
            raise NotFound(f"there is no review {review_id} on desk {self.desk}")
        return reviews[0]

    async def find_reviews(
        self,
        wanted: ReviewFilter = ALL_REVIEWS,
        *,
        limit: int = 100,
        after: tuple[float, str] | None = None,
        backwards: bool = False,
    ) -> list[Review]:
        conditions = self._conditions(wanted)
        if after is not None:
            sign = "<" if backwards else ">"
            conditions.append((f"(reviews.created_at, reviews.id) {sign} (?, ?)", after))
        where, values = _joined(conditions)
        way = "DESC" if backwards else "ASC"
        query = (
            f"{_REVIEWS} WHERE {where} ORDER BY reviews.created_at {way}, reviews.id {way} LIMIT ?"
        )
        return await self._reviews(query, (*values, limit))

    async def next_due(
        self,
        wanted: ReviewFilter,
        *,
        limit: int,
        after: QueuePosition | None = None,
        backwards: bool = False,
    ) -> list[Review]:
        conditions = self._conditions(wanted)
        if after is not None:
            sign = "<" if backwards else ">"
            conditions.append((f"({', '.join(_PLACE)}) {sign} (?, ?, ?, ?)", after))
        where, values = _joined(conditions)
        way = "DESC" if backwards else "ASC"
        order = ", ".join(f"{column} {way}" for column in _PLACE)
        # found in the index by name alone: whole rows, with their drafts, are read afterwards
        first = f"SELECT reviews.id {_counted(wanted)} WHERE {where} ORDER BY {order} LIMIT ?"
        query = f"{_REVIEWS} WHERE reviews.id IN ({first}) ORDER BY {order}"
        return await self._reviews(query, (*values, limit))

    async def count_reviews(self, wanted: ReviewFilter) -> int:
        where, values = _joined(self._conditions(wanted))
        query = f"SELECT count(*) {_counted(wanted)} WHERE {where}"
        [[count]] = await self._look(lambda raw: raw.execute(query, values).fetchall())
        return int(count)

    def _conditions(self, wanted: ReviewFilter) -> list[Condition]:
        of_desk: Condition = ("reviews.desk=?", (self.desk,))
        return [of_desk, *_exact(wanted), *_yes_or_no(wanted, self._now()), *_has_terms(wanted)]

    async def _reviews(self, query: str, values: Sequence[Any]) -> list[Review]:
        def read(raw: sqlite3.Connection) -> list[Review]:
            cursor = raw.cursor()
            cursor.row_factory = _ReviewRow
            return [review_of(row.run_id, row) for row in cursor.execute(query, values)]

        return await self._look(read)


def desk_names(raw: sqlite3.Connection) -> list[str]:
    """The desks that have runs in this database."""
    return [name for (name,) in raw.execute("SELECT DISTINCT desk FROM runs ORDER BY desk")]


def _joined(conditions: Sequence[Condition]) -> tuple[str, list[Any]]:
    """All of them in one, and their values."""
    where = " AND ".join(f"({condition})" for condition, _ in conditions)
    return where, [value for _, values in conditions for value in values]


def _counted(wanted: ReviewFilter) -> str:
    """What reviews are found in; their runs are looked at only where one is named."""
    joined = "" if wanted.run_id is None else " JOIN runs ON runs.position=reviews.run"
    return f"FROM reviews{joined}"


def _exact(wanted: ReviewFilter) -> Iterator[Condition]:
    """Conditions on what a review's fields must be. A state is written out: the index of open
    reviews is used only where it is certain that no others are asked for."""
    if wanted.state is not None:
        yield f"reviews.state='{wanted.state.value}'", ()
    if wanted.run_id is not None:
        yield "runs.id=?", (wanted.run_id,)
    if wanted.cause is not None:
        yield _has(wanted.cause)
    exact = (
        ("rank", wanted.rank),
        ("category", wanted.category),
        ("language", wanted.language),
    )
    for name, value in exact:
        if value is not None:
            yield f"reviews.{name}=?", (value,)
    if wanted.assignee:
        yield "reviews.assignee=?", (wanted.assignee,)
    elif wanted.assignee is not None:
        yield "reviews.assignee IS NULL", ()


def _yes_or_no(wanted: ReviewFilter, now: float) -> Iterator[Condition]:
    """Conditions that hold or do not: snoozed, leaving by itself."""
    leaving = "reviews.state=? AND coalesce(reviews.fallback, '')=?"
    asked = (
        (wanted.snoozed, ("coalesce(reviews.snoozed_until, 0.0)>?", (now,))),
        (wanted.leaving, (leaving, (ReviewState.OPEN.value, Decision.APPROVE.value))),
    )
    for answer, (condition, values) in asked:
        if answer is not None:
            yield condition if answer else f"NOT ({condition})", values


def _has_terms(wanted: ReviewFilter) -> Iterator[Condition]:
    """Conditions on the searched text, by the function that finds a text in another as it is."""
    for term in wanted.terms:
        yield "instr(reviews.search_text, ?)>0", (term,)


def _has(cause: Cause) -> Condition:
    return "instr(' ' || coalesce(reviews.causes, '') || ' ', ?)>0", (f" {cause.value} ",)
