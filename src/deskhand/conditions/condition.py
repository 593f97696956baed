"""Compiled conditions, ready to match facts."""

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from deskhand.conditions.operators import MISSING, OPERATIONS, ORDERING, RELATIONS, Test
from deskhand.measures import are_in_two_currencies

_PLAIN_WORD = re.compile(r"[^\W\d][\w.@/-]*")


class Condition(ABC):
    """A compiled condition; `str()` says it in words."""

    @abstractmethod
    def matches(self, facts: Mapping[str, Any]) -> bool:
        """Pure and total: the same facts always give the same answer, and no facts make it
        raise."""

    def may_match(self, facts: Mapping[str, Any]) -> bool:
        """As `matches`, and also where amounts in two currencies are compared, of which nobody
        can tell which is more."""
        return self.matches(facts)

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
        return self.test(_reach(facts, self.way) if self.way else MISSING)

    def facts(self) -> set[str]:
        return {self.fact}

    def __str__(self) -> str:
        if self.operator == "exists":
            return f"{self.fact} exists" if self.operand else f"{self.fact} does not exist"
        return f"{self.fact} {OPERATIONS[self.operator].words} {_in_words(self.operand)}"


@dataclass(frozen=True)
class Relation(Condition):
    """One operator between two facts: `{payment: {is_not: {fact: order.payment}}}`."""

    fact: str
    operator: str
    other: str
    way: tuple[tuple[str, str], ...] = field(repr=False, compare=False)
    other_way: tuple[tuple[str, str], ...] = field(repr=False, compare=False)

    def matches(self, facts: Mapping[str, Any]) -> bool:
        return self.relates(*self._both(facts))

    def may_match(self, facts: Mapping[str, Any]) -> bool:
        mine, theirs = self._both(facts)
        if self.operator in ORDERING and are_in_two_currencies(mine, theirs):
            return True
        return self.relates(mine, theirs)

    def _both(self, facts: Mapping[str, Any]) -> tuple[Any, Any]:
        mine = facts[self.fact] if self.fact in facts else _reach(facts, self.way)
        theirs = facts[self.other] if self.other in facts else _reach(facts, self.other_way)
        return mine, theirs

    def relates(self, mine: Any, theirs: Any) -> bool:
        return (
            mine is not MISSING and theirs is not MISSING and RELATIONS[self.operator](mine, theirs)
        )

    def facts(self) -> set[str]:
        return {self.fact, self.other}

    def __str__(self) -> str:
        return f"{self.fact} {OPERATIONS[self.operator].words} {self.other}"


@dataclass(frozen=True)
class AllOf(Condition):
    parts: tuple[Condition, ...]

    def matches(self, facts: Mapping[str, Any]) -> bool:
        for part in self.parts:  # noqa: SIM110 - a generator would double the cost of a match
            if not part.matches(facts):
                return False
        return True

    def may_match(self, facts: Mapping[str, Any]) -> bool:
        return all(part.may_match(facts) for part in self.parts)

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

    def may_match(self, facts: Mapping[str, Any]) -> bool:
        return any(part.may_match(facts) for part in self.parts)

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


def _reach(facts: Mapping[str, Any], way: tuple[tuple[str, str], ...]) -> Any:
    room: Any = facts
    for step, rest in way:
        room = room.get(step)
        if type(room) is not dict and not isinstance(room, Mapping):
            return MISSING
        if rest in room:
            return room[rest]
    return MISSING


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
