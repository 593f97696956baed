"""Calendar files that say when somebody is busy."""

import os
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from deskhand.adapters.calendar.database_calendar import DatabaseCalendar
from deskhand.adapters.calendar.ics_calendar import IcsCalendar
from deskhand.adapters.stores.sqlite_database import SqliteDatabase
from deskhand.errors import ConfigError, SlotTaken
from deskhand.model.booking import BookingState, NewBooking, Span
from tests.kit import TestClock

NINE = datetime(2027, 1, 18, 8, 0, tzinfo=UTC)
HOUR = timedelta(hours=1)
DAY = Span(NINE - 8 * HOUR, NINE + 16 * HOUR)
CLOCK = TestClock()


def a_file(path: Path, *hours: int) -> Path:
    """Meetings of an hour, on Prague's clock."""
    events = "".join(
        f"BEGIN:VEVENT\r\nUID:{hour}\r\nDTSTAMP:20260101T000000Z\r\nDTSTART:20270118T{hour:02}0000\r\nDURATION:PT1H\r\n"
        "SUMMARY:Secret plans\r\nEND:VEVENT\r\n"
        for hour in hours
    )
    path.write_text(f"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:test\r\n{events}END:VCALENDAR\r\n")
    os.utime(path, ns=(len(hours), len(hours)))  # a change is seen by time and size
    return path


def new(key: str = "k1", at: datetime = NINE) -> NewBooking:
    return NewBooking(key, "run_1", Span(at, at + HOUR), "ann@example.com", CLOCK.now() + 3600)


@pytest.fixture
async def held(tmp_path: Path) -> AsyncIterator[DatabaseCalendar]:
    database = await SqliteDatabase.open(tmp_path / "held.db")
    try:
        yield DatabaseCalendar(database, "desk", CLOCK.now)
    finally:
        await database.close()


def opened(held: DatabaseCalendar, *files: Path) -> IcsCalendar:
    return IcsCalendar(held, files, ZoneInfo("Europe/Prague"))


async def test_files_and_what_is_held_are_busy_together(
    held: DatabaseCalendar, tmp_path: Path
) -> None:
    calendar = opened(held, a_file(tmp_path / "one.ics", 10), a_file(tmp_path / "two.ics", 14))
    await calendar.hold(new())
    assert await calendar.busy(DAY) == [
        Span(NINE, NINE + 2 * HOUR),
        Span(NINE + 5 * HOUR, NINE + 6 * HOUR),
    ]
    assert await calendar.check() == "one.ics, two.ics: 2 events, read only"


async def test_a_file_that_changed_is_read_again(held: DatabaseCalendar, tmp_path: Path) -> None:
    calendar = opened(held, a_file(tmp_path / "one.ics"))
    assert await calendar.busy(DAY) == []
    await calendar.hold(new())
    a_file(tmp_path / "one.ics", 9)
    with pytest.raises(SlotTaken):
        await calendar.confirm("k1")
    with pytest.raises(SlotTaken):
        await calendar.hold(new("k2"))
    a_file(tmp_path / "one.ics", 10, 11)
    assert (await calendar.confirm("k1")).state is BookingState.CONFIRMED
    assert await calendar.find("k1") is not None
    assert (await calendar.release("k1", "called off")).state is BookingState.RELEASED
    assert await calendar.settle() == 0


async def test_a_file_that_cannot_be_read_is_named(held: DatabaseCalendar, tmp_path: Path) -> None:
    broken = tmp_path / "broken.ics"
    with pytest.raises(ConfigError, match="No such file") as missing:
        await opened(held, broken).busy(DAY)
    assert missing.value.file == broken
    broken.write_text("BEGIN:VCALENDAR\r\nVERSION:2.0\r\n")
    with pytest.raises(ConfigError, match="no calendar data"):
        await opened(held, broken).check()
