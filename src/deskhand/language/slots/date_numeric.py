"""Dates written with digits and with the names of months."""

import re
from collections.abc import Iterator
from datetime import date
from functools import cache
from typing import Any, NamedTuple

import re2

from deskhand.config.sections.slots import SlotSpec
from deskhand.language.pattern_set import PatternSet
from deskhand.language.slots.date_words import MONTHS
from deskhand.language.slots.folded_text import Scan, fold
from deskhand.language.slots.slot_context import SlotContext


class Spot(NamedTuple):
    """A place in the folded text and the days it may mean."""

    start: int
    end: int
    days: tuple[date, ...]
    confidence: float
    weekday: int | None = None
    """Set for a weekday on its own, which only repeats what a date beside it says."""
    precision: Any = "exact"


# Python's own patterns where none can take long: what they match is read in a third of the time
_ISO = re.compile(r"\b([0-9]{4})([-/.])([0-9]{1,2})([-/.])([0-9]{1,2})(?:\b|t[0-9])", re.ASCII)
_DOTTED = re.compile(r"\b([0-9]{1,2})\. ?([0-9]{1,2})\.(?: ?([0-9]{4})\b|([0-9]{2})\b)?", re.ASCII)
_SLASHED = re.compile(r"\b([0-9]{1,2})([/-])([0-9]{1,2})([/-])([0-9]{4}|[0-9]{2})\b", re.ASCII)
_SHORT = re2.compile(
    r"\b(?:on|by|until|till|since|before|after|from|am|vom|bis|zum|ab|dne|do|od|ke|ze|el|dia|le|du|au|dnia|dniu)"
    r"(?: the| zum| el| le)? ([0-9]{1,2})([./])([0-9]{1,2})\b"
)
_AMOUNT = re2.compile(
    r"^(?:[.,:/-][0-9]|[0-9]|"
    r" ?(?:€|\$|£|%|kc|czk|eur|usd|gbp|pln|zl|chf|kg|g\b|ks|l\b|ml|cm|mm|km))"
)
_RANGE = re2.compile(
    r"(?:^|[^0-9.,/])([0-9]{1,2})\.?(?:st|nd|rd|th)? ?(?:-|to|az|bis|al|au|do|a|y|and|und|et|i) ?$"
)
_WHO_MAY = re2.compile(r"\b(?:it|i|we|you|they|he|she|that|this|which|who|there) $")
_FAR = 150
"""Days from which on a date without a year may as well lie on the other side of today."""


def numeric_spots(
    scan: Scan, context: SlotContext, spec: SlotSpec, languages: tuple[str, ...]
) -> Iterator[Spot]:
    """Every place that writes a date with digits, form by form."""
    forms = _forms(languages).candidates(scan.folded)
    if not forms:
        return
    reader = _Reader(context.now.date(), spec.prefer)
    order = spec.order or _order(context.language)
    by_form = (
        lambda: _day_first(scan, reader, languages),
        lambda: _month_first(scan, reader, languages),
        lambda: _iso_dates(scan, reader),
        lambda: _dotted_dates(scan, reader),
        lambda: _slashed_dates(scan, reader, order),
        lambda: _short_dates(scan, reader, order),
    )
    for form in forms:
        yield from by_form[form]()


@cache
def _forms(languages: tuple[str, ...]) -> PatternSet:
    """All forms at once: most texts have dates of one form or of none."""
    day_first, month_first, _ = _month_patterns(languages)
    patterns = (day_first, month_first, _ISO, _DOTTED, _SLASHED, _SHORT)
    return PatternSet([pattern.pattern for pattern in patterns])


def _iso_dates(scan: Scan, reader: "_Reader") -> Iterator[Spot]:
    """Dates like `2025-03-14`."""
    for match in scan.candidates(_ISO):
        year, first, month, second, day = match.groups()
        start, end = match.start(), match.end(5)
        if first != second or _inside(scan.folded, start, end):
            continue
        days = reader.full(int(year), int(month), int(day))
        if days:
            yield Spot(start, end, days, 0.98)


def _dotted_dates(scan: Scan, reader: "_Reader") -> Iterator[Spot]:
    """14. 3. 2025, 14.3."""
    for match in scan.candidates(_DOTTED):
        day, month, long, short = match.groups()
        if not _inside(scan.folded, *match.span()):
            yield from reader.dated(scan.folded, match, int(day), int(month), long or short)


def _slashed_dates(scan: Scan, reader: "_Reader", order: str | None) -> Iterator[Spot]:
    """Dates like `14/3/2025`, `3/14/25` and `14-3-2025`."""
    for match in scan.candidates(_SLASHED):
        left, first, right, second, year = match.groups()
        written_as_date = first == second and (first == "/" or len(year) == 4)
        if written_as_date and not _inside(scan.folded, *match.span()):
            yield from _spot(match, reader.either(int(left), int(right), year, order), 0.95)


def _short_dates(scan: Scan, reader: "_Reader", order: str | None) -> Iterator[Spot]:
    """`on 14/3` and `am 14.03`: without a year only after a word that goes before dates."""
    for match in scan.candidates(_SHORT):
        left, separator, right = match.groups()
        dotted = separator == "."
        following = scan.folded[match.end() : match.end() + 6]
        if _AMOUNT.search(following) or (dotted and len(right) < 2):
            continue
        days = reader.either(int(left), int(right), None, "dmy" if dotted else order)
        yield from _spot(match, days, 0.8, start=match.start(1))


def _day_first(scan: Scan, reader: "_Reader", languages: tuple[str, ...]) -> Iterator[Spot]:
    """14 March 2025, 14. Mai"""
    day_first, _, months = _month_patterns(languages)
    for match in scan.candidates(day_first):
        day, name, long, short = match.groups()
        if not _joined_before(scan.folded, match.start()):
            yield from reader.dated(scan.folded, match, int(day), months[name], long or short)


def _month_first(scan: Scan, reader: "_Reader", languages: tuple[str, ...]) -> Iterator[Spot]:
    """March 14, 2025"""
    _, month_first, months = _month_patterns(languages)
    for match in scan.candidates(month_first):
        name, day, year = match.groups()
        before = scan.folded[max(0, match.start() - 8) : match.start()]
        is_verb = name == "may" and _WHO_MAY.search(before)
        if not (is_verb or _AMOUNT.search(scan.folded[match.end() : match.end() + 6])):
            yield from reader.dated(scan.folded, match, int(day), months[name], year)


@cache
def _month_patterns(languages: tuple[str, ...]) -> tuple[Any, Any, dict[str, int]]:
    months: dict[str, int] = {}
    for language in reversed(languages):
        for number, names in enumerate(MONTHS[language].split(), start=1):
            months |= {fold(name): number for name in names.split("/")}
    names = "|".join(sorted(months, key=len, reverse=True))
    day_first = re2.compile(
        r"\b([0-9]{1,2})(?:\.|st|nd|rd|th|er|o|ro|re)?(?:(?: ?[-./]? ?)(?:of |de |du |the"
        rf" )?)({names})\b\.?"
        r"(?:,? ?(?:de |del |of |r\. |[-./])?([0-9]{4})\b|(?: '|[-/])([0-9]{2})\b)?"
    )
    month_first = re2.compile(
        rf"\b({names})\b\.? (?:the )?([0-9]{{1,2}})(?:st|nd|rd|th)?\b(?:,? ?([0-9]{{4}})\b)?"
    )
    return day_first, month_first, months


class _Reader:
    """Puts days together, with the year that was meant where none was written."""

    def __init__(self, today: date, prefer: str | None) -> None:
        self._today = today
        self._prefer = prefer

    def dated(
        self, folded: str, match: Any, day: int, month: int, year: str | None
    ) -> Iterator[Spot]:
        """A day of a month; `15. - 17. 3.` are two days, since no one day is said."""
        days = self._day(day, month, year)
        earlier = _RANGE.search(folded[max(0, match.start() - 12) : match.start()])
        if days and earlier is not None:
            days = tuple(dict.fromkeys((*self._day(int(earlier.group(1)), month, year), *days)))
        yield from _spot(match, days, 0.97 if year else 0.85)

    def either(
        self, left: int, right: int, year: str | None, order: str | None
    ) -> tuple[date, ...]:
        """Day and month in the order given, in the only one that works, or both."""
        day_first = self._day(left, right, year)
        month_first = self._day(right, left, year)
        if order == "dmy":
            return day_first or month_first
        if order is not None:
            return month_first or day_first
        return tuple(dict.fromkeys((*month_first, *day_first)))

    def full(self, year: int, month: int, day: int) -> tuple[date, ...]:
        try:
            return (date(year, month, day),)
        except ValueError:
            return ()

    def _day(self, day: int, month: int, year: str | None) -> tuple[date, ...]:
        if year is None:
            return self._without_year(day, month)
        number = int(year)
        if len(year) == 2:
            number += 2000 if 2000 + number <= self._today.year + 20 else 1900
        return self.full(number, month, day) if 1800 <= number <= 2200 else ()

    def _without_year(self, day: int, month: int) -> tuple[date, ...]:
        years = range(self._today.year - 8, self._today.year + 9)  # a 29 February is near enough
        days = [when for year in years if year > 0 for when in self.full(year, month, day)]
        before = [when for when in days if when <= self._today][-1:]
        after = [when for when in days if when >= self._today][:1]
        if self._prefer is not None:
            return tuple(before if self._prefer == "past" else after)

        nearest = sorted({*before, *after}, key=self._distance)
        if nearest and self._distance(nearest[0]) > _FAR:
            return tuple(sorted(nearest))
        return tuple(nearest[:1])

    def _distance(self, when: date) -> int:
        return abs((when - self._today).days)


def _order(language: str | None) -> str | None:
    """How the language writes 3/4: English alone does not say."""
    tag = (language or "").lower().replace("_", "-")
    if not tag or tag in ("en", "en-ca", "und"):
        return None
    return "mdy" if tag in ("en-us", "en-ph") else "dmy"


def _spot(
    match: Any, days: tuple[date, ...], confidence: float, start: int | None = None
) -> Iterator[Spot]:
    if days:
        begin = match.start() if start is None else start
        yield Spot(begin, match.end(), days, confidence if len(days) == 1 else 0.5)


def _inside(folded: str, start: int, end: int) -> bool:
    """Whether the digits go on around it: a version, an address, a telephone number."""
    after = folded[end : end + 2]
    goes_on = after[:1].isdecimal() or (after[:1] in ("-", "/", ".", ",") and after[1:].isdecimal())
    return goes_on or _joined_before(folded, start)


def _joined_before(folded: str, start: int) -> bool:
    before = folded[max(0, start - 2) : start]
    return before[-1:].isalnum() or (
        before[-1:] in ("-", "/", ".", ",", "+") and before[:1].isalnum()
    )
