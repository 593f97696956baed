"""Calendar data as busy time, and invitations: recurring, whole days, transparent, across
changes of the clock."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deskhand.model.booking import Booking, BookingState, Span
from deskhand.scheduling.appointments import confirmed, uid_of, written
from deskhand.scheduling.events import CalendarUnreadable, busy_in, parse_calendar
from deskhand.scheduling.invitations import read_invitations

PRAGUE = ZoneInfo("Europe/Prague")
WEEK = Span(datetime(2026, 11, 16, tzinfo=UTC), datetime(2026, 11, 23, tzinfo=UTC))


def event(*lines: str, uid: str = "e1") -> str:
    return "\r\n".join(
        ["BEGIN:VEVENT", f"UID:{uid}", "DTSTAMP:20260101T000000Z", *lines, "END:VEVENT"]
    )


def calendar(*parts: str, method: str | None = None) -> str:
    head = [
        "BEGIN:VCALENDAR",
        "VERSION:2.0",
        "PRODID:test",
        *([f"METHOD:{method}"] if method else []),
    ]
    return "\r\n".join([*head, *parts, "END:VCALENDAR", ""])


def busy(*parts: str, frame: Span = WEEK, beside: tuple[str, ...] = ()) -> list[str]:
    """Busy time on Prague's clock."""
    found = sorted(busy_in(parse_calendar(calendar(*parts)), frame, PRAGUE, beside))
    return [
        f"{one.start.astimezone(PRAGUE):%a %d %H:%M}-{one.end.astimezone(PRAGUE):%H:%M}"
        for one in found
    ]


NINE = "DTSTART;TZID=Europe/Prague:20261116T090000"
TEN = "DTEND;TZID=Europe/Prague:20261116T100000"


def test_an_event_is_busy_on_its_own_clock() -> None:
    assert busy(event(NINE, TEN)) == ["Mon 16 09:00-10:00"]
    assert busy(event("DTSTART:20261116T080000Z", "DURATION:PT90M")) == ["Mon 16 09:00-10:30"]
    assert busy(event("DTSTART:20261116T090000", "DTEND:20261116T100000")) == ["Mon 16 09:00-10:00"]
    assert busy(event("DTSTART;TZID=America/New_York:20261116T090000", "DURATION:PT1H")) == [
        "Mon 16 15:00-16:00"
    ]
    assert busy(event("DTSTART:20261116T080000Z")) == []


def test_what_blocks_nobody_is_not_busy() -> None:
    assert busy(event(NINE, TEN, "TRANSP:TRANSPARENT")) == []
    assert busy(event(NINE, TEN, "STATUS:CANCELLED")) == []
    assert busy(event(NINE, TEN, "STATUS:TENTATIVE")) == ["Mon 16 09:00-10:00"]
    assert busy(event(NINE, TEN), beside=("e1",)) == []


def test_a_day_is_a_day_where_the_desk_is() -> None:
    whole = busy(event("DTSTART;VALUE=DATE:20261117"))
    assert whole == ["Tue 17 00:00-00:00"]
    assert busy(event("DTSTART;VALUE=DATE:20261117", "DTEND;VALUE=DATE:20261119")) == [
        "Tue 17 00:00-00:00"
    ]
    assert busy(event("DTSTART;VALUE=DATE:20261117", "TRANSP:TRANSPARENT")) == []


def test_a_recurring_event_is_busy_every_time() -> None:
    rule = "RRULE:FREQ=WEEKLY;BYDAY=MO,WE;UNTIL=20261118T080000Z"
    assert busy(event(NINE, TEN, rule)) == ["Mon 16 09:00-10:00", "Wed 18 09:00-10:00"]
    assert busy(event(NINE, TEN, "RRULE:FREQ=DAILY;COUNT=2")) == [
        "Mon 16 09:00-10:00",
        "Tue 17 09:00-10:00",
    ]


def test_times_that_were_left_out_added_and_moved() -> None:
    series = event(
        NINE,
        TEN,
        "RRULE:FREQ=DAILY;COUNT=4",
        "EXDATE;TZID=Europe/Prague:20261117T090000",
        "RDATE;TZID=Europe/Prague:20261120T110000",
    )
    moved = event(
        "RECURRENCE-ID;TZID=Europe/Prague:20261118T090000",
        "DTSTART;TZID=Europe/Prague:20261118T140000",
        "DTEND;TZID=Europe/Prague:20261118T143000",
    )
    called_off = event(
        "RECURRENCE-ID;TZID=Europe/Prague:20261119T090000", "STATUS:CANCELLED", NINE, TEN
    )
    assert busy(series, moved, called_off) == [
        "Mon 16 09:00-10:00",
        "Wed 18 14:00-14:30",
        "Fri 20 11:00-12:00",
    ]


def test_a_change_from_then_on_moves_all_that_follow() -> None:
    series = event(NINE, TEN, "RRULE:FREQ=DAILY;COUNT=4")
    later = event(
        "RECURRENCE-ID;RANGE=THISANDFUTURE;TZID=Europe/Prague:20261118T090000",
        "DTSTART;TZID=Europe/Prague:20261118T100000",
        "DTEND;TZID=Europe/Prague:20261118T103000",
    )
    assert busy(series, later) == [
        "Mon 16 09:00-10:00",
        "Tue 17 09:00-10:00",
        "Wed 18 10:00-10:30",
        "Thu 19 10:00-10:30",
    ]


def test_a_weekly_meeting_stays_at_its_hour_when_clocks_change() -> None:
    frame = Span(datetime(2026, 10, 19, tzinfo=UTC), datetime(2026, 11, 3, tzinfo=UTC))
    weekly = event(
        "DTSTART;TZID=Europe/Prague:20260105T090000",
        "DTEND;TZID=Europe/Prague:20260105T100000",
        "RRULE:FREQ=WEEKLY",
    )
    assert busy(weekly, frame=frame) == [
        "Mon 19 09:00-10:00",
        "Mon 26 09:00-10:00",
        "Mon 02 09:00-10:00",
    ]


def test_somebody_elses_free_and_busy_data() -> None:
    data = (
        "BEGIN:VFREEBUSY\r\nUID:f\r\nDTSTAMP:20260101T000000Z\r\n"
        "FREEBUSY;FBTYPE=BUSY:20261116T080000Z/PT1H,20261116T100000Z/20261116T110000Z\r\n"
        "FREEBUSY;FBTYPE=FREE:20261117T080000Z/PT1H\r\nEND:VFREEBUSY"
    )
    assert busy(data) == ["Mon 16 09:00-10:00", "Mon 16 11:00-12:00"]


def test_a_rule_nobody_writes_counts_once_and_breaks_nothing() -> None:
    assert (
        busy(event(NINE, TEN, "RRULE:FREQ=SECONDLY"), event(NINE, TEN, uid="e2"))
        == ["Mon 16 09:00-10:00"] * 2
    )


def test_what_is_no_calendar_is_refused() -> None:
    with pytest.raises(CalendarUnreadable):
        parse_calendar("BEGIN:VCALENDAR\r\nnothing\r\nEND:NOTHING")


@settings(deadline=None, derandomize=True)
@given(st.text(alphabet="BEGIN:VEVENTDUIRSC;=0123456789TZ,-+/\r\n ", max_size=200))
def test_any_text_gives_invitations_or_none(text: str) -> None:
    read_invitations(calendar(event(text), method="REQUEST"), PRAGUE)
    read_invitations(text, PRAGUE)


# --- invitations


def test_an_invitation_says_what_when_and_who() -> None:
    text = calendar(
        event(
            NINE,
            TEN,
            "SUMMARY:Demo\\, of the\\nnew shop",
            "LOCATION:Room 4",
            "ORGANIZER;CN=Ann:mailto:Ann@Example.com",
            "ATTENDEE;PARTSTAT=ACCEPTED:mailto:ann@example.com",
            "ATTENDEE:mailto:support@acme.example",
            "RRULE:FREQ=WEEKLY",
        ),
        method="REQUEST",
    )
    (found,) = read_invitations(text, PRAGUE)
    assert (found.method, found.uid, found.what, found.where) == (
        "request",
        "e1",
        "Demo, of the new shop",
        "Room 4",
    )
    assert found.span == Span(
        datetime(2026, 11, 16, 8, 0, tzinfo=UTC), datetime(2026, 11, 16, 9, 0, tzinfo=UTC)
    )
    assert (found.organizer, found.repeats, found.all_day) == ("ann@example.com", True, False)
    assert [(one.address, one.answer) for one in found.attendees] == [
        ("ann@example.com", "accepted"),
        ("support@acme.example", "needs-action"),
    ]


def test_what_is_called_off_and_what_is_answered() -> None:
    (gone,) = read_invitations(calendar(event(NINE, TEN), method="CANCEL"), PRAGUE)
    (off,) = read_invitations(
        calendar(event(NINE, TEN, "STATUS:CANCELLED"), method="REQUEST"), PRAGUE
    )
    (answer,) = read_invitations(
        calendar(event(NINE, "ATTENDEE;PARTSTAT=DECLINED:mailto:ann@example.com"), method="REPLY"),
        PRAGUE,
    )
    assert (gone.method, off.method, answer.method) == ("cancel", "cancel", "reply")
    assert answer.attendees[0].answer == "declined"
    assert read_invitations("no calendar", PRAGUE) == []
    assert read_invitations(calendar(event("SUMMARY:no time"), method="REQUEST"), PRAGUE) == []


# --- our own events


def test_our_event_keeps_what_a_colleague_wrote_into_it() -> None:
    span = Span(datetime(2026, 11, 16, 8, 0, tzinfo=UTC), datetime(2026, 11, 16, 8, 30, tzinfo=UTC))
    booking = Booking(
        "run_1.2.0", "run_1", "c", span, "ann@example.com", BookingState.TENTATIVE, 9e9
    )
    data = written(booking, "Call", datetime(2026, 11, 1, tzinfo=UTC))
    assert f"UID:{uid_of('run_1.2.0')}".encode() in data
    assert b"STATUS:TENTATIVE" in data
    edited = data.replace(b"SUMMARY:Call", b"SUMMARY:Call about the shop\r\nLOCATION:Room 4")
    final = confirmed(edited, datetime(2026, 11, 2, tzinfo=UTC))
    assert b"STATUS:CONFIRMED" in final
    assert b"TENTATIVE" not in final
    assert b"SUMMARY:Call about the shop" in final
    assert b"LOCATION:Room 4" in final
    assert busy_in(parse_calendar(final), WEEK, PRAGUE) == [span]
    assert span.end - span.start == timedelta(minutes=30)
