"""What a triage desk finds out about a ticket: language, urgency, type, and what to do about it."""

from enum import StrEnum
from typing import Any

from pydantic import Field

from deskhand.model.frozen import Frozen
from deskhand.model.ticket_state import UrgencyLevel


class TicketType(StrEnum):
    BILLING = "billing"
    TECHNICAL = "technical"
    GENERAL = "general"


class RecommendedAction(StrEnum):
    AUTO_RESPOND = "auto_respond"
    """A simple question that articles answer surely."""
    ROUTE_SPECIALIST = "route_specialist"
    """A colleague of the department answers."""
    ESCALATE_HUMAN = "escalate_human"
    """Somebody must look at it now: a trigger, an important customer, a sensitive matter."""


class TranslationResult(Frozen):
    original_language: str
    """As a code; `und` for one that nobody can tell."""
    is_english: bool
    translated_messages: tuple[str, ...] = ()
    """In English; empty where it is English already or nobody could translate."""
    original_messages: tuple[str, ...] = ()
    reason: str = ""
    """Why nothing was translated."""


class SupervisorDecision(Frozen):
    urgency: UrgencyLevel
    ticket_type: TicketType
    reasoning: str
    requires_escalation: bool = False


class ExtractedInfo(Frozen):
    product_area: str
    issue_type: str
    sentiment: str
    language: str


class TriageResult(Frozen):
    urgency: UrgencyLevel
    extracted_info: ExtractedInfo
    recommended_action: RecommendedAction
    suggested_response: str | None = None
    relevant_articles: tuple[str, ...] = ()
    reasoning: str = ""


class TicketReading(Frozen):
    """What was read in a ticket beside the decision, with what it was read from."""

    category: str
    """The issue, by which modes and trust go."""
    confidence: float
    language: str
    sentiment: str
    sentiment_is_sure: bool = True
    concerns: tuple[str, ...] = ()
    evidence: dict[str, str] = Field(default_factory=dict)
    """For each concern the sentence that shows it."""
    triggers: tuple[str, ...] = ()
    """The escalation rules that apply."""
    for_people: tuple[str, ...] = ()
    """The rules by which a person must answer, though a specialist may prepare it."""


def as_document(value: Frozen) -> dict[str, Any]:
    """As it stands in a run and in JSON: enumerations as words in small letters."""
    return value.model_dump(mode="json")
