"""Which intents count for a customer: by channel, by tier, and by how far each is rolled out."""

import hashlib
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, Self

from deskhand.config.sections.intents import IntentSpec
from deskhand.model.message import Message
from deskhand.model.principal import Principal

if TYPE_CHECKING:
    from deskhand.config.desk import DeskSpec

_PARTS = 10_000
"""Into how many parts customers are divided: a rollout may be written as 0.01 percent."""


class IntentContext(NamedTuple):
    """What decides whether an intent counts."""

    channel: str = ""
    customer: str = ""
    """Whatever stays the same for one customer; a rollout goes by it."""
    tier: str | None = None

    @classmethod
    def of(cls, message: Message, principal: Principal | None = None) -> "IntentContext":
        """What a message says about it; `principal` is its sender with all that contacts know."""
        sender = principal or message.principal
        address = message.sender.address.strip().lower()
        unproven = f"address:{address}" if address else message.conversation
        return cls(message.channel, sender.name or unproven, sender.tier)


class Eligibility(NamedTuple):
    """Whether one intent counts."""

    intent: str
    is_eligible: bool
    reason: str
    """Why, in words."""


class IntentsRegistry:
    """The intents of a desk, each with the customers that it counts for.

    Intents with examples alone count for everybody.
    """

    def __init__(
        self,
        intents: Mapping[str, IntentSpec],
        tiers: Iterable[str] = (),
        others: Iterable[str] = (),
    ) -> None:
        """`tiers` begins with the lowest; `others` are intents of which nothing is written."""
        unlimited = {name: IntentSpec(name=name) for name in others}
        self._intents = unlimited | dict(intents)
        self._tiers = tuple(tiers)

    @classmethod
    def of(cls, spec: "DeskSpec") -> Self:
        """Every category and intent of a desk."""
        categories: list[str] = []
        for flow in spec.flows.values():
            for stage in flow.stages.values():
                categories += stage.choices if stage.task == "classify" else ()
        return cls(spec.intents, spec.tiers, [*categories, *spec.plans])

    def __bool__(self) -> bool:
        return bool(self._intents)

    @cached_property
    def has_limits(self) -> bool:
        """Whether any intent does not count for everybody."""
        return any(_is_limited(intent) for intent in self._intents.values())

    @cached_property
    def has_models(self) -> bool:
        """Whether any intent names the model that works on it."""
        return any(intent.model is not None for intent in self._intents.values())

    @property
    def redacted(self) -> frozenset[str]:
        """The slots that some intent hides."""
        hidden: set[str] = set()
        for intent in self._intents.values():
            hidden |= intent.redact
        return frozenset(hidden)

    def judge(self, context: IntentContext) -> list[Eligibility]:
        """Every intent, and why it counts or does not."""
        judged: list[Eligibility] = []
        for name, intent in self._intents.items():
            against = self._against(intent, context)
            reason = against or _in_favour(intent)
            judged.append(Eligibility(name, against is None, reason))
        return judged

    def eligible(self, context: IntentContext) -> list[str]:
        """The intents that count, in the order they are written."""
        if not self.has_limits:
            return list(self._intents)
        return [
            name for name, intent in self._intents.items() if self._against(intent, context) is None
        ]

    def not_eligible(self, context: IntentContext) -> frozenset[str]:
        return frozenset(self._intents) - frozenset(self.eligible(context))

    def get(self, name: str | None) -> IntentSpec | None:
        """What is written about an intent; None where nothing is."""
        return self._intents.get(name or "")

    def _against(self, intent: IntentSpec, context: IntentContext) -> str | None:
        if intent.channels and context.channel not in intent.channels:
            where = ", ".join(intent.channels)
            return f"it counts on {where}, and this is {context.channel or 'no channel'}"
        if intent.tier is not None and not self._reaches(context.tier, intent.tier):
            have = context.tier or "no tier"
            return f"it needs the tier {intent.tier}, and the customer has {have}"
        if not is_in_rollout(intent, context.customer):
            return f"it is rolled out to {intent.rollout:g}% of the customers, not to this one"
        return None

    def _reaches(self, tier: str | None, least: str) -> bool:
        """A tier that nobody listed is no tier."""
        if tier not in self._tiers or least not in self._tiers:
            return False
        return self._tiers.index(tier) >= self._tiers.index(least)


def is_in_rollout(intent: IntentSpec, customer: str) -> bool:
    """The same answer for the same customer, whenever it is asked; a larger rollout adds customers
    and drops none."""
    if intent.rollout >= 100:
        return True
    digest = hashlib.sha256(f"{intent.name}\n{customer}".encode()).digest()
    place = int.from_bytes(digest[:8], "big") % _PARTS
    return place < intent.rollout * _PARTS / 100


def _is_limited(intent: IntentSpec) -> bool:
    return bool(intent.channels) or intent.tier is not None or intent.rollout < 100


def _in_favour(intent: IntentSpec) -> str:
    limits: list[str] = []
    if intent.channels:
        limits.append(f"on {', '.join(intent.channels)}")
    if intent.tier is not None:
        limits.append(f"from the tier {intent.tier} on")
    if intent.rollout < 100:
        limits.append(f"for {intent.rollout:g}% of the customers, this one among them")
    return "it counts " + ", ".join(limits or ["for everybody"])
