"""Values worth trying for a fact: one of every kind that the rules can tell apart.

Between the bounds and words that rules compare a fact with, all values behave alike; so a fact that
has no fitting value among these has none at all.
"""

from collections.abc import Iterable, Iterator
from datetime import date, datetime, timedelta
from decimal import Decimal
from itertools import combinations, product
from typing import Any

from deskhand.conditions import Comparison
from deskhand.config.fact_types import FactType
from deskhand.measures import measure
from deskhand.model.money import Money

MISSING: Any = object()
"""The fact is not there."""
_MOST_PIECES = 6
_MOST_SUMS = 300
_OTHER = "something else"
_STRANGE = ("XTS", "XXX", "XAU", "XAG")
"""Currencies that no rule is about."""
_PENNY = Decimal("0.01")


def candidates(kind: FactType | None, comparisons: list[Comparison]) -> list[Any] | None:
    """In the order in which an example reads best; None when they could not all be listed."""
    if kind is None:
        return [MISSING]
    operands = list(_operands(comparisons))
    if kind.values:
        values: list[Any] = [
            *kind.values,
            *(
                operand
                for operand in operands
                if isinstance(operand, str) and operand[:7] == "result:"
            ),
        ]
    else:
        pieces = [
            comparison
            for comparison in comparisons
            if comparison.operator in ("contains", "starts_with")
        ]
        if len({str(piece.operand) for piece in pieces}) > _MOST_PIECES:
            return None
        values = list(_of_kind(kind, operands, pieces))
    if any(operand is None for operand in operands) and not kind.always:
        values.append(None)
    if not kind.always:
        values.append(MISSING)
    return _distinct(values)


def _operands(comparisons: list[Comparison]) -> Iterator[Any]:
    for comparison in comparisons:
        if comparison.operator in ("in", "not_in"):
            yield from comparison.operand
        elif comparison.operator != "exists":
            yield comparison.operand


def _of_kind(kind: FactType, operands: list[Any], pieces: list[Comparison]) -> Iterator[Any]:
    if kind.kind == "sums":
        yield from _sums(operands)
        return
    words = [operand for operand in operands if isinstance(operand, str)]
    mappings = [operand for operand in operands if isinstance(operand, dict)]
    by_kind: list[tuple[tuple[str, ...], Iterable[Any]]] = [
        (("text",), _texts(words, pieces)),
        (("number", "integer"), _numbers(operands, kind)),
        (("money",), map(str, _money(operands))),
        (("date",), _dates(operands)),
        (("duration",), _durations(operands)),
        (("list",), _lists(operands, pieces)),
        (("boolean",), (True, False)),
        ((), mappings),
    ]
    for kinds, values in by_kind:
        if kind.kind == "any" or kind.kind in kinds:
            yield from values


def _texts(words: list[str], pieces: list[Comparison]) -> Iterator[str]:
    yield from words
    yield _OTHER
    starts = [piece.operand for piece in pieces if piece.operator == "starts_with"]
    inside = [
        piece.operand
        for piece in pieces
        if piece.operator == "contains" and isinstance(piece.operand, str)
    ]
    for count in range(len(inside) + 1):
        for chosen in combinations(inside, count):
            for start in (*starts, ""):
                yield " ".join(filter(None, (start, *chosen))) or _OTHER
                if start:
                    yield start + "".join(chosen)


def _around(bounds: Iterable[Any], step: Any) -> Iterator[Any]:
    """Every bound, something between each two, and something beyond both ends."""
    ordered = sorted(set(bounds))
    for index, bound in enumerate(ordered):
        yield bound
        yield bound + (ordered[index + 1] - bound) / 2 if index + 1 < len(ordered) else bound + step
    if ordered:
        yield ordered[0] - step


def _numbers(operands: list[Any], kind: FactType) -> Iterator[Any]:
    bounds = [
        kind_[1]
        for operand in operands
        if (kind_ := measure(operand)) is not None and kind_[0] == "number"
    ]
    bounds += [bound for bound in (kind.least, kind.most) if bound is not None]
    if kind.kind == "integer":
        numbers: Iterable[Any] = {int(bound) + step for bound in bounds for step in (-1, 0, 1)} or {
            1
        }
    else:
        numbers = _around(map(float, bounds), 1.0) if bounds else (1,)
    for number in numbers:
        if (kind.least is None or number >= kind.least) and (
            kind.most is None or number <= kind.most
        ):
            yield int(number) if float(number).is_integer() else number


def _amounts(operands: list[Any]) -> dict[str, list[Decimal]]:
    bounds: dict[str, list[Decimal]] = {}
    for operand in operands:
        kind = measure(operand)
        if kind is not None and kind[0] == "money":
            bounds.setdefault(kind[1].currency, []).append(kind[1].amount)
    around: dict[str, list[Decimal]] = {}
    for currency, amounts in bounds.items():
        around[currency] = [amount for amount in _around(amounts, _PENNY) if amount >= 0]
    return around


def _money(operands: list[Any]) -> Iterator[Money]:
    by_currency = _amounts(operands)
    for currency, amounts in by_currency.items():
        yield from (Money(amount, currency) for amount in amounts)
    yield Money(Decimal(1), next(code for code in ("EUR", *_STRANGE) if code not in by_currency))


def _sums(operands: list[Any]) -> Iterator[dict[str, str]]:
    by_currency = _amounts(operands)
    choices = list(product(*([None, *amounts] for amounts in by_currency.values())))[:_MOST_SUMS]
    for chosen in choices:
        yield {
            code: str(sum_)
            for code, sum_ in zip(by_currency, chosen, strict=True)
            if sum_ is not None
        }


def _dates(operands: list[Any]) -> Iterator[Any]:
    times = [
        kind[1]
        for operand in operands
        if (kind := measure(operand)) is not None and kind[0] in ("date", "moment")
    ]
    moments = [time for time in times if isinstance(time, datetime)]
    days = [time for time in times if not isinstance(time, datetime)]
    yield from (day + timedelta(days=step) for day in days for step in (0, -1, 1))
    yield from (moment + timedelta(minutes=step) for moment in moments for step in (0, -1, 1))
    if not times:
        yield date(2030, 1, 31)


def _durations(operands: list[Any]) -> Iterator[timedelta]:
    bounds = [
        kind[1]
        for operand in operands
        if (kind := measure(operand)) is not None and kind[0] == "duration"
    ]
    yield from _around(bounds, timedelta(hours=1)) if bounds else (timedelta(days=1),)


def _lists(operands: list[Any], pieces: list[Comparison]) -> Iterator[list[Any]]:
    yield from (list(operand) for operand in operands if isinstance(operand, list))
    items = [piece.operand for piece in pieces if piece.operator == "contains"]
    for count in range(len(items) + 1):
        yield from (list(chosen) for chosen in combinations(items, count))
    yield [_OTHER]


def _distinct(values: list[Any]) -> list[Any]:
    distinct: dict[str, Any] = {}
    for value in values:
        distinct.setdefault(
            "missing" if value is MISSING else f"{type(value).__name__}:{value!r}", value
        )
    return list(distinct.values())
