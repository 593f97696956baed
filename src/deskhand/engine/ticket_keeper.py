"""Keeps the clocks of tickets: which messages were answered, and which deadlines are near."""

import logging
from collections.abc import Awaitable, Callable

from deskhand.engine.background import Background
from deskhand.engine.satisfaction import Survey
from deskhand.model.run import RunStatus
from deskhand.model.ticket import TicketEvent
from deskhand.tickets.handling import count_deadlines, note_answers, tell_deadlines
from deskhand.tickets.service import Tickets

log = logging.getLogger("deskhand.tickets")

EVERY = 30.0
"""Seconds between two looks at the deadlines."""
PAUSE = 1.0
"""Seconds between looks because runs came to rest here, which may be hundreds a second."""
_LOOKS_AT_ALL = 20
"""In one of so many rounds all runs are looked at, not only those that came to rest here."""
BY = "desk"

Told = Callable[[TicketEvent], Awaitable[None]]


class TicketKeeper:
    """One desk's. Everything it does is told from the database, so a round that is lost or done
    twice changes nothing."""

    def __init__(
        self,
        tickets: Tickets,
        listener: Told | None = None,
        *,
        survey: Survey | None = None,
    ) -> None:
        """`listener` hears of each deadline that is near or has passed."""
        self._tickets = tickets
        self._told = listener
        self._survey = survey
        self._rested: set[str] = set()
        self._rounds = 0
        self._work = Background(
            self.once,
            name="ticket keeper",
            failed="the clocks of tickets could not be kept",
            log=log,
            every=EVERY,
            pause=PAUSE,
        )

    def start(self) -> None:
        self._work.start()

    async def stop(self) -> None:
        await self._work.stop()

    def at_rest(self, run_id: str, status: RunStatus) -> None:
        """A run came to rest: its ticket may be answered."""
        self._rested.add(run_id)
        self._work.nudge()

    async def once(self) -> None:
        if self._rounds == 0:
            await self._tickets.store.forget_deadlines()
        rested = sorted(self._rested)
        self._rested.difference_update(rested)
        looks_at_all = self._rounds % _LOOKS_AT_ALL == 0
        self._rounds += 1
        if looks_at_all:
            await note_answers(self._tickets, BY)
        elif rested:
            await note_answers(self._tickets, BY, rested)
        await count_deadlines(self._tickets)
        for event in await tell_deadlines(self._tickets, BY):
            if self._told is not None:
                await self._told(event)
        await self._tickets.store.order_reviews(None if looks_at_all else rested)
        if self._survey is not None:
            await self._survey.once()
