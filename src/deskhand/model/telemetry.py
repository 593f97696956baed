"""What a conversation's stages tell whoever watches: one event a stage, told from the rows."""

from enum import StrEnum
from typing import Any

from pydantic import Field

from deskhand.model.frozen import Frozen
from deskhand.model.run import LlmCall


class TelemetryStage(StrEnum):
    """The stages that a customer's message goes through, in order."""

    RECEIVED = "received"
    INTENTS_ELIGIBLE = "intents_eligible"
    INTENT_CLASSIFIED = "intent_classified"
    PLAN_CREATED = "plan_created"
    PLAN_COMMUNICATED = "plan_communicated"
    POLICY_CHECK = "policy_check"
    TOOL_EXECUTE = "tool_execute"
    RESPOND = "respond"


class TelemetryLevel(StrEnum):
    INFO = "info"
    WARN = "warn"
    """A fallback, or a call that was not allowed."""
    ERROR = "error"
    """A tool that failed."""


class TelemetryEvent(Frozen):
    """One stage of one message."""

    timestamp: str
    """ISO 8601, in UTC."""
    interaction_id: str
    """The message."""
    session_id: str
    """The conversation."""
    stage: TelemetryStage
    level: TelemetryLevel = TelemetryLevel.INFO
    payload: dict[str, Any] = Field(default_factory=dict)
    """What there is to say, by stage."""
    id: str = ""
    """The same whenever the event is told: a sink that has seen it leaves it out."""
    run_id: str = Field(default="", exclude=True)
    """The run that it was told from."""
    started_at: float = Field(default=0.0, exclude=True)
    seconds: float = Field(default=0.0, exclude=True)
    """How long the work took that the event tells of."""
    answered: dict[str, Any] = Field(default_factory=dict, exclude=True)
    """Which brain and model answered, where one was asked."""

    calls: tuple[LlmCall, ...] = Field(default=(), exclude=True)
    """The calls of models that the run made, with its last event."""

    @property
    def intent_id(self) -> str | None:
        """The intent that the message was taken for; None before that is known."""
        intent = self.payload.get("intent_id")
        return intent if isinstance(intent, str) else None

    def document(self) -> dict[str, Any]:
        """The event as sinks outside are given it."""
        return self.model_dump(mode="json")
