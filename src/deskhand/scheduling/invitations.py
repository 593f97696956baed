"""Invitations that come with a mail: what, when, who. All of it is what the sender says."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from deskhand.model.booking import Span
from deskhand.scheduling.events import (
    CalendarUnreadable,
    as_list,
    first_span,
    moment_of,
    parse_calendar,
)

if TYPE_CHECKING:
    from icalendar import Component

CALENDAR_TYPES = ("text/calendar", "application/ics")
ACCEPTED, DECLINED, TENTATIVE = "accepted", "declined", "tentative"
METHODS = ("REQUEST", "CANCEL", "REPLY", "COUNTER", "PUBLISH")
MOST = 20
"""Events of one mail that are looked at."""
_LONGEST_WORDS = 300


@dataclass(frozen=True, slots=True)
class Attendee:
    address: str
    answer: str
    """`accepted`, `declined`, `tentative`, or `needs-action` for somebody who has not answered."""


@dataclass(frozen=True, slots=True)
class Invitation:
    method: str
    """`request` asks somebody to come, `cancel` calls it off, `reply` answers an invitation of
    ours."""
    uid: str
    what: str
    where: str
    span: Span
    all_day: bool
    repeats: bool
    organizer: str | None
    attendees: tuple[Attendee, ...]


def read_invitations(text: str, zone: ZoneInfo) -> list[Invitation]:
    """The events of a `text/calendar` part; nothing where it cannot be read."""
    invitations: list[Invitation] = []
    try:
        for calendar in parse_calendar(text):
            method = str(calendar.get("METHOD", "PUBLISH")).upper()
            if method in METHODS:
                invitations += _events(calendar, method.lower(), zone)
    except (CalendarUnreadable, OverflowError, ValueError):  # `DURATION:P999999999999D`
        return []
    return invitations[:MOST]


def _events(calendar: "Component", method: str, zone: ZoneInfo) -> Iterator[Invitation]:
    for number, event in enumerate(calendar.walk("VEVENT")):
        span = first_span(event, zone)
        start = moment_of(event, "DTSTART", zone)
        if span is None or start is None or number >= MOST:
            continue
        cancelled = str(event.get("STATUS", "")).upper() == "CANCELLED"
        yield Invitation(
            method="cancel" if cancelled and method in ("request", "publish") else method,
            uid=_words(event.get("UID", "")),
            what=_words(event.get("SUMMARY", "")),
            where=_words(event.get("LOCATION", "")),
            span=span,
            all_day=start.is_day,
            repeats=event.get("RRULE") is not None or event.get("RDATE") is not None,
            organizer=address_of(event.get("ORGANIZER")),
            attendees=tuple(_attendees(event.get("ATTENDEE"))),
        )


def _attendees(prop: Any) -> Iterator[Attendee]:
    for attendee in as_list(prop)[:100]:
        address = address_of(attendee)
        if address is not None:
            answer = str(getattr(attendee, "params", {}).get("PARTSTAT", "NEEDS-ACTION")).lower()
            yield Attendee(address, answer[:40])


def address_of(prop: Any) -> str | None:
    """The mail address of an organizer or attendee, in small letters."""
    if prop is None:
        return None
    written = " ".join(str(prop[0] if isinstance(prop, list) else prop).split())
    address = written[7:] if written.lower().startswith("mailto:") else written
    return address[:320].lower() if "@" in address else None


def _words(value: Any) -> str:
    text = " ".join(str(value[0] if isinstance(value, list) else value).split())
    return text if len(text) <= _LONGEST_WORDS else text[: _LONGEST_WORDS - 1] + "…"
