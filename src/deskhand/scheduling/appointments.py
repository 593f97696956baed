"""Our own appointments as calendar data, and how they are changed without touching what people
wrote into them."""

from datetime import datetime
from typing import Any

from deskhand.model.booking import Booking, BookingState
from deskhand.scheduling.events import CalendarUnreadable, parse_calendar

PRODUCT = "-//Deskhand//Deskhand//EN"
_STATUS = {BookingState.TENTATIVE: "TENTATIVE", BookingState.CONFIRMED: "CONFIRMED"}


def uid_of(key: str) -> str:
    """The key of the effect that holds the time: the same for every attempt, different for every
    other."""
    return f"{key}@deskhand"


def written(booking: Booking, title: str, now: datetime) -> bytes:
    """A booking as an event of its own."""
    from icalendar import Calendar, Event

    event = Event()
    event.add("uid", uid_of(booking.key))
    event.add("dtstamp", now)
    event.add("dtstart", booking.span.start)
    event.add("dtend", booking.span.end)
    event.add("summary", title)
    event.add("status", _STATUS[booking.state])
    event.add("transp", "OPAQUE")
    if booking.holder is not None:
        event.add("description", f"For {booking.holder}. Run {booking.run_id}.")
    calendar = Calendar()
    calendar.add("prodid", PRODUCT)
    calendar.add("version", "2.0")
    calendar.add_component(event)
    data: bytes = calendar.to_ical()
    return data


def confirmed(data: bytes, now: datetime) -> bytes:
    """The same event with its status changed: a colleague may have written something into it
    meanwhile."""
    for calendar in parse_calendar(data):
        for event in calendar.walk("VEVENT"):
            sequence: Any = event.get("SEQUENCE", 0)
            for name, value in (
                ("STATUS", "CONFIRMED"),
                ("SEQUENCE", int(sequence) + 1),
                ("DTSTAMP", now),
            ):
                event.pop(name, None)
                event.add(name, value)
        changed: bytes = calendar.to_ical()
        return changed
    raise CalendarUnreadable("the event is empty")
