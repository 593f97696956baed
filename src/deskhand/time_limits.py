"""Time limits for what nearly always ends in time, with one timer of the event loop for all."""

import asyncio
from collections.abc import Callable
from types import TracebackType
from typing import Self


class Alarm:
    """Something that is to happen at a time, unless it is called off."""

    __slots__ = ("_alarms", "ring", "when")

    def __init__(self, alarms: "_Alarms", when: float, ring: Callable[[], None]) -> None:
        self._alarms = alarms
        self.when = when
        self.ring = ring

    def cancel(self) -> None:
        """Call it off; nothing happens if it has rung."""
        self._alarms.waiting.discard(self)


class _Alarms:
    """All alarms of an event loop.

    A timer of the loop takes its place among all others and has to be taken out of there again.
    Here the loop is told of the first alarm alone. Nearly all are called off before it would ring,
    so it rings for nobody, once in the length of a limit, and then the next one is looked for.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self.waiting: set[Alarm] = set()
        self._first: asyncio.TimerHandle | None = None
        self._first_at = 0.0

    def add(self, seconds: float, ring: Callable[[], None]) -> Alarm:
        alarm = Alarm(self, self.loop.time() + seconds, ring)
        self.waiting.add(alarm)
        if self._first is None or alarm.when < self._first_at:
            self._set(alarm.when)
        return alarm

    def _set(self, when: float) -> None:
        if self._first is not None:
            self._first.cancel()
        self._first_at = when
        self._first = self.loop.call_at(when, self._ring)

    def _ring(self) -> None:
        self._first = None
        due = [alarm for alarm in self.waiting if alarm.when <= self._first_at]
        self.waiting.difference_update(due)
        if self.waiting:
            self._set(min(alarm.when for alarm in self.waiting))
        for alarm in sorted(due, key=lambda alarm: alarm.when):
            alarm.ring()


_newest: _Alarms | None = None
"""Those of the loop that asked last; a process has one that goes on, and few beside it."""


def ring_in(seconds: float, ring: Callable[[], None]) -> Alarm:
    """Call `ring` from the running event loop in so many seconds."""
    global _newest
    loop = asyncio.get_running_loop()
    alarms = _newest
    if alarms is None or alarms.loop is not loop:
        alarms = _newest = _Alarms(loop)
    return alarms.add(seconds, ring)


class TimeLimit:
    """As `asyncio.timeout`: what is done within it is cancelled when its time is up, and the
    cancellation becomes TimeoutError."""

    __slots__ = ("_alarm", "_cancelling", "_seconds", "_task", "is_over")

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self.is_over = False

    def __enter__(self) -> Self:
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("a time limit is for what runs in a task")
        self._task = task
        self._cancelling = task.cancelling()
        self._alarm = ring_in(self._seconds, self._end)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._alarm.cancel()
        if not self.is_over:
            return
        is_ours = self._task.uncancel() <= self._cancelling
        if is_ours and kind is asyncio.CancelledError:
            raise TimeoutError from error

    def _end(self) -> None:
        self.is_over = True
        self._task.cancel()
