"""How often and how long a stage is tried, and what a failed attempt becomes."""

from dataclasses import dataclass

from deskhand.errors import ConfigError, DeskhandError, PermanentError
from deskhand.model.codes import ErrorCode
from deskhand.model.envelope import Delta, ErrorNote, StageResult
from deskhand.model.outcome import Outcome


@dataclass(frozen=True, slots=True)
class Patience:
    attempts: int = 3
    timeout: float = 120.0
    backoff: float = 1.0
    """Seconds before the second attempt; each further wait is twice as long."""

    def too_late(self) -> DeskhandError:
        return DeskhandError(f"no result within {self.timeout:g} s", ErrorCode.STAGE_TIMEOUT)

    def after_failure(self, stage: str, error: Exception, *, tried: int, now: float) -> StageResult:
        """The row of a failed attempt: when the next one may begin, or that there is none."""
        note = _note(stage, error)
        if tried < self.attempts and not isinstance(error, (PermanentError, ConfigError)):
            wait = self.backoff * 2 ** (tried - 1)
            return StageResult(outcome=Outcome.ERROR, error=note, retry_at=now + wait)
        failed = Delta(errors=(note,), hops=1)
        return StageResult(
            outcome=Outcome.ERROR, error=note, delta=failed, reason=note.message[:500]
        )


def _note(stage: str, error: Exception) -> ErrorNote:
    code: str = ErrorCode.STAGE_FAILED
    words = f"{type(error).__name__}: {error}"
    if isinstance(error, DeskhandError):
        code = error.code
        words = str(error)
    storable = words.encode(errors="replace").decode()
    return ErrorNote(stage=stage, code=code, message=storable[:2000])
