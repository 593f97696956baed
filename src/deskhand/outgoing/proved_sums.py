"""Sums that a second reader writes down, calculated anew: `3 * 540 + 4 * 289 = 2776`.

A model may say how a number follows from others. Whether it does is arithmetic: each number must be
known, the sum must come out, and what it comes to must be counted in what it was made of: days and
pieces make no euros. That the sum is the one which was asked for is the reader's to say.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

from deskhand.outgoing.values import MONEY, Value

MOST_SUMS, LONGEST_SUM = 20, 120
_MOST_NUMBERS, _DEEPEST = 12, 6
_TOKEN = re.compile(r"\s*([0-9]{1,2}:[0-9]{2}|[0-9]{1,9}(?:\.[0-9]{1,4})?|[-+*/()])")
_BETWEEN = re.compile(r"[;,\n]\s+")
_NUMBER = re.compile(r"[0-9]{1,12}(?:\.[0-9]{1,6})?")
_SIGNS = "+-*/()"
_OTHER_SIGNS = str.maketrans("×·−–÷", "**--/")
_HOUR, _YEAR, _WEEK = 60, 12, 7
_LENGTH = "length"
_SCALES = {
    "m": Fraction(100),
    "hour": Fraction(_HOUR),
    "month": Fraction(1, _YEAR),
    "day": Fraction(1, _WEEK),
}
"""What a value is counted in where it is written in metres, hours, years or weeks."""
_FAMILIES = {"hour": "clock", "minute": "clock", "month": "calendar", "workday": "calendar"}
_FAMILIES |= {"day": "calendar", "cm": _LENGTH, "m": _LENGTH}
_OPEN = ""
_HOURS = 24
_OF_CLOCK = frozenset(("clock",))


class _Quantity(NamedTuple):
    """A number and what it may count: `_OPEN` where no unit stands beside it."""

    number: Fraction
    units: frozenset[str]
    is_told: bool = True
    """Whether a source or the customer says it: it is no number that everybody knows."""


_EVERYWHERE = (
    _Quantity(Fraction(_YEAR), frozenset(("calendar",)), is_told=False),
    _Quantity(Fraction(100), frozenset(("percent",)), is_told=False),
)
"""Months of a year and parts of a hundred: no source has to name them."""


def proves(sums: Sequence[str], value: Value, stated: Iterable[Value]) -> bool:
    """Whether one of the sums comes out at this value, with no number that is not known.

    What one sum comes to is known to the next.
    """
    if value.kind != "number" or not sums:
        return False
    wanted = [_fraction(reading) for reading in value.readings if _NUMBER.fullmatch(reading)]
    quantities = _by_number(stated)
    for written in _each(sums):
        total = _proved(written, quantities)
        if total is None:
            continue
        if any(_is_same(number, value.unit, total) for number in wanted):
            return True
        _add(quantities, total)
    return False


def comes_out(written: str) -> bool:
    """Whether a sum among these is right, wherever its numbers come from."""
    return any(_is_right(each) for each in _each([written]))


def _each(sums: Sequence[str]) -> list[str]:
    """The single sums, as far as they are looked at."""
    parts = [part for written in sums[:MOST_SUMS] for part in _BETWEEN.split(written)]
    return [part.translate(_OTHER_SIGNS) for part in parts[:MOST_SUMS] if len(part) <= LONGEST_SUM]


def _is_right(written: str) -> bool:
    anything = {
        _number(term): _Quantity(_number(term), frozenset((_OPEN,)))
        for term in _terms(written.replace("=", " ")) or ()
        if term not in _SIGNS
    }
    return _proved(written, anything) is not None


def _proved(written: str, quantities: dict[Fraction, _Quantity]) -> _Quantity | None:
    """What a sum comes to; None where it does not come out or holds a number that is not known."""
    left, equals, right = written.partition("=")
    terms, result = _terms(left), _terms(right)
    if not equals or terms is None or result is None or len(result) != 1 or result[0] in _SIGNS:
        return None
    if terms.count("(") > _DEEPEST:
        return None
    operands = [quantities.get(_number(term)) for term in terms if term not in _SIGNS]
    if not 2 <= len(operands) <= _MOST_NUMBERS or None in operands:
        return None
    total = _Sum(terms, quantities).total()
    if total is None or not total.is_told or not _comes_to(total.number, result[0]):
        return None
    return total._replace(number=_number(result[0]))


def _comes_to(total: Fraction, written: str) -> bool:
    """Whether a sum is what is written, rounded to its hundredths at most."""
    if total == _number(written):
        return True
    has_hundredths = len(written.partition(".")[2]) >= 2
    return has_hundredths and round(total, 2) == _number(written)


def _is_same(wanted: Fraction, unit: str, total: _Quantity) -> bool:
    if unit and _family(unit) not in total.units:
        return False
    return total.number in (wanted, wanted * _SCALES.get(unit, Fraction(1)))


def _family(unit: str) -> str:
    """The unit, or those that are reckoned into each other."""
    return _FAMILIES.get(unit, unit)


def _terms(text: str) -> list[str] | None:
    """The numbers and signs of one side; None where anything else stands there."""
    terms: list[str] = []
    place = 0
    text = text.rstrip()
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            return None
        terms.append(match[1])
        place = match.end()
    return terms


def _number(term: str) -> Fraction:
    """A number as it is, a time of day in minutes after midnight."""
    hours, colon, minutes = term.partition(":")
    return Fraction(int(hours) * _HOUR + int(minutes)) if colon else _fraction(term)


def _fraction(written: str) -> Fraction:
    return Fraction(Decimal(written))


def _by_number(stated: Iterable[Value]) -> dict[Fraction, _Quantity]:
    quantities = {each.number: each for each in _EVERYWHERE}
    for quantity in _quantities_of(stated):
        _add(quantities, quantity)
    return quantities


def _add(quantities: dict[Fraction, _Quantity], quantity: _Quantity) -> None:
    """Add a number; one that is known already may count this as well."""
    before = quantities.get(quantity.number)
    if before is not None and before.is_told:
        quantity = quantity._replace(units=before.units | quantity.units)
    quantities[quantity.number] = quantity


def _quantities_of(stated: Iterable[Value]) -> Iterator[_Quantity]:
    """What sums may begin from: values as they are, as shares, in years and weeks."""
    for value in stated:
        if value.kind not in ("number", "time", "identifier"):
            continue
        units = frozenset(("clock" if value.kind == "time" else _family(value.unit),))
        for reading in filter(_NUMBER.fullmatch, value.readings):
            number = _fraction(reading)
            shares = [number]
            if value.unit == "percent":
                shares += [number / 100, 1 - number / 100, 1 + number / 100]
            if value.unit in _SCALES:
                shares.append(number * _SCALES[value.unit])
            yield from (_Quantity(share, units) for share in shares)
            if value.unit in ("", "hour") and number <= _HOURS:
                yield _Quantity(number * _HOUR, _OF_CLOCK)  # the hours of `Mon–Fri 7–18`


class _Sum:
    """Additions of products of numbers and of sums in brackets."""

    def __init__(self, terms: Sequence[str], quantities: dict[Fraction, _Quantity]) -> None:
        self._terms, self._place = list(terms), 0
        self._quantities = quantities

    def total(self) -> _Quantity | None:
        """What it comes to; None where it is no sum, or comes to nothing."""
        try:
            total = self._added()
        except (IndexError, ValueError, ZeroDivisionError):
            return None
        is_whole = self._place == len(self._terms)
        return total if is_whole and total.number > 0 else None

    def _added(self) -> _Quantity:
        total = self._multiplied()
        while self._next_is("+-"):
            is_added = self._taken() == "+"
            part = self._multiplied()
            number = total.number + part.number if is_added else total.number - part.number
            total = _Quantity(number, _units_of_sum(total, part), total.is_told or part.is_told)
        return total

    def _multiplied(self) -> _Quantity:
        product = self._single()
        while self._next_is("*/"):
            is_product = self._taken() == "*"
            part = self._single()
            if not is_product and part.number == product.number:
                raise ValueError("a number by itself is one, whatever it is")
            number = product.number * part.number if is_product else product.number / part.number
            units = _units_of_product(product, part)
            product = _Quantity(number, units, product.is_told or part.is_told)
        return product

    def _single(self) -> _Quantity:
        term = self._taken()
        if term != "(":
            if term in _SIGNS:
                raise ValueError("a sign where a number belongs")
            return self._quantities[_number(term)]
        inner = self._added()
        if self._taken() != ")":
            raise ValueError("a bracket is not closed")
        return inner

    def _next_is(self, signs: str) -> bool:
        return self._place < len(self._terms) and self._terms[self._place] in signs

    def _taken(self) -> str:
        self._place += 1
        return self._terms[self._place - 1]


def _units_of_sum(first: _Quantity, second: _Quantity) -> frozenset[str]:
    """What both count; ValueError where they are not counted alike. A number that is told without
    a unit may be added to what is no money, as ten years to `2019`; then nobody knows the unit."""
    shared = first.units & second.units
    if shared:
        return shared
    units = first.units | second.units
    if _OPEN not in units or units & MONEY or not (first.is_told and second.is_told):
        raise ValueError("these are not counted alike")
    return frozenset((_OPEN,))


def _units_of_product(first: _Quantity, second: _Quantity) -> frozenset[str]:
    """The units of both: pieces times euros are euros."""
    units = first.units | second.units
    return units if _OPEN in first.units & second.units else units - {_OPEN}
