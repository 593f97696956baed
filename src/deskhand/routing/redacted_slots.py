"""Which values of a conversation nobody outside it is to see: those of the slots that an intent
lists under `redact`."""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from deskhand.routing.intents_registry import IntentsRegistry

HIDDEN = "[redacted]"
"""What stands in place of such a value."""
_SHORTEST = 2
"""Characters that a value needs to be looked for in other texts: a single letter stands
everywhere."""


def redacted_names(registry: IntentsRegistry, intent: str | None) -> frozenset[str]:
    """The slots whose values are hidden while a message has this intent.

    Of an intent that is not known yet, those that any intent hides: what a message is about may
    turn out later.
    """
    intent_spec = registry.get(intent)
    return registry.redacted if intent_spec is None else intent_spec.redact


def texts_of(value: Any) -> Iterator[str]:
    """A value as texts in which it can be looked for elsewhere."""
    return (text for text in _texts(value) if len(text) >= _SHORTEST)


def without_values(data: Any, hidden: Collection[str]) -> Any:
    """The same data with every hidden value replaced, wherever it stands in a text."""
    if not hidden:
        return data
    longest_first = sorted(hidden, key=len, reverse=True)
    spelled = "|".join(re.escape(value) for value in longest_first)
    return _replaced(data, re.compile(rf"(?<!\w)(?:{spelled})(?!\w)", re.IGNORECASE))


def _replaced(data: Any, pattern: re.Pattern[str]) -> Any:
    match data:
        case str():
            return pattern.sub(HIDDEN, data)
        case Mapping():
            return {name: _replaced(item, pattern) for name, item in data.items()}
        case list() | tuple():
            return [_replaced(item, pattern) for item in data]
        case int() | float() if not isinstance(data, bool) and pattern.fullmatch(str(data)):
            return HIDDEN
        case _:
            return data


def _texts(value: Any) -> Iterator[str]:
    """A value in words; of an amount or a quantity, each of its parts."""
    if isinstance(value, Mapping):
        for part in value.values():
            yield from _texts(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _texts(part)
    elif value is not None and not isinstance(value, bool):
        text = str(value).strip()
        if text:
            yield text
