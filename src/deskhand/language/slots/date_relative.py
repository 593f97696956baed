"""Dates counted from today: tomorrow, in three days, next Monday, last week."""

from calendar import monthrange
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from functools import cache
from typing import Any

import re2

from deskhand.config.sections.slots import SlotSpec
from deskhand.language.pattern_set import PatternSet
from deskhand.language.slots import date_words as words
from deskhand.language.slots.date_numeric import Spot
from deskhand.language.slots.folded_text import Scan, fold
from deskhand.language.slots.numbers import number_words
from deskhand.language.slots.slot_context import SlotContext

_NEAR_DAYS = 0
"""The number of the pattern of days near today, among all forms."""


def relative_spots(
    scan: Scan, context: SlotContext, spec: SlotSpec, languages: tuple[str, ...]
) -> Iterator[Spot]:
    today = context.now.date()
    likely = _forms(languages).candidates(scan.folded)
    if not likely:  # as in most texts
        return
    if _NEAR_DAYS in likely:
        yield from _near_days(scan, today, languages)
    first_named = _NEAR_DAYS + 1
    first_counted = first_named + len(languages)
    counted = [form - first_counted for form in likely if form >= first_counted]
    yield from _counted(scan, today, languages, counted)
    named = [
        languages[form - first_named] for form in likely if first_named <= form < first_counted
    ]
    yield from _named(scan, today, spec.prefer, named)


@cache
def _forms(languages: tuple[str, ...]) -> PatternSet:
    """All patterns of these languages, to be asked at once which of them can match: days near
    today, then weekdays and periods by language, then what is counted."""
    near, _ = _near_day_pattern(languages)
    named = [_named_pattern(language)[0] for language in languages]
    counted = [pattern for _, pattern, _ in _counted_forms(languages)]
    return PatternSet([pattern.pattern for pattern in (near, *named, *counted)])


def _near_days(scan: Scan, today: date, languages: tuple[str, ...]) -> Iterator[Spot]:
    pattern, offsets = _near_day_pattern(languages)
    for match in scan.candidates(pattern):
        word = match.group()
        guard = words.NOT_AFTER.get(word)
        if guard is not None and _compiled(rf"\b(?:{guard}) $").search(
            scan.folded[max(0, match.start() - 12) : match.start()]
        ):
            continue
        yield from _spot(match, _shifted(today, offsets[word], "day"), 0.95)


@cache
def _near_day_pattern(languages: tuple[str, ...]) -> tuple[Any, dict[str, int]]:
    offsets = {
        fold(phrase): offset
        for language in reversed(languages)
        for phrase, offset in words.NEAR_DAYS[language].items()
    }
    if len(languages) > 2:
        offsets = {
            phrase: offset
            for phrase, offset in offsets.items()
            if phrase not in words.FALSE_FRIENDS
        }
    phrases = "|".join(sorted(offsets, key=len, reverse=True))
    return re2.compile(rf"\b(?:{phrases})\b"), offsets


def _counted(
    scan: Scan, today: date, languages: tuple[str, ...], likely: Sequence[int]
) -> Iterator[Spot]:
    """In three days, two weeks ago: the forms with these numbers."""
    for number_of_form in likely:
        language, pattern, sign = _counted_forms(languages)[number_of_form]
        for match in scan.candidates(pattern):
            number, unit = match.groups()
            count = _count(number, language)
            yield from _spot(match, _shifted(today, sign * count, _unit_of(unit, language)), 0.93)


@cache
def _counted_forms(languages: tuple[str, ...]) -> list[tuple[str, Any, int]]:
    return [(language, *form) for language in languages for form in _counted_patterns(language)]


@cache
def _counted_patterns(language: str) -> tuple[tuple[Any, int], ...]:
    longest_first = sorted(number_words((language,)), key=len, reverse=True)
    numbers = "|".join(filter(None, ["[0-9]{1,4}", *longest_first]))
    few = words.FEW[language]
    count = f"({numbers}|{few})" if few else f"({numbers})"
    unit = f"({'|'.join(words.SPANS[language].values())})"
    ahead = [(form, 1) for form in words.AHEAD[language]]
    ago = [(form, -1) for form in words.AGO[language]]
    forms = [*ahead, *ago]
    return tuple(
        (re2.compile(rf"\b{form.format(n=count, u=unit)}\b"), sign) for form, sign in forms
    )


def _count(number: str | None, language: str) -> int:
    if number is None or number in words.FEW[language].split("|"):
        return 1
    return int(number) if number.isdecimal() else number_words((language,))[number]


def _unit_of(written: str, language: str) -> str:
    return next(
        unit
        for unit, form in words.SPANS[language].items()
        if _compiled(f"^(?:{form})$").search(written)
    )


def _named(scan: Scan, today: date, prefer: str | None, languages: Sequence[str]) -> Iterator[Spot]:
    """Weekdays, and weeks, months and years with a word that says which."""
    for language in languages:
        pattern, weekdays = _named_pattern(language)
        for match in scan.candidates(pattern):
            first, noun, after_next, after_last = match.groups()
            which = _which(first, after_next, after_last, language)
            if noun in weekdays:
                yield from _weekday(match, today, weekdays[noun], which, prefer)
            elif which is not None:
                yield from _period(match, today, _unit_of(noun, language), which)


@cache
def _named_pattern(language: str) -> tuple[Any, dict[str, int]]:
    weekdays = {
        fold(name): number
        for number, names in enumerate(words.WEEKDAYS[language].split())
        for name in names.split("/")
    }
    spans = words.SPANS[language]
    nouns = "|".join(
        [*sorted(weekdays, key=len, reverse=True), spans["week"], spans["month"], spans["year"]]
    )
    before = f"{words.NEXT[language]}|{words.LAST[language]}|{words.THIS[language]}"
    after_next, after_last = words.AFTERWARDS.get(language, ("~", "~"))
    after = rf"(?: (?:({after_next})|({after_last}))\b)?"
    return re2.compile(rf"\b(?:({before}) )?({nouns})\b{after}"), weekdays


def _which(
    first: str | None, after_next: str | None, after_last: str | None, language: str
) -> str | None:
    if after_next or (first and _compiled(f"^(?:{words.NEXT[language]})$").search(first)):
        return "next"
    if after_last or (first and _compiled(f"^(?:{words.LAST[language]})$").search(first)):
        return "last"
    return "this" if first else None


def _weekday(
    match: Any, today: date, number: int, which: str | None, prefer: str | None
) -> Iterator[Spot]:
    """`next Friday` on a Wednesday may be in two days or in nine: then both are possible."""
    monday = today.toordinal() - today.weekday()
    coming = today.toordinal() + ((number - today.weekday() - 1) % 7 + 1)
    gone = today.toordinal() - ((today.weekday() - number - 1) % 7 + 1)
    if which == "next":
        days, confidence = {coming, monday + 7 + number}, 0.9
    elif which == "last":
        days, confidence = {gone, monday - 7 + number}, 0.9
    elif which == "this":
        days, confidence = {monday + number}, 0.85
    elif prefer == "past":
        days, confidence = {gone}, 0.8
    else:
        days, confidence = {coming}, 0.8 if prefer else 0.6
    possible = tuple(day for ordinal in sorted(days) for day in _from_ordinal(ordinal))
    if len(possible) > 1:
        confidence = 0.5
    if possible:
        plain = number if which is None else None
        yield Spot(match.start(), match.end(), possible, confidence, plain)


def _period(match: Any, today: date, unit: str, which: str) -> Iterator[Spot]:
    step = {"next": 1, "last": -1, "this": 0}[which]
    if unit == "week":
        days = _from_ordinal(today.toordinal() - today.weekday() + 7 * step)
    else:
        first = today.replace(day=1) if unit == "month" else today.replace(day=1, month=1)
        days = _shifted(first, step, unit)
    if days:
        yield Spot(match.start(), match.end(), days, 0.6, precision=unit)


def _shifted(today: date, count: int, unit: str) -> tuple[date, ...]:
    """The day so far away; none beyond the calendar's ends."""
    try:
        if unit == "workday":
            return (workdays_away(today, count),)
        if unit in ("day", "week"):
            return (today + timedelta(days=count * (7 if unit == "week" else 1)),)
        months = today.year * 12 + today.month - 1 + count * (12 if unit == "year" else 1)
        year, month = divmod(months, 12)
        return (date(year, month + 1, min(today.day, monthrange(year, month + 1)[1])),)
    except (ValueError, OverflowError):
        return ()


def workdays_away(today: date, count: int) -> date:
    """So many days away, Saturdays and Sundays not counted; public holidays are not known here."""
    weeks, rest = divmod(abs(count), 5)
    sign = 1 if count >= 0 else -1
    while count and today.weekday() > 4:
        today -= timedelta(days=sign)  # five days from a Saturday end on the Friday
    day = today + timedelta(days=7 * weeks * sign)
    while rest or day.weekday() > 4:
        day += timedelta(days=sign)
        rest -= 1 if day.weekday() <= 4 and rest else 0
    return day


def _from_ordinal(ordinal: int) -> tuple[date, ...]:
    return (date.fromordinal(ordinal),) if 1 <= ordinal <= date.max.toordinal() else ()


def _spot(match: Any, days: tuple[date, ...], confidence: float) -> Iterator[Spot]:
    if days:
        yield Spot(match.start(), match.end(), days, confidence)


@cache
def _compiled(pattern: str) -> Any:
    return re2.compile(pattern)
