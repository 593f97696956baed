"""What agents announce while they work."""

from dataclasses import dataclass


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


AgentEvent = AgentStarted | AgentCompleted
