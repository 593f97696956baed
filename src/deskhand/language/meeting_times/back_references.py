"""Places that mean a day or a week named before: `that afternoon`, `an dem Tag`, `esa semana`."""

from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from typing import NamedTuple

from deskhand.language.meeting_times.meeting_phrases import any_of, compiled

DAY: dict[str, str] = {
    "en": r"\b(?:on |during )?that (?:very |same )?day\b|\bthat (?:morning|afternoon|evening)\b",
    "cs": r"\b(?:v )?ten (?:samy )?den\b|\btoho dne\b",
    "de": r"\ban (?:dem|diesem|jenem) (?:tage?|vormittag|nachmittag|mittag)\b",
    "es": r"\b(?:en )?(?:ese|aquel)(?: mismo)? dia\b|\b(?:esa|aquella)(?: misma)? tarde\b",
}
_PART = r"(?:morning|afternoon|evening|vormittag|nachmittag|mittag|tarde)$"
WEEK: dict[str, str] = {
    "en": r"\b(?:in |during )?that (?:very |same )?week\b",
    "cs": r"\b(?:v )?ten samy tyden\b|\bv tom (?:samem )?tydnu\b|\bten tyden\b",
    "de": r"\bin (?:jener|derselben) woche\b",
    "es": r"\b(?:en )?(?:esa|aquella)(?: misma)? semana\b",
}


class Named(NamedTuple):
    """A day that was named before: its weekday, and its date where that was said."""

    start: int
    weekday: int
    day: date | None
    week: tuple[date, date] | None
    """None where the text says elsewhere which week it is in."""


class BackReference(NamedTuple):
    """A place that points back, and what it means; both None where that is doubtful."""

    start: int
    end: int
    day: Named | None = None
    week: tuple[date, date] | None = None


def back_references(
    folded: str,
    named: Sequence[Named],
    weeks: Sequence[tuple[int, tuple[date, date]]],
    languages: tuple[str, ...],
) -> Iterator[BackReference]:
    """Each with the only day or week named before it; with several it is doubtful."""
    for match in any_of(DAY, languages).finditer(folded):
        part = compiled(_PART).search(match.group())
        end = match.end() if part is None else match.start() + part.start() - 1
        earlier = [day for day in named if day.start < match.start()]
        yield BackReference(match.start(), end, day=_only_day(earlier))
    for match in any_of(WEEK, languages).finditer(folded):
        meant = {day.week for day in named if day.start < match.start() and day.week}
        meant |= {week for start, week in weeks if start < match.start()}
        only = next(iter(meant)) if len(meant) == 1 else None
        yield BackReference(match.start(), match.end(), week=only)


def _only_day(earlier: Sequence[Named]) -> Named | None:
    dates = {day.day for day in earlier if day.day is not None}
    if not earlier or len(dates) > 1 or len({day.weekday for day in earlier}) > 1:
        return None
    return next((day for day in earlier if day.day is not None), earlier[-1])


def coming(weekday: int, today: date) -> date:
    """The next day of this name, today not counted."""
    return today + timedelta(days=(weekday - today.weekday() - 1) % 7 + 1)
