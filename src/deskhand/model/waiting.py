"""What a reply waits for before it leaves, as reviews and decisions keep it; and what becomes of
runs whose model is away."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal, NamedTuple, Self

WAITS = "waits"
ATTEMPT = "attempt"
PROBLEM = "problem"


class WaitKind(StrEnum):
    """Why a reply does not leave at once. Records hold these words: never rename one."""

    UNDO = "undo"
    """It leaves by itself after a while, unless somebody stops it."""
    HOLD = "hold"
    """A person must look at it: its conversation's pace, older mail, what it says."""
    DRAFT = "draft"
    """A person sends it."""
    SPOT_CHECK = "spot_check"
    """It could have left by itself and was drawn for a check."""
    RETRY = "retry"
    """A mail server was away; the delivery is tried again."""
    TIME_LOST = "time_lost"
    """A time that it speaks of could not be kept."""
    DOUBT = "doubt"
    """It may have left: its copy is looked for, then a person is asked."""


class Waiting(NamedTuple):
    """What one reply waits for."""

    kind: WaitKind
    attempt: int = 0
    """With `retry`: how many deliveries have failed; with `doubt`: how often it was in doubt."""
    problem: str = ""
    """With `retry` and `doubt`: what went wrong the last time."""

    @classmethod
    def of(cls, fields: Mapping[str, Any]) -> Self | None:
        """What the fields of a review's payload or of a decision say; None where nothing waited.

        Older records hold the attempt in the word itself, as `retry:3`.
        """
        word, _, attempt = str(fields.get(WAITS) or "").partition(":")
        if word not in set(WaitKind):
            return None
        if not attempt:
            attempt = str(fields.get(ATTEMPT) or 0)
        problem = str(fields.get(PROBLEM) or "")
        return cls(WaitKind(word), int(attempt) if attempt.isdecimal() else 0, problem)

    def as_json(self) -> dict[str, Any]:
        """The fields of a review's payload."""
        if self.kind not in (WaitKind.RETRY, WaitKind.DOUBT):
            return {WAITS: str(self.kind)}
        return {WAITS: str(self.kind), ATTEMPT: self.attempt, PROBLEM: self.problem}


def waiting_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    """What a decision keeps of the wait it ended."""
    attempt = {ATTEMPT: fields[ATTEMPT]} if ATTEMPT in fields else {}
    return {WAITS: fields.get(WAITS), **attempt}


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
