"""`check_calendar` and `hold_slot`: free times are offered, and one that was offered can be
held."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Annotated, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import Field

from deskhand.config.sections.calendar import CalendarSpec
from deskhand.errors import Conflict, SlotTaken, ToolError
from deskhand.model.booking import Booking, BookingState, NewBooking, Span
from deskhand.model.message import Message
from deskhand.model.principal import Principal
from deskhand.ports import Calendar
from deskhand.scheduling.hours import instant
from deskhand.scheduling.slots import OFFERED, Offering, nearest, propose, read_slot_id, slot_id
from deskhand.scheduling.wishes import WINDOW, Window, Wish, read_window
from deskhand.tools.authority import Authority, Resolver, Slot, resolver
from deskhand.tools.context import Context
from deskhand.tools.registry import Tool, tool
from deskhand.tools.shapes import ASK_PERSON as ASK_PERSON
from deskhand.tools.shapes import CHECK_CALENDAR as CHECK_CALENDAR
from deskhand.tools.shapes import HOLD_SLOT as HOLD_SLOT

PATIENCE = 60.0
"""Seconds: a calendar server may take its time."""

SLOT_TAKEN = "slot_taken"
NOT_TODAY = timedelta(days=30)
"""Days that a mail names are counted from its date; from one farther away than this they are
none of this year's."""

Now = Callable[[], float]
MessageOf = Callable[[str], Awaitable[Message | None]]
Windows = list[Annotated[str, Field(pattern=f"^{WINDOW}$")]]
Minutes = Annotated[int, Field(ge=5, le=480)]


def check_tool(calendar: Calendar, spec: CalendarSpec, now: Now, message_of: MessageOf) -> Tool:
    offering = spec.offering

    @tool(effect="read", name=CHECK_CALENDAR, timeout=PATIENCE)
    async def check_calendar(
        on: date | None = None,
        at: time | None = None,
        until: date | None = None,
        or_on: date | None = None,
        after: time | None = None,
        before: time | None = None,
        within: Windows | None = None,
        minutes: Minutes | None = None,
        zone: str | None = None,
        *,
        ctx: Context,
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
            within: in place of all these, every stretch that suits him, as
                ["2026-11-24..2026-11-27 12:00-", "2026-11-26 15:00-17:00", "2026-12-01 10:30"]
            minutes: how long it should last, where he says so
            zone: the time zone that he lives by, as America/New_York; times are on the desk's clock
        """
        moment = datetime.fromtimestamp(now(), UTC)
        length = max(offering.slot, timedelta(minutes=minutes or 0))
        busy = await calendar.busy(offering.frame(moment))
        free = offering.free(moment, busy, length)
        wish = Wish(on, at, until, or_on, after, before)
        if within:
            wish = Wish(windows=_windows(within))
        distant = await _distant_date(message_of, ctx.run_id, moment, offering)
        if distant is not None:
            slots = [shown(slot, offering, zone) for slot in propose(free, offering.hours)]
            return {"time_zone": spec.zone, "slots": slots, ASK_PERSON: distant}
        answer = _answer(replace(wish, zone=zone), free, length, offering, moment)
        holiday = _wished_holiday(wish, offering, moment)
        return answer if holiday is None else {**answer, "holiday": holiday.isoformat()}

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
                SLOT_TAKEN, f"{slot.id} is no longer free: check the calendar again."
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


def shown(slot: Span, offering: Offering, zone: str | None = None) -> dict[str, Any]:
    """A slot on the desk's clock, with the id that holds it, and on the customer's where it is
    another."""
    start, end = (moment.astimezone(offering.hours.zone) for moment in slot)
    theirs = _in_zone(slot.start, zone)
    fields = {
        "id": slot_id(slot),
        "start": start.isoformat(timespec="minutes"),
        "end": end.isoformat(timespec="minutes"),
        "date": start.date().isoformat(),
        "time": f"{start:%H:%M}",
    }
    return fields if theirs is None else {**fields, "theirs": theirs, "their_zone": zone}


def _in_zone(moment: datetime, zone: str | None) -> str | None:
    """The moment on the clocks of a zone; None where there is no such zone."""
    try:
        local = None if zone is None else moment.astimezone(ZoneInfo(zone))
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None
    return None if local is None else local.isoformat(timespec="minutes")


async def looked_at(calendar: Calendar, new: NewBooking) -> Booking:
    """What holding it would give, without holding it."""
    if await calendar.busy(new.span):
        raise SlotTaken("this time is taken by now")
    return Booking(
        new.key, new.run_id, "", new.span, new.holder, BookingState.TENTATIVE, new.expires_at
    )


def told_of(booking: Booking, offering: Offering) -> dict[str, Any]:
    """What is held, as a tool tells it."""
    until = booking.expires_at
    fields = {"held": True, "state": str(booking.state), **shown(booking.span, offering)}
    if until is not None:
        fields["until"] = datetime.fromtimestamp(until, offering.hours.zone).isoformat(
            timespec="minutes"
        )
    return fields


def _windows(within: Sequence[str]) -> tuple[Window, ...]:
    try:
        return tuple(map(read_window, within))
    except ValueError as error:
        raise ToolError("no_such_time", str(error)) from error


async def _distant_date(
    message_of: MessageOf, run_id: str, now: datetime, offering: Offering
) -> str | None:
    """Says that the message bears a date from which no days can be counted; None where it does
    not."""
    message = await message_of(run_id)
    if message is None or abs(message.received_at - now) <= NOT_TODAY:
        return None
    day = message.received_at.astimezone(offering.hours.zone).date()
    return f"the message bears the date {day.isoformat()}: which days it means is not certain"


def _answer(
    wish: Wish, free: Sequence[Span], length: timedelta, offering: Offering, now: datetime
) -> dict[str, Any]:
    """The times to offer and what became of the wish.

    Whatever is offered is compared with the wish once more: a person looks where one of the times
    is another than was asked for.
    """
    slots = propose(free, offering.hours, wish)
    fitting = sum(wish.fits(slot, offering.hours) for slot in slots)
    answer = {"time_zone": offering.hours.zone.key, "fitting": fitting}
    if wish.moment is not None:
        beside = [*slots, *nearest(free, offering.hours, wish)]
        slots = sorted(dict.fromkeys(beside[:OFFERED]))
        answer |= _granted(wish.moment, free, length, offering, now)
        fitting = len(slots) if answer["wished"] == "free" else 0
    answer["slots"] = [shown(slot, offering, wish.zone) for slot in slots]
    if fitting < len(slots) or not slots:
        answer[ASK_PERSON] = "no free time is what the message asks for"
    if not wish.says_something:
        del answer["fitting"]
    return answer


def _granted(
    moment: tuple[date, time],
    free: Sequence[Span],
    length: timedelta,
    offering: Offering,
    now: datetime,
) -> dict[str, Any]:
    """What became of the one time that was asked for, and the slot itself where it is free."""
    start = instant(moment[0], minutes_of(moment[1]), offering.hours.zone)
    asked = Span(start, start + length)
    became = _became(asked, offering, now, free)
    answer = {"wished": became, "asked": shown(asked, offering)["start"]}
    return answer | ({"slot": slot_id(asked)} if became == "free" else {})


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
    if len(wish.stretches) != 1:
        return None
    [only] = wish.stretches
    today = now.astimezone(offering.hours.zone).date()
    if only.first is None or only.first < today or (only.last or only.first) != only.first:
        return None
    return only.first if offering.hours.holiday(only.first) else None
