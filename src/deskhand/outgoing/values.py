"""A value that a text states, and whether two of them are the same."""

from collections.abc import Iterable
from decimal import Decimal
from typing import Literal, NamedTuple

Kind = Literal["number", "time", "weekday", "date", "relative", "identifier", "link"]
MONEY = frozenset(("EUR", "CZK", "USD", "GBP", "PLN", "CHF"))
_EXACT_UNITS = MONEY | {"mg", "mcg", "g", "kg", "ml", "l", "mm", "cm", "m", "km", "w", "percent"}
_EXACT_UNITS |= {"degree", "day", "workday", "month", "minute"}
DOSES = frozenset(("mg", "mcg", "ml"))
_FULL_DAY = 24


class Value(NamedTuple):
    """One value; `readings` are all that its writing may mean."""

    kind: Kind
    readings: frozenset[str]
    unit: str
    """What a number counts: a currency, `day`, `mg`; empty where nothing tells."""
    start: int
    end: int
    written: str

    @property
    def is_strength(self) -> bool:
        """Whether it says how much: it is never taken from the customer's words."""
        return self.kind == "number" and self.unit in _EXACT_UNITS


def same_value(claimed: Value, stated: Value) -> bool:
    """Whether a source's value is the one that is claimed."""
    if claimed.kind == "relative" or stated.kind == "relative":
        return bool(claimed.readings & stated.readings)
    if claimed.kind == stated.kind == "date":
        return _same_date(claimed.readings, stated.readings)
    if claimed.kind == stated.kind:
        same = bool(claimed.readings & stated.readings)
        return same and (claimed.kind != "number" or _same_unit(claimed.unit, stated.unit))
    kinds = {claimed.kind, stated.kind}
    if kinds == {"number", "time"}:
        number = claimed if claimed.kind == "number" else stated
        return number.unit in ("", "hour") and bool(
            _clock_readings(claimed) & _clock_readings(stated)
        )
    if kinds == {"number", "identifier"}:
        return bool(claimed.readings & stated.readings)
    return False


def _same_date(claimed: frozenset[str], stated: frozenset[str]) -> bool:
    claimed_year, stated_year = _with_year(claimed), _with_year(stated)
    if claimed_year and stated_year:
        return bool(claimed_year & stated_year)
    return bool(claimed & stated)


def _with_year(readings: frozenset[str]) -> set[str]:
    return {reading for reading in readings if not reading.endswith(".")}


def _same_unit(claimed: str, stated: str) -> bool:
    if claimed == stated:
        return True
    if not stated:
        return claimed not in _EXACT_UNITS
    return not claimed and stated not in _EXACT_UNITS


def _clock_readings(value: Value) -> set[str]:
    """What a time of day may mean, in minutes after midnight."""
    if value.kind == "time":
        return set(value.readings)
    hours = [Decimal(reading) for reading in value.readings]
    return {str(int(hour * 60)) for hour in hours if 0 <= hour <= _FULL_DAY and hour % 1 == 0}


def is_stated(value: Value, stated: Iterable[Value]) -> bool:
    """Whether a value is one of those that are stated."""
    return any(same_value(value, other) for other in stated)
