"""Writes that wait for a commit, and how those who wait hear of it."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(slots=True)
class WriteJob:
    """An operation that somebody wants written; what came of it, once it was tried."""

    op: Callable[[Any], Any]
    single: bool
    future: asyncio.Future[Any]
    result: Any = None
    error: BaseException | None = None


class CommitTeller:
    """Tells those who wait that their writes are on disk, one in each turn of the event loop.

    A commit holds the writes of all runs in flight. If all were told at once, all would go on in
    the same turn, and a request that comes in meanwhile would wait for the last of them.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, when_told: Callable[[], None]) -> None:
        """`when_told` is called after each turn in which somebody was told."""
        self._loop = loop
        self._when_told = when_told
        self._untold: deque[WriteJob] = deque()

    @property
    def untold(self) -> int:
        """How many wait for a commit that is on disk."""
        return len(self._untold)

    def tell(self, jobs: Iterable[WriteJob]) -> None:
        """Begin to tell; to be called by the event loop."""
        if not self._untold:
            self._loop.call_soon(self._tell_one)
        self._untold.extend(jobs)

    def tell_all(self) -> None:
        """Tell everybody at once: nobody may be left waiting for a database that is closed."""
        while self._untold:
            _tell(self._untold.popleft())

    def _tell_one(self) -> None:
        if self._untold:
            _tell(self._untold.popleft())
        if not self._untold:
            self._loop.call_soon(self._when_told)
            return
        self._loop.call_soon(self._tell_one)
        self._when_told()  # whoever was told a turn ago has gone on by now


def _tell(job: WriteJob) -> None:
    if job.future.done():
        return
    if job.error is not None:
        job.future.set_exception(job.error)
    else:
        job.future.set_result(job.result)
