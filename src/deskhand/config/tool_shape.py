"""What configuration knows about a tool: its name, what it may change, and the types of its
arguments."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class ToolShape:
    name: str
    effect: str
    risk: str
    arguments: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    """The JSON schema of each argument."""
    required: frozenset[str] = frozenset()
    """Arguments that are always there and never null."""
    objects: frozenset[str] = frozenset()
    """Arguments that stand for something with fields of its own, as `order.status`."""
    fields: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    """Of these, the fields of each whose type declares them; of the others only running tells."""
    returns: frozenset[str] | None = None
    """The fields of its result where they are declared; None where only running tells."""
    built_in: bool = False
    """One of the engine's own, which needs no rule."""

    @property
    def changes_something(self) -> bool:
        return self.effect != "read"


TIMES_IN_WORDS = frozenset(("offer", "in_words", "free", "missed", "agreed", "none_fits"))
"""What replies may say of a result with times beside its own fields (brain/appointments.py)."""
