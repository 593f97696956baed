"""Confirms the times that runs hold before a reply promises them, or releases them."""

import logging
from collections.abc import Sequence
from enum import StrEnum

from deskhand.engine.background import Background
from deskhand.errors import NotFound, SlotTaken
from deskhand.model.booking import DECLINES, REPLACED, Booking, BookingState
from deskhand.model.queue import ReviewFilter
from deskhand.model.run import ReviewState, Run, RunStatus
from deskhand.ports import Calendar, Clock, Store

log = logging.getLogger("deskhand.bookings")

EVERY = 30.0
"""Seconds between looks for what happened elsewhere, such as a hold that expired."""
PAUSE = 0.5
"""Seconds between looks because runs came to rest here, which may be hundreds a second."""

_ANSWERED = (RunStatus.SENT, RunStatus.ANSWERED)
_FAILED = (RunStatus.REJECTED, RunStatus.CANCELLED, RunStatus.FAILED)


class Fate(StrEnum):
    KEEP = "keep"
    CONFIRM = "confirm"
    RELEASE = "release"


class BookingKeeper:
    """Goes by the runs' own rows, so a crash or a second process changes nothing."""

    def __init__(
        self, calendar: Calendar, store: Store, clock: Clock, every: float = EVERY
    ) -> None:
        self._calendar = calendar
        self._store = store
        self._clock = clock
        self._sweeping = Background(
            self.sweep,
            name=f"bookings of {store.desk}",
            failed="what runs hold could not be settled, tried again later",
            log=log,
            every=every,
            pause=PAUSE,
        )

    # --- before a reply leaves

    async def confirm(self, run_ids: Sequence[str], wanted: bool = True) -> str | None:
        """Confirm what these runs hold; returns why not, where somebody else has the time.

        Times that are not `wanted` are released: a person changed the answer to an invitation.
        While the desk is stopped nothing is confirmed, and the gate lets no reply leave either.
        """
        held = [
            booking
            for run_id in run_ids
            for booking in await self._calendar.bookings(run_id=run_id, after=self._clock.now())
            if booking.state is not BookingState.CONFIRMED and booking.reason not in REPLACED
        ]
        if not held or await self._store.stopped() is not None:
            return None
        for booking in held:
            if not wanted:
                await self._calendar.release(booking.key, DECLINES)
                continue
            try:
                await self._calendar.confirm(booking.key)
            except SlotTaken as error:
                return (
                    f"the time that was held ({booking.span.start:%Y-%m-%d %H:%M} UTC) is gone:"
                    f" {error}"
                )
        return None

    # --- afterwards

    async def sweep(self) -> int:
        """Settle everything whose run has come to an end; returns how many times changed hands."""
        if await self._store.stopped() is not None:
            return 0
        settled = await self._calendar.settle()
        for booking in await self._calendar.bookings(after=self._clock.now()):
            if booking.state is not BookingState.RELEASED:
                settled += await self._settle(booking)
        return settled

    async def _settle(self, booking: Booking) -> bool:
        fate, why = await self._fate(booking)
        if fate is Fate.CONFIRM:
            try:
                await self._calendar.confirm(booking.key)
            except SlotTaken as error:
                log.error("run %s promised a time that is taken: %s", booking.run_id, error)
                return False
        elif fate is Fate.RELEASE:
            await self._calendar.release(booking.key, why)
        return fate is not Fate.KEEP

    async def _fate(self, booking: Booking) -> tuple[Fate, str]:
        try:
            run = await self._store.run(booking.run_id)
        except NotFound:
            return Fate.KEEP, ""  # it expires by itself
        if run.status in _FAILED:
            return Fate.RELEASE, f"the run was {run.status}"
        if booking.state is BookingState.CONFIRMED:
            return Fate.KEEP, ""
        if run.status in _ANSWERED:
            return Fate.CONFIRM, ""
        return await self._after_the_end(run) if run.status is RunStatus.DONE else (Fate.KEEP, "")

    async def _after_the_end(self, run: Run) -> tuple[Fate, str]:
        """For a run that ended without a reply: a later run, a person or nobody goes on with it."""
        if run.successor is not None:
            reviews = await self._store.find_reviews(ReviewFilter(run_id=run.id))
            if any(review.state is ReviewState.STALE for review in reviews):
                return Fate.RELEASE, "the customer wrote again"
            heir = await self._store.run(run.successor)
            if heir.status in _ANSWERED:
                return Fate.CONFIRM, ""
            return (
                (Fate.RELEASE, f"the run was {heir.status}")
                if heir.status in _FAILED
                else (Fate.KEEP, "")
            )
        if await self._store.taken_over_by(run.conversation) is not None:
            return Fate.KEEP, ""  # the colleague may want it
        return Fate.RELEASE, "the run ended without a reply"

    # --- life

    def at_rest(self, run_id: str, status: RunStatus) -> None:
        """A run came to rest here: look at once."""
        self._sweeping.nudge()

    def start(self) -> None:
        self._sweeping.start()

    async def stop(self) -> None:
        await self._sweeping.stop()
