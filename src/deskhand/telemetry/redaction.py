"""Keeps what customers said in slots under `redact` out of telemetry."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from deskhand.model.understanding import SLOTS
from deskhand.routing.intents_registry import IntentsRegistry
from deskhand.routing.redacted_slots import redacted_names, without_values

_NUMBER = re.compile(r"\d+(?:[.,]\d+)?")
_MERGED = ("turn", "progress")
"""The fields of a plan's output in which values stand beside its slots."""
_IN_PROGRESS = ("values", "answers", "pending")


class Redaction:
    """Which slots are hidden."""

    def __init__(self, registry: IntentsRegistry | None = None) -> None:
        self._registry = registry or IntentsRegistry({})
        self._hidden = self._registry.redacted

    def __bool__(self) -> bool:
        return bool(self._hidden)

    def names_in(self, intent: str | None, parameters: Iterable[str]) -> list[str]:
        """Those of the parameters that this intent hides."""
        hidden = redacted_names(self._registry, intent)
        return [name for name in parameters if name in hidden]

    def values_in(self, output: Any) -> Iterator[Any]:
        """Every value of a hidden slot that a stage's output holds."""
        if not isinstance(output, Mapping):
            return
        groups = [output.get(SLOTS), output.get("values")]
        for field in _MERGED:
            inside = output.get(field)
            if isinstance(inside, Mapping):
                groups += [inside.get(name) for name in _IN_PROGRESS]
        for group in groups:
            if isinstance(group, Mapping):
                yield from self.hidden_of(group)

    def hidden_of(self, values: Mapping[str, Any]) -> Iterator[Any]:
        """The values under names that any intent hides: what was said for one intent stays hidden
        when the customer turns to another."""
        for name in self._hidden & values.keys():
            value = values[name]
            if isinstance(value, Mapping) and "value" in value:
                value = value["value"]
            if value is not None:
                yield value


class HiddenValues:
    """The values that must not be told, and texts without them."""

    def __init__(self) -> None:
        self._wordings: set[str] = set()

    def __bool__(self) -> bool:
        return bool(self._wordings)

    def add(self, values: Iterable[Any]) -> None:
        for value in values:
            self._wordings.update(_wordings(value))

    def out_of(self, text: str) -> str:
        """The same text with `[redacted]` in their place."""
        redacted: str = without_values(text, self._wordings)
        return redacted


def _wordings(value: Any) -> Iterator[str]:
    """How a value may stand in a text: as a whole and in parts, numbers with and without
    decimals."""
    if isinstance(value, Mapping):
        parts = [str(part) for part in value.values()]
        yield " ".join(parts)
        yield from (wording for part in parts for wording in _wordings(part))
    elif isinstance(value, list | tuple):
        yield from (wording for part in value for wording in _wordings(part))
    elif value is not None and not isinstance(value, bool):
        text = " ".join(str(value).split())
        yield from filter(None, (text, str(value).strip()))
        if _NUMBER.fullmatch(text):
            yield from _as_numbers(text)


def _as_numbers(text: str) -> Iterator[str]:
    whole, _, decimals = text.replace(",", ".").partition(".")
    if not decimals.strip("0"):
        yield whole
    for written in (decimals.rstrip("0"), decimals.rstrip("0").ljust(2, "0")):
        if written:
            yield f"{whole}.{written}"
            yield f"{whole},{written}"
