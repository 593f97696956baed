"""What an extractor finds: matches in the text, and the slot's one value if they agree."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from deskhand.model.value_readings import Reading, least_certain

_sorted_json = json.JSONEncoder(sort_keys=True).encode
Precision = Literal["exact", "week", "month", "year"]


@dataclass(frozen=True, slots=True)
class SlotMatch:
    """One reading of one place; a place with two readings gives two matches with one span."""

    value: Any
    """Typed and fit for JSON."""
    start: int
    end: int
    """The place in the text as it was given, in characters."""
    text: str
    confidence: float
    precision: Precision = "exact"
    """`last week` is a date with the precision of a week: its value is the first day."""
    read: Reading = "exact"
    """`corrected` where the text is only like the value."""

    def overlaps(self, other: "SlotMatch") -> bool:
        return self.start < other.end and other.start < self.end


@dataclass(frozen=True, slots=True)
class SlotValue:
    """All matches of one slot; `value` is there only when all of them say the same."""

    value: Any = None
    confidence: float = 0.0
    ambiguous: bool = False
    candidates: tuple[Any, ...] = ()
    """The different values, in the order of the text; one when it is not ambiguous."""
    matches: tuple[SlotMatch, ...] = ()
    truncated: bool = False
    """There was more than an extractor reads; what was found may not be all, so it is ambiguous."""

    @property
    def found(self) -> bool:
        return bool(self.matches)

    @property
    def read(self) -> Reading:
        """How the value was read: once exactly is enough. A day that stands for a week is a
        guess."""
        if any(match.read == "exact" and match.precision == "exact" for match in self.matches):
            return "exact"
        if any(match.precision != "exact" for match in self.matches):
            return "guessed"
        return least_certain(match.read for match in self.matches)


def settle(matches: Sequence[SlotMatch], *, truncated: bool = False) -> SlotValue:
    """The slot's value: the one value that all matches have, with their best confidence."""
    if not matches:
        return SlotValue(truncated=truncated)
    ordered = tuple(sorted(matches, key=lambda match: (match.start, match.end, -match.confidence)))
    values: dict[str, SlotMatch] = {}
    for match in ordered:
        key = _sorted_json([match.value, match.precision])
        if key not in values or match.confidence > values[key].confidence:
            values[key] = match
    ambiguous = len(values) > 1 or truncated
    best = max(match.confidence for match in values.values())
    only = None if ambiguous else next(iter(values.values())).value
    candidates = tuple(match.value for match in values.values())
    return SlotValue(only, best, ambiguous, candidates, ordered, truncated)
