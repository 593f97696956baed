"""What can be ordered: numbers, money, lengths of time, dates. Read from text, compared only
with their own kind."""

import re
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import lru_cache
from typing import Any, Literal

from deskhand.model.money import Money

Kind = Literal["number", "money", "duration", "date", "moment"]
Measure = tuple[Kind, Any]

_UNITS = {
    **dict.fromkeys(("s", "second", "seconds"), 1),
    **dict.fromkeys(("min", "minute", "minutes"), 60),
    **dict.fromkeys(("h", "hour", "hours"), 3600),
    **dict.fromkeys(("d", "day", "days"), 86_400),
    **dict.fromkeys(("w", "week", "weeks"), 604_800),
}
_DURATION = re.compile(rf"([0-9]{{1,7}}(?:\.[0-9]{{1,3}})?) ?({'|'.join(_UNITS)})")
_MINUTES = re.compile(r"[0-9]{1,7} ?m")
_PART = "([0-9]{1,7})"
_ISO_DURATION = re.compile(
    rf"P(?:{_PART}D)?(?:T(?:{_PART}H)?(?:{_PART}M)?(?:([0-9]{{1,7}}(?:\.[0-9]{{1,6}})?)S)?)?"
)
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ][0-9:.]+(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?")
_LONGEST = 60
_BEGINS = frozenset("0123456789P")
_CURRENCY = re.compile(r"[A-Z]{3}")


def past_moment(text: str, now: float) -> float:
    """Seconds since the epoch of a date, a date with a time, or how long ago: `7d`, `2 hours`.

    A time without a zone is this machine's. ValueError where the text is none of these.
    """
    written = text.strip()
    if _MINUTES.fullmatch(written.lower()):
        written += "in"
    length = _DURATION.fullmatch(written.lower())
    if length is not None:
        return now - float(length[1]) * _UNITS[length[2]]
    return datetime.fromisoformat(written).timestamp()


def is_number(value: Any) -> bool:
    """Anything that can be ordered as a number: a bool and a NaN cannot."""
    if isinstance(value, bool):
        return False
    if isinstance(value, int | float):
        return value == value
    return isinstance(value, Decimal) and not value.is_nan()


def measure(value: Any) -> Measure | None:
    """What a value measures; None for all that has no order."""
    if is_number(value):
        return "number", value
    if isinstance(value, Money):
        return "money", value
    if isinstance(value, timedelta):
        return "duration", value
    if isinstance(value, datetime):
        return ("moment", value) if value.tzinfo is not None else ("date", value.date())
    if isinstance(value, date):
        return "date", value
    if isinstance(value, str):
        return _read(value) if 0 < len(value) <= _LONGEST and value[0] in _BEGINS else None
    if isinstance(value, Mapping) and len(value) == 2:
        return _money(value)
    return None


def compare(fact: Any, other: Measure) -> int | None:
    """-1, 0 or 1, or None where the two cannot be compared.

    Sums of money by currency (`{"EUR": "120", "CZK": "300"}`) are compared in the currency of
    `other`.
    """
    kind, value = other
    if (
        kind == "money"
        and isinstance(fact, Mapping)
        and (total := _total(fact, value.currency)) is not None
    ):
        return _sign(total.amount, value.amount)
    mine = measure(fact)
    if mine is None:
        return None
    if mine[0] == "moment" and kind == "date":
        return _sign(mine[1].date(), value)
    if mine[0] != kind or (kind == "money" and mine[1].currency != value.currency):
        return None
    return _sign(mine[1], value)


def are_in_two_currencies(mine: Any, other: Any) -> bool:
    """Whether both are money and nobody can tell which is more."""
    left, right = measure(mine), measure(other)
    if left is None or right is None or not left[0] == right[0] == "money":
        return False
    return bool(left[1].currency != right[1].currency)


@lru_cache(maxsize=4096)
def _read(text: str) -> Measure | None:
    if text[0] == "P" and len(text) > 2 and (iso := _ISO_DURATION.fullmatch(text)):
        days, hours, minutes, seconds = (float(part or 0) for part in iso.groups())
        return "duration", timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)
    if not text[0].isdigit():
        return None
    if length := _DURATION.fullmatch(text):
        return "duration", timedelta(seconds=float(length[1]) * _UNITS[length[2]])
    if _DATE.fullmatch(text):
        return _date(text)
    return _money(text)


def _date(text: str) -> Measure | None:
    try:
        if len(text) == 10:
            return "date", date.fromisoformat(text)
        return measure(datetime.fromisoformat(text))
    except ValueError:
        return None


def _money(value: Any) -> Measure | None:
    try:
        return "money", Money.of(value)
    except ValueError:
        return None


def _total(sums: Mapping[Any, Any], currency: str) -> Money | None:
    if not all(isinstance(code, str) and _CURRENCY.fullmatch(code) for code in sums):
        return None
    try:
        return Money.of({"amount": sums.get(currency, 0), "currency": currency})
    except ValueError:
        return None


def _sign(first: Any, second: Any) -> int:
    return int(first > second) - int(first < second)
