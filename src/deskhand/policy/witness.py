"""Looks for a call that makes some conditions hold and others not: found, or proof that there is
none.

A comparison of two facts, and one that could not be listed, may come out either way: a call may
then be said to exist that does not, but none that exists is ever missed.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from deskhand.conditions import AllOf, AnyOf, Comparison, Condition, Not, Relation
from deskhand.config.fact_types import RESERVED, FactType
from deskhand.policy.candidates import MISSING, candidates

Goal = tuple[Condition, bool]
Domains = dict[str, tuple[Any, ...]]
_MOST_STEPS = 20_000


class TooHard(Exception):
    """The search was given up: nothing is known."""


@dataclass(frozen=True)
class Space:
    """All calls of one tool, as far as some rules can tell them apart."""

    domains: Domains
    free: frozenset[str]
    """Facts whose comparisons may come out either way."""


def space_of(
    conditions: Iterable[Condition], fixed: dict[str, Any], find: Callable[[str], FactType | None]
) -> Space:
    comparisons: dict[str, list[Comparison]] = {}
    for condition in conditions:
        for leaf in leaves(condition):
            if isinstance(leaf, Comparison):
                comparisons.setdefault(canonical(leaf.fact), []).append(leaf)
    domains: Domains = {name: (value,) for name, value in fixed.items()}
    free: set[str] = set()
    for name, compared in comparisons.items():
        if name in domains:
            continue
        listed = candidates(find(name), compared)
        if listed is None:
            free.add(name)
        else:
            domains[name] = tuple(listed)
    return Space(domains, frozenset(free))


def canonical(name: str) -> str:
    """One name for facts that have two."""
    if name == "customer.tier":
        return "principal.tier"
    bare = name.removeprefix("arguments.")
    return name if bare.split(".")[0] in RESERVED else bare


def leaves(condition: Condition) -> Iterable[Comparison | Relation]:
    if isinstance(condition, Comparison | Relation):
        yield condition
    elif isinstance(condition, Not):
        yield from leaves(condition.part)
    elif isinstance(condition, AllOf | AnyOf):
        for part in condition.parts:
            yield from leaves(part)


def find_witness(goals: Iterable[Goal], space: Space) -> dict[str, Any] | None:
    """Facts of a call that meets all goals, None when there is none; raises TooHard."""
    solution = _WitnessSearch(space).solve(list(goals), space.domains, {}, [])
    if solution is None:
        return None
    return {name: values[0] for name, values in solution.items() if values[0] is not MISSING}


class _WitnessSearch:
    def __init__(self, space: Space) -> None:
        self._space = space
        self._steps = 0

    def solve(
        self, goals: list[Goal], domains: Domains, chosen: dict[str, bool], open_: list[list[Goal]]
    ) -> Domains | None:
        """`chosen` fixes what may come out either way, `open_` are goals of which one each must
        be met."""
        self._steps += 1
        if self._steps > _MOST_STEPS:
            raise TooHard
        domains, chosen, open_ = dict(domains), dict(chosen), list(open_)
        while goals:
            condition, wanted = goals.pop()
            if isinstance(condition, Not):
                goals.append((condition.part, not wanted))
            elif isinstance(condition, AllOf | AnyOf):
                parts = [(part, wanted) for part in condition.parts]
                if isinstance(condition, AllOf) is wanted:
                    goals += parts
                else:
                    open_.append(parts)
            elif not self._narrow(condition, wanted, domains, chosen):
                return None
        return self._branch(domains, chosen, open_)

    def _branch(
        self, domains: Domains, chosen: dict[str, bool], open_: list[list[Goal]]
    ) -> Domains | None:
        left: list[list[Goal]] = []
        for parts in open_:
            possible = [part for part in parts if self._state(part, domains, chosen) is not False]
            if not possible:
                return None
            if not any(self._state(part, domains, chosen) is True for part in possible):
                left.append(possible)
        if not left:
            return domains
        shortest = min(left, key=len)
        rest = [parts for parts in left if parts is not shortest]
        for part in shortest:
            solution = self.solve([part], domains, chosen, rest)
            if solution is not None:
                return solution
        return None

    def _narrow(
        self, condition: Condition, wanted: bool, domains: Domains, chosen: dict[str, bool]
    ) -> bool:
        if self._is_free(condition):
            return chosen.setdefault(str(condition), wanted) is wanted
        assert isinstance(condition, Comparison)
        name = canonical(condition.fact)
        kept = tuple(value for value in domains[name] if _holds(condition, value) is wanted)
        domains[name] = kept
        return bool(kept)

    def _state(self, goal: Goal, domains: Domains, chosen: dict[str, bool]) -> bool | None:
        """Whether a goal is met or missed already; None when that is open."""
        condition, wanted = goal
        if isinstance(condition, Not):
            return self._state((condition.part, not wanted), domains, chosen)
        if isinstance(condition, AllOf | AnyOf):
            states = [self._state((part, wanted), domains, chosen) for part in condition.parts]
            needs_every = isinstance(condition, AllOf) is wanted
            return _together(states, deciding=not needs_every)
        if self._is_free(condition):
            outcome = chosen.get(str(condition))
            return None if outcome is None else outcome is wanted
        assert isinstance(condition, Comparison)
        outcomes = {
            _holds(condition, value) is wanted for value in domains[canonical(condition.fact)]
        }
        return outcomes.pop() if len(outcomes) == 1 else None

    def _is_free(self, condition: Condition) -> bool:
        if isinstance(condition, Relation):
            return True
        return isinstance(condition, Comparison) and canonical(condition.fact) in self._space.free


def _holds(comparison: Comparison, value: Any) -> bool:
    return comparison.matches({} if value is MISSING else {comparison.fact: value})


def _together(states: list[bool | None], *, deciding: bool) -> bool | None:
    """What several parts come to: one in the deciding state is enough, else all must be known."""
    if deciding in states:
        return deciding
    return None if None in states else not deciding
