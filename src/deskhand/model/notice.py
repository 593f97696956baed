"""Word to reviewers that is on its way: durable until it arrived or nobody would take it."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from deskhand.model.message import Message
from deskhand.model.run import Review

DIGEST = "digest-"
"""How the id of a digest begins."""


Tell = Callable[[Review, str, Message | None], dict[str, Any]]
"""What is told of a review, by the kind of the notice and the message it is about."""


class NoticeState(StrEnum):
    DUE = "due"
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Notice:
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
    attempts: int
    created_at: float
