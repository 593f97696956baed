"""Compiled rules and the one decision over them: the first rule that matches wins; what nothing
allows is denied."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from deskhand.conditions import AllOf, Comparison, Condition, compile_condition
from deskhand.config.sections.policy import LimitSpec, PolicySpec, RuleSpec
from deskhand.errors import ConfigError
from deskhand.measures import compare
from deskhand.model.message import OWN_TOOLS
from deskhand.model.money import Money
from deskhand.policy.call_facts import CallFacts

log = logging.getLogger("deskhand.policy")

Verdict = Literal["allow", "hold", "deny"]

_STRICTNESS: tuple[Verdict, ...] = ("allow", "hold", "deny")
NO_RULE = "no_rule"
POLICY_ERROR = "policy_error"
_DEFAULT_WORDS: dict[Verdict, str] = {
    "allow": "",
    "hold": "A colleague has to look at this first.",
    "deny": "This cannot be done here.",
}


@dataclass(frozen=True, slots=True)
class RuleDecision:
    """A verdict with the rule that gave it. `reason` is for colleagues; `say` is all a model or
    a customer learns."""

    verdict: Verdict
    rule: str
    reason: str = ""
    say: str = ""
    requires_escalation: bool = False
    limit: LimitSpec | None = None
    """How much of what is allowed passes: the gate counts again where nobody can slip in
    between."""


class Policy(Protocol):
    """A desk's own rules; they can only make the gate stricter."""

    def decide(self, facts: CallFacts) -> RuleDecision: ...


@dataclass(frozen=True)
class PolicyRule:
    """One rule, ready to be matched."""

    name: str
    when: Condition | None
    """None matches every call."""
    then: Verdict
    why: str = ""
    say: str = ""
    requires_escalation: bool = False
    limit: LimitSpec | None = None

    @property
    def tools(self) -> frozenset[str] | None:
        """The only tools it can match, by exact name; None when it may match any."""
        return _tools_of(self.when)

    @property
    def goes_by_totals(self) -> bool:
        """Whether the same call may be judged otherwise on another day."""
        read = self.when.facts() if self.when is not None else set()
        return self.limit is not None or any(fact.partition(".")[0] == "totals" for fact in read)

    def matches(self, named: Mapping[str, Any]) -> bool:
        """A rule that denies counts also where it compares amounts in two currencies: "never more
        than was paid" holds for dollars of an order that was paid in euros."""
        if self.when is None:
            return True
        return self.when.may_match(named) if self.then == "deny" else self.when.matches(named)


class NullPolicy:
    """Allows everything: for tests, and for desks that have no rules of their own."""

    def decide(self, facts: CallFacts) -> RuleDecision:
        return RuleDecision("allow", "null_policy")


@dataclass(frozen=True)
class RulePolicy:
    """Rules in order, found by the call's exact tool name."""

    rules: tuple[PolicyRule, ...]
    _by_tool: dict[str, tuple[PolicyRule, ...]] = field(init=False, repr=False, compare=False)
    _others: tuple[PolicyRule, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        named = {tool for rule in self.rules for tool in rule.tools or ()}
        every = [(rule, rule.tools) for rule in self.rules]
        by_tool: dict[str, tuple[PolicyRule, ...]] = {}
        for name in named:
            by_tool[name] = tuple(rule for rule, only in every if only is None or name in only)
        object.__setattr__(self, "_by_tool", by_tool)
        object.__setattr__(self, "_others", tuple(rule for rule, only in every if only is None))

    def decide(self, facts: CallFacts) -> RuleDecision:
        """Pure and total: the strictest verdict about the things it acts on; an error of its own
        holds the call."""
        try:
            return max(
                (self._decide(thing) for thing in facts.each()),
                key=lambda made: _STRICTNESS.index(made.verdict),
            )
        except Exception:
            log.exception("the policy failed on a call of %s; it is held", facts.tool)
            reason = f"the policy's check of this call of {facts.tool} failed"
            return RuleDecision(
                "hold", POLICY_ERROR, reason, _DEFAULT_WORDS["hold"], requires_escalation=True
            )

    def matching(self, facts: CallFacts) -> PolicyRule | None:
        """The rule that decides this call."""
        named = facts.named
        for rule in self._by_tool.get(facts.tool, self._others):
            if rule.matches(named):
                return rule
        return None

    def _decide(self, facts: CallFacts) -> RuleDecision:
        rule = self.matching(facts)
        if rule is None:
            return _without_a_rule(facts)
        if rule.limit is not None and (over := over_limit(rule.limit, facts)) is not None:
            reason = f"rule {rule.name!r} allows it, but {over}"
            return RuleDecision(
                "hold",
                rule.name,
                reason,
                rule.say or _DEFAULT_WORDS["hold"],
                rule.requires_escalation,
            )
        reason = rule.why or f"rule {rule.name!r}"
        say = rule.say or _DEFAULT_WORDS[rule.then]
        return RuleDecision(rule.then, rule.name, reason, say, rule.requires_escalation, rule.limit)


def compile_policy(spec: PolicySpec) -> RulePolicy:
    """From rules that configuration has checked."""
    return RulePolicy(tuple(_compiled(rule) for rule in spec.rules))


def policy_of(rules: Sequence[Mapping[str, Any]]) -> RulePolicy:
    """The policy of rules written as in a desk's policy.yaml; ConfigError where one is wrong."""
    try:
        return compile_policy(PolicySpec.model_validate({"rules": list(rules)}))
    except ValueError as error:
        words = f"the rules cannot be read: {error}"
        raise ConfigError(words, fix="write a list of {name, when, then}") from None


def over_limit(limit: LimitSpec, facts: CallFacts) -> str | None:
    """What this call would exceed, in words: the totals are those of the same tool before it."""
    sums = facts.totals.get(limit.per, {}).get("tools", {}).get(facts.tool, {})
    if limit.calls is not None and int(sums.get("calls", 0)) + 1 > limit.calls:
        return f"it would be more than {limit.calls} a {limit.per}"
    if limit.money is None:
        return None
    moved = facts.money
    if moved is None or moved.currency != limit.money.currency:
        return f"nobody can tell whether it stays within {limit.money} a {limit.per}"
    spent = Money.of(
        {"amount": sums.get("money", {}).get(moved.currency, 0), "currency": moved.currency}
    )
    if compare(spent + moved, ("money", limit.money)) == 1:
        return f"together with {spent} before it, it would be more than {limit.money} a {limit.per}"
    return None


def _without_a_rule(facts: CallFacts) -> RuleDecision:
    if facts.effect == "read" or facts.tool in OWN_TOOLS:  # replies have their own checks and modes
        return RuleDecision("allow", NO_RULE)
    return RuleDecision(
        "deny", NO_RULE, f"no rule allows {facts.tool} in this case", _DEFAULT_WORDS["deny"]
    )


def _compiled(rule: RuleSpec) -> PolicyRule:
    when = compile_condition(rule.when) if rule.when is not None else None
    return PolicyRule(
        rule.name, when, rule.then, rule.why, rule.say, rule.requires_escalation, rule.limit
    )


def _tools_of(condition: Condition | None) -> frozenset[str] | None:
    if isinstance(condition, Comparison) and condition.fact == "tool":
        if condition.operator == "is" and isinstance(condition.operand, str):
            return frozenset((condition.operand,))
        if condition.operator == "in":
            return frozenset(name for name in condition.operand if isinstance(name, str))
    if isinstance(condition, AllOf):
        named = [tools for part in condition.parts if (tools := _tools_of(part)) is not None]
        return frozenset.intersection(*named) if named else None
    return None
