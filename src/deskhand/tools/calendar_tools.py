"""`check_calendar` and `hold_slot`: free times are offered, and one that was offered can be
held."""

from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, time
from typing import Any

from deskhand.config.sections.calendar import CalendarSpec
from deskhand.errors import Conflict, SlotTaken, ToolError
from deskhand.model.booking import Booking, BookingState, NewBooking, Span
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
    async def check_calendar(
        on: date | None = None,
        at: time | None = None,
        until: date | None = None,
        or_on: date | None = None,
        after: time | None = None,
        before: time | None = None,
    ) -> dict[str, Any]:
        """Find up to three free times for an appointment. Says nothing about what else is in the
        calendar.

        Args:
            on: the day the customer asks for, as 2026-11-16; leave it out when he names none
            at: the time of day he asks for, as 14:30; leave it out when he names none
            until: the last day that suits him, where he names a week or another stretch of days
            or_on: another day that suits him as well
            after: the time of day from which on it suits him, as 12:00 for an afternoon
            before: the time of day by which it must be over, as 12:00 for a morning
        """
        moment = datetime.fromtimestamp(now(), UTC)
        free = offering.free(moment, await calendar.busy(offering.frame(moment)))
        wish = Wish(on, at, until, or_on, after, before)
        slots = propose(free, offering.hours, wish)
        answer: dict[str, Any] = {
            "time_zone": spec.zone,
            "slots": [shown(slot, offering) for slot in slots],
        }
        holiday = _wished_holiday(wish, offering, moment)
        if holiday is not None:
            answer["holiday"] = holiday.isoformat()
        return answer | _granted(wish, slots, offering, moment, free)

    return check_calendar


def hold_tool(calendar: Calendar, spec: CalendarSpec, now: Now, *, rehearses: bool = False) -> Tool:
    offering = spec.offering

    async def held_already(key: str, arguments: dict[str, Any]) -> dict[str, Any] | None:
        booking = await calendar.find(key)
        return None if booking is None else told_of(booking, offering)

    @tool(effect="keyed", name=HOLD_SLOT, probe=held_already, timeout=PATIENCE, rehearsable=True)
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
            held = await looked_at(calendar, new) if rehearses else await calendar.hold(new)
            return told_of(held, offering)
        except SlotTaken as error:
            raise ToolError(
                "slot_taken", f"{slot.id} is no longer free: check the calendar again."
            ) from error
        except Conflict as error:
            raise ToolError("too_many_held", str(error)) from error

    return hold_slot


def slot_resolver(spec: CalendarSpec, now: Now) -> Resolver:
    offering = spec.offering

    @resolver(Slot)
    async def find_slot(key: str, principal: Principal, ctx: Context) -> Authority | None:
        """Only times that could be offered are slots; whether one is free still is for the
        holding to find out."""
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


async def looked_at(calendar: Calendar, new: NewBooking) -> Booking:
    """What holding it would give, without holding it."""
    if await calendar.busy(new.span):
        raise SlotTaken("this time is taken by now")
    return Booking(
        new.key, new.run_id, "", new.span, new.holder, BookingState.TENTATIVE, new.expires_at
    )


def told_of(booking: Booking, offering: Offering) -> dict[str, Any]:
    until = booking.expires_at
    fields = {"held": True, "state": str(booking.state), **shown(booking.span, offering)}
    if until is not None:
        fields["until"] = datetime.fromtimestamp(until, offering.hours.zone).isoformat(
            timespec="minutes"
        )
    return fields


def _granted(
    wish: Wish, slots: Sequence[Span], offering: Offering, now: datetime, free: Sequence[Span]
) -> dict[str, Any]:
    """What became of the wish, and the slot itself where one time was asked for and it is free."""
    if wish.moment is None:
        if not wish.says_something:
            return {}
        return {"fitting": sum(_fits(slot, wish, offering) for slot in slots)}
    start = instant(wish.moment[0], minutes_of(wish.moment[1]), offering.hours.zone)
    asked = Span(start, start + offering.slot)
    became = _became(asked, offering, now, free)
    return {"wished": became, "asked": shown(asked, offering)["start"]} | (
        {"slot": slot_id(asked)} if became == "free" else {}
    )


def _fits(slot: Span, wish: Wish, offering: Offering) -> bool:
    at_the_time = wish.at is None or slot.start.astimezone(offering.hours.zone).time() == wish.at
    return at_the_time and wish.suits(slot, offering.hours)


def minutes_of(clock: time) -> int:
    return clock.hour * 60 + clock.minute


def _became(asked: Span, offering: Offering, now: datetime, free: Sequence[Span]) -> str:
    """What became of the very time the customer asked for: free, busy, or not a time that is
    offered at all."""
    if asked in free:
        return "free"
    frame = offering.frame(now)
    if asked.start < frame.start:
        return "too soon"
    if asked.end > frame.end:
        return "too far ahead"
    open_then = any(
        span.start <= asked.start and asked.end <= span.end for span in offering.hours.open(frame)
    )
    if open_then:
        return "busy"
    local = asked.start.astimezone(offering.hours.zone)
    return "holiday" if offering.hours.holiday(local.date()) else "closed"


def _wished_holiday(wish: Wish, offering: Offering, now: datetime) -> date | None:
    """The public holiday that the customer asks for; None where another day would suit him."""
    day = wish.day
    if day is None or day < now.astimezone(offering.hours.zone).date():
        return None
    if wish.or_day is not None or (wish.until or day) != day:
        return None
    return day if offering.hours.holiday(day) else None
