"""Brings the words of what changed into the console's search, a moment later."""

import logging

from deskhand.engine.background import Background
from deskhand.ports.console import SearchIndex

log = logging.getLogger("deskhand.search")

EVERY = 1.0
BACKLOG = 100
"""From so many records on there may be more. Fewer wait for the next second."""
PAUSE = 0.2
"""Seconds between two batches of a backlog: the messages of today come first."""


class SearchIndexer:
    """Two of them at once write the same words once."""

    def __init__(self, index: SearchIndex, *, every: float = EVERY) -> None:
        self._index = index
        self._rounds = Background(
            self._index_some,
            name=f"search index of {index.desk}",
            failed="what changed could not be indexed, tried again later",
            log=log,
            every=every,
            pause=PAUSE,
        )

    def start(self) -> None:
        self._rounds.start()

    async def stop(self) -> None:
        await self._rounds.stop()

    async def _index_some(self) -> None:
        # who is at work changes in a moment, and is indexed once for all of it
        if await self._index.index_some(at_rest=True) >= BACKLOG:
            self._rounds.nudge()
