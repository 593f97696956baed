"""What an auditor reads of a run and leaves behind, and what retention takes away."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from deskhand.model.run import StepRow

PRUNED = "pruned"
"""The kind of a seal that closes the chains of runs whose rows go for their age."""


class Kept(StrEnum):
    """What is kept for a time that desk.yaml may limit."""

    RUNS = "runs"
    STEPS = "steps"
    ATTACHMENTS = "attachments"
    CALLS = "calls"
    NOTICES = "notices"


Ages = Mapping[Kept, float]
"""For how many seconds each is kept; what is not named stays for ever."""


class PrunedBatch(NamedTuple):
    """What one step of pruning has looked at and deleted."""

    deleted: int
    """Runs, steps, files, calls or notices."""
    rows: int
    """With runs: the rows of their journals."""
    last: int | None
    """Where to go on; None when everything has been looked at."""
    damaged: tuple[str, ...] = ()
    """Runs that stay because their records are not as they were written."""


class PrunedHead(NamedTuple):
    """Where a run's chain ended before its rows went."""

    rows: int
    chain: bytes
    at: float


@dataclass(frozen=True, slots=True)
class Journaled:
    """A run as an auditor reads it: its message's bytes and all its rows."""

    run_id: str
    position: int
    message_body: bytes | None
    message_salt: bytes | None
    message_digest: bytes
    rows: list[StepRow]
    pruned: PrunedHead | None = None


@dataclass(frozen=True, slots=True)
class Seal:
    """A keyed statement of how far every run's chain had come at some moment."""

    id: int
    at: float
    heads: bytes
    mac: str
    """Empty where a seal of pruned runs was made without a key."""
    kind: str | None = None
    """None for a seal of all runs there were, else PRUNED."""
