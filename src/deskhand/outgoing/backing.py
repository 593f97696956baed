"""What may stand behind a draft: results of tools, clauses of the desk, articles it cites."""

import re
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import UTC, datetime, time
from decimal import Decimal
from functools import cached_property, lru_cache
from typing import Any, cast

from deskhand.config.sections.outgoing import Action, ClauseSpec
from deskhand.config.sections.slots import SlotSpec
from deskhand.language.slots import SlotExtractor
from deskhand.measures import measure
from deskhand.outgoing.values import MONEY

AMOUNTS_AND_DAYS = SlotExtractor(
    [SlotSpec(name="amount", type="money"), SlotSpec(name="day", type="date", prefer="future")]
)
_DEEPEST = 8
"""How deep data is looked into."""
_LONGEST = 20_000
"""Characters of one text that are read."""
_MAPPINGS = (dict, Mapping)
"""Almost all are plain dictionaries, and asking Mapping alone takes eight times as long."""
_SHORT = 200
"""Characters of a text whose values are kept in memory."""
_ACTION_WORDS: dict[str, tuple[Action, ...]] = {
    "refund": ("refund", "credit"),
    "reimburse": ("refund",),
    "return": ("refund", "replace"),
    "cancel": ("cancel",),
    "terminate": ("cancel",),
    "replace": ("replace",),
    "exchange": ("replace",),
    "ship": ("replace", "deliver", "send"),
    "reship": ("replace", "deliver"),
    "send": ("send",),
    "resend": ("send", "replace"),
    "email": ("send",),
    "mail": ("send",),
    "voucher": ("credit",),
    "discount": ("credit",),
    "coupon": ("credit",),
    "credit": ("credit",),
    "change": ("change",),
    "update": ("change",),
    "modify": ("change",),
    "set": ("change",),
    "reset": ("change", "send"),
    "book": ("contact", "deliver", "reserve"),
    "callback": ("contact",),
    "call": ("contact",),
    "escalate": ("escalate", "contact"),
    "ticket": ("escalate", "contact"),
    "forward": ("escalate",),
    "transfer": ("escalate", "contact"),
    "hold": ("reserve",),
    "reserve": ("reserve",),
    "reservation": ("reserve",),
    "invitation": ("reserve",),
    "deliver": ("deliver",),
    "reschedule": ("change", "deliver"),
}
"""What a tool that changed something did, by the words of its name."""


@dataclass(frozen=True)
class Backing:
    """What may stand behind a draft."""

    now: datetime
    results: Sequence[Mapping[str, Any]] = ()
    """Calls of this run that succeeded, each with `tool`, `effect`, `arguments` and `data`."""
    clauses: Sequence[ClauseSpec] = ()
    quotes: Sequence[str] = ()
    """Articles the draft cites, as they are."""
    message: str = ""
    """What the customer wrote: it may be repeated, but it backs no promise."""

    def of_value(self, value: str, *, moved: bool = False) -> str | None:
        """The result that holds a value, in words; None when no result does.

        With `moved` (money that is paid, a day that is reserved) only results of tools that changed
        something count.
        """
        for result, values in self._values_of_results:
            if value in values and (changed_something(result) or not moved):
                return f"result of {result.get('tool', 'a tool')}"
        return None

    @cached_property
    def _values_of_results(self) -> list[tuple[Mapping[str, Any], AbstractSet[str]]]:
        """Read only when a reply speaks of a value."""
        return [(result, _values(result, self.now)) for result in self.results]

    @cached_property
    def in_clauses(self) -> dict[str, AbstractSet[str]]:
        return {clause.name: _values(clause.words, self.now) for clause in self.clauses}

    @cached_property
    def in_quotes(self) -> AbstractSet[str]:
        return _values(self.quotes, self.now)

    @cached_property
    def in_message(self) -> AbstractSet[str]:
        return _values(self.message, self.now)

    @property
    def done(self) -> dict[Action, str]:
        """What tools have done, each action with the name of the tool."""
        done: dict[Action, str] = {}
        for result in filter(changed_something, self.results):
            for action in actions_of(result):
                done.setdefault(action, str(result.get("tool", "")))
        return done


def changed_something(result: Mapping[str, Any]) -> bool:
    """Whether the tool did more than read."""
    return str(result.get("effect", "read")) != "read"


def actions_of(result: Mapping[str, Any]) -> list[Action]:
    """What a tool did, by the words of its name and of its argument `action`."""
    data = result.get("data")
    if isinstance(data, Mapping) and data.get("held") is False:
        return []  # it could have held something, and did not
    asked = str((result.get("arguments") or {}).get("action", ""))
    words = re.split(r"[_-]", f"{result.get('tool', '')}_{asked}".lower())
    return [action for word in words for action in _ACTION_WORDS.get(word, ())]


def amount_text(number: object, currency: object) -> str:
    """An amount as commitments write it: `49.9 EUR`."""
    return f"{Decimal(str(number)).normalize():f} {currency}"


def _values(data: Any, now: datetime) -> AbstractSet[str]:
    """Amounts and days in data or text, written as commitments are."""
    today = now.astimezone(UTC) if now.tzinfo else now
    values: set[str] = set()
    _gather(data, datetime.combine(today.date(), time(), UTC), values, 0)
    return values


def _gather(data: Any, midnight: datetime, values: set[str], depth: int) -> None:
    """Add the values of data, and of what is in it as far down as is looked."""
    if depth > _DEEPEST or data is None or isinstance(data, int | float):
        return  # a number without a currency is neither an amount nor a day
    if isinstance(data, str):
        values |= _values_in_text(data, midnight)
    elif isinstance(data, _MAPPINGS):
        fields = cast(Mapping[str, Any], data)
        values |= _priced(fields)
        for value in fields.values():
            _gather(value, midnight, values, depth + 1)
    elif isinstance(data, Sequence):
        for item in data:
            _gather(item, midnight, values, depth + 1)
    else:
        values |= _amount_or_day(data)


def _amount_or_day(data: Any) -> set[str]:
    kind = measure(data)
    if kind is not None and kind[0] == "money":
        return {amount_text(kind[1].amount, kind[1].currency)}
    return _day_of(data)


def _day_of(data: Any) -> set[str]:
    """The day that a date or a moment names; empty for anything else."""
    kind = measure(data)
    if kind is None or kind[0] not in ("date", "moment"):
        return set()
    return {kind[1].isoformat()[:10]}


def _priced(fields: Mapping[str, Any]) -> set[str]:
    """Amounts whose currency the name of their field says (`price_czk: 81`), or a field beside
    them: of `{"total": 49.9, "currency": "EUR"}` every number is an amount."""
    amounts: set[str] = set()
    for name, value in fields.items():
        ending = name[-3:].upper()
        if ending in MONEY and name[-4:-3] in ("_", "") and _is_number(value):
            amounts.add(amount_text(value, ending))
    currency = fields.get("currency")
    if isinstance(currency, str) and re.fullmatch(r"[A-Za-z]{3}", currency):
        numbers = filter(_is_number, fields.values())
        amounts |= {amount_text(number, currency.upper()) for number in numbers}
    return amounts


def _is_number(value: Any) -> bool:
    if isinstance(value, str) and re.fullmatch(r"[0-9]+(?:\.[0-9]+)?", value):
        return True
    kind = measure(value)
    return kind is not None and kind[0] == "number"


def _values_in_text(text: str, midnight: datetime) -> frozenset[str]:
    if len(text) <= _SHORT:
        return _values_in_short_text(text, midnight)
    return _read_values(text, midnight)


@lru_cache(maxsize=8192)
def _values_in_short_text(text: str, midnight: datetime) -> frozenset[str]:
    """Results of tools say the same few words again and again: states, names, kinds."""
    return _read_values(text, midnight)


def _read_values(text: str, midnight: datetime) -> frozenset[str]:
    slots = AMOUNTS_AND_DAYS.extract(text[:_LONGEST], now=midnight)
    money = [match.value for match in slots["amount"].matches]
    amounts = {amount_text(value["amount"], value["currency"]) for value in money}
    days = {match.value[:10] for match in slots["day"].matches}
    return frozenset(amounts | days | _day_of(text))
