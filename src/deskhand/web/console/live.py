"""Live events of the console: one stream a window, told from the database.

One teller a process looks at the database and tells every open window, so a window costs nothing
while nothing happens. An event carries names and ids, never a customer's word.
"""

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, Iterable
from dataclasses import dataclass, field
from typing import Any

from deskhand.errors import DeskhandError
from deskhand.ports.console import ConsoleFeed, Look, Looker, Place, RecordChange

log = logging.getLogger("deskhand.web")

BETWEEN_LOOKS = 0.4
"""Seconds between two looks at the database."""
AFTER_FAILURE = 5.0
STAYS = 20.0
"""Seconds after which the windows of this process say that they are still open."""
KEPT_ALIVE = 15.0
"""Seconds of silence after which a comment is sent, so that nobody in between hangs up."""
LASTS = 300.0
"""Seconds after which a stream ends: the browser comes again, and its session is looked at."""
_MOST_WAITING = 200
_MOST_SEEN = 500
_MOST_CAUGHT_UP = 100
"""Changes that a window is told one by one when it opens; after more it reads everything anew."""


@dataclass(eq=False)
class OpenPage:
    """An open page of somebody, and the events that it has not been sent yet."""

    name: str
    person: str
    desks: frozenset[str]
    place: Place | None = None
    after: int | None = None
    """The newest change that its page knows; None where the page does not say."""
    waiting: asyncio.Queue[str] = field(
        default_factory=lambda: asyncio.Queue[str](maxsize=_MOST_WAITING)
    )
    missed: bool = False
    """Whether it was told more than it took."""
    others: list[str] | None = None
    """Who else looks at the same, as it was told last."""

    def tell(self, event: str, number: int | None = None, **fields: Any) -> None:
        """`number` is that of the change which the event tells of."""
        if self.waiting.full():
            self.missed = True
            return
        mark = "" if number is None else f"id: {number}\n"
        self.waiting.put_nowait(f"{mark}event: {event}\ndata: {json.dumps(fields)}\n\n")


class LiveHub:
    """All open windows of this process."""

    def __init__(self, feed: ConsoleFeed, stopping: asyncio.Event) -> None:
        self._feed = feed
        self._stopping = stopping
        self._windows: set[OpenPage] = set()
        self._teller: asyncio.Task[None] | None = None
        self._beginning = asyncio.Lock()
        self._soon = asyncio.Event()
        self._mark = 0
        self._seen: dict[int, float] = {}
        self._stopped: frozenset[str] | None = None
        self._here: dict[Place, tuple[str, ...]] = {}
        self._states: dict[Place, str] = {}

    def look_now(self) -> None:
        """Somebody did something here: the others need not wait for the next look."""
        self._soon.set()

    async def events(self, window: OpenPage) -> AsyncGenerator[str]:
        """What happens, as it is sent, until the window closes or the server stops."""
        yield "retry: 1000\n\n"
        self._windows.add(window)
        try:
            if window.place is not None:
                await self._feed.enter(Looker(window.place, window.person, window.name))
            await self._begin()
            self.look_now()
            self._tell_others(window)
            await self._catch_up(window)
            async with asyncio.timeout(LASTS):
                while not self._stopping.is_set():
                    yield await self._next(window)
        except TimeoutError:
            return
        finally:
            await self._close(window)

    async def _begin(self) -> None:
        """Have one teller, however many windows open at the same moment."""
        async with self._beginning:
            if self._teller is None:
                self._mark = await self._feed.newest()
                self._teller = asyncio.create_task(self._tell())

    async def _catch_up(self, window: OpenPage) -> None:
        """Tell what happened after the page was read and before its stream was open."""
        if window.after is None or await self._feed.newest() <= window.after:
            return
        changes = (await self._feed.look(window.after, ())).changes
        if len(changes) > _MOST_CAUGHT_UP:
            window.missed = True
            return
        for change in changes:
            _tell_change(window, change)

    async def _next(self, window: OpenPage) -> str:
        if window.missed:
            window.missed = False
            return "event: missed\ndata: {}\n\n"
        try:
            async with asyncio.timeout(KEPT_ALIVE):
                return await window.waiting.get()
        except TimeoutError:
            return ": still here\n\n"

    async def _close(self, window: OpenPage) -> None:
        self._windows.discard(window)
        if not self._windows and self._teller is not None:
            self._teller.cancel()
            self._teller = None
            self._here, self._states = {}, {}
        if window.place is not None:
            await asyncio.shield(self._feed.leave(window.name))
        self.look_now()

    # --- the teller

    async def _tell(self) -> None:
        loop = asyncio.get_running_loop()
        stayed = loop.time()
        while True:
            pause = BETWEEN_LOOKS
            try:
                self._soon.clear()
                await self._look()
                if loop.time() - stayed > STAYS:
                    stayed = loop.time()
                    await self._feed.stay(self._placed())
            except DeskhandError as error:
                log.warning("open consoles are not told what happens: %s", error)
                pause = AFTER_FAILURE
            await _wait(self._soon, pause)

    def _placed(self) -> list[str]:
        return [window.name for window in self._windows if window.place is not None]

    async def _look(self) -> None:
        watched = {window.place for window in self._windows if window.place is not None}
        look = await self._feed.look(self._mark, watched)
        self._tell_changes(self._new(look))
        self._tell_stops(look.stopped)
        self._tell_people(look.lookers)
        self._tell_states(look)

    def _new(self, look: Look) -> list[RecordChange]:
        """Those not told yet. The mark stays behind for a while where changes may be seen late."""
        now = asyncio.get_running_loop().time()
        new = [change for change in look.changes if change.number not in self._seen]
        self._seen |= {change.number: now for change in new}
        settled = [number for number, at in self._seen.items() if at <= now - look.late]
        if len(self._seen) > _MOST_SEEN:
            settled = sorted(self._seen)[: _MOST_SEEN // 2]
        for number in settled:
            self._mark = max(self._mark, number)
            del self._seen[number]
        return new

    def _tell_changes(self, changes: Iterable[RecordChange]) -> None:
        for change in changes:
            for window in self._windows:
                _tell_change(window, change)

    def _tell_stops(self, stopped: frozenset[str]) -> None:
        before = stopped if self._stopped is None else self._stopped
        for desk in before ^ stopped:
            for window in self._at(desk):
                window.tell("desk", desk=desk, stopped=desk in stopped)
        self._stopped = stopped

    def _tell_people(self, lookers: Iterable[Looker]) -> None:
        here: dict[Place, tuple[str, ...]] = {}
        for place, person, _ in sorted(lookers):
            if person not in here.get(place, ()):
                here[place] = (*here.get(place, ()), person)
        self._here = here
        for window in self._windows:
            self._tell_others(window)

    def _tell_states(self, look: Look) -> None:
        for window in self._windows:
            if window.place is None or window.place.kind == "review":
                continue
            before = self._states.get(window.place)
            now = look.states.get(window.place)
            if before is not None and before != now:
                window.tell("changed")
        self._states = look.states

    def _at(self, desk: str) -> list[OpenPage]:
        return [window for window in self._windows if desk in window.desks]

    def _tell_others(self, window: OpenPage) -> None:
        """Say who else looks at the same, where that has changed."""
        here = () if window.place is None else self._here.get(window.place, ())
        others = [name for name in here if name != window.person]
        if others != window.others:
            window.others = others
            window.tell("here", people=others)


def _tell_change(window: OpenPage, change: RecordChange) -> None:
    """Only of the desks that its person may touch."""
    desk, number = change.desk, change.number
    if desk not in window.desks:
        return
    if change.kind == "review":
        fields = {"review": change.reference, "open": change.is_open}
        window.tell("queue", number, desk=desk, **fields)
    elif change.kind == "message":
        window.tell("message", number, desk=desk, run=change.reference)
    elif window.place == Place(desk, "conversation", change.reference):
        window.tell("changed", number)


async def _wait(event: asyncio.Event, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return
