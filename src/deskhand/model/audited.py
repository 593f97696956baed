"""What an auditor reads of a run and leaves behind, and what retention takes away."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

from deskhand.model.run import StepRow

PRUNED = "pruned"
"""The kind of a seal that closes the chains of runs whose rows go for their age."""


class Kept(StrEnum):
    """What is kept for a time that desk.yaml may limit."""

    RUNS = "runs"
    TICKETS = "tickets"
    """Tickets without a message; desk.yaml limits them with the runs."""
    STEPS = "steps"
    ATTACHMENTS = "attachments"
    CALLS = "calls"
    NOTICES = "notices"


Ages = Mapping[Kept, float]
"""For how many seconds each is kept; what is not named stays for ever."""


class PrunedBatch(NamedTuple):
    """What one step of pruning has looked at and deleted."""

    deleted: int
    """Runs, tickets, steps, files, calls or notices."""
    rows: int
    """With runs: the rows of their journals."""
    last: int | None
    """Where to go on; None when everything has been looked at."""
    damaged: tuple[str, ...] = ()
    """Runs that stay because their records are not as they were written."""
    customers: tuple[str, ...] = ()
    """Whose tickets lost messages."""


class PrunedHead(NamedTuple):
    """Where a run's chain ended before its rows went."""

    rows: int
    chain: bytes
    at: float


class StatementKind(StrEnum):
    """Why the digests of a run's records were written down."""

    RESTED = "rested"
    CHANGED = "changed"
    REOPENED = "reopened"
    """An effect that had failed was tried again."""
    ERASED = "erased"
    WORK_ERASED = "work erased"
    """What was made of the message went, since it told of somebody else who was erased."""
    STEPS_PRUNED = "steps pruned"
    CALLS_PRUNED = "calls pruned"
    ATTACHMENTS_PRUNED = "attachments pruned"
    PRUNED = "pruned"
    BEGUN = "begun"
    """Of a desk: runs up to a position came before statements were written."""


class Statement(NamedTuple):
    """The digests of some records at some moment, linked to the statement before."""

    number: int
    kind: str
    at: float
    body: str
    chain: bytes
    salt: bytes | None = None
    """Of a desk's own records; those of a run have the salt of its message."""


class DeskRecords(NamedTuple):
    """What belongs to a desk and to no run of it: its statements and the records as they are."""

    statements: list[Statement]
    records: dict[str, list[Any]]


class ConsoleLog(NamedTuple):
    """The log of what people did in the console, which is one for all desks of a database."""

    rows: int
    first_changed: int | None
    """The first row that is not what it was, or whose predecessor is gone."""
    chains: dict[int, bytes]
    """The links of the rows that were asked for, and of the last."""


class LoweredTotal(NamedTuple):
    """A total of effects that is smaller than what they added to it."""

    scope: str
    day: str
    """Empty for the totals of a conversation, which go on from day to day."""
    tool: str
    unit: str
    amount: int
    least: int


@dataclass(frozen=True, slots=True)
class Journaled:
    """A run as an auditor reads it: its message's bytes, all its rows, and the digests of its
    other records."""

    run_id: str
    position: int
    message_body: bytes | None
    message_salt: bytes | None
    message_digest: bytes
    rows: list[StepRow]
    pruned: PrunedHead | None = None
    statements: list[Statement] = field(default_factory=list[Statement])
    records: dict[str, str] = field(default_factory=dict[str, str])
    """The digests of the records as they are now."""


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
