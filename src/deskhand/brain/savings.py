"""The money a cascade did not spend: what the LLM would have taken for the questions it was not
asked."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from deskhand.model.run import LlmCall, StepRow
from deskhand.ports import Store

_REPAIR = "repair"


@dataclass(frozen=True, slots=True)
class Savings:
    """`saved` is an estimate: calls avoided times the average cost of a call for the same kind
    of task."""

    spared: int
    """Questions that no LLM was asked."""
    asked: int
    """Questions an LLM answered."""
    held: int
    """Answers marked for a person because the LLM could not be had."""
    spent: float
    saved: float
    by_task: dict[str, int]
    """Spared questions by kind of task."""


def savings(answers: Iterable[Mapping[str, Any]], calls: Iterable[LlmCall]) -> Savings:
    """`answers` are the `answered` notes of steps, `calls` the model calls booked in the same
    time."""
    notes = list(answers)
    spared = Counter(str(note["spared"]) for note in notes if note.get("spared"))
    booked = list(calls)
    average = _averages(booked)
    saved = sum(number * average.get(kind, average[""]) for kind, number in spared.items())
    spent = sum(call.cost for call in booked)
    asked = [note for note in notes if note.get("brain") == "llm"]
    held = [note for note in notes if note.get("held")]
    return Savings(
        spared=spared.total(),
        asked=len(asked),
        held=len(held),
        spent=spent,
        saved=saved,
        by_task=dict(spared),
    )


async def read_savings(store: Store, *, runs: int = 1000) -> Savings:
    """Over the newest runs of a desk."""
    notes: list[dict[str, Any]] = []
    calls: list[LlmCall] = []
    for run in await store.runs(limit=runs):
        notes += notes_in(await store.rows(run.id))
        calls += await store.calls(run.id)
    return savings(notes, calls)


def notes_in(rows: Iterable[StepRow]) -> Iterator[dict[str, Any]]:
    """Who answered, step by step; what was erased is not counted."""
    for row in rows:
        answered = json.loads(row.body).get("answered") if row.body is not None else None
        if isinstance(answered, dict):
            yield answered


def _averages(calls: list[LlmCall]) -> dict[str, float]:
    """Average cost of a question by kind of task, under '' of any; what repairs cost is shared
    by all."""
    worked = [call for call in calls if call.error is None]
    questions = Counter(call.call_type for call in worked if call.call_type != _REPAIR)
    costs: dict[str, float] = {}
    for call in worked:
        costs[call.call_type] = costs.get(call.call_type, 0.0) + call.cost
    total = questions.total()
    repair = costs.get(_REPAIR, 0.0) / total if total else 0.0
    averages = {kind: costs[kind] / number + repair for kind, number in questions.items()}
    averages[""] = sum(costs.values()) / total if total else 0.0
    return averages
