"""Counting working time: how much of a span it is, and when so much of it has passed."""

from datetime import UTC, datetime, timedelta

from deskhand.model.booking import Span
from deskhand.scheduling.hours import Hours

_PORTION = timedelta(days=14)
_FARTHEST = timedelta(days=3 * 366)
"""Hours that do not open within this time never do."""


def worked_between(hours: Hours, start: float, end: float) -> float:
    """Seconds of working time between two moments."""
    if end <= start:
        return 0.0
    opened = hours.open(Span(_moment(start), _moment(end)))
    return sum((span.end - span.start).total_seconds() for span in opened)


def after_working(hours: Hours, start: float, seconds: float) -> float | None:
    """The moment at which so many seconds of working time have passed; None where the hours never
    open for so long."""
    left = seconds
    begin = _moment(start)
    farthest = begin + _FARTHEST
    while begin < farthest:
        end = begin + _PORTION
        for span in hours.open(Span(begin, end)):
            length = (span.end - span.start).total_seconds()
            if length >= left:
                return span.start.timestamp() + left
            left -= length
        begin = end
    return None


def _moment(at: float) -> datetime:
    return datetime.fromtimestamp(at, UTC)
