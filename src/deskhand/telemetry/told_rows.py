"""Rows of runs as far as events are told from them."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from pydantic_core import from_json

from deskhand.engine.journal import State
from deskhand.model.envelope import changed_by
from deskhand.model.run import StepRow

NOTHING: dict[str, Any] = {}
"""Stands for a part that was not recorded; nobody writes into it."""


class ToldRow(NamedTuple):
    """A row, what it recorded, and what its run knew after it.

    What it recorded is JSON as it was written: to check it as a StageResult again takes four times
    as long.
    """

    run_id: str
    seq: int
    name: str
    started_at: float
    latency_ms: float
    result: dict[str, Any]
    """A StageResult without what has its default."""
    outputs: dict[str, Any]
    metadata: dict[str, Any]

    @property
    def delta(self) -> dict[str, Any]:
        """What the row changed, as it was written."""
        delta: dict[str, Any] = self.result.get("delta") or NOTHING
        return delta


def told_rows(rows: Iterable[StepRow]) -> Iterator[ToldRow]:
    """The rows of a run from its first, with what each of them added to what was known."""
    outputs = NOTHING
    metadata = NOTHING
    for row in rows:
        result = _result_of(row)
        delta = result.get("delta")
        if delta:
            outputs, metadata = changed_by(delta, outputs, metadata)
        yield _told_row(row, result, outputs, metadata)


def told_row(state: State) -> ToldRow:
    """A row whose state is at hand."""
    return _told_row(state.row, _result_of(state.row), state.after.outputs, state.after.metadata)


def _told_row(
    row: StepRow, result: dict[str, Any], outputs: dict[str, Any], metadata: dict[str, Any]
) -> ToldRow:
    return ToldRow(
        row.run_id, row.seq, row.name, row.started_at, row.latency_ms, result, outputs, metadata
    )


def _result_of(row: StepRow) -> dict[str, Any]:
    """After an erasure nothing but the outcome is left."""
    if row.body is None:
        return {"outcome": row.outcome}
    result: dict[str, Any] = from_json(row.body)
    return result
