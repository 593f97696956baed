"""What agents announce while they work."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class AgentStarted:
    run_id: str
    agent: str
    at: float


@dataclass(frozen=True, slots=True)
class AgentCompleted:
    run_id: str
    agent: str
    status: str
    duration_ms: float
    at: float
    error: str | None = None


@dataclass(frozen=True, slots=True)
class TurnBegun:
    """A model is asked for the next turn of a tool loop."""

    run_id: str
    agent: str
    iteration: int
    at: float


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of what the model writes, as it comes in."""

    run_id: str
    agent: str
    iteration: int
    text: str


@dataclass(frozen=True, slots=True)
class TextDropped:
    """The answer broke off and the model is asked again: its pieces so far do not count."""

    run_id: str
    agent: str
    iteration: int


@dataclass(frozen=True, slots=True)
class ToolAsked:
    """The model asks for a tool; nobody has judged the call yet."""

    run_id: str
    agent: str
    iteration: int
    tool: str
    arguments: str
    """As the model wrote them."""


@dataclass(frozen=True, slots=True)
class ToolJudged:
    """What the gate said about a call, and by which rule."""

    run_id: str
    agent: str
    iteration: int
    tool: str
    verdict: str
    rule: str
    reason: str


@dataclass(frozen=True, slots=True)
class ToolAnswered:
    """What the model is told about a call: the tool's data, or `{"error": message}`."""

    run_id: str
    agent: str
    iteration: int
    tool: str
    ok: bool
    result: dict[str, Any]


@dataclass(frozen=True, slots=True)
class LoopEnded:
    """A tool loop came to its end, or to a call that a person decides on (`held`)."""

    run_id: str
    agent: str
    status: str
    iterations: int
    at: float
    error: str | None = None


LoopEvent = TurnBegun | TextDelta | TextDropped | ToolAsked | ToolJudged | ToolAnswered | LoopEnded
AgentEvent = AgentStarted | AgentCompleted | LoopEvent
