"""Places that mean a day or a week named before: `that afternoon`, `an dem Tag`, `esa semana`."""

from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from typing import NamedTuple

from deskhand.language.meeting_times.day_ranges import week_around
from deskhand.language.meeting_times.day_spot import Days, DaySpot
from deskhand.language.meeting_times.day_words import FOLLOWING_WEEK
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


class _Named(NamedTuple):
    """A day that was named before: its weekday, and its date where that was said."""

    start: int
    weekday: int
    day: date | None
    week: Days | None
    """None where the text says elsewhere which week it is in."""


def back_references(
    spots: Sequence[DaySpot], folded: str, languages: tuple[str, ...], today: date
) -> Iterator[DaySpot]:
    """Each with the only day or week named before it; doubtful with several or none."""
    weeks = [(spot.start, spot.days[0]) for spot in spots if spot.kind == "week"]
    named = list(_named(spots, today))
    if weeks:
        named = [_of_said_week(day) for day in named]
    for match in any_of(DAY, languages).finditer(folded):
        part = compiled(_PART).search(match.group())
        end = match.end() if part is None else match.start() + part.start() - 1
        earlier = [day for day in named if day.start < match.start()]
        yield _same_day(match.start(), end, _only_day(earlier))
    for match in any_of(WEEK, languages).finditer(folded):
        meant = {day.week for day in named if day.start < match.start() and day.week}
        meant |= {week for start, week in weeks if start < match.start()}
        if len(meant) == 1:
            yield DaySpot(match.start(), match.end(), tuple(meant), kind="week")
        else:
            yield DaySpot(match.start(), match.end(), kind="doubt")


def _of_said_week(day: _Named) -> _Named:
    """Without a week that the text does not say itself."""
    return day if day.day is not None else day._replace(week=None)


def following_weeks(
    spots: Sequence[DaySpot], folded: str, languages: tuple[str, ...], today: date
) -> Iterator[DaySpot]:
    """`the week after`: that which follows the week named before it, else this one; doubtful
    after days of several weeks."""
    for match in any_of(FOLLOWING_WEEK, languages).finditer(folded):
        earlier = [spot for spot in spots if spot.start < match.start()]
        weeks = [spot.days[0] for spot in earlier if spot.kind == "week"]
        before = set(weeks[-1:]) or {day.week for day in _named(earlier, today) if day.week}
        before = before or {week_around(today)}
        if len(before) > 1 or any(spot.kind in ("doubt", "stretch") for spot in earlier):
            yield DaySpot(match.start(), match.end(), kind="doubt")
            continue
        [(monday, _)] = before
        week = week_around(monday + timedelta(days=7))
        yield DaySpot(match.start(), match.end(), (week,), kind="week")


def _named(spots: Sequence[DaySpot], today: date) -> Iterator[_Named]:
    for spot in spots:
        if spot.kind == "weekday" and spot.weekday is not None and spot.to_weekday is None:
            week = week_around(_coming(spot.weekday, today))
            yield _Named(spot.start, spot.weekday, None, week)
        elif spot.kind == "day":
            day = spot.days[0][0]
            yield _Named(spot.start, day.weekday(), day, week_around(day))


def _same_day(start: int, end: int, named: _Named | None) -> DaySpot:
    if named is None:
        return DaySpot(start, end, kind="doubt")
    if named.day is None:
        return DaySpot(start, end, weekday=named.weekday, kind="weekday", points_back=True)
    return DaySpot(start, end, ((named.day, named.day),), points_back=True)


def _only_day(earlier: Sequence[_Named]) -> _Named | None:
    dates = {day.day for day in earlier if day.day is not None}
    if not earlier or len(dates) > 1 or len({day.weekday for day in earlier}) > 1:
        return None
    return next((day for day in earlier if day.day is not None), earlier[-1])


def _coming(weekday: int, today: date) -> date:
    """The next day of this name, today not counted."""
    return today + timedelta(days=(weekday - today.weekday() - 1) % 7 + 1)
