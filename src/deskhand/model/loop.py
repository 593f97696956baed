"""What a tool loop came to: how it ended, what it last said, and every call on the way."""

from typing import Any, Literal

from pydantic import Field

from deskhand.model.frozen import Frozen

LoopStatus = Literal["completed", "max_iterations", "error"]


class AgentToolCall(Frozen):
    """One call that the model asked for, and what it was told."""

    tool_name: str
    arguments: dict[str, Any] = Field(default_factory=dict)
    result: dict[str, Any] = Field(default_factory=dict)
    """The tool's data, or `{"error": message}`."""
    iteration: int

    def as_log(self) -> dict[str, Any]:
        """The call as `tool_calls_log` has it."""
        return {
            "tool": self.tool_name,
            "arguments": self.arguments,
            "result": self.result,
            "iteration": self.iteration,
        }


class AgentResult(Frozen):
    """`completed` when the model said its last word, `max_iterations` at the limit, `error` when
    it failed."""

    status: LoopStatus
    final_message: str = ""
    """The last text of the model."""
    tool_calls: tuple[AgentToolCall, ...] = ()
    iterations: int = 0
    """Turns of the model."""
    began: int = 0
    """Turns of earlier rounds: before a colleague sent the agent back."""
    error: str | None = None
    code: str | None = None
    """The stable code of the error."""
    retryable: bool = False
    """Whether the same work may succeed later: the model was away."""

    @property
    def tool_calls_log(self) -> list[dict[str, Any]]:
        return [call.as_log() for call in self.tool_calls]
