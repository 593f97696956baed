"""Word to reviewers in the database: what is to be told, once each, and how often it was tried."""

import time
from collections.abc import Callable
from typing import Any

import sqlalchemy as sa

from deskhand.adapters.stores import plain_reads
from deskhand.adapters.stores import tables as t
from deskhand.adapters.stores.core_database import CoreDatabase
from deskhand.adapters.stores.review_decisions import record_event
from deskhand.adapters.stores.rows import REVIEW_COLUMNS, pack, review_of, unpack
from deskhand.model.message import Message
from deskhand.model.notice import DIGEST, FailedNotice, Notice, NoticeState, Tell
from deskhand.model.run import Decision, ReviewState

OPENED, CLOSED = 1, 2
TAKEN_FOR = 120.0
"""Seconds after which another process tries what one took and never finished."""
_AT_ONCE = 50


class SqlNoticeStore:
    def __init__(
        self, database: CoreDatabase, desk: str, now: Callable[[], float] = time.time
    ) -> None:
        self.desk = desk
        self._database, self._now = database, now

    async def announce(self, tell: Tell) -> int:
        """Make a notice of every review that began or ceased to wait since it was last told;
        returns how many.

        A notice and the mark that it was made are one transaction: none is missed, none made twice.
        """
        return await self._database.write_core(
            lambda core: _announce(core, self.desk, tell, self._now())
        )

    async def take(self, *, digests: bool) -> list[Notice]:
        """What is due now, digests or webhooks, taken by the caller alone for a while."""
        return await self._database.write_core(
            lambda core: _take(core, self.desk, digests, self._now())
        )

    async def settle(
        self, notice_id: str, state: NoticeState, *, error: str = "", again_at: float | None = None
    ) -> None:
        def op(core: sa.Connection) -> None:
            values: dict[str, Any] = {"state": state, "error": error[:500] or None}
            values |= {} if again_at is None else {"next_at": again_at}
            here = sa.and_(t.notices.c.id == notice_id, t.notices.c.desk == self.desk)
            core.execute(t.notices.update().where(here).values(**values))
            if state is NoticeState.FAILED:
                details = {"notice": notice_id, "error": error[:500]}
                record_event(core, self.desk, "notice.failed", None, None, details, self._now())

        await self._database.write_core(op)

    async def put(self, notice_id: str, payload: dict[str, Any]) -> bool:
        """Make a notice that is due at once; False when there is one of this id, whatever became
        of it."""

        def op(core: sa.Connection) -> bool:
            now = self._now()
            values = {
                "id": notice_id,
                "desk": self.desk,
                "payload": pack(payload),
                "state": NoticeState.DUE,
            }
            try:
                with core.begin_nested():
                    core.execute(
                        t.notices.insert().values(**values, attempts=0, next_at=now, created_at=now)
                    )
            except sa.exc.IntegrityError:
                return False
            return True

        return await self._database.write_core(op)

    async def failed(self, since: float) -> list[FailedNotice]:
        """What was given up, the newest first."""
        return await plain_reads.failed_notices(self._database.ask, self.desk, since)

    async def states(self) -> dict[str, NoticeState]:
        query = sa.select(t.notices.c.id, t.notices.c.state).where(t.notices.c.desk == self.desk)
        rows = await self._database.read_core(lambda core: core.execute(query).all())
        return {row.id: NoticeState(row.state) for row in rows}


def _announce(core: sa.Connection, desk: str, tell: Tell, now: float) -> int:
    here = t.reviews.c
    begun = sa.and_(
        here.state == ReviewState.OPEN,
        here.announced.is_(None),
        here.fallback.is_distinct_from(Decision.APPROVE),
        here.fallback.is_distinct_from(Decision.RETRY),
    )
    over = sa.and_(here.state != ReviewState.OPEN, here.announced == OPENED)
    query = (
        sa.select(*REVIEW_COLUMNS, t.runs.c.id.label("run_id"))
        .join(t.runs, t.runs.c.position == here.run)
        .where(here.desk == desk, sa.or_(begun, over))
        .order_by(here.created_at)
        .limit(_AT_ONCE)
        .with_for_update(of=t.reviews, skip_locked=True)
    )
    reviews = [review_of(row.run_id, row) for row in core.execute(query)]
    messages = _messages(core, [review.run_id for review in reviews])
    for review in reviews:
        is_open = review.state is ReviewState.OPEN
        kind = "review.opened" if is_open else "review.closed"
        core.execute(
            t.notices.insert().values(
                id=f"{review.id}.{'opened' if is_open else 'closed'}",
                desk=desk,
                payload=pack(tell(review, kind, messages.get(review.run_id))),
                state=NoticeState.DUE,
                attempts=0,
                next_at=now,
                created_at=now,
            )
        )
        mark = OPENED if is_open else CLOSED
        core.execute(t.reviews.update().where(here.id == review.id).values(announced=mark))
    return len(reviews)


def _messages(core: sa.Connection, run_ids: list[str]) -> dict[str, Message]:
    query = (
        sa.select(t.runs.c.id, t.messages.c.body)
        .join(t.messages, t.messages.c.run == t.runs.c.position)
        .where(t.runs.c.id.in_(run_ids), t.messages.c.body.is_not(None))
    )
    return {row.id: Message.model_validate_json(row.body) for row in core.execute(query)}


def _take(core: sa.Connection, desk: str, digests: bool, now: float) -> list[Notice]:
    of_kind = t.notices.c.id.startswith(DIGEST, autoescape=True)
    due = (
        sa.select(t.notices)
        .where(
            t.notices.c.desk == desk,
            t.notices.c.state == NoticeState.DUE,
            t.notices.c.next_at <= now,
        )
        .where(of_kind if digests else sa.not_(of_kind))
        .order_by(t.notices.c.next_at)
        .limit(_AT_ONCE)
        .with_for_update(skip_locked=True)
    )
    taken = [
        Notice(row.id, unpack(row.payload), row.attempts + 1, row.created_at)
        for row in core.execute(due)
    ]
    for notice in taken:
        values = {"next_at": now + TAKEN_FOR, "attempts": notice.attempts}
        core.execute(
            t.notices.update()
            .where(t.notices.c.id == notice.id, t.notices.c.desk == desk)
            .values(**values)
        )
    return taken
