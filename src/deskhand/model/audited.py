"""What an auditor reads: a run with all its rows, and the seals over all runs."""

from dataclasses import dataclass

from deskhand.model.run import StepRow


@dataclass(frozen=True, slots=True)
class Journaled:
    """A run as an auditor reads it: its message's bytes and all its rows."""

    run_id: str
    position: int
    message_body: bytes | None
    message_salt: bytes | None
    message_digest: bytes
    rows: list[StepRow]


@dataclass(frozen=True, slots=True)
class Seal:
    """A keyed statement of how far every run's chain had come at some moment."""

    id: int
    at: float
    heads: bytes
    mac: str
