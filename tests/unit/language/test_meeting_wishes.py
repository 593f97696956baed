"""Wishes for a meeting in many words: what is read is right, or said to be unclear."""

from collections import Counter
from datetime import date, datetime, time, timedelta
from functools import cache
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from deskhand.config.yaml import read_yaml
from deskhand.language.meeting_times import read_wish
from deskhand.model.booking import Span
from deskhand.scheduling.hours import Hours, read_hours
from deskhand.scheduling.slots import Offering
from deskhand.scheduling.wishes import Wish

PRAGUE = ZoneInfo("Europe/Prague")
CORPUS = Path(__file__).parents[2] / "data" / "meeting_wishes.yaml"
CASES: list[dict[str, Any]] = read_yaml(CORPUS).data["wishes"]
PLAIN = read_yaml(Path(__file__).parent / "plain_wishes.yaml").data
PLAIN_CASES: list[dict[str, Any]] = [{"sent": PLAIN["sent"], **case} for case in PLAIN["wishes"]]
HOURS = Hours(PRAGUE, read_hours({"mon-fri": "9:00-17:00"}))
QUARTER = timedelta(minutes=15)
ENOUGH = 0.5
"""A reading that leaves out more of what suits than this is only partly right."""


def sent(case: dict[str, Any]) -> datetime:
    return datetime.fromisoformat(case.get("sent", "2026-11-18T09:12")).replace(tzinfo=PRAGUE)


def a_day(written: str, year: int) -> date:
    return date.fromisoformat(written if len(written) == 10 else f"{year}-{written}")


def a_time(written: str) -> time:
    hour, _, minute = written.partition(":")
    return time(int(hour), int(minute or 0))


def allowed(case: dict[str, Any], key: str) -> dict[date, list[str]]:
    """The hours that suit by day."""
    days: dict[date, list[str]] = {}
    for span, hours in case[key].items():
        first, _, last = str(span).partition("..")
        day = a_day(first, sent(case).year)
        end = a_day(last or first, sent(case).year)
        while day <= end:
            days[day] = hours.split(",")
            day += timedelta(days=1)
    return days


def lies_in(slot: Span, hours: list[str]) -> bool:
    start, end = (moment.astimezone(PRAGUE).time() for moment in slot)
    for piece in hours:
        if piece.startswith("@"):
            if start == a_time(piece[1:]):
                return True
            continue
        first, last = map(a_time, piece.split("-"))
        if first <= start and end <= last:
            return True
    return False


def slots_of(case: dict[str, Any]) -> list[Span]:
    return slots_from(sent(case), case.get("minutes", 30))


@cache
def slots_from(now: datetime, minutes: int) -> list[Span]:
    """Every quarter of an hour at which a meeting could begin."""
    length = timedelta(minutes=minutes)
    offering = Offering(HOURS, QUARTER, timedelta(0), timedelta(days=60))
    stretches = list(HOURS.stretches(offering.frame(now)))
    slots: list[Span] = []
    for stretch in stretches:
        start = stretch.start.astimezone(PRAGUE)
        start += (QUARTER - timedelta(minutes=start.minute % 15)) % QUARTER
        start = start.replace(second=0, microsecond=0)
        while start + length <= stretch.end:
            if start >= now:
                slots.append(Span(start, start + length))
            start += QUARTER
    return slots


def fitting(case: dict[str, Any], key: str) -> set[Span]:
    days = allowed(case, key)
    return {
        slot
        for slot in slots_of(case)
        if (day := slot.start.astimezone(PRAGUE).date()) in days and lies_in(slot, days[day])
    }


def read_slots(case: dict[str, Any], wish: Wish) -> set[Span]:
    return {slot for slot in slots_of(case) if wish.fits(slot, HOURS)}


def judged(case: dict[str, Any]) -> str:
    wish = read_wish(case["text"], case["lang"], sent(case))
    if wish.person:
        return "right" if "person" in case else "unclear"
    if "person" in case:
        return "wrong" if read_slots(case, wish) else "right"
    if "minutes" in case and wish.minutes != case["minutes"]:
        return "wrong" if wish.minutes else "partly"
    read, right = read_slots(case, wish), fitting(case, "allow")
    most = fitting(case, "wide") if "wide" in case else right
    if not read or not read <= most:
        return "wrong"
    return "right" if len(read & right) >= ENOUGH * len(right) else "partly"


def name_of(case: dict[str, Any]) -> str:
    return f"{case['lang']}-{case['text'][:60]}"


@pytest.mark.parametrize("case", [*CASES, *PLAIN_CASES], ids=name_of)
def test_no_wish_is_read_wrongly(case: dict[str, Any]) -> None:
    wish = read_wish(case["text"], case["lang"], sent(case))
    assert judged(case) != "wrong", wish


def test_most_wishes_are_read_and_few_are_left_to_a_person() -> None:
    score = Counter(judged(case) for case in CASES)
    assert score["right"] >= 0.85 * len(CASES), score


def test_plain_wishes_are_read_in_every_language() -> None:
    for language in ("en", "cs", "de", "es"):
        score = Counter(judged(case) for case in PLAIN_CASES if case["lang"] == language)
        assert score["right"] >= 0.95 * score.total(), (language, score)


@pytest.mark.parametrize("case", [case for case in PLAIN_CASES if "moved" in case], ids=name_of)
def test_a_moved_appointment_is_known_by_its_day_and_wished_for_at_the_new_time(
    case: dict[str, Any],
) -> None:
    wish = read_wish(case["text"], case["lang"], sent(case))
    year = sent(case).year
    day, _, clock = case["moved"]["to"].partition(" ")
    assert wish.change == "move"
    assert (wish.day, wish.at) == (a_day(day, year), a_time(clock))
    assert wish.old == (a_day(case["moved"]["from"], year), None)
