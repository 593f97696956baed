"""What a conversation's stages tell whoever watches: one event a stage, told from the rows."""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any, NamedTuple

from pydantic_core import to_jsonable_python

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


_NOTHING: Mapping[str, Any] = MappingProxyType({})


class TelemetryEvent(NamedTuple):
    """One stage of one message. A tuple is made in a fifth of the time of a checked model, and
    every message tells up to eight."""

    timestamp: str
    """ISO 8601, in UTC."""
    interaction_id: str
    """The message."""
    session_id: str
    """The conversation."""
    stage: TelemetryStage
    level: TelemetryLevel = TelemetryLevel.INFO
    payload: Mapping[str, Any] = _NOTHING
    """What there is to say, by stage."""
    id: str = ""
    """The same whenever the event is told: a sink that has seen it leaves it out."""
    run_id: str = ""
    """The run that it was told from."""
    started_at: float = 0.0
    seconds: float = 0.0
    """How long the work took that the event tells of."""
    answered: Mapping[str, Any] = _NOTHING
    """Which brain and model answered, where one was asked."""
    calls: tuple[LlmCall, ...] = ()
    """The calls of models that the run made, with its last event."""

    @property
    def intent_id(self) -> str | None:
        """The intent that the message was taken for; None before that is known."""
        intent = self.payload.get("intent_id")
        return intent if isinstance(intent, str) else None

    def changed(self, **values: Any) -> "TelemetryEvent":
        """A copy with these fields exchanged."""
        return self._replace(**values)

    def document(self) -> dict[str, Any]:
        """The event as sinks outside are given it."""
        return {
            "timestamp": self.timestamp,
            "interaction_id": self.interaction_id,
            "session_id": self.session_id,
            "stage": self.stage.value,
            "level": self.level.value,
            "payload": to_jsonable_python(dict(self.payload)),
            "id": self.id,
        }
