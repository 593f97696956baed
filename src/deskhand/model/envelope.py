"""The state a run carries from stage to stage, and the part of it that one step adds."""

from collections.abc import Mapping
from itertools import takewhile
from typing import Any, Self, cast

from pydantic import Field

from deskhand.model.causes import Cause
from deskhand.model.codes import ErrorCode
from deskhand.model.frozen import Frozen
from deskhand.model.message import Message
from deskhand.model.outcome import Outcome
from deskhand.model.plan import StepRecord
from deskhand.model.run import RunStatus


class ErrorNote(Frozen):
    """An error kept on the envelope: who reported it, its stable code, and its words."""

    stage: str
    code: str = ErrorCode.STAGE_FAILED
    message: str


class Delta(Frozen):
    """What one step changed. Folding a run's deltas over its first envelope gives the state at
    any step."""

    raw_input: str | None = None
    outputs: dict[str, Any] = Field(default_factory=dict)
    metadata: dict[str, Any] = Field(default_factory=dict)
    merge: dict[str, dict[str, Any]] = Field(default_factory=dict)
    """New or changed fields of outputs that are mappings; their other fields stay."""
    append: dict[str, list[Any]] = Field(default_factory=dict)
    """`{"results.calls": [...]}` adds to the list `outputs["results"]["calls"]`, so growing
    lists are stored once."""
    gone: tuple[str, ...] = ()
    """Removed keys, as `outputs.name` or `metadata.name`."""
    errors: tuple[ErrorNote, ...] = ()
    errors_kept: int | None = None
    """How many of the earlier errors stay; None (the rule) keeps all."""
    hops: int = 0

    def __eq__(self, other: object) -> bool:
        """Every row that is written asks whether its Delta is an empty one: pydantic's own answer
        takes four times as long."""
        return isinstance(other, Delta) and self.__dict__ == other.__dict__

    __hash__ = None  # type: ignore[assignment]  # as pydantic's own, for it holds mappings


_NO_CHANGE = Delta.model_construct()
"""Of all steps that change nothing. It is asked for with every row that is written, to leave out
what is no news."""


class Envelope(Frozen):
    """Raw input, metadata, outputs by key, hops and errors of one run. Immutable: `apply` gives
    the next one."""

    run_id: str = ""
    message: Message | None = None
    raw_input: str = ""
    metadata: dict[str, Any] = Field(default_factory=dict)
    outputs: dict[str, Any] = Field(default_factory=dict)
    hops: int = 0
    errors: tuple[ErrorNote, ...] = ()

    @classmethod
    def of(
        cls, message: Message, *, run_id: str = "", metadata: dict[str, Any] | None = None
    ) -> Self:
        return cls(run_id=run_id, message=message, raw_input=message.words, metadata=metadata or {})

    def output(self, key: str) -> Any:
        """The output under `key`, or None."""
        return self.outputs.get(key)

    def with_output(self, key: str, value: Any) -> Self:
        return self.changed(outputs={**self.outputs, key: value})

    def with_metadata(self, **values: Any) -> Self:
        return self.changed(metadata={**self.metadata, **values})

    def apply(self, delta: Delta) -> Self:
        if delta is _NO_CHANGE:
            return self
        outputs, metadata = changed_by(delta.__dict__, self.outputs, self.metadata)
        return self.changed(
            raw_input=self.raw_input if delta.raw_input is None else delta.raw_input,
            outputs=outputs,
            metadata=metadata,
            hops=self.hops + delta.hops,
            errors=(*self.errors[: delta.errors_kept], *delta.errors),
        )

    def delta_to(self, after: "Envelope") -> Delta:
        """The change that leads from here to `after`; ValueError for another run's envelope."""
        if (after.run_id, after.message) != (self.run_id, self.message):
            raise ValueError(
                "a run keeps its id and its message; change raw_input, metadata or outputs instead"
            )
        kept = _common(self.errors, after.errors)
        outputs = _changed(self.outputs, after.outputs)
        merge = {
            key: _changed(self.outputs[key], new)
            for key, new in outputs.items()
            if key in self.outputs and _grew(self.outputs[key], new)
        }
        gone = [f"outputs.{key}" for key in _missing(self.outputs, after.outputs)]
        gone += [f"metadata.{key}" for key in _missing(self.metadata, after.metadata)]
        rewritten = after.raw_input != self.raw_input
        dropped_errors = kept < len(self.errors)
        if merge:
            outputs = {key: value for key, value in outputs.items() if key not in merge}
        delta = Delta(
            outputs=outputs,
            merge=merge,
            metadata=_changed(self.metadata, after.metadata),
            gone=tuple(gone),
            errors=after.errors[kept:],
            hops=after.hops - self.hops,
        )
        if rewritten:
            delta = delta.changed(raw_input=after.raw_input)
        return delta.changed(errors_kept=kept) if dropped_errors else delta


def _common(before: tuple[ErrorNote, ...], after: tuple[ErrorNote, ...]) -> int:
    """How many errors both begin with."""
    if before is after:
        return len(before)
    common = takewhile(lambda pair: pair[0] == pair[1], zip(before, after, strict=False))
    return len(list(common))


def _missing(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    if before is after:
        return []
    return [key for key in before if key not in after]


def _changed(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    if before is after:
        return {}
    return {
        key: value
        for key, value in after.items()
        if key not in before or (before[key] is not value and not _same(before[key], value))
    }


def _same(first: Any, other: Any) -> bool:
    """Written alike as JSON: `true` is not 1, and -0.0 is not 0.0."""
    if first is other:
        return True
    if type(first) is not type(other):
        return False
    if isinstance(first, dict):
        return first.keys() == other.keys() and all(
            _same(value, other[key]) for key, value in first.items()
        )
    if isinstance(first, list | tuple):
        return len(first) == len(other) and all(map(_same, first, other))
    return repr(first) == repr(other) if isinstance(first, float) else bool(first == other)


def _grew(before: Any, after: Any) -> bool:
    """A mapping that lost no field: its change is stored as the new fields alone."""
    both = isinstance(before, dict) and isinstance(after, dict)
    return both and before.keys() <= after.keys() and all(isinstance(key, str) for key in after)


def changed_by(
    delta: Mapping[str, Any], outputs: dict[str, Any], metadata: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The outputs and metadata after a Delta, given by its fields; those that were left out have
    changed nothing."""
    outputs = {**outputs, **(delta.get("outputs") or {})}
    for key, fields in (delta.get("merge") or {}).items():
        outputs[key] = {**(outputs.get(key) or {}), **fields}
    for path, items in (delta.get("append") or {}).items():
        _append(outputs, path, items)
    metadata = {**metadata, **(delta.get("metadata") or {})}
    for path in delta.get("gone") or ():
        room, _, key = path.partition(".")
        (outputs if room == "outputs" else metadata).pop(key, None)
    return outputs, metadata


def _append(outputs: dict[str, Any], path: str, items: list[Any]) -> None:
    key, _, field = path.rpartition(".")
    holder = cast(dict[str, Any], outputs.get(key) or {})
    outputs[key] = {**holder, field: [*holder.get(field, []), *items]}


class Ask(Frozen):
    """What a stage asks the customer (`clarify`) or a reviewer (`confirm`)."""

    kind: str
    """`question` for the customer; `reply`, `tool_call` or `hand_over` for a reviewer."""
    reason: str
    text: str = ""
    payload: dict[str, Any] = Field(default_factory=dict)
    """What an approval is bound to, by its hash."""
    param: str | None = None
    expires_in: float | None = None
    fallback: str | None = None
    reassign_to: str | None = None
    """With the fallback `reassign`: who is to look at it then."""
    causes: tuple[Cause, ...] = ()
    """Why a person is asked; the first is the one that counted."""
    words: dict[Cause, str] = Field(default_factory=dict)
    """What is said about each cause; without one that `reason` alone speaks of."""
    again: bool = False
    """An approval sends the run into the asking stage again, not past it."""


class StageResult(Frozen):
    """One step's recorded result: the loop decides on `outcome` and `next`, the fold on `delta`."""

    outcome: Outcome = Outcome.SUCCESS
    delta: Delta = Field(default_factory=lambda: _NO_CHANGE)
    next: str | None = None
    """The stage the run goes to; None ends it."""
    resume: str | None = None
    """Where a run that stopped to ask goes on: this stage again, or another."""
    ask: Ask | None = None
    reason: str | None = None
    error: ErrorNote | None = None
    status: str | None = None
    """The run's final status, where the stage knows better than `done` (a sent reply, say)."""
    call: dict[str, Any] | None = None
    """The tool call this step made, with verdict and timing."""
    answered: dict[str, Any] | None = None
    """Which brain answered this stage's question, with which model and at what cost."""
    plan_steps: tuple[StepRecord, ...] = ()
    """With a call of a plan: that step. With the stage that walked the plan: all of its steps."""
    retry_at: float | None = None
    """Set on a failed attempt that is to be followed by another, not before this time."""
    waits_for: str | None = None
    """Set on an attempt that failed because this model is away: the run waits in the queue."""

    @property
    def asks_a_person(self) -> bool:
        """The run stops here until somebody decides, and may be sent back into the same visit of
        the stage."""
        handed_over = self.outcome is Outcome.TERMINATE and self.status == RunStatus.NEEDS_REVIEW
        return handed_over or self.outcome in (Outcome.CONFIRM, Outcome.ERROR)
