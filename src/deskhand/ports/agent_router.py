"""What an `AgentRouter` is composed of. Each part may be exchanged by itself."""

from collections.abc import Awaitable, Mapping, Sequence
from typing import Any, Protocol

from deskhand.model.interaction import Classification, Interaction, PolicyDecision, SessionMemory
from deskhand.model.plan import Plan, ToolCall
from deskhand.model.results import ToolResult


class IntentClassifier(Protocol):
    """Says what an interaction is about, and which values it states."""

    async def classify(
        self, interaction: Interaction, eligible: Sequence[str], history: Sequence[str]
    ) -> Classification:
        """`intent_id` is None where no eligible intent fits."""
        ...


class Planner(Protocol):
    """Says what is done about an intent."""

    def plan(self, intent_id: str, parameters: Mapping[str, Any]) -> Plan:
        """A plan that asks for what is missing begins with `AskUser`."""
        ...


class PolicyEngine(Protocol):
    """Judges each call before it is made."""

    def validate(
        self, call: ToolCall, interaction: Interaction, history: Sequence[str]
    ) -> PolicyDecision | Awaitable[PolicyDecision]: ...


class ToolExecutor(Protocol):
    """Carries out a call that is allowed."""

    async def execute(self, call: ToolCall) -> ToolResult | Mapping[str, Any]:
        """What the tool returned; whatever it raises is a failed call."""
        ...


class ConversationMemory(Protocol):
    """What is remembered of each session."""

    async def load(self, session_id: str) -> SessionMemory: ...

    async def append(self, session_id: str, *turns: str) -> None:
        """Add what was said, the oldest first."""
        ...

    async def waiting(
        self, session_id: str, param: str | None, state: Mapping[str, Any] | None = None
    ) -> None:
        """Say what the customer is asked for, and where the plan goes on; None for nothing."""
        ...

    async def clear(self, session_id: str) -> None: ...


class FallbackResponder(Protocol):
    """Words for a message of which nobody knows what the customer wants."""

    async def respond(self, text: str, language: str | None) -> str:
        """Asks what the customer needs. The offer of a person is added by the code."""
        ...
