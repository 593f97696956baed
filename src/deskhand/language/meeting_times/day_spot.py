"""A place of a text that speaks of days, and what a bound leaves of them."""

from datetime import date, timedelta
from typing import NamedTuple

Days = tuple[date, date]
_ONWARDS = timedelta(days=13)


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
