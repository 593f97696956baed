"""What goes into an `AgentRouter` and what comes out."""

from typing import Any

from pydantic import Field

from deskhand.model.frozen import Frozen
from deskhand.model.results import ToolResult


class Interaction(Frozen):
    """Something that a customer says."""

    id: str = Field(min_length=1)
    text: str
    customer_id: str | None = None
    context: dict[str, Any] = Field(default_factory=dict)
    """`session_id`, `channel`, `tier` and whatever else the parts of a router go by."""

    @property
    def session_id(self) -> str:
        """The conversation: from the context, else the interaction is one of its own."""
        return str(self.context.get("session_id") or self.id)


class AgentResponse(Frozen):
    """What the customer is answered."""

    text: str
    tool_result: ToolResult | None = None
    """What the last tool returned, where one was called."""


class Classification(Frozen):
    """What an interaction is about."""

    intent_id: str | None = None
    parameters: dict[str, Any] = Field(default_factory=dict)
    confidence: float = Field(default=1.0, ge=0, le=1)


class PolicyDecision(Frozen):
    """Whether a call may be made."""

    allowed: bool
    reasons: tuple[str, ...] = ()
    rule: str = ""
    """The rule that decided."""
    holds: bool = False
    """Whether a person may still allow it."""


class SessionMemory(Frozen):
    """What is remembered of one session."""

    history: tuple[str, ...] = ()
    """What was said, the oldest first."""
    messages: int = 0
    """How many of that the customer wrote."""
    parameters: dict[str, Any] = Field(default_factory=dict)
    waiting_for: str | None = None
    """The parameter that the customer is asked for."""
    state: dict[str, Any] = Field(default_factory=dict)
    """Where the plan goes on that asked."""
