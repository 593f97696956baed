"""What a number counts: the unit or currency beside it, with weeks as days and years as months."""

import re
from collections.abc import Sequence
from decimal import Decimal

from deskhand.outgoing.claim_words import meanings_of, words_of
from deskhand.outgoing.values import MONEY, Value

_AFTER = re.compile(r"[ -]{0,2}(?:([a-z']+)[ -])?([a-z'%°]+|[€$£])(?: ([a-z]+))?")
_BEFORE = re.compile(r"([€$£]|\b[a-z]{2,3}) ?$")
_RANGE = re.compile(r" ?(?:-|,|to|az|bis|do|a|o|ou|or|oder|nebo|and|und|y|et|i) ?$")
_INTO: dict[str, tuple[str, int]] = {"week": ("day", 7), "year": ("month", 12)}
_WORD = re.compile(r"[a-z]+")


def unit_after(folded: str, end: int) -> tuple[str, int]:
    """What stands behind a number, and where that ends."""
    match = _AFTER.match(folded, end)
    if match is None:
        return "", end
    units, working = meanings_of("units"), words_of("working")
    adjective, word, later = match.groups()
    if adjective is not None and word in units and (adjective in working or adjective not in units):
        is_work = adjective in working
        if is_work or _is_measure_word(adjective):
            return _unit(units[word], is_work), match.end(2)
    if adjective is not None:
        word, later = adjective, word
        later_end = match.end(2)
    else:
        later_end = match.end(3) if later is not None else end
    if word not in units:
        return "", end
    is_work = later is not None and later in working
    word_end = folded.index(word, end) + len(word)
    return _unit(units[word], is_work), later_end if is_work else word_end


def currency_before(folded: str, start: int) -> str:
    """The currency that stands before a number, or nothing."""
    match = _BEFORE.search(folded[max(0, start - 5) : start])
    unit = meanings_of("units").get(match[1], "") if match is not None else ""
    return unit if unit in MONEY else ""


def converted(
    readings: set[str], unit: str, start: int, end: int
) -> tuple[set[str], int, int, str]:
    """Weeks as days, years as months."""
    if unit in _INTO:
        unit, factor = _INTO[unit]
        readings = {f"{(Decimal(reading) * factor).normalize():f}" for reading in readings}
    if unit == "oclock":
        unit = "hour"
    return readings, start, end, unit


def with_shared_units(values: Sequence[Value], folded: str) -> list[Value]:
    """Numbers count what the last of their list does: `2-3 weeks`, `490, 540 and 590 EUR`."""
    shared: list[Value] = []
    for value in sorted(values, key=lambda value: value.start, reverse=True):
        following = shared[-1] if shared else None
        is_open = value.kind == "number" and not value.unit
        if is_open and following is not None and following.kind == "number" and following.unit:
            between = folded[value.end : following.start]
            if _RANGE.fullmatch(between):
                factor = _factor(folded, following)
                readings = {
                    f"{(Decimal(reading) * factor).normalize():f}" for reading in value.readings
                }
                value = value._replace(unit=following.unit, readings=frozenset(readings))
        shared.append(value)
    return shared[::-1]


def _is_measure_word(word: str) -> bool:
    """Words between a number and its unit that change nothing: `30 calendar days`."""
    return word in ("calendar", "full", "whole", "kalendarnich", "celych", "volle", "ganze", "dias")


def _unit(name: str, is_work: bool) -> str:
    return "workday" if is_work and name == "day" else name


def _factor(folded: str, value: Value) -> int:
    words = _WORD.findall(folded[value.start : value.end])
    names = [meanings_of("units").get(word, "") for word in words]
    return next((_INTO[name][1] for name in names if name in _INTO), 1)
