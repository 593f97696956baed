"""`find_appointment` and `cancel_appointment`: what a sender has agreed, and giving it back."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, time
from typing import Any, Literal

from deskhand.config.sections.calendar import CalendarSpec
from deskhand.errors import NotFound, ToolError
from deskhand.model.booking import Booking, BookingState
from deskhand.model.principal import Principal
from deskhand.ports import Calendar
from deskhand.scheduling.slots import Offering
from deskhand.tools.calendar_tools import ASK_PERSON, PATIENCE, Now, shown
from deskhand.tools.context import Context
from deskhand.tools.registry import Tool, tool
from deskhand.tools.shapes import CANCEL_APPOINTMENT as CANCEL_APPOINTMENT
from deskhand.tools.shapes import FIND_APPOINTMENT as FIND_APPOINTMENT

_WHY = {
    "move": "an agreed appointment is to be moved",
    "cancel": "an agreed appointment is to be cancelled",
}
CALLED_OFF = "the customer called it off"


def find_tool(calendar: Calendar, spec: CalendarSpec, now: Now) -> Tool:
    offering = spec.offering

    @tool(effect="read", name=FIND_APPOINTMENT, timeout=PATIENCE)
    async def find_appointment(
        change: Literal["move", "cancel"],
        principal: Principal,
        on: date | None = None,
        at: time | None = None,
    ) -> dict[str, Any]:
        """Find the appointment of the sender's own that he speaks of, if he names its day.

        Args:
            change: what he wants to do with it
            on: its day, as 2026-11-16, where he names it
            at: its time of day, as 14:30, where he names it
        """
        moment = datetime.fromtimestamp(now(), UTC)
        own = await _own(calendar, principal, moment)
        meant = [booking for booking in own if _is_meant(booking, on, at, offering)]
        fields: dict[str, Any] = {"change": change, change: True, ASK_PERSON: _WHY[change]}
        if on is None or len(meant) != 1:  # what nobody named is not given back
            return {**fields, "found": False} | _as_named(on, at, offering)
        [booking] = meant
        agreed = shown(booking.span, offering)
        appointment = {"found": True, "appointment": booking.key, "start": agreed["start"]}
        return {**fields, **appointment, "end": agreed["end"], "date": agreed["date"]}

    return find_appointment


def cancel_tool(
    calendar: Calendar, spec: CalendarSpec, now: Now, *, rehearses: bool = False
) -> Tool:
    offering = spec.offering

    async def given_back(key: str, arguments: dict[str, Any]) -> dict[str, Any] | None:
        for booking in await calendar.bookings():
            is_off = booking.state is BookingState.RELEASED and booking.reason == CALLED_OFF
            if booking.key == arguments.get("appointment") and is_off:
                return _released(booking, offering)
        return None

    @tool(
        effect="keyed",
        name=CANCEL_APPOINTMENT,
        probe=given_back,
        timeout=PATIENCE,
        rehearsable=True,
    )
    async def cancel_appointment(
        appointment: str, principal: Principal, ctx: Context
    ) -> dict[str, Any]:
        """Take an appointment of the sender's own out of the calendar.

        Args:
            appointment: the appointment that find_appointment found
        """
        moment = datetime.fromtimestamp(now(), UTC)
        own = {booking.key: booking for booking in await _own(calendar, principal, moment)}
        booking = own.get(appointment)
        if booking is None:
            raise ToolError("not_theirs", "the sender has no such appointment")
        try:
            if not rehearses:
                await calendar.release(appointment, CALLED_OFF)
        except NotFound as error:
            raise ToolError("not_theirs", "the sender has no such appointment") from error
        return _released(booking, offering)

    return cancel_appointment


def _released(booking: Booking, offering: Offering) -> dict[str, Any]:
    agreed = shown(booking.span, offering)
    return {"released": True, "start": agreed["start"], "end": agreed["end"]}


async def _own(calendar: Calendar, principal: Principal, now: datetime) -> Sequence[Booking]:
    """What is held for the sender, as far as it is proven who he is."""
    whose = [name for name in (principal.address, principal.customer_id) if name]
    if not principal.may_act or not whose:
        return []
    bookings = await calendar.bookings(after=now.timestamp())
    standing = [booking for booking in bookings if booking.state is not BookingState.RELEASED]
    return [booking for booking in standing if booking.holder in whose]


def _is_meant(booking: Booking, on: date | None, at: time | None, offering: Offering) -> bool:
    start = booking.span.start.astimezone(offering.hours.zone)
    return (on is None or start.date() == on) and (at is None or start.time() == at)


def _as_named(on: date | None, at: time | None, offering: Offering) -> dict[str, Any]:
    """When it is by the sender's own words."""
    if on is None:
        return {}
    if at is None:
        return {"date": on.isoformat()}
    start = datetime.combine(on, at, tzinfo=offering.hours.zone)
    return {"start": start.isoformat(timespec="minutes"), "date": on.isoformat()}
