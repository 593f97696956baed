"""A calendar on a CalDAV server: its events are busy time, and bookings are shown there."""

import asyncio
import logging
from collections.abc import Collection
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from deskhand.adapters.calendar.caldav_client import CalDavClient, Changed
from deskhand.adapters.calendar.database_calendar import DatabaseCalendar
from deskhand.errors import ConfigError, RetryableError, SlotTaken
from deskhand.model.booking import Booking, BookingState, NewBooking, Span
from deskhand.scheduling.appointments import confirmed, uid_of, written
from deskhand.scheduling.events import CalendarUnreadable, busy_in, parse_calendar
from deskhand.scheduling.spans import merged

log = logging.getLogger("deskhand.calendar")
_ATTEMPTS = 3


class CalDavCalendar:
    """The database says which conversation holds what, so that two never hold the same; the server
    shows it to people.

    An event has the uid and the name of the key that holds it: writing it again changes nothing.
    """

    def __init__(
        self, held: DatabaseCalendar, wire: CalDavClient, zone: ZoneInfo, title: str
    ) -> None:
        self._held, self._wire, self._zone, self._title = held, wire, zone, title

    async def busy(self, frame: Span, beside: Collection[str] = ()) -> list[Span]:
        """Busy time; an appointment that a colleague moved counts where it is now."""
        bookings = await self._held.bookings(after=frame.start.timestamp())
        ours = [booking for booking in bookings if booking.state is not BookingState.CONFIRMED]
        ours += [
            booking for booking in bookings if booking.uid is not None and booking.uid in beside
        ]
        outside = await self._outside(frame, {*beside, *(uid_of(booking.key) for booking in ours)})
        return merged([*outside, *await self._held.busy(frame, beside)])

    async def hold(self, new: NewBooking) -> Booking:
        booking = await self._held.hold(new)
        if booking.written:
            return booking
        try:
            await self._check_free(booking)
            await self._wire.put(booking.key, self._data(booking))
            await self._check_free(booking)  # somebody may have written at the same moment
        except SlotTaken:
            await self.release(booking.key, "somebody else has this time")
            raise
        await self._held.wrote(booking.key, booking.state)
        return await self._again(booking)

    async def confirm(self, key: str) -> Booking:
        """Raises SlotTaken also where a colleague deleted the event."""
        booking = await self._held.confirm(key)
        if booking.written == BookingState.CONFIRMED:
            return booking
        try:
            await self._write_confirmed(booking)
        except SlotTaken:
            await self.release(key, "somebody took it out of the calendar")
            raise
        await self._held.wrote(key, BookingState.CONFIRMED)
        return await self._again(booking)

    async def release(self, key: str, reason: str) -> Booking:
        """Free at once for us; the server is told now or, when it is away, later."""
        booking = await self._held.release(key, reason)
        try:
            await self._remove(booking)
        except RetryableError as error:
            log.warning("%s stays in the calendar until the server answers: %s", key, error)
        return booking

    async def find(self, key: str) -> Booking | None:
        booking = await self._held.find(key)
        if booking is None or booking.written:
            return booking
        if await self._wire.get(key) is None:
            return None
        await self._held.wrote(key, booking.state)
        return await self._again(booking)

    async def bookings(
        self, *, run_id: str | None = None, state: BookingState | None = None, after: float = 0.0
    ) -> list[Booking]:
        return await self._held.bookings(run_id=run_id, state=state, after=after)

    async def settle(self) -> int:
        settled = await self._held.settle()
        for booking in await self._held.unwritten():
            if booking.state is BookingState.RELEASED:
                await self._remove(booking)
                settled += 1
            elif booking.state is BookingState.CONFIRMED:
                await self.confirm(booking.key)
                settled += 1
        return settled

    async def check(self) -> str:
        here = (await self._wire.about())[0]
        if not here.is_calendar:
            others = await self._wire.calendars()
            fix = (
                f"write `url:` with one of {', '.join(others)}"
                if others
                else "write the calendar's own address"
            )
            raise ConfigError(f"{self._wire.where} is no calendar", fix=fix)
        return f"{here.name or 'calendar'} at {self._wire.where}"

    async def close(self) -> None:
        await self._wire.close()

    # --- the server

    async def _outside(
        self, frame: Span, beside: Collection[str], *, unread_is_busy: bool = False
    ) -> list[Span]:
        """Busy time on the server; an event that cannot be read blocks only a time being booked."""
        events = await self._wire.events(frame)

        def look() -> list[Span]:
            spans: list[Span] = []
            for data in events:
                try:
                    spans += busy_in(parse_calendar(data), frame, self._zone, beside)
                except CalendarUnreadable as error:
                    log.warning("an event of %s cannot be read: %s", self._wire.where, error)
                    spans += [frame] if unread_is_busy else []
            return spans

        return await asyncio.to_thread(look)

    async def _check_free(self, booking: Booking) -> None:
        """Events of ours that are released, but still shown there, are in nobody's way."""
        released = await self._held.bookings(
            state=BookingState.RELEASED, after=booking.span.start.timestamp()
        )
        ours = {uid_of(booking.key), *(uid_of(other.key) for other in released)}
        if await self._outside(booking.span, ours, unread_is_busy=True):
            raise SlotTaken("this time is taken by now")

    async def _write_confirmed(self, booking: Booking) -> None:
        for _ in range(_ATTEMPTS):
            event = await self._wire.get(booking.key)
            if event is None and booking.written:
                raise SlotTaken("somebody took the appointment out of the calendar")
            try:
                if event is None:
                    await self._check_free(booking)
                    await self._wire.put(booking.key, self._data(booking))
                else:
                    await self._wire.put(booking.key, confirmed(event[0], _now()), event[1])
                return
            except Changed:
                continue  # a colleague was faster: look again
        raise RetryableError(f"the event of {booking.key} keeps changing")

    async def _remove(self, booking: Booking) -> None:
        await self._wire.delete(booking.key)
        await self._held.wrote(booking.key, "")

    async def _again(self, booking: Booking) -> Booking:
        """The booking as the database has it by now."""
        return await self._held.find(booking.key) or booking

    def _data(self, booking: Booking) -> bytes:
        return written(booking, self._title, _now())


def _now() -> datetime:
    return datetime.now(UTC)
