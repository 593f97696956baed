"""A desk's own rules over tool calls, as written, and what they become once they are checked."""

from typing import Annotated, Any, Literal

from pydantic import Field

from deskhand.config.sections.section import Section, written_as_text
from deskhand.model.frozen import Frozen
from deskhand.model.money import Money

Scope = Literal["conversation", "principal", "day"]
WrittenMoney = Annotated[
    Money, written_as_text(Money.of, pattern=r"^[0-9]{1,15}(\.[0-9]{1,4})? [A-Z]{3}$")
]
"""An amount of money, as `20 EUR`."""


class LimitSpec(Section):
    """How much one rule allows, counted for the same tool: `{per: day, calls: 3, money: 200
    EUR}`."""

    per: Scope
    """What is counted together: `conversation`, `principal` (one customer, a day) or `day` (the
    whole desk)."""
    calls: int | None = Field(default=None, gt=0)
    """How many calls pass; the next ones wait for a person."""
    money: WrittenMoney | None = None
    """How much money may move, as `200 EUR`; a call that would exceed it waits for a person."""


class RuleSpec(Section):
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
    why: str = Field(default="", min_length=1, max_length=1000)
    """For the reviewer: why the call is held or denied."""
    say: str = Field(default="", min_length=1, max_length=1000)
    """For the model and the customer: all they learn about it."""
    requires_escalation: bool = False
    """Whether the matter goes to a person at once, whatever the model does next."""
    limit: LimitSpec | None = None
    """With `then: allow`: how much of it passes without a person."""


class PolicySpec(Frozen):
    """Rules in the order they were written."""

    rules: tuple[RuleSpec, ...] = ()
