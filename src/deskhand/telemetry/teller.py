"""The one teller of a desk: follows the rows and tells each sink what it has not heard yet."""

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from deskhand.engine.background import Background
from deskhand.errors import DeskhandError
from deskhand.model.run import RunStatus
from deskhand.model.telemetry import TelemetryEvent
from deskhand.ports.telemetry import TelemetryFeed, TelemetrySink, ToldRun
from deskhand.telemetry.telling import RunTeller

log = logging.getLogger("deskhand.telemetry")

BATCH = 100
"""How many runs a sink is told of at once."""
PATIENCE = 30.0
"""Seconds that a sink has for a batch."""
EVERY = 5.0
"""Seconds after which it is looked anyway: other processes let runs come to rest as well."""
_AT_THE_END = 2.0
"""Seconds that a sink has when the desk stops."""
PAUSE = 0.25
"""Seconds between two rounds, so that many runs are told together."""


@dataclass(frozen=True, slots=True)
class ToldSink:
    """A sink, and where it begins."""

    sink: TelemetrySink
    from_start: bool = True
    """Whether a sink that is new is told everything that is kept, or what comes from now on."""
    with_calls: bool = False
    """Whether it is told of the calls of models too."""


class Teller:
    """Each sink has a task and a mark of its own: one that fails or hangs delays nobody else. Runs
    never wait for any of them."""

    def __init__(
        self,
        desk: str,
        feed: TelemetryFeed,
        tells: RunTeller,
        sinks: Mapping[str, ToldSink],
        *,
        patience: float = PATIENCE,
        every: float = EVERY,
        pause: float = PAUSE,
    ) -> None:
        self._feed = feed
        self._tells = tells
        self._sinks = dict(sinks)
        self._patience = patience
        self._ordering = asyncio.Lock()
        self._rounds = {
            name: Background(
                partial(self.catch_up, name),
                name=f"telemetry of {desk} to {name}",
                failed=f"telemetry could not be told to {name}",
                log=log,
                every=every,
                pause=pause,
            )
            for name in self._sinks
        }

    def start(self) -> None:
        for background in self._rounds.values():
            background.start()

    async def stop(self) -> None:
        """Tell what there is still to tell, as far as that is quick: the rest waits in the rows."""
        for background in self._rounds.values():
            await background.stop()
        last = (self._last_round(name) for name in self._sinks)
        await asyncio.gather(*last)

    async def _last_round(self, name: str) -> None:
        try:
            async with asyncio.timeout(_AT_THE_END):
                await self.catch_up(name)
        except Exception as error:
            log.info("telemetry of %s goes on at the next start: %s", name, error)

    def at_rest(self, run_id: str, status: RunStatus) -> None:
        """A run came to rest here; it is told in a moment."""
        for background in self._rounds.values():
            background.nudge()

    async def catch_up(self, name: str) -> int:
        """Tell a sink everything that it has not heard; returns how many events there were."""
        told_sink = self._sinks[name]
        await self._put_in_order()
        first = 0 if told_sink.from_start else None
        mark = await self._feed.mark(name, first=first)
        count = 0
        while runs := await self._feed.after(mark, BATCH, with_calls=told_sink.with_calls):
            events = await asyncio.to_thread(self._events_in, runs)
            await self._tell(name, told_sink, events)
            if not await self._feed.set_mark(name, mark, runs[-1].number):
                return count
            count += len(events)
            mark = runs[-1].number
        return count

    async def _put_in_order(self) -> None:
        async with self._ordering:
            while await self._feed.put_in_order():
                pass

    def _events_in(self, runs: list[ToldRun]) -> list[TelemetryEvent]:
        events: list[TelemetryEvent] = []
        for run in runs:
            run_events = self._tells.told_in(run)
            if run_events and run.calls:
                run_events[-1] = run_events[-1].changed(calls=tuple(run.calls))
            events += run_events
        return events

    async def _tell(self, name: str, told_sink: ToldSink, events: list[TelemetryEvent]) -> None:
        """Tell a batch within its time; a failure is noted at the sink's mark."""
        if not events:
            return
        try:
            async with asyncio.timeout(self._patience):
                await told_sink.sink.record(*events)
        except TimeoutError:
            words = f"it took longer than {self._patience:g} seconds"
            await self._feed.note_failure(name, words)
            raise DeskhandError(words) from None
        except Exception as error:
            await self._feed.note_failure(name, str(error)[:500] or type(error).__name__)
            raise
