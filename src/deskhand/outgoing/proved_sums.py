"""Sums that a second reader writes down, calculated anew: `3 * 540 + 4 * 289 = 2776`.

A model may say how a number follows from others. Whether it does is arithmetic: each number must be
known, and the sum must come out.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

from deskhand.outgoing.values import Value

LONGEST_SUM = 120
_TOKEN = re.compile(r"\s*(\d{1,2}:\d\d|\d{1,9}(?:\.\d{1,4})?|[-+*/()])")
_SIGNS = "+-*/()"
_HOUR = 60


def proves(sums: Sequence[str], value: Value, known: Iterable[Value]) -> bool:
    """Whether one of the sums comes out at this value, with no number that is not known."""
    if value.kind != "number":
        return False
    numbers = set(_numbers_of(known))
    return any(_comes_out(sum_, value, numbers) for sum_ in sums)


def _comes_out(written: str, value: Value, numbers: set[Fraction]) -> bool:
    left, equals, right = written[:LONGEST_SUM].partition("=")
    terms, result = _terms(left), _terms(right)
    if not equals or terms is None or result is None or len(result) != 1:
        return False
    operands = [_number(term) for term in terms if term not in _SIGNS]
    if len(operands) < 2 or not all(operand in numbers for operand in operands):
        return False
    total = _Sum(terms).total()
    if total is None or total != _number(result[0]):
        return False
    of_clocks = any(":" in term for term in terms)
    scale = _HOUR if of_clocks and value.unit == "hour" else 1
    return any(Fraction(reading) * scale == total for reading in value.readings)


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
    hours, colon, minutes = term.partition(":")
    return Fraction(int(hours) * _HOUR + int(minutes)) if colon else Fraction(term)


def _numbers_of(known: Iterable[Value]) -> Iterator[Fraction]:
    for value in known:
        if value.kind not in ("number", "time", "identifier"):
            continue
        for reading in value.readings:
            if re.fullmatch(r"\d+(?:\.\d+)?", reading):
                yield Fraction(reading)


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
