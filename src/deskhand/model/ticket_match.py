"""Which ticket a message continues, and by what that was told."""

from enum import StrEnum
from typing import Any

from pydantic import Field

from deskhand.model.frozen import Frozen


class MatchConfidence(StrEnum):
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class MatchEvidence(StrEnum):
    CONVERSATION = "conversation"
    ANSWERED = "answered"
    """It answers a mail that we sent about the ticket."""
    CITED = "cited"
    REFERENCE = "reference"
    FOLLOW_UP = "follow_up"
    MEANING = "meaning"
    NONE = "none"


class MatchResult(Frozen):
    """Which ticket a message continues; with low confidence it opens one."""

    matched_ticket_id: str | None = None
    confidence: MatchConfidence = MatchConfidence.LOW
    evidence: MatchEvidence = MatchEvidence.NONE
    why: str = ""
    reopens: bool = False

    @property
    def joins(self) -> bool:
        return self.matched_ticket_id is not None and self.confidence is not MatchConfidence.LOW


class PlacedMessage(Frozen):
    """Where a message went: a ticket of its customer, or one that it opened."""

    ticket_id: str
    thread_id: str
    is_new: bool
    matching: MatchResult
    answered: dict[str, Any] = Field(default_factory=dict, exclude=True)
    """Which model was asked, for the step's row."""
