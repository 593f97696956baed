"""Recurring events, held against another program that computes them."""
# ruff: noqa: DTZ001 rules go by the clock on the wall

from datetime import datetime, timedelta
from itertools import islice
from typing import Any

import pytest
from dateutil.rrule import rrulestr
from hypothesis import given, settings
from hypothesis import strategies as st

from deskhand.scheduling.recurrence import RecurrenceRule, RuleUnreadable, read_rule

MONDAY = datetime(2026, 1, 5, 9, 30)


def rule_of(text: str, until: datetime | None = None) -> RecurrenceRule:
    parts = dict(part.split("=") for part in text.split(";"))
    return read_rule({name: value.split(",") for name, value in parts.items()}, until)


def days(
    text: str, start: datetime = MONDAY, until: datetime = datetime(2027, 1, 1), **more: Any
) -> list[str]:
    return [
        f"{moment:%m-%d}"
        for moment in islice(rule_of(text, **more).between(start, start, until), 5)
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("FREQ=DAILY;INTERVAL=2", ["01-05", "01-07", "01-09", "01-11", "01-13"]),
        ("FREQ=DAILY;COUNT=3", ["01-05", "01-06", "01-07"]),
        ("FREQ=WEEKLY;BYDAY=MO,WE", ["01-05", "01-07", "01-12", "01-14", "01-19"]),
        ("FREQ=WEEKLY;INTERVAL=2;BYDAY=SU;WKST=SU", ["01-18", "02-01", "02-15", "03-01", "03-15"]),
        ("FREQ=MONTHLY;BYDAY=-1FR", ["01-30", "02-27", "03-27", "04-24", "05-29"]),
        (
            "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1",
            ["01-30", "02-27", "03-31", "04-30", "05-29"],
        ),
        ("FREQ=MONTHLY;BYMONTHDAY=31", ["01-31", "03-31", "05-31", "07-31", "08-31"]),
        ("FREQ=YEARLY;BYMONTH=3;BYDAY=2SU", ["03-08"]),
    ],
)
def test_what_calendars_write(text: str, expected: list[str]) -> None:
    assert days(text) == expected


def test_the_last_time_is_included_and_nothing_after_it() -> None:
    assert days("FREQ=DAILY", until=datetime(2027, 1, 1))[:1] == ["01-05"]
    rule = rule_of("FREQ=DAILY", datetime(2026, 1, 7, 9, 30))
    assert [moment.day for moment in rule.between(MONDAY, MONDAY, datetime(2027, 1, 1))] == [
        5,
        6,
        7,
    ]


def test_a_rule_that_began_long_ago_is_looked_at_where_it_matters() -> None:
    begun = datetime(1970, 1, 1, 8, 0)
    lower = datetime(2026, 3, 1)
    found = list(rule_of("FREQ=DAILY;INTERVAL=3").between(begun, lower, lower + timedelta(days=7)))
    assert [(moment - begun).days % 3 for moment in found] == [0] * len(found)
    assert 2 <= len(found) <= 3


@pytest.mark.parametrize(
    "text",
    [
        "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30",
        "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30",
        "FREQ=DAILY;COUNT=999999999",
        "FREQ=MONTHLY;INTERVAL=999999",
    ],
)
def test_no_rule_takes_for_ever(text: str) -> None:
    begun, lower = datetime(1900, 1, 31), datetime(2026, 3, 1)
    found = list(rule_of(text).between(begun, lower, lower + timedelta(days=30)))
    assert len(found) <= 30


@pytest.mark.parametrize(
    "text",
    ["FREQ=SECONDLY", "FREQ=HOURLY", "FREQ=", "FREQ=DAILY;BYDAY=XX", "FREQ=DAILY;BYMONTH=13"],
)
def test_rules_of_another_kind_are_refused(text: str) -> None:
    with pytest.raises(RuleUnreadable):
        rule_of(text)


def several(values: st.SearchStrategy[Any], most: int = 3) -> st.SearchStrategy[str]:
    return st.lists(values, min_size=1, max_size=most, unique=True).map(
        lambda found: ",".join(map(str, found))
    )


WEEKDAYS = st.sampled_from(["MO", "TU", "WE", "TH", "FR", "SA", "SU"])
PARTS = st.fixed_dictionaries(
    {"FREQ": st.sampled_from(["DAILY", "WEEKLY", "MONTHLY", "YEARLY"])},
    optional={
        "INTERVAL": st.integers(1, 5).map(str),
        "COUNT": st.integers(1, 30).map(str),
        "BYMONTH": several(st.integers(1, 12)),
        "BYMONTHDAY": several(st.integers(-31, 31).filter(bool)),
        "BYDAY": several(WEEKDAYS),
        "BYHOUR": several(st.integers(0, 23), 2),
        "BYSETPOS": several(st.sampled_from([1, 2, -1])),
    },
)
ORDINALS = st.fixed_dictionaries(
    {
        "FREQ": st.sampled_from(["MONTHLY", "YEARLY"]),
        "BYDAY": several(
            st.tuples(st.sampled_from(["1", "2", "4", "-1", "-2"]), WEEKDAYS).map("".join)
        ),
    },
    optional={"BYMONTH": several(st.integers(1, 12)), "INTERVAL": st.integers(1, 3).map(str)},
)
STARTS = st.datetimes(datetime(2019, 1, 1), datetime(2026, 12, 31)).map(
    lambda at: at.replace(second=0, microsecond=0)
)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(parts=st.one_of(PARTS, ORDINALS), start=STARTS, later=st.integers(0, 900))
def test_another_program_says_the_same(parts: dict[str, str], start: datetime, later: int) -> None:
    if parts["FREQ"] == "WEEKLY" and "BYMONTHDAY" in parts:
        del parts["BYMONTHDAY"]  # no calendar writes it, and the standard forbids it
    text = ";".join(f"{name}={value}" for name, value in parts.items())
    lower = start + timedelta(days=later)
    upper = lower + timedelta(days=120)
    found = (
        rrulestr(text, dtstart=start).between(lower, upper, inc=True)
        if _strikes(text, start)
        else []
    )
    expected = [moment for moment in found if moment < upper]
    assert list(rule_of(text).between(start, lower, upper)) == expected


def _strikes(text: str, start: datetime) -> bool:
    """Whether the rule ever strikes within ten years: the other program would look until the
    year 9999."""
    return any(True for _ in rule_of(text).between(start, start, start + timedelta(days=3660)))
