"""A calendar on a real CalDAV server: busy time, colleagues who change it, and servers that are
away."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from deskhand.adapters.calendar.caldav_calendar import CalDavCalendar
from deskhand.adapters.calendar.caldav_client import CalDavClient
from deskhand.adapters.calendar.database_calendar import DatabaseCalendar
from deskhand.adapters.channels.mail_connection import MailLoginRefused, ServerUnavailable
from deskhand.adapters.stores.sqlite_database import SqliteDatabase
from deskhand.config.sections.calendar import CalDavSpec
from deskhand.config.sections.channels import Login
from deskhand.errors import ConfigError, SlotTaken
from deskhand.model.booking import BookingState, NewBooking, Span
from tests.calendar_servers import PASSWORD, USER, Collection, RadicaleServer, radicale
from tests.kit import TestClock

PRAGUE = ZoneInfo("Europe/Prague")
NINE = datetime(2027, 1, 18, 8, 0, tzinfo=UTC)
HALF = timedelta(minutes=30)
DAY = Span(NINE - timedelta(hours=8), NINE + timedelta(hours=16))
MEETING = ("DTSTART;TZID=Europe/Prague:20270118T090000", "DTEND;TZID=Europe/Prague:20270118T100000")


class Bench:
    def __init__(self, database: SqliteDatabase, collection: Collection, secret: Path) -> None:
        self.collection, self.secret, self._database = collection, secret, database
        self.clock = TestClock()
        self._wires: list[CalDavClient] = []

    def calendar(self, desk: str = "desk", url: str | None = None) -> CalDavCalendar:
        login = Login(user=USER, password_file=self.secret)
        wire = CalDavClient(CalDavSpec(url=url or self.collection.url, login=login))
        self._wires.append(wire)
        return CalDavCalendar(
            DatabaseCalendar(self._database, desk, self.clock.now), wire, PRAGUE, "Call"
        )

    def new(self, key: str = "run_1.1.0", at: datetime = NINE) -> NewBooking:
        return NewBooking(
            key, f"run_{key}", Span(at, at + HALF), "ann@example.com", self.clock.now() + 3600
        )

    async def close(self) -> None:
        for wire in self._wires:
            await wire.close()


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    server = await asyncio.to_thread(radicale)
    (tmp_path / "secret").write_text(PASSWORD)
    database = await SqliteDatabase.open(tmp_path / "caldav.db")
    made = Bench(database, await server.new_calendar(), tmp_path / "secret")
    try:
        yield made
    finally:
        await made.close()
        await database.close()


async def test_what_is_in_the_calendar_is_busy_and_nothing_is_told_of_it(bench: Bench) -> None:
    await bench.collection.add("weekly", *MEETING, "RRULE:FREQ=WEEKLY", "SUMMARY:Secret plans")
    await bench.collection.add("lunch", "DTSTART:20270118T110000Z", "DURATION:PT1H")
    await bench.collection.add("birthday", "DTSTART;VALUE=DATE:20270118", "TRANSP:TRANSPARENT")
    calendar = bench.calendar()
    eleven = NINE + timedelta(hours=3)
    assert await calendar.busy(DAY) == [
        Span(NINE, NINE + 2 * HALF),
        Span(eleven, eleven + 2 * HALF),
    ]
    later = Span(DAY.start + timedelta(days=70), DAY.end + timedelta(days=70))
    summer = NINE + timedelta(days=70) - timedelta(hours=1)  # nine o'clock in Prague, as ever
    assert await calendar.busy(later) == [Span(summer, summer + 2 * HALF)]


async def test_what_a_colleague_took_meanwhile_cannot_be_held(bench: Bench) -> None:
    await bench.collection.add("meeting", *MEETING)
    with pytest.raises(SlotTaken):
        await bench.calendar().hold(bench.new())
    assert await bench.collection.text("run_1.1.0.ics") is None
    assert [one.state for one in await bench.calendar().bookings()] == [BookingState.RELEASED]


async def test_two_desks_with_one_calendar_never_hold_the_same_time(bench: Bench) -> None:
    desks = [bench.calendar(f"desk{number}") for number in range(4)]

    async def attempt(number: int) -> bool:
        try:
            await desks[number].hold(bench.new(f"run_{number}.1.0"))
        except SlotTaken:
            return False
        return True

    won = await asyncio.gather(*map(attempt, range(4)))
    assert won.count(True) <= 1  # who writes at the same moment may both step back
    events = [await bench.collection.text(f"run_{number}.1.0.ics") for number in range(4)]
    assert [one is not None for one in events] == won


async def test_an_event_that_a_colleague_changed_keeps_his_words(bench: Bench) -> None:
    calendar = bench.calendar()
    await calendar.hold(bench.new())
    text = await bench.collection.text("run_1.1.0.ics")
    assert text is not None
    await bench.collection.ask(
        "PUT", "run_1.1.0.ics", text.replace("SUMMARY:Call", "SUMMARY:Call about the shop")
    )
    await calendar.confirm("run_1.1.0")
    final = await bench.collection.text("run_1.1.0.ics")
    assert final is not None
    assert "SUMMARY:Call about the shop" in final
    assert "STATUS:CONFIRMED" in final


async def test_an_event_that_a_colleague_took_out_is_not_confirmed(bench: Bench) -> None:
    calendar = bench.calendar()
    await calendar.hold(bench.new())
    await bench.collection.ask("DELETE", "run_1.1.0.ics")
    with pytest.raises(SlotTaken, match="took the appointment out"):
        await calendar.confirm("run_1.1.0")
    assert await calendar.busy(DAY) == []


async def test_an_appointment_that_was_moved_is_busy_where_it_is_now(bench: Bench) -> None:
    calendar = bench.calendar()
    await calendar.hold(bench.new())
    await calendar.confirm("run_1.1.0")
    text = await bench.collection.text("run_1.1.0.ics") or ""
    moved = text.replace("20270118T080000Z", "20270118T120000Z").replace(
        "20270118T083000Z", "20270118T123000Z"
    )
    await bench.collection.ask("PUT", "run_1.1.0.ics", moved)
    noon = NINE + timedelta(hours=4)
    assert Span(noon, noon + HALF) in await calendar.busy(DAY)


async def test_an_interrupted_hold_is_found_and_made_once(bench: Bench) -> None:
    """The process dies after the database wrote, before or after the server did."""
    held = bench.calendar()._held
    booking = await held.hold(bench.new())
    calendar = bench.calendar()
    assert await calendar.find("run_1.1.0") is None  # nobody sees it yet: do it again
    assert (await calendar.hold(bench.new())).written == BookingState.TENTATIVE
    await held.wrote("run_1.1.0", "")  # the answer of the server was lost
    found = await calendar.find("run_1.1.0")
    assert found is not None
    assert (found.key, found.written) == (booking.key, BookingState.TENTATIVE)
    assert await calendar.busy(DAY) == [Span(NINE, NINE + HALF)]


async def test_what_cannot_be_told_to_the_server_is_told_later(
    bench: Bench, tmp_path: Path
) -> None:
    server = await asyncio.to_thread(RadicaleServer)
    try:
        collection = await server.new_calendar()
        calendar = bench.calendar(url=collection.url)
        await calendar.hold(bench.new())
        await asyncio.to_thread(server.stop)
        assert (await calendar.release("run_1.1.0", "rejected")).state is BookingState.RELEASED
        with pytest.raises(ServerUnavailable):
            await calendar.busy(DAY)
        with pytest.raises(ServerUnavailable):
            await calendar.settle()
        await asyncio.to_thread(server.start)
        assert await collection.text("run_1.1.0.ics") is not None
        assert await calendar.settle() == 1
        assert await collection.text("run_1.1.0.ics") is None
        assert await calendar.settle() == 0
    finally:
        await asyncio.to_thread(server.remove)


async def test_what_is_wrong_is_said_with_what_to_write(bench: Bench) -> None:
    assert (await bench.calendar().check()).endswith(f"at {bench.collection.url}")
    home = bench.collection.url.rpartition("/")[0].rpartition("/")[0] + "/"
    with pytest.raises(ConfigError, match="is no calendar") as raised:
        await bench.calendar(url=home).check()
    assert bench.collection.url in str(raised.value)
    with pytest.raises(ConfigError, match="there is nothing"):
        await bench.calendar(url=f"{home}nowhere/").check()
    bench.secret.write_text("wrong")
    with pytest.raises(MailLoginRefused) as refused:
        await bench.calendar().check()
    assert "wrong" not in str(refused.value)
