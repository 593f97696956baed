"""Word to reviewers that is on its way: durable until it arrived or nobody would take it."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

DIGEST = "digest-"
"""How the id of a digest begins."""


class NoticeState(StrEnum):
    """What became of a notice."""

    DUE = "due"
    """It is sent now, or tried again when its time comes."""
    DONE = "done"
    """It has arrived."""
    FAILED = "failed"
    """It was given up; `doctor` tells of it."""


@dataclass(frozen=True, slots=True)
class Notice:
    """Word that is to be sent now."""

    id: str
    """The same at every attempt: whoever gets it twice knows it by this."""
    payload: dict[str, Any]
    attempts: int
    created_at: float


@dataclass(frozen=True, slots=True)
class FailedNotice:
    """Word that never arrived, as an operator sees it."""

    id: str
    error: str
    """Why the last attempt failed."""
    attempts: int
    created_at: float
