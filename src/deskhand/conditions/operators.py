"""The operators of the condition language: what each accepts, and how it tests a fact."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from deskhand.measures import compare, is_number, measure

Test = Callable[[Any], bool]

MISSING: Any = object()
"""Stands for a fact that is not there."""


def _same(fact: Any, operand: Any) -> bool:
    """Equality without surprises: true is not 1, text is not a number, and containers compare
    item by item."""
    if isinstance(operand, str):
        return isinstance(fact, str) and fact == operand
    if operand is None or isinstance(operand, bool):
        return fact is operand
    if isinstance(operand, list):
        if not isinstance(fact, list | tuple) or len(fact) != len(operand):
            return False
        return all(_same(mine, theirs) for mine, theirs in zip(fact, operand, strict=True))
    if isinstance(operand, dict):
        if not isinstance(fact, Mapping) or len(fact) != len(operand):
            return False
        return all(key in fact and _same(fact[key], value) for key, value in operand.items())
    return is_number(fact) and is_number(operand) and bool(fact == operand)


def _equal(fact: Any, other: Any) -> bool:
    """Whether both are the same, or one amount, date or length of time written in two ways."""
    if _same(fact, other):
        return True
    measured = measure(other)
    return measured is not None and measured[0] != "number" and compare(fact, measured) == 0


def _contains(fact: Any, operand: Any) -> bool:
    if isinstance(fact, str):
        return isinstance(operand, str) and operand in fact
    return isinstance(fact, list | tuple | set | frozenset) and any(
        _same(item, operand) for item in fact
    )


def _is(operand: Any) -> Test:
    if measure(operand) is not None:
        return lambda fact: _equal(fact, operand)
    if isinstance(operand, str):
        return lambda fact: isinstance(fact, str) and fact == operand
    return lambda fact: _same(fact, operand)


def _in(operands: Any) -> Test:
    words = frozenset(
        operand for operand in operands if isinstance(operand, str) and measure(operand) is None
    )
    others = [
        operand
        for operand in operands
        if not isinstance(operand, str) or measure(operand) is not None
    ]
    return lambda fact: (
        (isinstance(fact, str) and fact in words) or any(_equal(fact, other) for other in others)
    )


def _not(test: Test) -> Test:
    return lambda fact: fact is not MISSING and not test(fact)


def _ordered(holds: Callable[[int], bool]) -> Callable[[Any], Test]:
    def compile_(operand: Any) -> Test:
        bound = measure(operand)
        assert bound is not None

        def test(fact: Any) -> bool:
            order = compare(fact, bound)
            return order is not None and holds(order)

        return test

    return compile_


def _exists(operand: Any) -> Test:
    return (lambda fact: fact is not MISSING) if operand else (lambda fact: fact is MISSING)


@dataclass(frozen=True)
class Operator:
    words: str
    compile: Callable[[Any], Test]
    accepts: Callable[[Any], bool]
    wants: str


def _any_value(value: Any) -> bool:
    return True


def _some_values(value: Any) -> bool:
    return isinstance(value, list) and bool(value)


def _scalar(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float)


def _measure(words: str, holds: Callable[[int], bool]) -> Operator:
    wants = "a number, money (`50 EUR`), a length of time (`30 days`) or a date (`2030-01-31`)"
    return Operator(words, _ordered(holds), lambda value: measure(value) is not None, wants)


def _text(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


OPERATIONS: dict[str, Operator] = {
    "is": Operator("is", _is, _any_value, "a value"),
    "is_not": Operator("is not", lambda operand: _not(_is(operand)), _any_value, "a value"),
    "in": Operator("is one of", _in, _some_values, "a list of values, as `[pro, enterprise]`"),
    "not_in": Operator(
        "is none of", lambda operand: _not(_in(operand)), _some_values, "a list of values"
    ),
    "at_least": _measure("at least", lambda order: order >= 0),
    "at_most": _measure("at most", lambda order: order <= 0),
    "above": _measure("above", lambda order: order > 0),
    "below": _measure("below", lambda order: order < 0),
    "contains": Operator(
        "contains",
        lambda operand: lambda fact: _contains(fact, operand),
        lambda value: _scalar(value) and value != "",
        "one value: a piece of the text, or an item of the list",
    ),
    "starts_with": Operator(
        "starts with",
        lambda operand: lambda fact: isinstance(fact, str) and fact.startswith(operand),
        _text,
        "the beginning of a text",
    ),
    "exists": Operator(
        "exists", _exists, lambda value: isinstance(value, bool), "`true` or `false`"
    ),
}


def _orders(holds: Callable[[int], bool]) -> Callable[[Any, Any], bool]:
    def relates(mine: Any, theirs: Any) -> bool:
        bound = measure(theirs)
        order = None if bound is None else compare(mine, bound)
        return order is not None and holds(order)

    return relates


def _is_among(value: Any, items: Iterable[Any]) -> bool:
    return any(_equal(value, item) for item in items)


ORDERING = frozenset({"at_least", "at_most", "above", "below"})
"""The operators that ask which of two is more."""

RELATIONS: dict[str, Callable[[Any, Any], bool]] = {
    "is": _equal,
    "is_not": lambda mine, theirs: not _equal(mine, theirs),
    "in": lambda mine, theirs: isinstance(theirs, list | tuple) and _is_among(mine, theirs),
    "not_in": lambda mine, theirs: isinstance(theirs, list | tuple) and not _is_among(mine, theirs),
    "at_least": _orders(lambda order: order >= 0),
    "at_most": _orders(lambda order: order <= 0),
    "above": _orders(lambda order: order > 0),
    "below": _orders(lambda order: order < 0),
    "contains": _contains,
    "starts_with": lambda mine, theirs: (
        isinstance(mine, str) and isinstance(theirs, str) and mine.startswith(theirs)
    ),
}

OPERATORS: tuple[str, ...] = tuple(OPERATIONS)
"""What may stand under a fact's name; the JSON Schema lists the same."""
