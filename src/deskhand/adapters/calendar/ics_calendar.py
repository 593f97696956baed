"""Calendar files that say when somebody is busy; what conversations hold lies in the database."""

import asyncio
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from deskhand.adapters.calendar.database_calendar import DatabaseCalendar
from deskhand.errors import ConfigError, SlotTaken
from deskhand.model.booking import Booking, BookingState, NewBooking, Span
from deskhand.scheduling.events import CalendarUnreadable, busy_in, parse_calendar
from deskhand.scheduling.spans import merged

if TYPE_CHECKING:
    from icalendar import Component

LARGEST = 20_000_000


class IcsCalendar:
    """A file is read again as soon as it changes."""

    def __init__(self, held: DatabaseCalendar, files: tuple[Path, ...], zone: ZoneInfo) -> None:
        self._held, self._files, self._zone = held, files, zone
        self._read: dict[Path, tuple[tuple[int, int], list[Component]]] = {}

    async def busy(self, frame: Span, beside: Collection[str] = ()) -> list[Span]:
        return merged([*await self._outside(frame, beside), *await self._held.busy(frame, beside)])

    async def hold(self, new: NewBooking) -> Booking:
        if await self._held.find(new.key) is None and await self._outside(new.span):
            raise SlotTaken("this time is taken by now")
        return await self._held.hold(new)

    async def confirm(self, key: str) -> Booking:
        """Confirm a booking; SlotTaken where the file has another appointment then by now."""
        bookings = await self._held.bookings()
        booking = next((booking for booking in bookings if booking.key == key), None)
        if (
            booking is not None
            and booking.state is not BookingState.CONFIRMED
            and await self._outside(booking.span)
        ):
            raise SlotTaken("somebody has another appointment then by now")
        return await self._held.confirm(key)

    async def release(self, key: str, reason: str) -> Booking:
        return await self._held.release(key, reason)

    async def find(self, key: str) -> Booking | None:
        return await self._held.find(key)

    async def bookings(
        self, *, run_id: str | None = None, state: BookingState | None = None, after: float = 0.0
    ) -> list[Booking]:
        return await self._held.bookings(run_id=run_id, state=state, after=after)

    async def settle(self) -> int:
        return await self._held.settle()

    async def check(self) -> str:
        calendars = [await asyncio.to_thread(self._calendars, file) for file in self._files]
        events = sum(len(calendar.walk("VEVENT")) for several in calendars for calendar in several)
        names = ", ".join(file.name for file in self._files)
        return f"{names}: {events} event{'s' * (events != 1)}, read only"

    async def close(self) -> None:
        return

    async def _outside(self, frame: Span, beside: Collection[str] = ()) -> list[Span]:
        def look() -> list[Span]:
            return [
                span
                for file in self._files
                for span in busy_in(self._calendars(file), frame, self._zone, beside)
            ]

        return await asyncio.to_thread(look)

    def _calendars(self, file: Path) -> "list[Component]":
        try:
            stat = file.stat()
            mark = (stat.st_mtime_ns, stat.st_size)
            cached = self._read.get(file)
            if cached is not None and cached[0] == mark:
                return cached[1]
            if stat.st_size > LARGEST:
                raise CalendarUnreadable(f"the file has {stat.st_size} bytes, more than {LARGEST}")
            calendars = parse_calendar(file.read_bytes())
        except OSError as error:
            raise ConfigError(f"cannot be read: {error.strerror}", file=file) from None
        except CalendarUnreadable as error:
            raise ConfigError(
                str(error), file=file, fix="export the calendar again, as iCalendar (.ics)"
            ) from None
        self._read[file] = (mark, calendars)
        return calendars
