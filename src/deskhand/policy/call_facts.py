"""What is known about one tool call when a policy judges it, and how that is recorded and read
again."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time
from functools import cached_property
from itertools import product
from math import prod
from typing import Any, cast

from pydantic_core import to_jsonable_python

from deskhand.config.fact_types import RESERVED, WEEKDAYS
from deskhand.measures import measure
from deskhand.model.money import Money

Totals = Mapping[str, Mapping[str, Any]]
"""By scope (`conversation`, `principal`, `day`), before this call: `calls`, `money` (`{"EUR":
"120"}`), and under `tools` the same by tool."""

_CALL_FACTS = ("tool", "effect", "risk", "intent", "category", "channel", "language", "money")
_DEEPEST = 6
_MOST_FIELDS = 500
_MOST_THINGS = 1000


@dataclass(frozen=True)
class CallFacts:
    """One call, who it is for, and what happened before it. All in plain data: what is recorded
    is what was judged."""

    tool: str
    effect: str
    """read, reversible, keyed or irreversible"""
    risk: str
    at: datetime
    """In the desk's time zone."""
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The values in their canonical form."""
    principal: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """kind, customer_id, address, tier, tags"""
    intent: str | None = None
    category: str | None = None
    channel: str | None = None
    language: str | None = None
    message: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What the desk's own code says about the message, by name."""
    totals: Totals = field(default_factory=dict[str, Mapping[str, Any]])
    origin: Mapping[str, str] = field(default_factory=dict[str, str])
    """Where each argument's value came from: principal, operator, result:N, message, model."""
    read: Mapping[str, str] = field(default_factory=dict[str, str])
    """How each argument's value was read: exact, confirmed, default, corrected, guessed."""
    objects: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What the arguments that give authority stand for, by argument: fields as plain data, in a
    list for a list."""
    open_amounts: Sequence[str] = ()
    """What the call moves though it names no amount, as `40 EUR`."""

    def __post_init__(self) -> None:
        if self.at.tzinfo is None:
            raise ValueError("the time of a call needs its zone")

    @cached_property
    def named(self) -> dict[str, Any]:
        """Every fact under the name that conditions use."""
        named = self._arguments() | self._principal()
        for name in _CALL_FACTS:
            value = getattr(self, name)
            if value is not None:
                named[name] = value
        named |= {f"message.{name}": value for name, value in self.message.items()}
        named |= self._time() | self._totals()
        named |= {f"origin.{argument}": where for argument, where in self.origin.items()}
        return named | {f"read.{argument}": how for argument, how in self.read.items()}

    def _arguments(self) -> dict[str, Any]:
        """Each argument as `arguments.NAME`, and as `NAME` where no other fact is called so."""
        named: dict[str, Any] = {}
        for name, value in self.arguments.items():
            fields = self._fields(value) | self._fields(self.objects.get(name), inside_only=True)
            named |= {f"arguments.{name}{inside}": item for inside, item in fields.items()}
            if name not in RESERVED:
                named |= {f"{name}{inside}": item for inside, item in fields.items()}
        return named

    def _principal(self) -> dict[str, Any]:
        named: dict[str, Any] = {}
        for name in ("kind", "customer_id", "address", "tier", "tags"):
            value = self.principal.get(name)
            if value is None:
                continue
            named[f"principal.{name}"] = value
            if name in ("tier", "tags"):
                named[f"customer.{name}"] = value
        return named

    def each(self) -> list["CallFacts"]:
        """One for each thing that the call acts on, and for each name of its topic.

        What holds for one need not hold for the next. An intent that differs from the category is
        judged as a category as well.
        """
        if self.intent is None or self.intent == self.category:
            return self._each_thing()
        as_category = replace(self, category=self.intent)._each_thing()
        return as_category if self.category is None else [*self._each_thing(), *as_category]

    def _each_thing(self) -> list["CallFacts"]:
        several = {
            name: things for name, things in self.objects.items() if isinstance(things, list)
        }
        if not several:
            return [self]
        if prod(len(things) for things in several.values()) > _MOST_THINGS:
            raise ValueError(f"one call of {self.tool} acts on too many things")
        choices = product(*several.values())
        return [
            replace(self, objects={**self.objects, **dict(zip(several, chosen, strict=True))})
            for chosen in choices
        ]

    @property
    def money(self) -> Money | None:
        """The money this call moves: the sum of its amounts, or of its open ones; None without
        any, or with two currencies."""
        total: Money | None = None
        for value in (*self.arguments.values(), *self.open_amounts):
            measured = measure(value)
            if measured is None or measured[0] != "money":
                continue
            if total is not None and total.currency != measured[1].currency:
                return None
            total = measured[1] if total is None else total + measured[1]
        return total

    def record(self) -> dict[str, Any]:
        """The facts as JSON, for the row of the call; `facts_of` reads it again."""
        values = {name: getattr(self, name) for name in self.__dataclass_fields__}
        plain = to_jsonable_python(
            {name: value for name, value in values.items() if value not in (None, {}, ())},
            fallback=str,
            inf_nan_mode="null",
        )
        return cast(dict[str, Any], plain)

    def _time(self) -> dict[str, Any]:
        return {
            "time.hour": self.at.hour,
            "time.weekday": WEEKDAYS[self.at.weekday()],
            "time.date": self.at.date(),
            "time.now": self.at,
        }

    def _totals(self) -> dict[str, Any]:
        named: dict[str, Any] = {}
        for scope, sums in self.totals.items():
            for tool, total in ((None, sums), *sums.get("tools", {}).items()):
                room = f"totals.{scope}" if tool is None else f"totals.{scope}.{tool}"
                named[f"{room}.calls"] = total.get("calls", 0)
                named[f"{room}.money"] = total.get("money", {})
        return named

    def _fields(self, value: Any, *, inside_only: bool = False) -> dict[str, Any]:
        """A value under the empty name, what is inside it under `.name`; a date also has an age,
        `.age`."""
        fields: dict[str, Any] = {}
        rooms: list[tuple[str, Any]] = [("", value)]
        while rooms and len(fields) < _MOST_FIELDS:
            name, item = rooms.pop()
            fields[name] = item
            if isinstance(item, Mapping) and name.count(".") < _DEEPEST:
                rooms += [(f"{name}.{key}", inner) for key, inner in item.items()]
            elif (written := measure(item)) is not None and written[0] in ("date", "moment"):
                fields[f"{name}.age"] = self.at - self._moment(written[1])
        if inside_only:
            del fields[""]
        return fields

    def _moment(self, then: date) -> datetime:
        return (
            then
            if isinstance(then, datetime)
            else datetime.combine(then, time(), tzinfo=self.at.tzinfo or UTC)
        )


BESIDE = ("tool", "arguments", "origin", "read")
"""What a call's record says itself, so that its facts need not repeat it."""


def facts_of(record: Mapping[str, Any]) -> CallFacts | None:
    """The facts a recorded call was judged by (its row holds them under `facts`); None when none
    were recorded."""
    kept = record.get("facts")
    if not isinstance(kept, Mapping) or not kept:
        return None
    kept = {**{name: record[name] for name in BESIDE if record.get(name)}, **kept}
    fields = {name: value for name, value in kept.items() if name in CallFacts.__dataclass_fields__}
    try:
        return CallFacts(**{**fields, "at": datetime.fromisoformat(str(fields.get("at")))})
    except (TypeError, ValueError):
        return None
