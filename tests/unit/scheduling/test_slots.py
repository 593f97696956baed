"""Free slots: in working hours, beside everything busy, right where clocks are changed."""

from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deskhand.model.booking import Span
from deskhand.scheduling.hours import Hours, HoursUnreadable, instant, read_hours, shown_between
from deskhand.scheduling.slots import Offering, propose, read_slot_id, slot_id
from deskhand.scheduling.spans import merged, within
from deskhand.scheduling.wishes import Wish

PRAGUE = ZoneInfo("Europe/Prague")
MONDAY = datetime(2026, 11, 16, 7, 0, tzinfo=UTC)  # eight o'clock in Prague


def an_offering(
    hours: dict[str, str] | None = None, zone: ZoneInfo = PRAGUE, slot: int = 30, horizon: int = 14
) -> Offering:
    openings = read_hours(hours or {"mon-fri": "9:00-17:00"})
    return Offering(
        Hours(zone, openings), timedelta(minutes=slot), timedelta(hours=2), timedelta(days=horizon)
    )


def local(slot: Span, zone: ZoneInfo = PRAGUE) -> str:
    return f"{slot.start.astimezone(zone):%a %H:%M}"


# --- hours


def test_hours_are_read_by_day() -> None:
    assert read_hours({"mon-tue": "9:00-12:00, 13:00-17:30", "sat": "8:30-24:00"}) == {
        0: ((540, 720), (780, 1050)),
        1: ((540, 720), (780, 1050)),
        5: ((510, 1440),),
    }
    assert set(read_hours({"fri-mon": "9:00-10:00"})) == {4, 5, 6, 0}


@pytest.mark.parametrize(
    ("days", "times", "said"),
    [
        ("monday", "9:00-17:00", "no weekday"),
        ("mon", "9-17", "no hours"),
        ("mon", "17:00-9:00", "end before they begin"),
        ("mon", "9:00-25:00", "more than a day"),
        ("mon", "9:75-10:00", "more than a day"),
        ("mon", "9:00-12:00, 11:00-13:00", "overlap"),
    ],
)
def test_hours_that_say_nothing_clear_are_refused_in_words(
    days: str, times: str, said: str
) -> None:
    with pytest.raises(HoursUnreadable, match=said):
        read_hours({days: times})


def test_a_time_that_the_clock_skips_is_the_moment_of_the_change() -> None:
    skipped = instant(date(2026, 3, 29), 2 * 60 + 30, PRAGUE)
    assert skipped == datetime(2026, 3, 29, 1, 0, tzinfo=UTC)
    assert f"{skipped.astimezone(PRAGUE):%H:%M}" == "03:00"


def test_a_time_that_the_clock_shows_twice_has_two_moments() -> None:
    first, second = shown_between(date(2026, 10, 25), (2 * 60 + 30, 2 * 60 + 45), PRAGUE)
    assert second.start - first.start == timedelta(hours=1)
    assert first.end - first.start == second.end - second.start == timedelta(minutes=15)
    assert shown_between(date(2026, 3, 29), (2 * 60, 3 * 60), PRAGUE) == []


@pytest.mark.parametrize(
    ("day", "length"), [(date(2026, 3, 29), 23), (date(2026, 10, 25), 25), (date(2026, 6, 1), 24)]
)
def test_a_whole_day_is_as_long_as_it_really_is(day: date, length: int) -> None:
    hours = Hours(PRAGUE, read_hours({"mon-sun": "0:00-24:00"}))
    frame = Span(instant(day, 0, PRAGUE), instant(day + timedelta(days=1), 0, PRAGUE))
    assert sum((span.end - span.start for span in hours.open(frame)), timedelta()) == timedelta(
        hours=length
    )


def test_nobody_is_there_on_a_closed_day() -> None:
    closed = Hours(PRAGUE, read_hours({"mon-fri": "9:00-17:00"}), frozenset({date(2026, 11, 16)}))
    offering = Offering(closed, timedelta(minutes=30), timedelta(0), timedelta(days=3))
    assert {local(slot)[:3] for slot in offering.grid(MONDAY)} == {"Tue", "Wed"}


# --- what is offered


def test_slots_begin_where_the_hours_begin_and_after_the_notice() -> None:
    slots = list(an_offering().grid(MONDAY))
    assert [local(slot) for slot in slots[:2]] == ["Mon 10:00", "Mon 10:30"]
    assert local(slots[13]) == "Mon 16:30"
    assert local(slots[14]) == "Tue 09:00"


def test_without_a_wish_there_is_a_choice_of_half_days() -> None:
    offering = an_offering()
    offered = propose(offering.free(MONDAY, []), offering.hours)
    assert [local(slot) for slot in offered] == ["Mon 10:00", "Mon 12:00", "Tue 09:00"]


def test_a_wish_brings_what_lies_nearest_to_it() -> None:
    offering = an_offering()
    free = offering.free(MONDAY, [])
    wednesday = date(2026, 11, 18)
    assert [
        local(slot) for slot in propose(free, offering.hours, Wish(wednesday, time(14, 0)))
    ] == [
        "Wed 14:00",
    ]
    assert [local(slot) for slot in propose(free, offering.hours, Wish(wednesday))] == [
        "Wed 09:00",
        "Wed 09:30",
        "Wed 12:00",
    ]
    saturday = propose(free, offering.hours, Wish(date(2026, 11, 21)))
    assert {local(slot)[:3] for slot in saturday} == {"Fri"}
    assert [local(slot) for slot in propose(free, offering.hours, Wish(at=time(15, 0)))] == [
        "Mon 15:00",
        "Tue 15:00",
        "Wed 15:00",
    ]


def test_nothing_is_offered_on_a_public_holiday() -> None:
    hours = Hours(PRAGUE, read_hours({"mon-fri": "9:00-17:00"}), holidays=("CZ",))
    offering = Offering(hours, timedelta(minutes=30), timedelta(hours=2), timedelta(days=14))
    free = offering.free(MONDAY, [])
    assert {local(slot)[:3] for slot in free[:15]} == {"Mon", "Wed"}
    holiday = date(2026, 11, 17)
    assert {local(slot)[:3] for slot in propose(free, hours, Wish(holiday))} == {"Mon", "Wed"}
    assert not offering.holds(Span(datetime(2026, 11, 17, 9, tzinfo=UTC), MONDAY), MONDAY)
    assert list(hours.missed_holidays(offering.frame(MONDAY))) == [holiday]


@pytest.mark.parametrize(
    ("place", "day", "is_holiday"),
    [
        ("CZ", date(2027, 3, 29), True),  # Easter Monday moves
        ("CZ", date(2027, 3, 30), False),
        ("DE", date(2026, 11, 1), False),
        ("DE-BY", date(2026, 11, 1), True),
        ("US", date(2026, 7, 3), True),  # the fourth is a Saturday
        ("NO", date(2027, 5, 17), True),
    ],
)
def test_holidays_are_those_of_the_year_and_the_region(
    place: str, day: date, is_holiday: bool
) -> None:
    assert (Hours(PRAGUE, {}, holidays=(place,)).holiday(day) is not None) == is_holiday


def test_what_is_busy_is_not_offered() -> None:
    offering = an_offering()
    busy = [Span(MONDAY, MONDAY + timedelta(days=1, hours=2, minutes=1))]
    assert local(offering.free(MONDAY, busy)[0]) == "Tue 10:30"
    assert propose([], offering.hours) == []


def test_a_slots_id_says_all_there_is() -> None:
    slot = next(an_offering().grid(MONDAY))
    assert slot_id(slot) == "slot_20261116T0900Z_30"
    assert read_slot_id(slot_id(slot)) == slot
    for text in (
        "",
        "slot_",
        "slot_20261316T0900Z_30",
        "slot_20261116T0900Z_30 ",
        "slot_20261116T0900Z_99999",
    ):
        assert read_slot_id(text) is None
    assert an_offering().holds(slot, MONDAY)
    assert not an_offering().holds(
        Span(slot.start + timedelta(minutes=10), slot.end + timedelta(minutes=10)), MONDAY
    )


# --- properties

ZONES = st.sampled_from(
    [
        "Europe/Prague",
        "America/New_York",
        "Australia/Lord_Howe",
        "Pacific/Apia",
        "Asia/Kolkata",
        "UTC",
    ]
)
CHANGES = st.sampled_from(
    [date(2026, 3, 7), date(2026, 3, 27), date(2026, 10, 3), date(2026, 10, 23), date(2026, 10, 31)]
)
HOURS = st.sampled_from(
    [
        {"mon-fri": "9:00-17:00"},
        {"mon-sun": "0:00-24:00"},
        {"sat-sun": "1:00-4:00"},
        {"sun": "1:30-2:30, 2:45-3:15", "mon": "23:00-24:00"},
    ]
)
BUSY = st.lists(st.tuples(st.integers(-600, 6_000), st.integers(0, 900)), max_size=25)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(zone=ZONES, day=CHANGES, hours=HOURS, minutes=st.sampled_from([15, 30, 45, 60]), taken=BUSY)
def test_a_free_slot_overlaps_nothing_and_lies_in_the_hours(
    zone: str, day: date, hours: dict[str, str], minutes: int, taken: list[tuple[int, int]]
) -> None:
    now = datetime.combine(day, time(6), tzinfo=UTC)
    where = ZoneInfo(zone)
    offering = an_offering(hours, where, minutes, horizon=4)
    busy = [
        Span(at := now + timedelta(minutes=start), at + timedelta(minutes=length))
        for start, length in taken
    ]
    free = offering.free(now, busy)
    openings = read_hours(hours)
    frame = offering.frame(now)
    for slot in free:
        assert frame.start <= slot.start
        assert slot.end <= frame.end
        assert slot.end - slot.start == timedelta(minutes=minutes)
        assert not any(slot.overlaps(one) for one in busy if one.start < one.end)
        for step in (*range(0, minutes, 15), minutes - 1):
            shown = (slot.start + timedelta(minutes=step)).astimezone(where)
            minute = shown.hour * 60 + shown.minute
            assert any(start <= minute < end for start, end in openings.get(shown.weekday(), ()))
    assert all(one.end <= other.start for one, other in pairwise(free))
    offered = propose(free, offering.hours)
    assert len(offered) == min(3, len(free))
    assert set(offered) <= set(free)
    assert offered == sorted(offered)
    assert all(read_slot_id(slot_id(slot)) == slot for slot in offered)


SPANS = st.lists(
    st.tuples(st.integers(0, 200), st.integers(0, 30)).map(
        lambda pair: Span(
            MONDAY + timedelta(minutes=pair[0]), MONDAY + timedelta(minutes=pair[0] + pair[1])
        )
    ),
    max_size=12,
)


def minutes_of(spans: list[Span]) -> set[int]:
    return {
        minute
        for span in spans
        for minute in range(
            int((span.start - MONDAY).total_seconds()) // 60,
            int((span.end - MONDAY).total_seconds()) // 60,
        )
    }


@settings(deadline=None, derandomize=True)
@given(SPANS)
def test_spans_are_sets_of_minutes(spans: list[Span]) -> None:
    assert minutes_of(merged(spans)) == minutes_of(spans)
    frame = Span(MONDAY + timedelta(minutes=50), MONDAY + timedelta(minutes=120))
    assert minutes_of(within(spans, frame)) == minutes_of(spans) & set(range(50, 120))
