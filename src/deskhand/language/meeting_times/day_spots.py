"""The places of a text that speak of days: dates, weekdays, weeks, and what stands before them."""

from collections.abc import Iterator, Sequence
from datetime import date, datetime, timedelta
from typing import Any

from deskhand.config.sections.slots import SlotSpec
from deskhand.language.meeting_times.back_references import back_references, following_weeks
from deskhand.language.meeting_times.day_ranges import (
    Stretch,
    means_week,
    part_of_week,
    stretches,
    week_around,
)
from deskhand.language.meeting_times.day_spot import Days, DaySpot, limited
from deskhand.language.meeting_times.day_words import (
    LATER_WEEK,
    NAMED_DAY,
    RANGE_JOINT,
    RANGE_OPENING,
    THIS_PART,
    UNTIL_END,
    WEEK_PART,
    WEEKDAY,
    WEEKLY,
)
from deskhand.language.meeting_times.meeting_phrases import WEEK_OF, any_of, compiled
from deskhand.language.meeting_times.month_parts import month_spots
from deskhand.language.meeting_times.short_weekdays import bracketed_weekdays, short_weekdays
from deskhand.language.slots.date_numeric import Spot, numeric_spots
from deskhand.language.slots.date_relative import relative_spots
from deskhand.language.slots.folded_text import FoldedText, Scan
from deskhand.language.slots.numbers import KNOWN_LANGUAGES
from deskhand.language.slots.slot_context import SlotContext

_WHEN = SlotSpec(name="when", type="date", prefer="future")
_BESIDE = compiled(r"^[ ,.(]{0,3}(?:(?:the|den|dne|am|dem|der|el|dia|on|d\.|tj\.?) ){0,2}$")
_LISTED = compiled(
    r"\b(?:[0-9]{1,2}(?:\.|st|nd|rd|th)?, ?)*[0-9]{1,2}(?:\.|st|nd|rd|th)?"
    r" (?:or|and|nebo|anebo|ci|a|i|oder|und|bzw\.?|o|u|y) (?:the |am |den |el |vom )?$"
)
_DATE_ENDS = compiled(
    r"^(?:$|[.,;?!)] ?| (?:at|in|from|between|after|before|any ?time|morning|afternoon|ab|um|gegen|"
    r"von|zwischen|vor|nach|vormittag\w*|nachmittag\w*|a|por|desde|entre|hasta|sobre|antes|"
    r"despues)\b)"
)
"""Behind a number that stands beside a weekday and can only be that of a day."""
_NUMBERED = compiled(r"([0-9]{1,2})(?:\.|st|nd|rd|th)?")
_COUNTED_WEEK = compiled(r"week|tyd|woche|semana")
_JUST_OVER = timedelta(days=270)
"""A date without a year that is farther ahead than this has just been."""
_REACH = 40
_NEAREST = compiled(r"\bkommende[nrs]?\b|\bcoming\b")
"""With a weekday: the next one, not that of the next week."""


def day_spots(
    reading: FoldedText, language: str | None, languages: tuple[str, ...], now: datetime
) -> list[DaySpot]:
    """In the order of the text, none overlapping another."""
    folded = reading.folded
    every_spot = list(_dates(reading, language, languages, now))
    every_spot += _listed_before(every_spot, folded, now.date())
    written = list(every_spot)
    for spot in _weekdays(folded, languages, now.date()):
        if spot.kind == "weekday" or not _overlaps(spot, written):
            every_spot.append(spot)
    every_spot += [
        DaySpot(short.start, short.end, weekday=short.weekday, kind="weekday")
        for short in short_weekdays(reading, languages)
    ]
    every_spot += _short_in_brackets(written, folded, languages)
    every_spot += _weeks(folded, languages, now.date())
    longer = [
        *stretches(folded, now.date(), languages),
        *month_spots(folded, now.date(), languages),
    ]
    every_spot += [_of_stretch(stretch, folded, languages) for stretch in longer]
    spots = _apart(every_spot)
    spots = _dated_in_brackets(_echoed(spots, folded), folded)
    spots = _ranges(spots, folded, languages)
    spots = _apart([*spots, *following_weeks(spots, folded, languages, now.date())])
    spots = _apart([*spots, *back_references(spots, folded, languages, now.date())])
    return [limited(spot, folded, languages) for spot in spots]


def _overlaps(spot: DaySpot, others: Sequence[DaySpot]) -> bool:
    return any(spot.start < other.end and other.start < spot.end for other in others)


def _apart(spots: Sequence[DaySpot]) -> list[DaySpot]:
    """The longest of those that overlap; of two as long, the one that was found first."""
    kept: list[DaySpot] = []
    for spot in sorted(spots, key=lambda spot: spot.start - spot.end):
        if not _overlaps(spot, kept):
            kept.append(spot)
    return sorted(kept, key=lambda spot: spot.start)


def _dates(
    reading: FoldedText, language: str | None, languages: tuple[str, ...], now: datetime
) -> Iterator[DaySpot]:
    scan, context = Scan(reading), SlotContext(language, now)
    tongues = languages if set(languages) <= set(KNOWN_LANGUAGES) else KNOWN_LANGUAGES
    for spot in numeric_spots(scan, context, _WHEN, tongues):
        yield _of_date(spot, reading.folded, languages, now.date())
    for spot in relative_spots(scan, context, _WHEN, tongues):
        if spot.weekday is None:
            yield from _of_relative(spot, reading.folded, languages, now.date())


def _of_date(spot: Spot, folded: str, languages: tuple[str, ...], today: date) -> DaySpot:
    is_over = all(day < today or day - today > _JUST_OVER for day in spot.days)
    if is_over or len(spot.days) > 2:
        return DaySpot(spot.start, spot.end, kind="doubt")
    lead = folded[max(0, spot.start - _REACH) : spot.start]
    if means_week(lead, languages):
        start = spot.start - _length(WEEK_OF, lead, languages)
        return DaySpot(start, spot.end, (week_around(spot.days[0]),), kind="week")
    if len(spot.days) == 2:  # `15. - 17. 3.`
        return DaySpot(spot.start, spot.end, (spot.days,), kind="stretch")
    return DaySpot(spot.start, spot.end, ((spot.days[0], spot.days[0]),))


def _listed_before(dates: Sequence[DaySpot], folded: str, today: date) -> Iterator[DaySpot]:
    """`1. or 2. December`: the days that share the month of the date behind them."""
    for dated in dates:
        listed = _LISTED.search(folded[max(0, dated.start - _REACH) : dated.start])
        if dated.kind != "day" or listed is None or not folded[dated.start].isdigit():
            continue
        for number in _NUMBERED.finditer(listed.group()):
            day = _same_month(dated.days[0][0], int(number[1]))
            start = dated.start - len(listed.group()) + number.start()
            if day is not None and today <= day:
                yield DaySpot(start, start + len(number[0]), ((day, day),))


def _same_month(dated: date, number: int) -> date | None:
    """A day of the same month before that day; None where there is none."""
    return dated.replace(day=number) if 0 < number < dated.day else None


def _length(table: dict[str, str], lead: str, languages: tuple[str, ...]) -> int:
    """How long the words of a table are at the end of what stands before a place."""
    match = any_of(table, languages).search(lead)
    return 0 if match is None else len(match.group())


def _of_relative(
    spot: Spot, folded: str, languages: tuple[str, ...], today: date
) -> Iterator[DaySpot]:
    """Tomorrow, in two weeks, next week, this Friday."""
    start, end = spot.start, spot.end
    if all(day < today for day in spot.days) and spot.precision == "exact":
        said = folded[start:end]
        yield DaySpot(start, end, kind="past" if "this" not in said else "doubt")
    elif spot.precision == "week":
        first, last = week_around(spot.days[0])
        if last < today:
            yield DaySpot(start, end, kind="past")
        else:
            yield _part_of_week(start, end, (first, last), folded, languages)
    elif spot.precision == "month":
        following = (spot.days[0].replace(day=1) + timedelta(days=32)).replace(day=1)
        days = (spot.days[0].replace(day=1), following - timedelta(days=1))
        yield DaySpot(start, end, (days,), kind="stretch" if days[1] >= today else "past")
    elif spot.precision == "exact" and _COUNTED_WEEK.search(folded[start:end]):
        yield DaySpot(start, end, (week_around(spot.days[0]),), kind="week")
    elif spot.precision == "exact":
        meant = spot.days[:1] if _NEAREST.search(folded[start:end]) else spot.days
        singles = tuple((day, day) for day in meant)
        yield DaySpot(start, end, singles, kind="day" if len(singles) == 1 else "doubt")
    else:
        yield DaySpot(start, end, kind="doubt")


def _part_of_week(
    start: int, end: int, week: Days, folded: str, languages: tuple[str, ...]
) -> DaySpot:
    """A week, or its first or last days, with the words that say so."""
    lead = folded[max(0, start - _REACH) : start]
    until = any_of(UNTIL_END, languages).search(lead)
    if until is not None:
        return DaySpot(start - len(until.group()), end, (week,), kind="stretch", limit="until")
    words = any_of(WEEK_PART, languages).search(lead)
    days = part_of_week(lead, *week, languages)
    if words is None or days == week:
        return DaySpot(start, end, (week,), kind="week")
    return DaySpot(start - len(words.group()), end, (days,), kind="stretch")


def _weekdays(folded: str, languages: tuple[str, ...], today: date) -> Iterator[DaySpot]:
    for language in languages:
        for number, form in enumerate(WEEKDAY[language].split()):
            for match in _weekdays_with_number(form, folded):
                yield from _numbered(match, number, folded, today, dated=language == "es")
            for match in compiled(rf"\b(?:{form})\b").finditer(folded):
                if len(match.group()) > 4 or compiled(r"^\.?,? [0-9]").search(
                    folded[match.end() :]
                ):
                    yield DaySpot(match.start(), match.end(), weekday=number, kind="weekday")
        for number, form in enumerate(WEEKLY[language].split()):
            for match in compiled(rf"\b(?:{form})\b".replace("_", " ")).finditer(folded):
                yield DaySpot(match.start(), match.end(), weekday=number, kind="weekly")


def _weekdays_with_number(form: str, folded: str) -> Iterator[Any]:
    """`Thursday the 26th`, `Thursday (26th)`."""
    day = r"(?:the |den |der |dem |dne |el |am |dia )?([0-9]{1,2})"
    yield from compiled(rf"\b(?:{form})\.?,? {day}(st|nd|rd|th|\.)?(?:$|[^0-9:h])").finditer(folded)
    yield from compiled(rf"\b(?:{form})\.? \({day}((?:st|nd|rd|th|\.)?\))").finditer(folded)


def _short_in_brackets(
    dates: Sequence[DaySpot], folded: str, languages: tuple[str, ...]
) -> Iterator[DaySpot]:
    """The weekday of the date before it: `tomorrow (Thu)`."""
    ends = {spot.end for spot in dates}
    for short in bracketed_weekdays(folded, languages):
        if len(folded[: short.start - 1].rstrip()) in ends:
            yield DaySpot(short.start, short.end, weekday=short.weekday, kind="weekday")


def _numbered(
    match: Any, weekday: int, folded: str, today: date, *, dated: bool
) -> Iterator[DaySpot]:
    """`Thursday the 26th`, `martes 24`: a date, where that day is a Thursday.

    `dated` where a number beside a weekday is that of the day whatever follows.
    """
    number, mark = match.groups()
    end = match.end(2) if mark else match.end(1)
    rest = folded[end : end + 12]
    if compiled(r"^ ?(?:a\.?m\b|p\.?m\b|uhr|hod|h\b|[.:][0-9]|[-/][0-9]| ?- ?[0-9])").search(rest):
        return
    for ahead in range(62):
        day = today + timedelta(days=ahead)
        if day.day == int(number) and day.weekday() == weekday:
            yield DaySpot(match.start(), end, ((day, day),))
            return
    is_date = mark in ("st", "nd", "rd", "th", ".") or ")" in (mark or "")
    if dated or is_date or _DATE_ENDS.search(rest):
        yield DaySpot(match.start(), end, kind="doubt")


def _weeks(folded: str, languages: tuple[str, ...], today: date) -> Iterator[DaySpot]:
    """The week after next, today by its part, days that only look like a weekday."""
    for language in languages:
        for match in compiled(NAMED_DAY[language]).finditer(folded):
            yield DaySpot(match.start(), match.end(), kind="doubt")
        if language in THIS_PART:
            for match in compiled(THIS_PART[language]).finditer(folded):
                yield DaySpot(match.start(1), match.end(1), ((today, today),))
        for match in compiled(LATER_WEEK[language]).finditer(folded):
            week = week_around(today + timedelta(days=14))
            yield DaySpot(match.start(), match.end(), (week,), kind="week")


def _of_stretch(stretch: Stretch, folded: str, languages: tuple[str, ...]) -> DaySpot:
    days = (stretch.first, stretch.last)
    lead = folded[max(0, stretch.start - _REACH) : stretch.start]
    start = stretch.start
    if (stretch.last - stretch.first).days == 6 and stretch.first.weekday() == 0:
        start -= _length(WEEK_OF, lead, languages)
        return DaySpot(start, stretch.end, (days,), kind="week")
    if stretch.first == stretch.last:
        return DaySpot(start, stretch.end, (days,))
    start -= _length(_HOLIDAY_LEAD, lead, languages)
    return DaySpot(start, stretch.end, (days,), kind="stretch")


_HOLIDAY_LEAD = {
    "en": r"\b(?:after|before)(?: the)? $",
    "cs": r"\b(?:po|pred) $",
    "de": r"\b(?:nach|vor)(?: den| dem)? $",
    "es": r"\b(?:despues|antes) de(?: la| las| los)? $",
}


def _echoed(spots: Sequence[DaySpot], folded: str) -> list[DaySpot]:
    """`Friday, 14 March` is one date, and so is `next Friday, the 14th`; with the wrong weekday
    it is a doubtful one."""
    joined: list[DaySpot] = []
    for spot in spots:
        before = joined[-1] if joined else None
        pair = None if before is None else _one_date(before, spot, folded)
        if pair is not None and pair.kind == "doubt" and _names_weekday_of(spot, joined[:-1]):
            pair = None  # `Tuesday or Wednesday (1. or 2. December)`
        if pair is not None:
            joined[-1] = pair
        else:
            joined.append(spot)
    return joined


def _dated_in_brackets(spots: Sequence[DaySpot], folded: str) -> list[DaySpot]:
    """`Monday or Tuesday (30. November or 1. December)` means the days in brackets."""
    meant: list[DaySpot] = []
    for place, spot in enumerate(spots):
        dated = _date_of(spot, spots[place + 1 : place + 5])
        if dated is not None and "(" in folded[spot.end : dated.start]:
            meant.append(spot._replace(kind="day", days=dated.days, weekday=None))
        else:
            meant.append(spot)
    return meant


def _date_of(spot: DaySpot, following: Sequence[DaySpot]) -> DaySpot | None:
    """The first date behind a weekday that falls on it."""
    for other in following:
        if other.kind == "day" and other.days[0][0].weekday() == spot.weekday:
            return other
    return None


def _names_weekday_of(dated: DaySpot, earlier: Sequence[DaySpot]) -> bool:
    """Whether the weekday before the last was that of the date."""
    last = earlier[-1] if earlier else None
    if last is None or last.kind != "weekday" or dated.kind != "day":
        return False
    return last.weekday == dated.days[0][0].weekday()


def _one_date(left: DaySpot, right: DaySpot, folded: str) -> DaySpot | None:
    kinds = (left.kind, right.kind)
    if not _BESIDE.search(folded[left.end : right.start]):
        return None
    if kinds in (("day", "day"), ("doubt", "day")) and right.days[0] in left.days:
        return right._replace(start=left.start)
    if kinds not in (("weekday", "day"), ("day", "weekday")):
        return None
    dated, weekday = (left, right.weekday) if left.kind == "day" else (right, left.weekday)
    if dated.days[0][0].weekday() == weekday:
        return dated._replace(start=left.start, end=right.end)
    if left.kind == "day" and "," in folded[left.end : right.start]:
        return None  # a list: `tomorrow, Friday`
    return DaySpot(left.start, right.end, kind="doubt")


def _ranges(spots: Sequence[DaySpot], folded: str, languages: tuple[str, ...]) -> list[DaySpot]:
    """`Monday to Wednesday`, `from 24 to 27 November`, `between Monday and Thursday`."""
    joint = any_of(RANGE_JOINT, languages)
    kept: list[DaySpot] = []
    for spot in spots:
        before = kept[-1] if kept else None
        pair = None
        if before is not None and joint.search(folded[before.end : spot.start]):
            pair = _range(before, spot)
        if before is not None and pair is None:
            lead = folded[max(0, before.start - 12) : before.start]
            opens = any_of(RANGE_OPENING, languages).search(lead)
            between = compiled(r"^ (?:and|a|und|y) (?:on |am |v |ve |el )?$")
            if opens and between.search(folded[before.end : spot.start]):
                pair = _range(before, spot)
        if pair is None:
            kept.append(spot)
            continue
        opening = any_of(RANGE_OPENING, languages).search(folded[: pair.start][-14:])
        kept[-1] = pair._replace(start=pair.start - (len(opening.group()) if opening else 0))
    return kept


def _range(left: DaySpot, right: DaySpot) -> DaySpot | None:
    if left.kind == right.kind == "weekday":
        return left._replace(end=right.end, to_weekday=right.weekday)
    if left.kind == right.kind == "day" and left.days[0][0] < right.days[0][1]:
        return DaySpot(
            left.start, right.end, ((left.days[0][0], right.days[0][1]),), kind="stretch"
        )
    return None
