"""A place of a text that speaks of days, and what a bound leaves of them."""

from datetime import date, timedelta
from typing import NamedTuple

from deskhand.language.meeting_times.day_words import LIMIT_BEFORE
from deskhand.language.meeting_times.meeting_phrases import compiled

Days = tuple[date, date]
_ONWARDS = timedelta(days=13)
_REACH = 40
"""How far before a place its bound is looked for, in characters."""
_COME_BY = compiled(r"\b(?:(?:come|drop|stop|pass|swing)(?: round)? by|apart from) $")


class DaySpot(NamedTuple):
    """A place and the days it means; none where it is doubtful."""

    start: int
    end: int
    days: tuple[Days, ...] = ()
    weekday: int | None = None
    """A weekday on its own: which week it is in, the rest of the text says."""
    kind: str = "day"
    """`day`, `week`, `stretch`, `weekday`, `weekly`, `past` or `doubt`."""
    limit: str = ""
    """`until`, `before`, `from` or `after`, where it only bounds the days that suit."""
    to_weekday: int | None = None
    """The last of a range of weekdays."""
    points_back: bool = False
    """Whether it means a day that was named before: `that day`."""


def limited(spot: DaySpot, folded: str, languages: tuple[str, ...]) -> DaySpot:
    """Until Wednesday, from Tuesday on: with the words before it that say so."""
    if spot.to_weekday is not None or spot.limit or spot.kind in ("past", "weekly"):
        return spot
    lead = folded[max(0, spot.start - _REACH) : spot.start]
    for language in languages:
        for limit, form in LIMIT_BEFORE[language].items():
            match = compiled(rf"\b(?:{form}) $").search(lead)
            if match is not None and not _COME_BY.search(lead):
                return spot._replace(start=spot.start - len(match.group()), limit=limit)
    return spot


def bounded(spot: DaySpot, days: Days, frame: Days | None, today: date) -> Days:
    """The days that a bound leaves, within the week that was named or from today on."""
    first, last = days
    start, end = frame or (today, last + _ONWARDS)
    if spot.limit == "until":
        return min(start, last), last
    if spot.limit == "before":
        return min(start, first - timedelta(days=1)), first - timedelta(days=1)
    if spot.limit == "from":
        return first, max(end, first)
    return last + timedelta(days=1), max(end, last + timedelta(days=1))
