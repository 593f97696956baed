"""A desk's own rules over tool calls, as written, and what they become once they are checked."""

from typing import Annotated, Any, Literal

from pydantic import Field

from deskhand.config.sections.section import Section
from deskhand.model.frozen import Frozen
from deskhand.model.money import Money

Scope = Literal["conversation", "principal", "day"]
MoneyText = Annotated[str, Field(pattern=r"^[0-9]{1,15}(\.[0-9]{1,4})? [A-Z]{3}$")]


class LimitSection(Section):
    """How much one rule allows, counted for the same tool: `{per: day, calls: 3, money: 200
    EUR}`."""

    per: Scope
    """What is counted together: `conversation`, `principal` (one customer, a day) or `day` (the
    whole desk)."""
    calls: int | None = Field(default=None, gt=0)
    """How many calls pass; the next ones wait for a person."""
    money: MoneyText | None = None
    """How much money may move, as `200 EUR`; a call that would exceed it waits for a person."""


class RuleSection(Section):
    """One rule: `{name, when, then: allow | hold | deny}`; the first rule whose condition holds
    decides."""

    name: str = Field(min_length=1, max_length=120)
    """What the rule is called in reviews, traces and `deskhand policy`."""
    when: dict[str, Any] | None = None
    """A condition over the call: `{tool: refund, amount: {at_most: 50 EUR}}`; without it the
    rule is for every call."""
    then: Literal["allow", "hold", "deny"]
    """`allow` lets it pass to the gate's other rules, `hold` asks a person, `deny` refuses it
    for good."""
    why: str | None = Field(default=None, min_length=1, max_length=1000)
    """For the reviewer: why the call is held or denied."""
    say: str | None = Field(default=None, min_length=1, max_length=1000)
    """For the model and the customer: all they learn about it."""
    requires_escalation: bool = False
    """Whether the matter goes to a person at once, whatever the model does next."""
    limit: LimitSection | None = None
    """With `then: allow`: how much of it passes without a person."""


class LimitSpec(Frozen):
    per: Scope
    calls: int | None = None
    money: Money | None = None


class RuleSpec(Frozen):
    name: str
    when: dict[str, Any] | None = None
    then: Literal["allow", "hold", "deny"]
    why: str = ""
    say: str = ""
    requires_escalation: bool = False
    limit: LimitSpec | None = None


class PolicySpec(Frozen):
    """Rules in the order they were written."""

    rules: tuple[RuleSpec, ...] = ()


def policy_spec(rules: list[RuleSection]) -> PolicySpec:
    return PolicySpec(rules=tuple(_rule(rule) for rule in rules))


def _limit(limit: LimitSection) -> LimitSpec:
    return LimitSpec(
        per=limit.per, calls=limit.calls, money=Money.of(limit.money) if limit.money else None
    )


def _rule(rule: RuleSection) -> RuleSpec:
    limit = rule.limit
    return RuleSpec(
        name=rule.name,
        when=rule.when,
        then=rule.then,
        why=rule.why or "",
        say=rule.say or "",
        requires_escalation=rule.requires_escalation,
        limit=None if limit is None else _limit(limit),
    )
