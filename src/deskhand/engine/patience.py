"""How often and how long a stage is tried, and what a failed attempt becomes."""

from dataclasses import dataclass

from deskhand.errors import ConfigError, DeskhandError, ModelAway, PermanentError
from deskhand.model.codes import ErrorCode
from deskhand.model.envelope import Delta, ErrorNote, StageResult
from deskhand.model.outcome import Outcome
from deskhand.model.run import StepRow
from deskhand.model.waiting import USUAL_WAIT, AwayRule


@dataclass(frozen=True, slots=True)
class Patience:
    attempts: int = 3
    timeout: float = 120.0
    backoff: float = 1.0
    """Seconds before the second attempt; each further wait is twice as long."""
    away: AwayRule = USUAL_WAIT
    """How long to wait for a model that is away, which counts as no attempt."""

    def too_late(self) -> DeskhandError:
        return DeskhandError(f"no result within {self.timeout:g} s", ErrorCode.STAGE_TIMEOUT)

    def after_failure(self, stage: str, error: Exception, *, tried: int, now: float) -> StageResult:
        """The row of a failed attempt: when the next one may begin, or that there is none."""
        note = _note(stage, error)
        if tried < self.attempts and not isinstance(error, (PermanentError, ConfigError)):
            wait = self.backoff * 2 ** (tried - 1)
            return StageResult(outcome=Outcome.ERROR, error=note, retry_at=now + wait)
        return _failed(note)

    def while_away(self, stage: str, error: ModelAway, *, since: float, now: float) -> StageResult:
        """The attempt's end while a model is away: the run waits, or has waited long enough."""
        limit = since + self.away.wait
        note = _note(stage, error)
        if now >= limit:
            waited = f"; waited {now - since:.0f} s for it (`model_away`)" if since < now else ""
            return _failed(note.changed(message=f"{note.message}{waited}"))
        words = f"waits for the model {error.model}, which is away: {note.message}"
        return StageResult(
            outcome=Outcome.ERROR,
            error=note,
            retry_at=min(error.until, limit),
            waits_for=error.model,
            reason=words[:500],
        )


class ModelWait:
    """Told from the visit's rows: a wait lasts as long as no other row comes in between."""

    def __init__(self) -> None:
        self._since = 0.0
        self._next_seq = -1
        """The place of the row that would end the wait."""

    def note(self, row: StepRow) -> None:
        """An attempt failed because a model is away."""
        if row.seq != self._next_seq:
            self._since = row.started_at
        self._next_seq = row.seq + 1

    def since(self, seq: int) -> float | None:
        """When the wait began, if one is under way; `seq` is the place of the run's next row."""
        return self._since if seq == self._next_seq else None

    def is_over(self, rule: AwayRule, seq: int, now: float) -> bool:
        """Whether the run has waited for as long as it may."""
        since = self.since(seq)
        return (now if since is None else since) + rule.wait <= now


def _failed(note: ErrorNote) -> StageResult:
    """The last attempt has failed."""
    failed = Delta(errors=(note,), hops=1)
    return StageResult(outcome=Outcome.ERROR, error=note, delta=failed, reason=note.message[:500])


def _note(stage: str, error: Exception) -> ErrorNote:
    code: str = ErrorCode.STAGE_FAILED
    words = f"{type(error).__name__}: {error}"
    if isinstance(error, DeskhandError):
        code = error.code
        words = str(error)
    storable = words.encode(errors="replace").decode()
    return ErrorNote(stage=stage, code=code, message=storable[:2000])
