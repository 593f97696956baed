"""Every exception of ours, grouped by who must act on it."""

from pathlib import Path

from deskhand.model.codes import ErrorCode


class DeskhandError(Exception):
    """Root of all errors this package raises on purpose."""

    code: ErrorCode = ErrorCode.INTERNAL

    def __init__(self, message: str, code: ErrorCode | None = None) -> None:
        super().__init__(message)
        if code is not None:
            self.code = code


class ConfigError(DeskhandError):
    """The engineer must change a file: says which, where, what is wrong and what to write."""

    def __init__(
        self,
        problem: str,
        *,
        file: Path | str | None = None,
        line: int | None = None,
        fix: str | None = None,
    ) -> None:
        self.problem = problem
        self.file = file
        self.line = line
        self.fix = fix
        words = problem
        if file is not None:
            where = f"{file}" if line is None else f"{file}:{line}"
            words = f"{where}: {problem}"
        if fix:
            words += f"\n  fix: {fix}"
        super().__init__(words)


class ConfigErrors(ConfigError):
    """All problems of one configuration at once, so that they are mended in one go."""

    def __init__(self, problems: list[ConfigError]) -> None:
        self.problems = problems
        first = problems[0]
        super().__init__(first.problem, file=first.file, line=first.line, fix=first.fix)

    def __str__(self) -> str:
        return "\n".join(str(problem) for problem in self.problems)


class ForeignKey(ConfigError):
    """Another program has something of its own under a key that we would use."""

    def __init__(self, key: str, *, fix: str) -> None:
        self.key = key
        super().__init__(f"the key {key} belongs to another program", fix=fix)


class RetryableError(DeskhandError):
    """Nobody must act: the same work may succeed later."""

    code = ErrorCode.STAGE_FAILED


class PermanentError(DeskhandError):
    """A person must look: repeating the same work cannot succeed."""

    code = ErrorCode.STAGE_FAILED


class ModelUnavailable(RetryableError):
    """The model's endpoint cannot be reached or keeps answering that it is overloaded."""

    code = ErrorCode.MODEL_UNAVAILABLE

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        """`retry_after` is how many seconds the endpoint asks to wait."""
        super().__init__(message)
        self.retry_after = retry_after


class ModelAway(ModelUnavailable):
    """The model is not asked before a certain time; what needs it waits until then."""

    def __init__(self, message: str, *, model: str, until: float, asked: bool) -> None:
        """`asked` says whether the model was asked and failed, or was not asked at all."""
        super().__init__(message)
        self.model, self.until, self.asked = model, until, asked


class SpendingCapReached(ModelUnavailable):
    """The desk's cap on what models cost is reached: they are there, but not asked."""


class ModelAnswerInvalid(RetryableError):
    """The model answered, but not what was asked for, even after being shown its error."""

    code = ErrorCode.MODEL_ANSWER_INVALID


class ModelRefused(PermanentError):
    """The endpoint refuses this request: wrong key, unknown model, content filter."""

    code = ErrorCode.MODEL_REFUSED


class ModelNotUsable(ModelRefused):
    """The model cannot be asked as things stand: no key, a refused key, no credit, a wrong name.

    Another model, or the embedded brain, may do the same work at once.
    """


class ContextTooLong(ModelRefused):
    """The request has more tokens than the model can read; a shorter one may pass."""


class StoreUnavailable(RetryableError):
    """The database cannot take or give data: locked, read-only, full disk, connection lost."""

    code = ErrorCode.STORE_UNAVAILABLE


class Fenced(DeskhandError):
    """Another owner works this run or this database; whoever gets this stops at once and writes
    nothing."""

    code = ErrorCode.FENCED


class AlreadyServed(DeskhandError):
    """Another process serves this database.

    `until` is when its lease ends unless it is renewed; None where that process is known to live.
    """

    code = ErrorCode.FENCED

    def __init__(self, problem: str, *, until: float | None = None) -> None:
        super().__init__(problem)
        self.until = until


class NotFound(DeskhandError):
    """What was asked for does not exist (or not on this desk)."""

    code = ErrorCode.NOT_FOUND


class Conflict(DeskhandError):
    """Somebody else was faster, or the thing is no longer in the state this action needs."""

    code = ErrorCode.CONFLICT


class IncompleteDecision(Conflict):
    """A person's decision lacks something it needs, or brings something it cannot use."""

    def __init__(self, field: str, message: str) -> None:
        """`field` names the part of the decision to change: `note` or `edit`."""
        super().__init__(message)
        self.field = field


class TicketsChanged(Conflict):
    """Somebody changed the customer's tickets since they were read; whoever gets this reads them
    again."""


class SlotTaken(Conflict):
    """Somebody else has this time by now."""


class LoginRefused(DeskhandError):
    """Somebody cannot be let in by what their provider says; the words are for them."""


class ProviderAway(DeskhandError):
    """The provider that people log in with does not answer, or not as it should."""


class TooManyLogins(DeskhandError):
    """Too many passwords were tried; the same login may be tried again after `retry_after`
    seconds."""

    code = ErrorCode.OVERLOADED

    def __init__(self, message: str, retry_after: float = 1.0) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class EffectRefused(DeskhandError):
    """The desk is stopped, or the effect would exceed a cap: nothing was written, and a person
    decides."""

    code = ErrorCode.TOOL_HELD

    def __init__(self, rule: str, reason: str, *, liftable: bool) -> None:
        super().__init__(reason)
        self.rule, self.liftable = rule, liftable


class ToolError(DeskhandError):
    """Raised by a tool to say, in words the model may read, why it could not do its work."""

    code = ErrorCode.TOOL_FAILED

    def __init__(self, error_type: str, message: str, *, recoverable: bool = True) -> None:
        super().__init__(message)
        self.error_type, self.recoverable = error_type, recoverable
