"""Work aside from the runs: one task that goes on whatever fails, until it is told to stop."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress

from deskhand.errors import DeskhandError

AFTER_FAILURE = 1.0
"""Seconds of rest after a round that failed, at least: what fails at once must not keep the
machine busy."""


class Background:
    """Runs `once` in rounds: every so many seconds, or earlier when nudged.

    There are always `pause` seconds between two rounds.
    """

    def __init__(
        self,
        once: Callable[[], Awaitable[object]],
        *,
        name: str,
        failed: str,
        log: logging.Logger,
        every: float = 0.0,
        pause: float = 0.0,
    ) -> None:
        """`failed` is what the log says before the reason when a round did not succeed."""
        self._once = once
        self._name = name
        self._failed = failed
        self._log = log
        self._every = every
        self._pause = pause
        self._nudge = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """The first round begins at once; starting what runs already changes nothing."""
        if self._task is None:
            self._task = asyncio.create_task(self._keep_on(), name=self._name)

    async def stop(self) -> None:
        """Break off the round under way; returns when nothing of it runs any more."""
        task = self._task
        self._task = None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    def nudge(self) -> None:
        """There is something to do now; asked for during a round, it is done in the next."""
        self._nudge.set()

    async def _keep_on(self) -> None:
        while True:
            self._nudge.clear()
            went_well = await self._round()
            if was_cancelled():
                return
            await asyncio.sleep(self._pause if went_well else max(self._pause, AFTER_FAILURE))
            with suppress(TimeoutError):
                async with asyncio.timeout(self._every):
                    await self._nudge.wait()

    async def _round(self) -> bool:
        try:
            await self._once()
        except DeskhandError as error:
            self._log.warning("%s: %s", self._failed, error)
            return False
        except Exception:
            self._log.exception("%s", self._failed)
            return False
        return True


def was_cancelled() -> bool:
    """Whether the current task is to end, although what it called raised something else or went on.

    A TaskGroup, for example, raises the errors of its tasks in place of the cancellation. A loop
    that goes on after errors asks this, or whoever stops it waits for ever.
    """
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
