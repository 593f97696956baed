"""What became of the desk's replies: one row each time somebody judged one, or one came back;
and modes' changes."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Judged(StrEnum):
    """What happened to a reply of the desk."""

    UNCHANGED = "unchanged"
    EDITED = "edited"
    REVISED = "revised"
    REJECTED = "rejected"
    TAKEN_OVER = "taken_over"
    COMPARED = "compared"
    """In shadow: laid beside what a person sent."""
    SENT = "sent"
    """It left with nobody looking at it."""
    RIGHT = "right"
    """A person looked at it after it had left by itself, and it was right."""
    WRONG = "wrong"
    BOUNCED = "bounced"
    COMPLAINED = "complained"


BY_PEOPLE = (
    Judged.UNCHANGED,
    Judged.EDITED,
    Judged.REVISED,
    Judged.REJECTED,
    Judged.TAKEN_OVER,
)
"""Best first."""
AFTERWARDS = (Judged.RIGHT, Judged.WRONG)
"""Said about a reply that had left by itself."""
RETURNED = (Judged.BOUNCED, Judged.COMPLAINED)


@dataclass(frozen=True, slots=True)
class Judgement:
    """One thing that says how good a reply was. It holds no word of the reply and names no
    customer."""

    run_id: str
    category: str
    """Empty where no stage gave one."""
    language: str
    mode: str
    """The mode in force when the reply was written; empty where a stage before asked."""
    judged: Judged
    share: float = 0.0
    """How much of it a person changed: words that differ, of all."""
    facts: bool = False
    """Whether a number, an amount, an address or a link was among it."""
    counts: bool = False
    """Nothing but the mode kept this reply from leaving: it stands for those that leave by
    themselves in `auto`."""
    at: float = 0.0
    id: int = 0


@dataclass(frozen=True, slots=True)
class ModeChange:
    """A category's mode from then on."""

    category: str
    number: int
    """Counted from 1 for each category."""
    mode: str
    before: str
    how: str
    """`promoted`, `forced`, `lowered` or `fell_back`."""
    by: str
    reason: str
    figures: dict[str, Any]
    """What it was decided on."""
    at: float


@dataclass(frozen=True, slots=True)
class Figure:
    """How often what happened to the replies of a category in a language."""

    category: str
    language: str
    counts: Mapping[Judged, int]
    edited_share: float
    """How much of an edited reply was changed, on average."""
    compared_share: float
    """How much a shadow reply differed from what a person sent, on average."""
