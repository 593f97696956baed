"""What is wrong with rules as a whole: rules never reached, rules that contradict, tools that
nothing allows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic_core import to_jsonable_python

from deskhand.conditions import AllOf
from deskhand.config.fact_types import FactTypes
from deskhand.config.tool_shape import ToolShape
from deskhand.policy.rule_policy import PolicyRule, RulePolicy
from deskhand.policy.witness import Goal, Space, TooHard, canonical, find_witness, leaves, space_of

Kind = Literal["never_matches", "shadowed", "contradicts", "never_allowed"]
_STRICTNESS = {"allow": 0, "hold": 1, "deny": 2}


@dataclass(frozen=True, slots=True)
class PolicyFinding:
    kind: Kind
    rule: str | None
    message: str
    others: tuple[str, ...] = ()
    """The rules it is about as well."""
    example: dict[str, Any] = field(default_factory=dict[str, Any])
    """Facts of a call that shows it."""

    def as_json(self) -> dict[str, Any]:
        return {
            "kind": self.kind, "rule": self.rule, "message": self.message, "others": list(self.others),  # noqa: E501
            "example": to_jsonable_python(self.example, fallback=str),
        }  # fmt: skip


def check_policy(policy: RulePolicy, types: FactTypes) -> list[PolicyFinding]:
    """Each finding is certain; what could not be decided within reason is left out."""
    analysis = _Analysis(policy.rules, types)
    return [*analysis.rules(), *analysis.contradictions(), *analysis.tools()]


class _Analysis:
    def __init__(self, rules: Sequence[PolicyRule], types: FactTypes) -> None:
        self._rules, self._types = rules, types
        self._spaces = {name: self._space(shape) for name, shape in types.tools.items()}
        self._dead: set[str] = set()

    def _space(self, shape: ToolShape) -> Space:
        fixed = {"tool": shape.name, "effect": shape.effect, "risk": shape.risk}
        conditions = [
            rule.when
            for rule in self._rules
            if rule.when is not None and _concerns(rule, shape.name)
        ]
        return space_of(conditions, fixed, lambda name: self._types.find(name, [shape.name]))

    def rules(self) -> Iterator[PolicyFinding]:
        for index, rule in enumerate(self._rules):
            try:
                finding = self._rule(rule, self._rules[:index])
            except TooHard:
                continue
            if finding is not None:
                self._dead.add(rule.name)
                yield finding

    def _rule(self, rule: PolicyRule, earlier: Sequence[PolicyRule]) -> PolicyFinding | None:
        example: dict[str, Any] | None = None
        for name in self._spaces:
            if not _concerns(rule, name):
                continue
            call = self._call(name, [(rule, True)])
            if call is None:
                continue
            if self._call(name, [(rule, True), *((other, False) for other in earlier)]) is not None:
                return None
            example = example or call
        if example is None:
            return self._never(rule)
        taken = self._takers(example["tool"], rule, earlier)
        others = tuple(taker.name for taker in taken)
        same = {taker.then for taker in taken} == {rule.then}
        kind: Kind = "shadowed" if same or not taken else "contradicts"
        said = ""
        if not same:
            verdicts = sorted({taker.then for taker in taken})
            said = f", which says {' and '.join(verdicts)}, not {rule.then}"
        message = f"rule {rule.name!r} is never reached: {_listed(others)} decides first{said}"
        return PolicyFinding(kind, rule.name, message, others, _shown(example))

    def _never(self, rule: PolicyRule) -> PolicyFinding:
        parts = rule.when.parts if isinstance(rule.when, AllOf) else ()
        for name in self._spaces if parts else ():
            if not _concerns(rule, name):
                continue
            for index, part in enumerate(parts):
                rest: list[Goal] = [
                    (other, True) for place, other in enumerate(parts) if place != index
                ]
                example = self._search(rest, name)
                if example is not None:
                    message = (
                        f"rule {rule.name!r} never matches: `{part}` cannot hold together with the"
                        " rest"
                    )
                    return PolicyFinding(
                        "never_matches", rule.name, message, (), _shown({**example, "tool": name})
                    )
        return PolicyFinding(
            "never_matches", rule.name, f"rule {rule.name!r} never matches: no call fits it"
        )

    def _takers(
        self, tool: str, rule: PolicyRule, earlier: Sequence[PolicyRule]
    ) -> list[PolicyRule]:
        """The earlier rules without which it would be reached, at most a few of them."""
        needed = list(earlier)
        for rule_left_out in list(needed):
            without = [other for other in needed if other is not rule_left_out]
            if self._call(tool, [(rule, True), *((other, False) for other in without)]) is None:
                needed = without
        return needed

    def contradictions(self) -> Iterator[PolicyFinding]:
        """A more permissive rule overrides part of a stricter one that is not simply its general
        case."""
        for index, first in enumerate(self._rules):
            for second in self._rules[index + 1 :]:
                if (
                    _STRICTNESS[first.then] >= _STRICTNESS[second.then]
                    or {first.name, second.name} & self._dead
                ):
                    continue
                example = self._overlap(first, second, self._rules[:index])
                if example is not None and _really(first, example) and _really(second, example):
                    message = (
                        f"rule {first.name!r} says {first.then} and rule {second.name!r} says"
                        f" {second.then} of the same call; the first is decisive. Put the stricter"
                        " one first, or make one of them narrower"
                    )
                    yield PolicyFinding(
                        "contradicts", first.name, message, (second.name,), _shown(example)
                    )

    def _overlap(
        self, first: PolicyRule, second: PolicyRule, earlier: Sequence[PolicyRule]
    ) -> dict[str, Any] | None:
        if first.when is None or second.when is None:
            return None
        for name in self._spaces:
            if not (_concerns(first, name) and _concerns(second, name)):
                continue
            before = [(rule, False) for rule in earlier]
            try:
                both = self._call(name, [(first, True), (second, True), *before])
                alone = self._call(name, [(first, True), (second, False)])
            except TooHard:
                continue
            if both is not None and alone is not None:
                return both
        return None

    def tools(self) -> Iterator[PolicyFinding]:
        for name, shape in self._types.tools.items():
            if not shape.changes_something or shape.built_in:
                continue
            try:
                unruled = self._unruled(name)
            except TooHard:
                continue
            if unruled is not None:
                message = f"no rule allows `{name}`, so every call of it is denied"
                yield PolicyFinding("never_allowed", None, message, (), _shown(unruled))

    def _unruled(self, tool: str) -> dict[str, Any] | None:
        """A call that no rule is about, if no call at all can be allowed or held."""
        rules = [rule for rule in self._rules if _concerns(rule, tool)]
        for index, rule in enumerate(rules):
            before = [(rule, False) for rule in rules[:index]]
            if rule.then != "deny" and self._call(tool, [(rule, True), *before]) is not None:
                return None
        return self._call(tool, [(rule, False) for rule in rules])

    def _call(self, tool: str, wanted: Sequence[tuple[PolicyRule, bool]]) -> dict[str, Any] | None:
        goals: list[Goal] = []
        for rule, holds in wanted:
            if not _concerns(rule, tool):
                if holds:
                    return None
            elif rule.when is not None:
                goals.append((rule.when, holds))
            elif not holds:
                return None
        witness = self._search(goals, tool)
        return None if witness is None else {**witness, "tool": tool}

    def _search(self, goals: list[Goal], tool: str) -> dict[str, Any] | None:
        witness = find_witness(goals, self._spaces[tool])
        if witness is None:
            return None
        named = {canonical(leaf.fact) for condition, _ in goals for leaf in leaves(condition)}
        return {name: value for name, value in witness.items() if name in named}


def _really(rule: PolicyRule, facts: dict[str, Any]) -> bool:
    """Whether the example is one: comparisons of two facts were taken to come out either way."""
    if rule.when is None:
        return True
    names = {leaf.fact for leaf in leaves(rule.when)}
    return rule.when.matches(
        {name: facts[canonical(name)] for name in names if canonical(name) in facts}
    )


def _concerns(rule: PolicyRule, tool: str) -> bool:
    return rule.tools is None or tool in rule.tools


def _listed(names: Sequence[str]) -> str:
    return " or ".join(f"rule {name!r}" for name in names) or "an earlier rule"


def _shown(facts: dict[str, Any]) -> dict[str, Any]:
    return {
        "tool": facts.get("tool"),
        **{name: value for name, value in facts.items() if name != "tool"},
    }
