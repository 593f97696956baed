"""How a stage, a tool or a check ended, and how risky a tool is: the small closed vocabularies
of the engine."""

from enum import StrEnum
from typing import Self


class Outcome(StrEnum):
    """What a stage decided about the run; the loop matches on it and on nothing else."""

    SUCCESS = "success"
    ERROR = "error"
    CLARIFY = "clarify"
    CONFIRM = "confirm"
    REPLAN = "replan"
    LOOP_BACK = "loop_back"
    TERMINATE = "terminate"
    SKIP = "skip"
    PARTIAL = "partial"

    @property
    def is_terminal(self) -> bool:
        """No further stage runs until somebody or something outside the flow acts."""
        return self in (Outcome.ERROR, Outcome.CLARIFY, Outcome.CONFIRM, Outcome.TERMINATE)

    @property
    def is_success(self) -> bool:
        return self in (Outcome.SUCCESS, Outcome.PARTIAL, Outcome.SKIP)

    @property
    def requires_loop(self) -> bool:
        """The run goes back to an earlier stage."""
        return self in (Outcome.REPLAN, Outcome.LOOP_BACK)


class ToolStatus(StrEnum):
    SUCCESS = "success"
    ERROR = "error"

    @classmethod
    def parse(cls, value: str) -> Self:
        """Read a status as old tools spell it; an unknown word is a ValueError that lists the
        known ones."""
        word = value.strip().lower()
        word = {"ok": "success", "succeeded": "success", "failed": "error", "failure": "error"}.get(
            word, word
        )
        try:
            return cls(word)
        except ValueError:
            raise ValueError(f"unknown tool status {value!r}; write 'success' or 'error'") from None


class RiskLevel(StrEnum):
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"


class IdempotencyClass(StrEnum):
    """Whether repeating a call changes anything (the vocabulary of results and telemetry)."""

    SAFE = "safe"
    IDEMPOTENT = "idempotent"
    NON_IDEMPOTENT = "non_idempotent"

    @classmethod
    def from_risk_level(cls, risk: RiskLevel) -> "IdempotencyClass":
        match risk:
            case RiskLevel.LOW:
                return cls.SAFE
            case RiskLevel.MEDIUM:
                return cls.IDEMPOTENT
            case RiskLevel.HIGH | RiskLevel.CRITICAL:
                return cls.NON_IDEMPOTENT


class EffectClass(StrEnum):
    """What a tool may change in the world, from nothing to what nobody can take back."""

    READ = "read"
    REVERSIBLE = "reversible"
    KEYED = "keyed"
    IRREVERSIBLE = "irreversible"

    @property
    def idempotency(self) -> IdempotencyClass:
        match self:
            case EffectClass.READ:
                return IdempotencyClass.SAFE
            case EffectClass.REVERSIBLE | EffectClass.KEYED:
                return IdempotencyClass.IDEMPOTENT
            case EffectClass.IRREVERSIBLE:
                return IdempotencyClass.NON_IDEMPOTENT

    def idempotency_with(self, risk: RiskLevel | None) -> IdempotencyClass:
        """The effect's class, made stricter (never looser) by a declared risk level."""
        order = list(IdempotencyClass)
        declared = self.idempotency
        inferred = IdempotencyClass.from_risk_level(risk) if risk is not None else declared
        return max(declared, inferred, key=order.index)


class ValidationSeverity(StrEnum):
    CRITICAL = "critical"
    ERROR = "error"
    WARNING = "warning"
