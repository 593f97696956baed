"""Records as documents for people and programs outside: what is a time in them is ISO 8601 in
UTC."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from functools import lru_cache
from math import modf
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_LAST_SECOND = datetime(9999, 12, 31, tzinfo=UTC).timestamp()
_MILLISECONDS = tuple(f".{number:03d}+00:00" for number in range(1000))
_TIMES = frozenset(("at", "until", "first_seen", "last_seen"))


def iso_at(seconds: float) -> str:
    """A moment as `2026-03-02T09:30:00.000+00:00`."""
    if not 0 < seconds < _LAST_SECOND:
        return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")
    fraction, whole = modf(seconds)
    microseconds = round(fraction * 1_000_000)
    if microseconds == 1_000_000:
        whole, microseconds = whole + 1, 0
    return _second(int(whole)) + _MILLISECONDS[microseconds // 1000]


@lru_cache(maxsize=1024)
def _second(whole: int) -> str:
    """A whole second: what happens in one message mostly happens in the same few."""
    return datetime.fromtimestamp(whole, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def document(record: "DataclassInstance") -> dict[str, Any]:
    """A record by its fields; what others wrote into it (payloads, results) stays as it is."""
    return {field.name: _plain(field.name, getattr(record, field.name)) for field in fields(record)}


def with_times(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The same mapping with its own times told; not those inside."""
    return {name: _time(name, value) for name, value in fields.items()}


def _plain(name: str, value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return document(value)
    if isinstance(value, list | tuple):
        return [_plain("", item) for item in cast(list[Any], value)]
    return _time(name, value)


def _time(name: str, value: Any) -> Any:
    is_time = name in _TIMES or name.endswith(("_at", "_until"))
    return (
        iso_at(value)
        if is_time and isinstance(value, int | float) and not isinstance(value, bool)
        else value
    )
