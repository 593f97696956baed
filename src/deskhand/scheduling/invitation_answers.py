"""The answer to an invitation as calendar data (iTIP): what travels with the mail that says the
same in words."""

from collections.abc import Collection
from datetime import datetime
from typing import TYPE_CHECKING, Any

from deskhand.scheduling.appointments import PRODUCT
from deskhand.scheduling.events import CalendarUnreadable, as_list, parse_calendar
from deskhand.scheduling.invitations import address_of

if TYPE_CHECKING:
    from icalendar import Component

_KEPT = ("UID", "SEQUENCE", "RECURRENCE-ID", "DTSTART", "DTEND", "DURATION", "SUMMARY", "ORGANIZER")


def answer_to(
    text: str, answer: str, ours: Collection[str], sender: str, now: datetime
) -> str | None:
    """`METHOD:REPLY` to the request in a `text/calendar` part; None where there is none to answer.

    We answer as the attendee with one of the addresses `ours`; as `sender` where the invitation
    names none of them.
    """
    from icalendar import Calendar, Event

    request = _request(text)
    if request is None:
        return None
    event = Event()
    for name in _KEPT:
        if (value := request.get(name)) is not None:
            event[name] = value
    event.add("dtstamp", now)
    event["ATTENDEE"] = _attendee(
        request, answer, {address.strip().lower() for address in ours}, sender
    )
    calendar = Calendar()
    calendar.add("prodid", PRODUCT)
    calendar.add("version", "2.0")
    calendar.add("method", "REPLY")
    calendar.add_component(event)
    data: bytes = calendar.to_ical()
    return data.decode()


def _request(text: str) -> "Component | None":
    try:
        for calendar in parse_calendar(text):
            if str(calendar.get("METHOD", "")).upper() == "REQUEST":
                return next((event for event in calendar.walk("VEVENT") if event.get("UID")), None)
    except CalendarUnreadable:
        return None
    return None


def _attendee(request: "Component", answer: str, ours: Collection[str], sender: str) -> Any:
    from icalendar import vCalAddress, vText

    invited: Any = request.get("ATTENDEE")
    several = as_list(invited)
    invitee = next((attendee for attendee in several if address_of(attendee) in ours), None)
    attendee = vCalAddress(str(invitee) if invitee is not None else f"mailto:{sender}")
    if invitee is not None and "CN" in invitee.params:
        attendee.params["CN"] = vText(str(invitee.params["CN"]))
    attendee.params["PARTSTAT"] = vText(answer.upper())
    return attendee
