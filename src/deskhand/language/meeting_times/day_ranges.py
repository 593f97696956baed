"""Days and stretches of days in a text that plain dates do not cover: the 12th, its week, after
Easter."""

from calendar import monthrange
from collections.abc import Iterator
from datetime import date, timedelta
from typing import NamedTuple

from deskhand.language.meeting_times import meeting_phrases
from deskhand.language.meeting_times.meeting_phrases import any_of, compiled
from deskhand.language.slots.numbers import number_words

_AFTERWARDS = timedelta(days=13)
"""How long after a holiday still is `after` it."""
_BEFORE = timedelta(days=14)


class Stretch(NamedTuple):
    """A place in the folded text and the days it means, first and last."""

    start: int
    end: int
    first: date
    last: date


def stretches(folded: str, today: date, languages: tuple[str, ...]) -> Iterator[Stretch]:
    """Everything but plain dates; places may overlap, the longest comes first."""
    yield from _holidays(folded, today, languages)
    yield from _numbered_weeks(folded, today, languages)
    yield from _coming_weeks(folded, today, languages)
    yield from _days_of_month(folded, today, languages)


def week_around(day: date) -> tuple[date, date]:
    """The week of a day, from Monday to Sunday."""
    monday = day - timedelta(days=day.weekday())
    return monday, monday + timedelta(days=6)


def means_week(before: str, languages: tuple[str, ...]) -> bool:
    """Whether what stands before a day says that its week is meant."""
    return any_of(meeting_phrases.WEEK_OF, languages).search(before) is not None


def part_of_week(
    before: str, first: date, last: date, languages: tuple[str, ...]
) -> tuple[date, date]:
    """The first or last days of a week where the words before it say so."""
    for language in languages:
        early, late = meeting_phrases.END_OF_WEEK[language]
        if compiled(early).search(before) is not None:
            return first, min(last, first + timedelta(days=1))
        if compiled(late).search(before) is not None:
            return max(first, first + timedelta(days=3)), last
    return first, last


def _days_of_month(folded: str, today: date, languages: tuple[str, ...]) -> Iterator[Stretch]:
    for language in languages:
        for match in compiled(meeting_phrases.DAY_OF_MONTH[language]).finditer(folded):
            day = _next_with(int(match.group(1)), today)
            if day is None:
                continue
            start = match.start(1)
            if means_week(folded[max(0, start - 40) : start], languages):
                yield Stretch(start, match.end(1), *week_around(day))
            else:
                yield Stretch(start, match.end(1), day, day)


def _next_with(number: int, today: date) -> date | None:
    """The next day of any month with this number."""
    year, month = today.year, today.month
    for _ in range(3):
        if 1 <= number <= monthrange(year, month)[1] and date(year, month, number) >= today:
            return date(year, month, number)
        year, month = (year + 1, 1) if month == 12 else (year, month + 1)
    return None


def _numbered_weeks(folded: str, today: date, languages: tuple[str, ...]) -> Iterator[Stretch]:
    for language in languages:
        for match in compiled(meeting_phrases.WEEK_NUMBER[language]).finditer(folded):
            for year in (today.year, today.year + 1):
                try:
                    monday = date.fromisocalendar(year, int(match.group(1)), 1)
                except ValueError:
                    continue
                if monday + timedelta(days=6) >= today:
                    yield Stretch(match.start(), match.end(), *week_around(monday))
                    break


def _coming_weeks(folded: str, today: date, languages: tuple[str, ...]) -> Iterator[Stretch]:
    for language in languages:
        pattern = meeting_phrases.COMING_WEEKS[language].replace("{n}", meeting_phrases.NUMBER)
        for match in compiled(pattern).finditer(folded):
            number, unit = match.groups()
            count = (
                meeting_phrases.COUNTS.get(number)
                or number_words((language,)).get(number)
                or int(number)
            )
            days = count * (1 if unit[:2] in ("da", "dn", "ta", "di") else 7)
            yield Stretch(match.start(), match.end(), today, today + timedelta(days=min(days, 366)))


def _holidays(folded: str, today: date, languages: tuple[str, ...]) -> Iterator[Stretch]:
    for name, table in meeting_phrases.HOLIDAYS.items():
        for match in any_of(table, languages).finditer(folded):
            before = folded[max(0, match.start() - 20) : match.start()]
            after = any_of(meeting_phrases.AFTER_HOLIDAY, languages).search(before) is not None
            ahead = any_of(meeting_phrases.BEFORE_HOLIDAY, languages).search(before) is not None
            if after == ahead:
                continue
            first, last = _holiday(name, today)
            begin = last + timedelta(days=1) if after else max(today, first - _BEFORE)
            end = begin + _AFTERWARDS if after else first - timedelta(days=1)
            if begin <= end:
                yield Stretch(match.start(), match.end(), begin, end)


def _holiday(name: str, today: date) -> tuple[date, date]:
    """The first and last day of the next one, or of one that has just been."""
    for year in (today.year - 1, today.year, today.year + 1):
        first, last = _days_of(name, year)
        if last + timedelta(days=7) >= today:
            return first, last
    return _days_of(name, today.year + 2)


def _days_of(name: str, year: int) -> tuple[date, date]:
    if name == "christmas":
        return date(year, 12, 24), date(year, 12, 26)
    if name == "new_year":
        return date(year, 12, 31), date(year + 1, 1, 1)
    sunday = easter(year)
    if name == "pentecost":
        return sunday + timedelta(days=49), sunday + timedelta(days=50)
    return sunday - timedelta(days=2), sunday + timedelta(days=1)


def easter(year: int) -> date:
    """Easter Sunday of the western churches, by the arithmetic of the Gregorian calendar."""
    golden = year % 19
    century = year // 100
    skipped = century - century // 4
    moon = (skipped - (8 * century + 13) // 25 + 19 * golden + 15) % 30
    moon -= (moon // 28) * (1 - (moon // 28) * (29 // (moon + 1)) * ((21 - golden) // 11))
    weekday = (year + year // 4 + moon + 2 - skipped) % 7
    offset = moon - weekday
    month = 3 + (offset + 40) // 44
    return date(year, month, offset + 28 - 31 * (month // 4))
