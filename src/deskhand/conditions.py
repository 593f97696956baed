"""The condition language shared by stage routes, routing rules and policies: compiled once, matched
often.

`{category: spam, confidence: {at_least: 0.95}}` holds when every line does. A fact that is missing,
or of a type that an operator cannot compare, makes its line false; matching never raises. `all`,
`any` and `not` combine conditions. Numbers, money (`50 EUR`), lengths of time (`30 days`) and dates
are ordered, each among their own kind; `{fact: NAME}` in the place of a value compares two facts.
"""

import json
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, cast

from deskhand.measures import compare, is_number, measure

Path = tuple[str | int, ...]
Test = Callable[[Any], bool]

_MISSING: Any = object()
_DEEPEST = 50
_PLAIN_WORD = re.compile(r"[^\W\d][\w.@/-]*")


class ConditionError(ValueError):
    """A condition is written wrong: `path` leads to the place inside it, `fix` says what to
    write."""

    def __init__(self, path: Path, problem: str, fix: str) -> None:
        self.path, self.problem, self.fix = path, problem, fix
        where = ".".join(str(part) for part in path)
        super().__init__(f"{where}: {problem}; {fix}" if where else f"{problem}; {fix}")


class Condition(ABC):
    """A compiled condition; `str()` says it in words."""

    @abstractmethod
    def matches(self, facts: Mapping[str, Any]) -> bool:
        """Pure and total: the same facts always give the same answer, and no facts make it
        raise."""

    @abstractmethod
    def facts(self) -> set[str]:
        """The names it reads, as written (`customer.tier`)."""


@dataclass(frozen=True)
class Comparison(Condition):
    """One operator applied to one fact."""

    fact: str
    operator: str
    operand: Any
    test: Test = field(repr=False, compare=False)
    way: tuple[tuple[str, str], ...] = field(repr=False, compare=False)
    """For a dotted name: the mapping to step into, and what is left to look for there."""

    def matches(self, facts: Mapping[str, Any]) -> bool:
        if self.fact in facts:
            return self.test(facts[self.fact])
        return self.test(_reach(facts, self.way) if self.way else _MISSING)

    def facts(self) -> set[str]:
        return {self.fact}

    def __str__(self) -> str:
        if self.operator == "exists":
            return f"{self.fact} exists" if self.operand else f"{self.fact} does not exist"
        return f"{self.fact} {_OPERATORS[self.operator].words} {_in_words(self.operand)}"


@dataclass(frozen=True)
class Relation(Condition):
    """One operator between two facts: `{payment: {is_not: {fact: order.payment}}}`."""

    fact: str
    operator: str
    other: str
    way: tuple[tuple[str, str], ...] = field(repr=False, compare=False)
    other_way: tuple[tuple[str, str], ...] = field(repr=False, compare=False)

    def matches(self, facts: Mapping[str, Any]) -> bool:
        mine = facts[self.fact] if self.fact in facts else _reach(facts, self.way)
        theirs = facts[self.other] if self.other in facts else _reach(facts, self.other_way)
        return self.relates(mine, theirs)

    def relates(self, mine: Any, theirs: Any) -> bool:
        return (
            mine is not _MISSING
            and theirs is not _MISSING
            and _RELATIONS[self.operator](mine, theirs)
        )

    def facts(self) -> set[str]:
        return {self.fact, self.other}

    def __str__(self) -> str:
        return f"{self.fact} {_OPERATORS[self.operator].words} {self.other}"


@dataclass(frozen=True)
class AllOf(Condition):
    parts: tuple[Condition, ...]

    def matches(self, facts: Mapping[str, Any]) -> bool:
        for part in self.parts:  # noqa: SIM110 - a generator would double the cost of a match
            if not part.matches(facts):
                return False
        return True

    def facts(self) -> set[str]:
        return {name for part in self.parts for name in part.facts()}

    def __str__(self) -> str:
        return " and ".join(_in_brackets(part, AnyOf) for part in self.parts)


@dataclass(frozen=True)
class AnyOf(Condition):
    parts: tuple[Condition, ...]

    def matches(self, facts: Mapping[str, Any]) -> bool:
        for part in self.parts:  # noqa: SIM110 - a generator would double the cost of a match
            if part.matches(facts):
                return True
        return False

    def facts(self) -> set[str]:
        return {name for part in self.parts for name in part.facts()}

    def __str__(self) -> str:
        return " or ".join(_in_brackets(part, AllOf) for part in self.parts)


def _in_brackets(part: Condition, kind: type[Condition]) -> str:
    """A part as text, in brackets where it is of this kind."""
    return f"({part})" if isinstance(part, kind) else str(part)


@dataclass(frozen=True)
class Not(Condition):
    part: Condition

    def matches(self, facts: Mapping[str, Any]) -> bool:
        return not self.part.matches(facts)

    def facts(self) -> set[str]:
        return self.part.facts()

    def __str__(self) -> str:
        return f"not ({self.part})"


def compile_condition(data: object) -> Condition:
    """Compile a YAML mapping; raises ConditionError with the path inside it. The mapping may
    change afterwards."""
    return _condition(data, ())


# --- matching
# ---------------------------------------------------------------------------------------------------------  # noqa: E501


def _reach(facts: Mapping[str, Any], way: tuple[tuple[str, str], ...]) -> Any:
    room: Any = facts
    for step, rest in way:
        room = room.get(step)
        if type(room) is not dict and not isinstance(room, Mapping):
            return _MISSING
        if rest in room:
            return room[rest]
    return _MISSING


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
    """The same, or the same amount, date or length of time written in two ways."""
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
    return lambda fact: fact is not _MISSING and not test(fact)


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
    return (lambda fact: fact is not _MISSING) if operand else (lambda fact: fact is _MISSING)


# --- operators
# --------------------------------------------------------------------------------------------------------  # noqa: E501


@dataclass(frozen=True)
class _Operator:
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


def _measure(words: str, holds: Callable[[int], bool]) -> _Operator:
    wants = "a number, money (`50 EUR`), a length of time (`30 days`) or a date (`2030-01-31`)"
    return _Operator(words, _ordered(holds), lambda value: measure(value) is not None, wants)


def _text(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


_OPERATORS: dict[str, _Operator] = {
    "is": _Operator("is", _is, _any_value, "a value"),
    "is_not": _Operator("is not", lambda operand: _not(_is(operand)), _any_value, "a value"),
    "in": _Operator("is one of", _in, _some_values, "a list of values, as `[pro, enterprise]`"),
    "not_in": _Operator(
        "is none of", lambda operand: _not(_in(operand)), _some_values, "a list of values"
    ),
    "at_least": _measure("at least", lambda order: order >= 0),
    "at_most": _measure("at most", lambda order: order <= 0),
    "above": _measure("above", lambda order: order > 0),
    "below": _measure("below", lambda order: order < 0),
    "contains": _Operator(
        "contains",
        lambda operand: lambda fact: _contains(fact, operand),
        lambda value: _scalar(value) and value != "",
        "one value: a piece of the text, or an item of the list",
    ),
    "starts_with": _Operator(
        "starts with",
        lambda operand: lambda fact: isinstance(fact, str) and fact.startswith(operand),
        _text,
        "the beginning of a text",
    ),
    "exists": _Operator(
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


_RELATIONS: dict[str, Callable[[Any, Any], bool]] = {
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

OPERATORS: tuple[str, ...] = tuple(_OPERATORS)
"""What may stand under a fact's name; the JSON Schema lists the same."""


# --- compiling
# --------------------------------------------------------------------------------------------------------  # noqa: E501


def _condition(data: object, path: Path) -> Condition:
    if len(path) > _DEEPEST:
        raise ConditionError(
            path[:3], f"it is nested more than {_DEEPEST} deep", "write a flatter condition"
        )
    if not isinstance(data, Mapping):
        raise ConditionError(
            path, f"{_kind(data)} is no condition", "write a mapping, as `{category: spam}`"
        )
    if not data:
        raise ConditionError(
            path, "the condition is empty", "write at least one comparison, as `{category: spam}`"
        )
    parts = [_line(key, value, path) for key, value in data.items()]
    return parts[0] if len(parts) == 1 else AllOf(tuple(parts))


def _line(key: object, value: object, path: Path) -> Condition:
    if not isinstance(key, str):
        raise ConditionError(path, f"the name {key!r} is not text", f'put it in quotes: `"{key}"`')
    here = (*path, key)
    if key == "not":
        return Not(_condition(value, here))
    if key in ("all", "any"):
        if not isinstance(value, Sequence) or isinstance(value, str) or not value:
            raise ConditionError(
                here, f"`{key}` needs a list of conditions", f"write `{key}: [{{...}}, {{...}}]`"
            )
        parts = tuple(_condition(part, (*here, index)) for index, part in enumerate(value))
        if len(parts) == 1:
            return parts[0]
        return AllOf(parts) if key == "all" else AnyOf(parts)
    if not all(key.split(".")):
        raise ConditionError(
            here, f"{key!r} is no name of a fact", "write a name, or names joined by dots"
        )
    return _comparisons(key, value, here)


def _comparisons(fact: str, value: object, path: Path) -> Condition:
    if isinstance(value, list | tuple):
        raise ConditionError(
            path,
            "a bare list may mean two things",
            "write `{in: [...]}` for one of these, `{is: [...]}` for this list",
        )
    if not isinstance(value, Mapping):
        return _comparison(fact, "is", value, path)
    if not value:
        raise ConditionError(path, "there is no operator", f"write one of {', '.join(OPERATORS)}")
    parts = [
        _comparison(fact, name, operand, (*path, str(name))) for name, operand in value.items()
    ]
    return parts[0] if len(parts) == 1 else AllOf(tuple(parts))


def _comparison(fact: str, name: object, value: object, path: Path) -> Condition:
    operator = _OPERATORS.get(name) if isinstance(name, str) else None
    if operator is None or not isinstance(name, str):
        raise ConditionError(
            path, f"there is no operator `{name}`", _other_operator(fact, str(name))
        )
    if isinstance(value, Mapping) and set(value) == {"fact"}:
        return _relation(fact, name, value["fact"], path)
    operand = _literal(value, path)
    if not operator.accepts(operand):
        raise ConditionError(
            path, f"`{name}` cannot use {_kind(operand)}", f"give it {operator.wants}"
        )
    return Comparison(fact, name, operand, operator.compile(operand), _way(fact))


def _relation(fact: str, name: str, other: object, path: Path) -> Relation:
    if not isinstance(other, str) or not all(other.split(".")):
        raise ConditionError(
            path,
            f"{other!r} is no name of a fact",
            "write `{fact: NAME}` with the other fact's name",
        )
    if name not in _RELATIONS:
        raise ConditionError(
            path, f"`{name}` cannot compare two facts", "give it `true` or `false`"
        )
    return Relation(fact, name, other, _way(fact), _way(other))


def _way(fact: str) -> tuple[tuple[str, str], ...]:
    names = fact.split(".")
    return tuple((names[index], ".".join(names[index + 1 :])) for index in range(len(names) - 1))


def _other_operator(fact: str, name: str) -> str:
    near = get_close_matches(name, OPERATORS, n=1)
    if near:
        return f"did you mean `{near[0]}`?"
    return (
        f"write one of {', '.join(OPERATORS)}; to look inside `{fact}` write `{fact}.{name}` as the"
        " name"
    )


def _literal(value: object, path: Path, depth: int = 0) -> Any:
    """A private copy in plain types, so that neither YAML's own types nor a later change reach
    the hot path."""
    if depth > _DEEPEST:
        raise ConditionError(
            path, f"the value is nested more than {_DEEPEST} deep", "write a flatter value"
        )
    if isinstance(value, Mapping):
        pairs = cast(Mapping[object, object], value)
        return {str(key): _literal(item, path, depth + 1) for key, item in pairs.items()}
    if isinstance(value, list | tuple):
        return [_literal(item, path, depth + 1) for item in value]
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float) and not math.isnan(value):
        return float(value)
    raise ConditionError(
        path, f"{_kind(value)} cannot be compared", "write text in quotes, a number, true or false"
    )


# --- words
# ------------------------------------------------------------------------------------------------------------  # noqa: E501


def _kind(value: object) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list" if value else "an empty list"
    if isinstance(value, bool | str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, int | float):
        return f"the number {value}"
    return f"a {type(value).__name__}"


def _in_words(value: Any) -> str:
    if (
        isinstance(value, str)
        and _PLAIN_WORD.fullmatch(value)
        and value not in ("true", "false", "null")
    ):
        return value
    if isinstance(value, list):
        return "[" + ", ".join(_in_words(item) for item in value) + "]"
    return json.dumps(value, ensure_ascii=False)
