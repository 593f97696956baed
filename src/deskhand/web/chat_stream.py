"""What a visitor sees while the desk works: server-sent events told from the database, so that any
process can tell them.

`line` events carry the lines of the chat, and their number as id: whoever comes back names the last
one he has. A reply is a line only after the gate let it pass, and nothing of what a model writes
is told before. `stage` (never the turns and calls within one), `typing`, `state` and `person` (who
answers instead of the program) tell what is going on; they have no id and are not repeated.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

from deskhand.engine.journal import fold
from deskhand.model.chats import ChatStanding
from deskhand.model.envelope import Envelope
from deskhand.model.run import Run, RunStatus
from deskhand.model.understanding import Understanding
from deskhand.ports import Store
from deskhand.ports.conversations import Chats
from deskhand.web.chat_pulse import ChatPulse

FIRST_LOOK, IDLE_LOOK = 0.1, 2.0
"""Seconds between two looks at the database: while the desk works, and at most while it rests."""
KEPT_ALIVE = 15.0
"""Seconds of silence after which a comment is sent, so that nobody in between hangs up."""
STILL_HERE = ": still here\n\n"
_STATES = {
    RunStatus.WAITING_USER: "waits_for_visitor",
    RunStatus.WAITING_REVIEW: "waits_for_person",
    RunStatus.NEEDS_REVIEW: "waits_for_person",
    RunStatus.FAILED: "waits_for_person",
}


@dataclass(slots=True)
class ChatStream:
    """The events of one chat for one reader."""

    chats: Chats
    store: Store
    chat: str
    last: int = 0
    """The number of the newest line that the reader has."""
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    pulse: ChatPulse | None = None
    """Tells when something happens while the desk rests; without it, the stream looks itself."""
    proves: str | None = None
    """The slot whose value a visitor may prove to be his."""
    ends_at_rest: bool = False
    """Whether it ends once nothing is worked any more."""
    _told: dict[str, Any] = field(default_factory=dict[str, Any])
    _stages: int = 0
    _colleague: bool = False

    async def events(self) -> AsyncIterator[str]:
        """The events as they are sent. It goes on until the reader leaves or the server stops."""
        pause = FIRST_LOOK
        silent = 0.0
        while not self.stopping.is_set():
            run = await self._newest_run()
            at_rest = run is None or not run.status.is_active
            news = [event async for event in self._news(run)]
            for event in news:
                yield event
            if at_rest and self.ends_at_rest and not news:
                return
            if at_rest and not news and self.pulse is not None:
                while not await self.pulse.wait(self.chat, KEPT_ALIVE):
                    yield STILL_HERE
                continue
            silent = 0.0 if news else silent + pause
            if silent >= KEPT_ALIVE:
                yield STILL_HERE
                silent = 0.0
            busy = bool(news) or not at_rest
            pause = FIRST_LOOK if busy else min(IDLE_LOOK, pause * 1.5)
            await _wait(self.stopping, pause)

    async def _news(self, run: Run | None) -> AsyncIterator[str]:
        """What happened since the last look: stages first, then lines, then where it rests."""
        if run is not None and run.status.is_active:
            async for event in self._work(run):
                yield event
        standing = await self.chats.standing(self.chat)
        came = self._is_new("person", standing.taken_over_by) and self._person_came(standing)
        person = [event_text("person", {"name": standing.taken_over_by})] if came else []
        has_lines = self.last > 0
        lines = await self._new_lines()
        # who comes in is told before his first line; to whoever comes back, after all lines
        for event in [*person, *lines] if has_lines else [*lines, *person]:
            yield event
        if run is not None and not run.status.is_active:
            state = _STATES.get(run.status, "answered")
            if standing.waits_for_person:
                state = "waits_for_person"
            if self._is_new("state", (run.id, state)):
                yield event_text("state", {"state": state})
                for event in await self._offer(run):
                    yield event

    async def _offer(self, run: Run) -> list[str]:
        """What the visitor spoke of and may prove, whether there is such a thing or not."""
        chat = await self.chats.chat(self.chat) if self.proves is not None else None
        message = await self.store.message(run.id)
        if chat is None or chat.customer is not None or message is None:
            return []
        state = fold(Envelope.of(message, run_id=run.id), await self.store.rows(run.id))
        named = Understanding.of(state).slots.get(self.proves or "")
        if not isinstance(named, str) or named in chat.proven:
            return []
        return [event_text("prove", {"order": named})]

    async def _new_lines(self) -> list[str]:
        """The lines that the reader has not."""
        events: list[str] = []
        for line in await self.chats.lines(self.chat, after=self.last):
            self.last = line.number
            fields = line.model_dump(mode="json", exclude={"number"}, exclude_defaults=True)
            events.append(event_text("line", fields, line.number))
        return events

    def _person_came(self, standing: ChatStanding) -> bool:
        """Whether somebody came, or left: that nobody ever came is no news."""
        came_before = self._colleague
        self._colleague = standing.taken_over_by is not None
        return self._colleague or came_before

    async def _work(self, run: Run) -> AsyncIterator[str]:
        if self._is_new("typing", run.id):
            self._stages = 0
            yield event_text("typing", {})
        rows = await self.store.rows(run.id)
        names = [row.name.partition("/")[0] for row in rows[self._stages :]]
        self._stages = len(rows)
        for name in names:
            if self._is_new("stage", name):
                yield event_text("stage", {"stage": name})

    def _is_new(self, kind: str, value: Any) -> bool:
        if self._told.get(kind) == value:
            return False
        self._told[kind] = value
        return True

    async def _newest_run(self) -> Run | None:
        runs = await self.store.runs(conversation=self.chat, limit=1)
        return runs[0] if runs else None


def event_text(kind: str, fields: dict[str, Any], number: int | None = None) -> str:
    """One event as it stands on the wire."""
    identity = "" if number is None else f"id: {number}\n"
    data = json.dumps(fields, ensure_ascii=False)
    return f"{identity}event: {kind}\ndata: {data}\n\n"


async def _wait(stopping: asyncio.Event, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await stopping.wait()
    except TimeoutError:
        return
