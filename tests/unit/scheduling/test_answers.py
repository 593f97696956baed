"""The answer to an invitation, as other people's calendars read it."""

from datetime import UTC, datetime
from typing import Any

import pytest
from icalendar import Calendar

from deskhand.scheduling.invitation_answers import answer_to

NOW = datetime(2026, 11, 16, 8, 0, tzinfo=UTC)
REQUEST = """BEGIN:VCALENDAR\r
VERSION:2.0\r
PRODID:-//Example//EN\r
METHOD:REQUEST\r
BEGIN:VEVENT\r
UID:visit-1@petrel.example\r
SEQUENCE:3\r
DTSTAMP:20261101T080000Z\r
DTSTART;TZID=Europe/Prague:20261117T140000\r
DTEND;TZID=Europe/Prague:20261117T150000\r
SUMMARY:Besuch bei Müller\\, Söhne\r
DESCRIPTION:a secret of theirs\r
ORGANIZER;CN=Jon Petrel:mailto:jon@petrel.example\r
ATTENDEE;CN=Eve;RSVP=TRUE:mailto:eve@other.example\r
ATTENDEE;CN=Acme Support;PARTSTAT=NEEDS-ACTION;RSVP=TRUE:mailto:Support@acme.example\r
END:VEVENT\r
END:VCALENDAR\r
"""


@pytest.mark.parametrize("answer", ["accepted", "declined", "tentative"])
def test_an_answer_names_the_event_and_us_and_nobody_else(answer: str) -> None:
    text = answer_to(REQUEST, answer, ["support@acme.example"], "desk@acme.example", NOW)
    assert text is not None
    calendar = Calendar.from_ical(text)
    event: Any = calendar.walk("VEVENT")[0]
    assert calendar["METHOD"] == "REPLY"
    assert (str(event["UID"]), int(event["SEQUENCE"])) == ("visit-1@petrel.example", 3)
    assert str(event["ORGANIZER"]) == "mailto:jon@petrel.example"
    assert event["DTSTART"].dt.isoformat() == "2026-11-17T14:00:00+01:00"
    assert event["DTSTAMP"].dt == NOW
    assert str(event["ATTENDEE"]) == "mailto:Support@acme.example"
    assert event["ATTENDEE"].params["PARTSTAT"] == answer.upper()
    assert "eve@other" not in text
    assert "secret" not in text
    assert all(len(line.encode()) <= 75 for line in text.split("\r\n"))


def test_where_the_invitation_names_another_address_the_channels_own_answers() -> None:
    text = answer_to(REQUEST, "accepted", ["sales@acme.example"], "desk@acme.example", NOW)
    assert text is not None
    event: Any = Calendar.from_ical(text).walk("VEVENT")[0]
    assert str(event["ATTENDEE"]) == "mailto:desk@acme.example"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nonsense",
        REQUEST.replace("REQUEST", "CANCEL"),
        REQUEST.replace("UID:visit-1@petrel.example\r\n", ""),
    ],
)
def test_what_is_no_request_is_not_answered(text: str) -> None:
    assert answer_to(text, "accepted", [], "desk@acme.example", NOW) is None
