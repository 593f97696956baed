"""What a desk's effects add up to, and how much may pass without a person."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal, NamedTuple

Scope = Literal["conversation", "principal", "day"]
SCOPES: tuple[Scope, ...] = ("conversation", "principal", "day")

CALLS = "calls"
SENDS = "sends"
ADDRESSED_SENDS = "sends to addresses"
"""What goes to somebody's address: every send but a line of a chat. Counted as a send as well."""
UNPROVEN_SENDS = "sends to unproven senders"
"""What goes to an address in the matter of somebody nobody vouches for; counted as the others as
well."""
FRACTION = 10_000
"""Money is counted in ten-thousandths: whole numbers add up exactly in every database."""

MOST = 2**63 - 1
"""The largest number both databases keep."""

TotalKey = tuple[str, str]
"""Whose total it is (a conversation, a principal, nobody for the whole desk) and of which day
(none: of all time)."""


class Pruned(NamedTuple):
    """How many rows were too old to be kept."""

    responses: int
    totals: int


@dataclass(frozen=True, slots=True)
class Limit:
    """How much of one unit may add up in one scope, for one tool or for all."""

    scope: Scope
    unit: str
    """`calls`, one of the kinds of sends above, or a currency."""
    at_most: int
    tool: str | None = None

    def __str__(self) -> str:
        what = (
            f"{shown(self.at_most)} {self.unit}"
            if is_money(self.unit)
            else f"{self.at_most} {self.unit}"
        )
        of = f" of {self.tool}" if self.tool else ""
        return f"{what}{of} a {self.scope}"


@dataclass(frozen=True, slots=True)
class CountedEffect:
    """What one effect adds to the totals, and what they may not exceed: checked where the
    intention is written."""

    places: Mapping[Scope, TotalKey]
    units: Mapping[str, int]
    limits: tuple[Limit, ...] = ()
    heeds_stop: bool = True
    """Whether the desk's stop switch holds it."""


@dataclass(frozen=True, slots=True)
class Stop:
    """Somebody stopped the desk: no effect happens until it is resumed."""

    by: str
    reason: str
    at: float


class Objection(NamedTuple):
    """What stands in the way of one more effect."""

    rule: str
    reason: str
    liftable: bool
    """Whether a person's approval lets it pass."""


@dataclass(frozen=True, slots=True)
class Total:
    """One row of the totals."""

    scope: Scope
    tool: str
    unit: str
    amount: int


@dataclass(slots=True)
class Sums:
    """Totals as the limits are held against them."""

    rows: dict[tuple[Scope, str, str], int] = field(
        default_factory=dict[tuple[Scope, str, str], int]
    )

    @classmethod
    def of(cls, totals: Iterable[Total]) -> "Sums":
        return cls({(total.scope, total.tool, total.unit): total.amount for total in totals})

    def exceeded(self, tool: str, counted: CountedEffect) -> Limit | None:
        """The first limit that this effect would exceed."""
        for limit in counted.limits:
            added = counted.units.get(limit.unit, 0)
            if not added or limit.tool not in (None, tool):
                continue
            if self.counted_by(limit) + added > limit.at_most:
                return limit
        return None

    def counted_by(self, limit: Limit) -> int:
        """How much of what it limits has added up."""
        return sum(
            amount
            for (scope, of, unit), amount in self.rows.items()
            if (scope, unit) == (limit.scope, limit.unit) and limit.tool in (None, of)
        )

    def add(self, tool: str, counted: CountedEffect) -> None:
        for scope in counted.places:
            for unit, amount in counted.units.items():
                place = (scope, tool, unit)
                self.rows[place] = self.rows.get(place, 0) + amount

    def facts(self) -> dict[str, dict[str, Any]]:
        """What was spent, by scope: `calls`, `money` by currency, and under `tools` the same by
        tool."""
        by_scope: dict[str, dict[str, Any]] = {}
        for (scope, tool, unit), amount in sorted(self.rows.items()):
            whole = by_scope.setdefault(scope, {"calls": 0, "money": {}, "tools": {}})
            own = whole["tools"].setdefault(tool, {"calls": 0, "money": {}})
            for sums in (whole, own):
                if unit == CALLS:
                    sums["calls"] += amount
                elif is_money(unit):
                    sums["money"][unit] = shown(
                        amount + counted_money(sums["money"].get(unit, "0"))
                    )
        return by_scope


def objection_to(
    stop: Stop | None, sums: Sums, tool: str, counted: CountedEffect
) -> Objection | None:
    """Whether the stop switch or a cap speaks against an effect, by the totals before it."""
    if stop is not None and counted.heeds_stop:
        why = f": {stop.reason}" if stop.reason else ""
        return Objection("stopped", f"the desk was stopped by {stop.by}{why}", False)
    if any(amount > MOST // 4 for amount in counted.units.values()):
        return Objection("over_cap", "the amount is too large to be counted", False)
    limit = sums.exceeded(tool, counted)
    if limit is not None:
        return Objection("over_cap", f"it would exceed the cap of {limit}", True)
    return None


def is_money(unit: str) -> bool:
    return len(unit) == 3 and unit.isupper()


def counted_money(amount: Decimal | str) -> int:
    """Rounded up: a limit is never exceeded by a fraction."""
    exact = Decimal(amount) * FRACTION
    whole = int(exact)
    return whole if whole == exact else whole + 1


def shown(amount: int) -> str:
    written = Decimal(amount) / FRACTION
    return f"{written.normalize():f}"
