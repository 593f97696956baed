"""Tells streams of chats in which nothing happens when something does: one look at the database for
all of them, instead of one for each."""

import asyncio
import logging
from collections.abc import Sequence

from deskhand.errors import DeskhandError
from deskhand.ports.conversations import Chats

EVERY = 1.0
"""Seconds between two looks while anybody waits."""
MOST_AT_ONCE = 500
"""Chats of one look: databases limit the values of a statement."""
log = logging.getLogger("deskhand.web")


class ChatPulse:
    """The chats of one desk that readers of this process wait in.

    A reader looks, waits here, and looks again. What he has seen is the mark that was read before
    his last look: whatever changes after that wakes him. Of a chat without a mark, the first look
    wakes him once too often.
    """

    def __init__(self, chats: Chats, stopping: asyncio.Event) -> None:
        """Once `stopping` is set, everybody is woken."""
        self._chats = chats
        self._stopping = stopping
        self._waiting: dict[str, set[asyncio.Event]] = {}
        self._marks: dict[str, str] = {}
        self._looking: asyncio.Task[None] | None = None

    async def wait(self, chat: str, seconds: float) -> bool:
        """Wait until something may have happened in a chat; False where nothing did for so
        long."""
        woken = asyncio.Event()
        self._waiting.setdefault(chat, set()).add(woken)
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look())
        try:
            async with asyncio.timeout(seconds):
                await woken.wait()
            return True
        except TimeoutError:
            return False
        finally:
            self._leave(chat, woken)

    def wake(self, chat: str) -> None:
        """Something happened in this process: nobody need look for it."""
        for woken in self._waiting.get(chat, ()):
            woken.set()

    def _leave(self, chat: str, woken: asyncio.Event) -> None:
        left = self._waiting.get(chat, set())
        left.discard(woken)
        if not left:
            self._waiting.pop(chat, None)

    async def _look(self) -> None:
        """Look again and again while anybody waits. What nobody waits for is forgotten, but for
        those who are looking right now."""
        while self._waiting:
            chats = list(self._waiting)
            if self._stopping.is_set():
                for chat in chats:
                    self.wake(chat)
                return
            for start in range(0, len(chats), MOST_AT_ONCE):
                await self._look_at(chats[start : start + MOST_AT_ONCE])
            await asyncio.sleep(EVERY)
            if len(self._marks) > 2 * len(self._waiting) + MOST_AT_ONCE:
                self._marks = {
                    chat: mark for chat, mark in self._marks.items() if chat in self._waiting
                }

    async def _look_at(self, chats: Sequence[str]) -> None:
        try:
            marks = await self._chats.marks(chats)
        except DeskhandError as error:
            log.warning("chats cannot be looked at: %s", error)
            return
        for chat, mark in marks.items():
            if self._marks.get(chat) != mark:
                self._marks[chat] = mark
                self.wake(chat)
