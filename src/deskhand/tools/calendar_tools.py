"""`check_calendar` and `hold_slot`: free times are offered, and one that was offered can be held."""

from collections.abc import Callable
from datetime import UTC, date, datetime, time
from typing import Any

from deskhand.config.calendar import CalendarSpec
from deskhand.errors import Conflict, SlotTaken, ToolError
from deskhand.model.booking import Booking, NewBooking, Span
from deskhand.model.principal import Principal
from deskhand.ports import Calendar
from deskhand.scheduling.hours import instant
from deskhand.scheduling.slots import Offering, Wish, propose, read_slot_id, slot_id
from deskhand.tools.authority import Authority, Resolver, Slot, resolver
from deskhand.tools.context import Context
from deskhand.tools.registry import Tool, tool

CHECK_CALENDAR, HOLD_SLOT = "check_calendar", "hold_slot"
PATIENCE = 60.0
"""Seconds: a calendar server may take its time."""

Now = Callable[[], float]


def check_tool(calendar: Calendar, spec: CalendarSpec, now: Now) -> Tool:
    offering = spec.offering

    @tool(effect="read", name=CHECK_CALENDAR, timeout=PATIENCE)
    async def check_calendar(on: date | None = None, at: time | None = None) -> dict[str, Any]:
        """Find up to three free times for an appointment. Says nothing about what else is in the calendar.

        Args:
            on: the day the customer asks for, as 2026-11-16; leave it out when he names none
            at: the time of day he asks for, as 14:30; leave it out when he names none
        """
        moment = datetime.fromtimestamp(now(), UTC)
        free = offering.free(moment, await calendar.busy(offering.frame(moment)))
        wish = Wish(on, at)
        answer: dict[str, Any] = {
            "time_zone": spec.zone,
            "slots": [shown(slot, offering) for slot in propose(free, offering.hours, wish)],
        }
        if on is not None and at is not None:
            answer["wished"] = _wished(on, at, offering, moment, free)
        return answer

    return check_calendar


def hold_tool(calendar: Calendar, spec: CalendarSpec, now: Now) -> Tool:
    offering = spec.offering

    async def held_already(key: str, arguments: dict[str, Any]) -> dict[str, Any] | None:
        found = await calendar.find(key)
        return None if found is None else _told(found, offering)

    @tool(effect="keyed", name=HOLD_SLOT, probe=held_already, timeout=PATIENCE)
    async def hold_slot(slot: Slot, principal: Principal, ctx: Context) -> dict[str, Any]:
        """Hold one of the offered times for the customer until a reply about it has been sent.

        Args:
            slot: the id of a time that check_calendar offered
        """
        assert slot.end is not None  # our resolver gives both
        moment = datetime.fromtimestamp(now(), UTC)
        new = NewBooking(
            key=ctx.effect_key,
            run_id=ctx.run_id,
            span=Span(slot.start, slot.end),
            holder=principal.address or principal.customer_id,
            expires_at=(moment + spec.hold_for).timestamp(),
        )
        try:
            return _told(await calendar.hold(new), offering)
        except SlotTaken as error:
            raise ToolError("slot_taken", f"{slot.id} is no longer free: check the calendar again.") from error
        except Conflict as error:
            raise ToolError("too_many_held", str(error)) from error

    return hold_slot


def slot_resolver(spec: CalendarSpec, now: Now) -> Resolver:
    offering = spec.offering

    @resolver(Slot)
    async def find_slot(key: str, principal: Principal, ctx: Context) -> Authority | None:
        """Only times that could be offered are slots; whether one is free still is for the holding to find out."""
        span = read_slot_id(key)
        moment = datetime.fromtimestamp(now(), UTC)
        if span is None or not offering.holds(span, moment):
            return None
        return Slot(id=key, start=span.start, end=span.end)

    return find_slot


def shown(slot: Span, offering: Offering) -> dict[str, Any]:
    """A slot on the desk's clock, with the id that holds it."""
    start, end = (moment.astimezone(offering.hours.zone) for moment in slot)
    return {
        "id": slot_id(slot),
        "start": start.isoformat(timespec="minutes"),
        "end": end.isoformat(timespec="minutes"),
        "date": start.date().isoformat(),
        "time": f"{start:%H:%M}",
    }


def _told(booking: Booking, offering: Offering) -> dict[str, Any]:
    until = booking.expires_at
    known = {"held": True, "state": str(booking.state), **shown(booking.span, offering)}
    if until is not None:
        known["until"] = datetime.fromtimestamp(until, offering.hours.zone).isoformat(timespec="minutes")
    return known


def _wished(on: date, at: time, offering: Offering, now: datetime, free: list[Span]) -> str:
    """What became of the very time the customer asked for: free, busy, or not a time that is offered at all."""
    start = instant(on, at.hour * 60 + at.minute, offering.hours.zone)
    if any(slot.start == start for slot in free):
        return "free"
    frame = offering.frame(now)
    if start < frame.start:
        return "too soon"
    if start + offering.slot > frame.end:
        return "too far ahead"
    wished = Span(start, start + offering.slot)
    return (
        "busy"
        if any(span.start <= start and wished.end <= span.end for span in offering.hours.open(frame))
        else "closed"
    )
