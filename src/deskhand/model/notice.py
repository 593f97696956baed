"""Word to reviewers that is on its way: durable until it arrived or nobody would take it."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class NoticeState(StrEnum):
    DUE = "due"
    SENDING = "sending"
    """It may have left: it is not sent again."""
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Notice:
    id: str
    """The same at every attempt: whoever gets it twice knows it by this."""
    payload: dict[str, Any]
    attempts: int
    created_at: float
