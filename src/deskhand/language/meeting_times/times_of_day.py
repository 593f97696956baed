"""Times of day in a text: at two, between two and four, in the afternoon."""

from collections.abc import Iterator
from datetime import time
from typing import Any, NamedTuple

from deskhand.language.meeting_times import meeting_phrases
from deskhand.language.meeting_times.meeting_phrases import any_of, compiled

NOON = time(12)
_HOURS = r"a\.?m\b\.?|p\.?m\b\.?|uhr\b|hodin\w*|hod\b\.?|h\b|o'clock\b"
_CLOCK = rf"(?:([0-9]{{1,2}})[:.]([0-9]{{2}})|([0-9]{{1,2}}))(?:\.? ?({_HOURS}))?"
_NOT_TIME = compiled(
    r"^(?:[0-9]|[.:/-][0-9]|"
    r" ?(?:%|€|\$|eur|kc|czk|people|persons|osob|lidi|personen|personas|days?|dn|tage|dias?|"
    r"weeks?|tyd|wochen|semanas?|min|cm|mm|m\b|kg|ks|stuck|chairs|desks|st\b|nd\b|rd\b|th\b|\."
    r" ?[a-z0-9]))"
)
_BARE = compiled(r"(?:^|[^a-z0-9])(?:at|@|ve?|um|a las?) [0-9]")
"""After these a number alone is an hour."""
_EARLIEST = 7
"""An hour before this that is written without `am` or a zero is meant in the afternoon."""


class DayTime(NamedTuple):
    """What a text says about the time of day."""

    at: time | None = None
    after: time | None = None
    before: time | None = None


class _Clock(NamedTuple):
    """A place that names a time of day."""

    start: int
    end: int
    kind: str
    """`at`, `after` or `before`."""
    moment: time


def read_day_time(folded: str, languages: tuple[str, ...]) -> DayTime:
    """One time where exactly one is said; limits where it is a span or a part of the day."""
    span = _between(folded, languages)
    if span is not None:
        return DayTime(after=span[0], before=span[1])
    clocks = list(_clocks(folded, languages))
    exact = {clock.moment for clock in clocks if clock.kind == "at"}
    after = {clock.moment for clock in clocks if clock.kind == "after"}
    before = {clock.moment for clock in clocks if clock.kind == "before"}
    if len(exact) == 1 and not after and not before:
        return DayTime(at=next(iter(exact)))
    if not exact and len(after) <= 1 and len(before) <= 1 and (after or before):
        return DayTime(after=next(iter(after), None), before=next(iter(before), None))
    return DayTime() if exact else _part(folded, languages)


def _part(folded: str, languages: tuple[str, ...]) -> DayTime:
    text = compiled(meeting_phrases.GREETING).sub(" ", folded)
    morning = any_of(meeting_phrases.MORNING, languages).search(text) is not None
    afternoon = any_of(meeting_phrases.AFTERNOON, languages).search(text) is not None
    if morning == afternoon:
        return DayTime()
    return DayTime(before=NOON) if morning else DayTime(after=NOON)


def _between(folded: str, languages: tuple[str, ...]) -> tuple[time, time] | None:
    for language in languages:
        opening, joint = meeting_phrases.BETWEEN[language]
        for match in compiled(rf"\b(?:{opening}) {_CLOCK} ?(?:{joint}) ?{_CLOCK}").finditer(folded):
            span = _span(match.groups(), folded[match.end() :])
            if span is not None:
                return span
    for match in compiled(rf"\b{_CLOCK} ?- ?{_CLOCK}").finditer(folded):
        dated = folded[max(0, match.start() - 1) : match.start()] in (".", "/", "-")
        span = None if dated else _span(match.groups(), folded[match.end() :])
        if span is not None:
            return span
    return None


def _span(parts: tuple[str | None, ...], rest: str) -> tuple[time, time] | None:
    if not (parts[1] or parts[3] or parts[5] or parts[7]) or _NOT_TIME.search(rest):
        return None  # `between 5 and 10` may be anything
    suffix = parts[3] or parts[7]
    first = _clock((parts[0], parts[1], parts[2], suffix))
    last = _clock(parts[4:8])
    if first is None or last is None or first >= last:
        return None
    return first, last


def _clocks(folded: str, languages: tuple[str, ...]) -> Iterator[_Clock]:
    taken: list[tuple[int, int]] = []
    for kind, table in (
        ("after", meeting_phrases.AFTER),
        ("before", meeting_phrases.BEFORE),
        ("at", meeting_phrases.AT),
    ):
        opening = "|".join(table[language] for language in languages)
        for match in compiled(rf"(?:^|[^a-z0-9])(?:{opening}) {_CLOCK}").finditer(folded):
            if _NOT_TIME.search(folded[match.end() :]):
                continue
            clock = _clock_at(match, kind, taken)
            if clock is not None:
                taken.append((clock.start, clock.end))
                yield clock
    for match in compiled(rf"(?:^|[^0-9.:/-]){_CLOCK}").finditer(folded):
        if not (match.group(2) or match.group(4)) or _NOT_TIME.search(folded[match.end() :]):
            continue
        clock = _clock_at(match, "at", taken)
        if clock is not None:
            taken.append((clock.start, clock.end))
            yield clock


def _clock_at(match: Any, kind: str, taken: list[tuple[int, int]]) -> _Clock | None:
    """The time of a match; None where it is none, or where another match took the place."""
    start = match.start(1) if match.start(1) >= 0 else match.start(3)
    if any(start < end and begin < match.end() for begin, end in taken):
        return None
    hour, minutes, alone, suffix = match.groups()
    if minutes and not suffix and match.string[match.end(1)] == ".":
        return None  # `3.50` without a word for hours is a price, `16.11` a date
    if not minutes and not suffix and (kind != "at" or not _BARE.search(match.group())):
        return None  # `after 3` may count anything
    clock = _clock((hour, minutes, alone, suffix))
    return None if clock is None else _Clock(start, match.end(), kind, clock)


def _clock(parts: tuple[str | None, ...]) -> time | None:
    hour_text, minutes, alone, suffix = parts
    written = hour_text or alone or ""
    if not written:
        return None
    hour = int(written)
    half = (suffix or "")[:1]
    if half in ("a", "p") and hour <= 12:
        hour = hour % 12 + (12 if half == "p" else 0)
    elif 0 < hour < _EARLIEST and not written.startswith("0"):
        hour += 12
    return time(hour, int(minutes or 0)) if hour <= 23 and int(minutes or 0) <= 59 else None
