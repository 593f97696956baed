"""What happens while a model cannot be reached."""

from dataclasses import dataclass
from typing import Literal

TakesOver = Literal["person", "embedded"]
"""Who does a model's work that has been away for too long."""


@dataclass(frozen=True, slots=True)
class AwayRule:
    """How long a run waits for a model, and what comes then."""

    wait: float = 900.0
    """Seconds from its first failure on."""
    then: TakesOver = "person"


USUAL_WAIT = AwayRule()


@dataclass(frozen=True, slots=True)
class AwayModel:
    """A model that runs wait for."""

    model: str
    runs: int
    next_at: float
    """When the first of them is worked again."""
    reason: str | None

    def __str__(self) -> str:
        runs = f"{self.runs} run{'s' * (self.runs != 1)}"
        return f"{self.model} is away, and {runs} wait{'s' * (self.runs == 1)} for it"
