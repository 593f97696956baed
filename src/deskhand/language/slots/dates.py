"""Dates, absolute and relative, with a time of day if the slot wants one."""

from collections.abc import Iterator
from datetime import date, datetime, time
from itertools import pairwise
from zoneinfo import ZoneInfo

import re2

from deskhand.config.sections.slots import SlotSpec
from deskhand.language.slots.date_numeric import Spot, numeric_spots
from deskhand.language.slots.date_relative import relative_spots
from deskhand.language.slots.folded_text import Scan
from deskhand.language.slots.numbers import KNOWN_LANGUAGES, languages_of
from deskhand.language.slots.slot_context import SlotContext
from deskhand.language.slots.slot_value import SlotMatch

_BESIDE = re2.compile(
    r"^[ ,.(]{0,3}(?:(?:the|den|dne|dnia|am|dem|der|el|le|on|d\.|tj|that is) ?){0,2}[ ,.(]{0,2}$"
)
_CLOCK = (
    r"(?:([0-9]{1,2})(?:[:.]|h)([0-9]{2})|([0-9]{1,2}))"
    r" ?(a\.?m\b\.?|p\.?m\b\.?|uhr\b|hodin[a-z]?\b|hod\b\.?|h\b|"
    r"heures?\b|o'clock\b|godz[a-z]*\b)?"
)
_BEFORE_CLOCK = (
    r"(?:at|um|ve?|o|o godz\.?|o godzinie|a"
    r" las?|a|kolem|gegen|vers|okolo|ab|around|about|from|after|in the|kl\.?)"
)
_CLOCK_AFTER = re2.compile(rf"^[ ,]{{0,2}}(?:{_BEFORE_CLOCK} )?{_CLOCK}")
_CLOCK_BEFORE = re2.compile(rf"(?:^|[^0-9.:]){_CLOCK}[ ,]{{1,2}}(?:on |am |dne |el |le |w |v )?$")
_REACH = 32


class DateExtractor:
    def __init__(self, spec: SlotSpec) -> None:
        self._spec = spec
        self._zone = ZoneInfo(spec.time_zone) if spec.time_zone else None

    def find(self, scan: Scan, context: SlotContext) -> Iterator[SlotMatch]:
        local = context._replace(now=context.now.astimezone(self._zone)) if self._zone else context
        spots = date_spots(scan, local, self._spec)
        trust = 1.0
        all_read = len(languages_of(context.language)) == len(KNOWN_LANGUAGES)
        if not spots and not all_read:  # the language may have been mistaken
            spots = date_spots(scan, local, self._spec, KNOWN_LANGUAGES)
            trust = 0.8
        for spot in spots:
            for day in spot.days:
                value, start, end = self._value(scan.folded, spot, day, local)
                yield scan.match(
                    value, start, end, spot.confidence * trust, precision=spot.precision
                )

    def _value(
        self, folded: str, spot: Spot, day: date, context: SlotContext
    ) -> tuple[str, int, int]:
        if not self._spec.time or spot.precision != "exact":
            return day.isoformat(), spot.start, spot.end
        after = _CLOCK_AFTER.search(folded[spot.end : spot.end + _REACH])
        if after is not None and (clock := _clock(after.groups())):
            return _moment(day, clock, context.now), spot.start, spot.end + after.end()
        begin = max(0, spot.start - _REACH)
        before = _CLOCK_BEFORE.search(folded[begin : spot.start])
        if before is not None and (clock := _clock(before.groups())):
            start = begin + min(place for place in (before.start(1), before.start(3)) if place >= 0)
            return _moment(day, clock, context.now), start, spot.end
        return day.isoformat(), spot.start, spot.end


def date_spots(
    scan: Scan, context: SlotContext, spec: SlotSpec, languages: tuple[str, ...] | None = None
) -> list[Spot]:
    """The places that speak of days, in order, in the text's own language or in those given."""
    languages = languages or languages_of(context.language)
    spots = [
        *numeric_spots(scan, context, spec, languages),
        *relative_spots(scan, context, spec, languages),
    ]
    return _without_echoes(scan.folded, _apart(spots))


def _clock(parts: tuple[str | None, ...]) -> time | None:
    """A time of day, if it is one: `14:30`, `2 pm`, `14 Uhr`, but not a mere number."""
    hour_text, minutes, alone, suffix = parts
    if not minutes and not suffix:
        return None
    hour = int(hour_text or alone or 0)
    half = (suffix or "")[:1]
    if half in ("a", "p") and hour <= 12:
        hour = hour % 12 + (12 if half == "p" else 0)
    return time(hour, int(minutes or 0)) if hour <= 23 and int(minutes or 0) <= 59 else None


def _moment(day: date, clock: time, now: datetime) -> str:
    return datetime.combine(day, clock, tzinfo=now.tzinfo).isoformat()


def _apart(spots: list[Spot]) -> list[Spot]:
    """In the order of the text; of two that overlap the one that begins first, then the longer."""
    kept: list[Spot] = []
    for spot in sorted(spots, key=lambda spot: (spot.start, -spot.end)):
        if not kept or spot.start >= kept[-1].end:
            kept.append(spot)
    return kept


def _without_echoes(folded: str, spots: list[Spot]) -> list[Spot]:
    """`Friday, 14 March` is one date; with the wrong weekday it is a doubtful one."""
    echoes: set[int] = set()
    doubtful: set[int] = set()
    for index, (left, right) in enumerate(pairwise(spots)):
        same_kind = (left.weekday is None) == (right.weekday is None)
        if same_kind or not _BESIDE.search(folded[left.end : right.start][:16]):
            continue
        echo, dated = (index + 1, index) if left.weekday is None else (index, index + 1)
        echoes.add(echo)
        weekday = spots[echo].weekday
        if all(day.weekday() != weekday for day in spots[dated].days):
            doubtful.add(dated)
    kept: list[Spot] = []
    for index, spot in enumerate(spots):
        if index in doubtful:
            spot = spot._replace(confidence=min(spot.confidence, 0.6))
        if index not in echoes:
            kept.append(spot)
    return kept
