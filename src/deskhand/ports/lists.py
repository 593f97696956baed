"""What lists of runs and reviews are read from."""

from collections.abc import Sequence
from typing import Protocol

from deskhand.model.message import Message
from deskhand.model.queue import ALL_REVIEWS, QueuePosition, ReviewFilter
from deskhand.model.run import Review, Run, RunStatus
from deskhand.model.totals import Stop


class Lists(Protocol):
    """The part of a desk's memory that lists are made of. Every store has it, and so does a
    database that was only opened to look something up."""

    async def runs(
        self,
        *,
        status: RunStatus | None = None,
        conversation: str | None = None,
        screened: bool = False,
        limit: int = 100,
        before: int | None = None,
    ) -> list[Run]:
        """Runs, newest first; `before` is the position of the last one seen."""
        ...

    async def messages(self, run_ids: Sequence[str]) -> dict[str, Message]:
        """The messages of these runs; those that were erased are left out."""
        ...

    async def stopped(self) -> Stop | None:
        """Whether somebody threw the desk's stop switch."""
        ...

    async def review(self, review_id: str) -> Review:
        """Raises NotFound."""
        ...

    async def find_reviews(
        self,
        wanted: ReviewFilter = ALL_REVIEWS,
        *,
        limit: int = 100,
        after: tuple[float, str] | None = None,
        backwards: bool = False,
    ) -> list[Review]:
        """Oldest first, or the newest first; `after` is where the last one stood."""
        ...

    async def next_due(
        self,
        wanted: ReviewFilter,
        *,
        limit: int,
        after: QueuePosition | None = None,
        backwards: bool = False,
    ) -> list[Review]:
        """In the order of `Review.place`, or the other way round; `after` is the last one seen."""
        ...
