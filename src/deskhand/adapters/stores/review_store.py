"""A desk's reviews in SQLAlchemy Core: the part of its store that people work with."""

from typing import Any

from deskhand.adapters.stores import plain_reads, replies, review_decisions, review_queue
from deskhand.adapters.stores.core_database import SqlDesk
from deskhand.crashpoints import crash_point
from deskhand.model.queue import (
    ALL_REVIEWS,
    AlikeReviews,
    BegunEdit,
    QueuePosition,
    ReviewFilter,
)
from deskhand.model.run import Review, Verdict


class SqlReviews(SqlDesk):
    async def find_reviews(
        self,
        wanted: ReviewFilter = ALL_REVIEWS,
        *,
        limit: int = 100,
        after: tuple[float, str] | None = None,
        backwards: bool = False,
    ) -> list[Review]:
        now = self._now()
        return await self._database.read_core(
            lambda core: review_queue.list_reviews(
                core, self.desk, wanted, now=now, limit=limit, after=after, backwards=backwards
            )
        )

    async def next_due(
        self,
        wanted: ReviewFilter,
        *,
        limit: int,
        after: QueuePosition | None = None,
        backwards: bool = False,
    ) -> list[Review]:
        now = self._now()
        return await self._database.read_core(
            lambda core: review_queue.next_due(
                core, self.desk, wanted, now=now, limit=limit, after=after, backwards=backwards
            )
        )

    async def count_reviews(self, wanted: ReviewFilter) -> int:
        now = self._now()
        return await self._database.read_core(
            lambda core: review_queue.count_reviews(core, self.desk, wanted, now)
        )

    async def count_queue(
        self,
        wanted: ReviewFilter = ALL_REVIEWS,
        *,
        soon: float = 0.0,
        place: QueuePosition | None = None,
    ) -> list[AlikeReviews]:
        now = self._now()
        return await self._database.read_core(
            lambda core: review_queue.count_queue(
                core, self.desk, wanted, now=now, soon=soon, place=place
            )
        )

    async def review(self, review_id: str) -> Review:
        return await self._database.read_core(
            lambda core: review_decisions.find_review(core, self.desk, review_id)
        )

    async def decide(self, review_id: str, verdict: Verdict) -> Review:
        decided = await self._database.write_core(
            lambda core: review_decisions.decide_review(
                core, self.desk, review_id, verdict, self._now()
            )
        )
        crash_point("review.after_commit")
        return decided

    async def expire_reviews(self, now: float) -> list[Review]:
        """Asked every second, so it writes only where there is something to write."""
        if not await plain_reads.has_due_reviews(self._database.ask, self.desk, now):
            return []
        return await self._database.write_core(
            lambda core: review_decisions.expire_overdue(core, self.desk, now)
        )

    async def hold_back(self, review_id: str, by: str) -> Review:
        held = await self._database.write_core(
            lambda core: replies.hold_back(core, self.desk, review_id, by, self._now())
        )
        crash_point("review.after_commit")
        return held

    async def snooze(self, review_id: str, by: str, until: float | None) -> Review:
        return await self._database.write_core(
            lambda core: review_queue.snooze(core, self.desk, review_id, by, until, self._now())
        )

    async def assign(self, review_id: str, by: str, to: str | None) -> Review:
        return await self._database.write_core(
            lambda core: review_queue.assign(core, self.desk, review_id, by, to, self._now())
        )

    async def reviewers(self) -> list[str]:
        return await self._database.read_core(lambda core: review_queue.reviewers(core, self.desk))

    async def note_review(self, review_id: str, by: str, text: str) -> Review:
        return await self._database.write_core(
            lambda core: review_queue.note(core, self.desk, review_id, by, text, self._now())
        )

    async def keep_edit(self, review_id: str, by: str, edit: dict[str, Any]) -> None:
        await self._database.write_core(
            lambda core: review_queue.keep_edit(core, self.desk, review_id, by, edit, self._now())
        )

    async def begun_edits(self, review_id: str) -> list[BegunEdit]:
        return await self._database.read_core(
            lambda core: review_queue.begun_edits(core, self.desk, review_id)
        )
