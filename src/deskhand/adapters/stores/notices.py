"""Word to reviewers in the database: what is to be told, once each, and how often it was tried."""

import time
from collections.abc import Callable
from typing import Any

import sqlalchemy as sa

from deskhand.adapters.stores import plain_reads
from deskhand.adapters.stores import tables as t
from deskhand.adapters.stores.core_database import CoreDatabase
from deskhand.adapters.stores.review_decisions import record_event
from deskhand.adapters.stores.rows import pack, unpack
from deskhand.model.notice import DIGEST, FailedNotice, Notice, NoticeState

TAKEN_FOR = 120.0
"""Seconds after which another process tries what one took and never finished."""
_AT_ONCE = 50


class SqlNoticeStore:
    def __init__(
        self, database: CoreDatabase, desk: str, now: Callable[[], float] = time.time
    ) -> None:
        self.desk = desk
        self._database, self._now = database, now

    async def take(self) -> list[Notice]:
        """The digests that are due now, taken by the caller alone for a while."""
        return await self._database.write_core(lambda core: _take(core, self.desk, self._now()))

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


def _take(core: sa.Connection, desk: str, now: float) -> list[Notice]:
    of_kind = t.notices.c.id.startswith(DIGEST, autoescape=True)
    due = (
        sa.select(t.notices)
        .where(
            t.notices.c.desk == desk,
            t.notices.c.state == NoticeState.DUE,
            t.notices.c.next_at <= now,
        )
        .where(of_kind)
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
