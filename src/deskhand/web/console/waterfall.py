"""A run as a waterfall: its steps by working time, with the waits between them folded."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from deskhand.engine.journal import State
from deskhand.engine.story import Records
from deskhand.model.outcome import Outcome
from deskhand.model.run import LlmCall, Review
from deskhand.web.console.event_phrases import decision_words
from deskhand.web.console.labels import age
from deskhand.web.console.translation import Phrase

_FOLDED = 1.0
"""Seconds between two steps from which a wait is told."""
_LOOKS = {
    Outcome.CONFIRM: "warn",
    Outcome.CLARIFY: "warn",
    Outcome.ERROR: "bad",
}


@dataclass(frozen=True, slots=True)
class StepBar:
    """One step: what it came to, what it cost, and where it lies in the working time."""

    seq: int
    name: str
    inner: bool
    """It is a part of the stage above it."""
    came_to: str
    look: str
    kind: str
    """`model`, `tool` or `desk`: who did the work."""
    attempt: int
    took: float
    """Milliseconds."""
    start: float
    """Milliseconds of working time before it."""
    tokens: int
    cost: float


@dataclass(frozen=True, slots=True)
class Wait:
    """Time in which nobody worked, and what ended it."""

    words: str


@dataclass(frozen=True, slots=True)
class Waterfall:
    lines: list[StepBar | Wait]
    worked: float
    """Milliseconds of working time in all."""
    tokens: int
    cost: float
    cached: int = 0
    """Tokens of prompts that providers had read before."""
    thoughts: int = 0
    """Tokens of answers that were thoughts."""


def waterfall_of(records: Records, calls: Sequence[LlmCall]) -> Waterfall:
    """The steps of a run in order, each stage before its parts."""
    spent = _spent(calls)
    lines: list[StepBar | Wait] = []
    worked = 0.0
    ended = records.run.created_at
    for stage, parts in _stages(records.states):
        began = stage.row.started_at
        if began - ended >= _FOLDED and lines:
            lines.append(Wait(_wait_words(began - ended, ended, began, records.reviews)))
        lines.append(_bar(stage, worked, spent.pop(stage.row.name, (0, 0.0))))
        for part in parts:
            offset = max(0.0, (part.row.started_at - began) * 1000)
            lines.append(_bar(part, worked + min(offset, stage.row.latency_ms), (0, 0.0)))
        worked += stage.row.latency_ms
        ended = max(ended, began + stage.row.latency_ms / 1000)
    tokens = sum(call.prompt_tokens + call.completion_tokens for call in calls)
    cached = sum(call.cached_tokens for call in calls)
    thoughts = sum(call.reasoning_tokens for call in calls)
    cost = sum(call.cost for call in calls)
    return Waterfall(lines, worked, tokens, cost, cached, thoughts)


def _stages(states: Sequence[State]) -> list[tuple[State, list[State]]]:
    """Each stage with its parts, which the journal has before it."""
    stages: list[tuple[State, list[State]]] = []
    parts: list[State] = []
    for state in states:
        if "/" in state.row.name:
            parts.append(state)
            continue
        stages.append((state, parts))
        parts = []
    return stages + [(part, []) for part in parts]


def _spent(calls: Sequence[LlmCall]) -> dict[str, tuple[int, float]]:
    """Tokens and money by stage; all visits of a stage together, told at its first."""
    sums: dict[str, tuple[int, float]] = {}
    for call in calls:
        tokens, cost = sums.get(call.stage, (0, 0.0))
        tokens += call.prompt_tokens + call.completion_tokens
        sums[call.stage] = (tokens, cost + call.cost)
    return sums


def _bar(state: State, start: float, spent: tuple[int, float]) -> StepBar:
    row = state.row
    outcome = state.result.outcome
    return StepBar(
        seq=row.seq,
        name=row.name.rpartition("/")[2],
        inner="/" in row.name,
        came_to=_came_to(state),
        look=_LOOKS.get(outcome, "") if state.result.error is None else "bad",
        kind=_kind(state, spent[0]),
        attempt=row.attempt,
        took=row.latency_ms,
        start=start,
        tokens=spent[0],
        cost=spent[1],
    )


def _came_to(state: State) -> str:
    call: dict[str, Any] | None = state.result.call
    if state.result.error is not None:
        return str(state.result.error.code)
    if call is not None:
        return str(call.get("verdict") or state.row.outcome)
    return state.row.outcome


def _kind(state: State, tokens: int) -> str:
    if tokens:
        return "model"
    return "desk" if state.result.call is None else "tool"


def _wait_words(seconds: float, since: float, until: float, reviews: Sequence[Review]) -> str:
    decided = [review for review in reviews if since <= (review.decided_at or 0.0) <= until]
    passed = age(seconds) if seconds >= 60 else Phrase("{seconds} s", seconds=f"{seconds:.0f}")
    if not decided:
        return Phrase("Waited {age}.", age=passed)
    decision = decision_words(decided[-1])
    if decided[-1].note:
        decision = Phrase("{what}: {detail}", what=decision, detail=f"“{decided[-1].note}”")
    return Phrase("Waited {age}, then {told}.", age=passed, told=decision)
