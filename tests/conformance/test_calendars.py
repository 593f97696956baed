"""What every calendar must do with times: hold them once, let them go, never give one to two."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from deskhand.adapters.calendar.caldav_calendar import CalDavCalendar
from deskhand.adapters.calendar.caldav_client import CalDavClient
from deskhand.adapters.calendar.database_calendar import AT_ONCE, DatabaseCalendar
from deskhand.adapters.calendar.ics_calendar import IcsCalendar
from deskhand.config.sections.calendar import CalDavSpec
from deskhand.config.sections.channels import Login
from deskhand.errors import Conflict, NotFound, SlotTaken
from deskhand.model.booking import BookingState, NewBooking, Span
from deskhand.model.run import RunStatus
from deskhand.ports import Calendar
from tests.calendar_servers import PASSWORD, USER, radicale
from tests.conformance.adapters import ADAPTERS, Stores
from tests.kit import TestClock, a_message

UTC_ZONE = ZoneInfo("UTC")
TEAM = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:test\r\nEND:VCALENDAR\r\n"
NINE = datetime(2027, 1, 18, 9, 0, tzinfo=UTC)
HALF = timedelta(minutes=30)
DAY = Span(NINE - timedelta(hours=9), NINE + timedelta(hours=15))


@dataclass
class House:
    """A kind of calendar, on databases as other processes would open them."""

    kind: str
    stores: Stores
    folder: Path
    collections: dict[str, str] = field(default_factory=dict)
    opened: list[Calendar] = field(default_factory=list)

    async def calendar(self, store: Any, clock: TestClock | None = None) -> Calendar:
        held = DatabaseCalendar(store._database, store.desk, (clock or TestClock()).now)
        made: Calendar = held
        if self.kind == "ics":
            made = IcsCalendar(held, (self.folder / "team.ics",), UTC_ZONE)
        elif self.kind == "caldav":
            if store.desk not in self.collections:
                self.collections[store.desk] = (await radicale().new_calendar()).url
            login = Login(user=USER, password_file=self.folder / "password")
            wire = CalDavClient(CalDavSpec(url=self.collections[store.desk], login=login))
            made = CalDavCalendar(held, wire, UTC_ZONE, "Appointment")
        self.opened.append(made)
        return made


@pytest.fixture(params=["caldav", "ics", "postgres", "sqlite"])
async def house(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[House]:
    (tmp_path / "team.ics").write_text(TEAM)
    (tmp_path / "password").write_text(PASSWORD)
    if request.param == "caldav":
        await asyncio.to_thread(radicale)
    async with ADAPTERS["postgres" if request.param == "postgres" else "sqlite"](
        tmp_path
    ) as stores:
        made = House(request.param, stores, tmp_path)
        yield made
        for calendar in made.opened:
            await calendar.close()


def new(
    key: str, run_id: str = "run_1", at: datetime = NINE, holder: str | None = "ann@example.com"
) -> NewBooking:
    return NewBooking(key, run_id, Span(at, at + HALF), holder, TestClock().now() + 3600)


async def a_run(store: Any, number: int, conversation: str) -> str:
    run_id: str = (
        await store.accept(a_message(number, conversation=conversation), flow="flow")
    ).run_id
    return run_id


async def test_a_time_that_is_held_is_busy_until_it_is_released(house: House) -> None:
    calendar = await house.calendar(await house.stores())
    assert await calendar.busy(DAY) == []
    held = await calendar.hold(new("k1"))
    assert (held.state, held.holder) == (BookingState.TENTATIVE, "ann@example.com")
    assert await calendar.busy(DAY) == [Span(NINE, NINE + HALF)]
    assert await calendar.busy(Span(NINE + HALF, DAY.end)) == []
    released = await calendar.release("k1", "rejected")
    assert (released.state, released.reason) == (BookingState.RELEASED, "rejected")
    assert await calendar.busy(DAY) == []
    assert await calendar.find("k1") is None
    with pytest.raises(NotFound):
        await calendar.release("k2", "nothing")


async def test_the_same_key_again_is_the_same_booking(house: House) -> None:
    calendar = await house.calendar(await house.stores())
    first = await calendar.hold(new("k1"))
    assert await calendar.find("k1") == first
    assert await calendar.hold(new("k1")) == first
    confirmed = await calendar.confirm("k1")
    assert confirmed.state is BookingState.CONFIRMED
    assert await calendar.confirm("k1") == confirmed
    assert await calendar.hold(new("k1")) == confirmed
    assert [one.key for one in await calendar.bookings(state=BookingState.CONFIRMED)] == ["k1"]


async def test_two_conversations_never_hold_the_same_time(house: House) -> None:
    store = await house.stores()
    runs = [await a_run(store, number, f"c{number}") for number in range(8)]
    calendars = [await house.calendar(await house.stores()) for _ in range(2)]

    async def attempt(number: int) -> bool:
        at = NINE + timedelta(minutes=10 * (number % 3))  # they overlap without being the same
        try:
            await calendars[number % 2].hold(
                new(f"k{number}", runs[number], at, f"p{number}@example.com")
            )
        except SlotTaken:
            return False
        return True

    won = await asyncio.gather(*(attempt(number) for number in range(8)))
    assert won.count(True) == 1
    assert len(await calendars[0].busy(DAY)) == 1


async def test_a_conversation_holds_one_time_until_it_is_settled(house: House) -> None:
    store = await house.stores()
    calendar = await house.calendar(store)
    first, second = await a_run(store, 1, "c"), await a_run(store, 2, "c")
    await calendar.hold(new("k1", first))
    await calendar.hold(new("k2", second, NINE + timedelta(minutes=15)))
    assert [(one.key, one.state) for one in await calendar.bookings()] == [
        ("k1", BookingState.RELEASED),
        ("k2", BookingState.TENTATIVE),
    ]
    await calendar.confirm("k2")
    with pytest.raises(SlotTaken):
        await calendar.hold(new("k3", second))
    await calendar.hold(new("k4", second, NINE + timedelta(hours=2)))
    assert len(await calendar.busy(DAY)) == 2


async def test_one_person_holds_only_a_few_times_at_once(house: House) -> None:
    store = await house.stores()
    calendar = await house.calendar(store)
    runs = [await a_run(store, number, f"c{number}") for number in range(AT_ONCE + 1)]
    for number, run_id in enumerate(runs[:AT_ONCE]):
        await calendar.hold(new(f"k{number}", run_id, NINE + timedelta(hours=number)))
    late = new("k9", runs[-1], NINE + timedelta(hours=9))
    with pytest.raises(Conflict, match="held for this person"):
        await calendar.hold(late)
    await calendar.confirm("k0")
    assert (await calendar.hold(late)).state is BookingState.TENTATIVE


async def test_what_nobody_settles_is_free_again(house: House) -> None:
    store, clock = await house.stores(), TestClock()
    calendar = await house.calendar(store, clock)
    await calendar.hold(new("k1"))
    await calendar.hold(new("k2", "run_2", NINE + HALF, "bob@example.com"))
    await calendar.confirm("k2")
    assert await calendar.settle() == 0
    clock.at += 3601
    assert await calendar.busy(DAY) == [Span(NINE + HALF, NINE + 2 * HALF)]
    assert await calendar.find("k1") is None
    assert await calendar.settle() >= 1  # a server is told as well
    assert await calendar.settle() == 0
    assert [
        (one.key, one.reason) for one in await calendar.bookings(state=BookingState.RELEASED)
    ] == [("k1", "nobody decided in time")]


async def test_what_expired_is_confirmed_late_unless_somebody_else_has_it(house: House) -> None:
    store, clock = await house.stores(), TestClock()
    calendar = await house.calendar(store, clock)
    await calendar.hold(new("k1"))
    clock.at += 3601
    assert (await calendar.confirm("k1")).state is BookingState.CONFIRMED
    await calendar.hold(new("k2", "run_2", NINE + HALF, "bob@example.com"))
    await calendar.settle()
    await calendar.hold(new("k3", "run_3", NINE + HALF, "cy@example.com"))
    await calendar.confirm("k3")
    with pytest.raises(SlotTaken):
        await calendar.confirm("k2")


async def test_desks_do_not_see_each_others_times(house: House) -> None:
    one, other = (
        await house.calendar(await house.stores("one")),
        await house.calendar(await house.stores("other")),
    )
    await one.hold(new("k1"))
    assert await other.busy(DAY) == []
    assert await other.find("k1") is None
    await other.hold(new("k1"))


async def test_what_happens_to_a_time_is_an_event_of_its_run(house: House) -> None:
    store = await house.stores()
    run_id = await a_run(store, 1, "c")
    calendar = await house.calendar(store)
    await calendar.hold(new("k1", run_id))
    await calendar.confirm("k1")
    await calendar.release("k1", "cancelled")
    kinds = [event.kind for event in await store.events(run_id=run_id)]
    assert kinds == ["booking.held", "booking.confirmed", "booking.released"]


async def test_a_person_who_is_erased_holds_nothing(house: House) -> None:
    store = await house.stores()
    run_id = await a_run(store, 1, "c")
    calendar = await house.calendar(store)
    await calendar.hold(new("k1", run_id))
    await calendar.confirm("k1")
    assert await store.claim(run_id, {"flow": "v"}) is not None
    await store.finish(run_id, RunStatus.SENT)
    await store.erase("ann@example.com", "eve")
    (left,) = await calendar.bookings()
    assert (left.holder, left.state, left.conversation) == (
        None,
        BookingState.RELEASED,
        f"erased:{run_id}",
    )
    assert await calendar.busy(DAY) == []
