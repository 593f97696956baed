"""Workers as an operator sees them, and what waits for them."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Member:
    """A worker as its last heartbeat shows it."""

    id: str
    host: str
    pid: int
    desks: tuple[str, ...]
    versions: Mapping[str, str]
    """The flow versions it works with, as `desk/flow`."""
    started_at: float
    silent_for: float
    """Seconds since its last heartbeat, by the database's clock."""
    running: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Depth:
    """What waits on a desk."""

    desk: str
    queued: int
    oldest_age: float
    """Seconds since the longest waiting run was accepted or queued again."""
