"""Sums that a second reader writes down, calculated anew: `3 * 540 + 4 * 289 = 2776`.

A model may say how a number follows from others. Whether it does is arithmetic: each number must be
known, and the sum must come out.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from fractions import Fraction

from deskhand.outgoing.values import Value

MOST_SUMS, LONGEST_SUM = 20, 120
_TOKEN = re.compile(r"\s*(\d{1,2}:\d\d|\d{1,9}(?:\.\d{1,4})?|[-+*/()])")
_BETWEEN = re.compile(r"[;,\n]\s+")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_SIGNS = "+-*/()"
_HOUR, _YEAR, _WEEK = 60, 12, 7
_EVERYWHERE = frozenset((Fraction(_YEAR), Fraction(100)))
"""Months of a year and parts of a hundred: no source has to name them."""
_SCALES = {"hour": Fraction(_HOUR), "month": Fraction(1, _YEAR), "day": Fraction(1, _WEEK)}
"""What a value is counted in where it is written in hours, years or weeks."""


def proves(sums: Sequence[str], value: Value, known: Iterable[Value]) -> bool:
    """Whether one of the sums comes out at this value, with no number that is not known.

    What one sum comes to is known to the next.
    """
    if value.kind != "number":
        return False
    numbers = {*_EVERYWHERE, *_numbers_of(known)}
    written = [part for sum_ in sums for part in _BETWEEN.split(sum_)]
    for each in written[:MOST_SUMS]:
        total = _proved(each[:LONGEST_SUM], numbers)
        if total is None:
            continue
        if any(_is_same(Fraction(reading), value.unit, total) for reading in value.readings):
            return True
        numbers.add(total)
    return False


def _proved(written: str, numbers: set[Fraction]) -> Fraction | None:
    """What a sum comes to; None where it does not come out or holds a number that is not known."""
    left, equals, right = written.partition("=")
    terms, result = _terms(left), _terms(right)
    if not equals or terms is None or result is None or len(result) != 1:
        return None
    operands = [_number(term) for term in terms if term not in _SIGNS]
    if len(operands) < 2 or not all(operand in numbers for operand in operands):
        return None
    total = _Sum(terms).total()
    return _number(result[0]) if total is not None and _comes_to(total, result[0]) else None


def _comes_to(total: Fraction, written: str) -> bool:
    """Whether a sum is what is written, rounded to its hundredths at most."""
    if total == _number(written):
        return True
    has_hundredths = len(written.partition(".")[2]) >= 2
    return has_hundredths and round(total, 2) == _number(written)


def _is_same(reading: Fraction, unit: str, total: Fraction) -> bool:
    return total in (reading, reading * _SCALES.get(unit, Fraction(1)))


def _terms(text: str) -> list[str] | None:
    """The numbers and signs of one side; None where anything else stands there."""
    terms: list[str] = []
    place = 0
    while text[place:].strip():
        match = _TOKEN.match(text, place)
        if match is None:
            return None
        terms.append(match[1])
        place = match.end()
    return terms


def _number(term: str) -> Fraction:
    """A number as it is, a time of day in minutes after midnight."""
    if term in _SIGNS:
        return Fraction(-1)
    hours, colon, minutes = term.partition(":")
    return Fraction(int(hours) * _HOUR + int(minutes)) if colon else Fraction(Decimal(term))


def _numbers_of(known: Iterable[Value]) -> Iterator[Fraction]:
    """The numbers that sums may begin from: values as they are, as shares, in years and weeks."""
    for value in known:
        if value.kind not in ("number", "time", "identifier"):
            continue
        for reading in filter(_NUMBER.fullmatch, value.readings):
            number = Fraction(Decimal(reading))
            yield number
            if value.unit == "percent":
                yield from (number / 100, 1 - number / 100, 1 + number / 100)
            if value.unit in _SCALES:
                yield number * _SCALES[value.unit]


class _Sum:
    """Additions of products of numbers and of sums in brackets."""

    def __init__(self, terms: Sequence[str]) -> None:
        self._terms, self._place = list(terms), 0

    def total(self) -> Fraction | None:
        """What it comes to; None where it is no sum."""
        try:
            total = self._added()
        except (IndexError, ValueError, ZeroDivisionError):
            return None
        return total if self._place == len(self._terms) else None

    def _added(self) -> Fraction:
        total = self._multiplied()
        while self._next_is("+-"):
            is_added = self._taken() == "+"
            part = self._multiplied()
            total = total + part if is_added else total - part
        return total

    def _multiplied(self) -> Fraction:
        product = self._single()
        while self._next_is("*/"):
            is_product = self._taken() == "*"
            part = self._single()
            product = product * part if is_product else product / part
        return product

    def _single(self) -> Fraction:
        term = self._taken()
        if term != "(":
            if term in _SIGNS:
                raise ValueError("a sign where a number belongs")
            return _number(term)
        inner = self._added()
        if self._taken() != ")":
            raise ValueError("a bracket is not closed")
        return inner

    def _next_is(self, signs: str) -> bool:
        return self._place < len(self._terms) and self._terms[self._place] in signs

    def _taken(self) -> str:
        self._place += 1
        return self._terms[self._place - 1]
