"""Counts what became of runs, and adds it up by day, beside the hot path.

The figures of a run are made from its records whenever they change. What they add to the sums of
its day is taken away before the new figures are added.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import tzinfo
from typing import Any, NamedTuple

import sqlalchemy as sa

from deskhand.adapters.stores import tables as t
from deskhand.adapters.stores.figure_records import (
    KnownRecords,
    Row,
    figures_of,
    first_of_same,
    read_runs,
)
from deskhand.model.figures import step_of

_WHOSE = ("desk", "day", "category", "language", "channel")
_COUNTS = ("messages", "right", "wrong", "in_time", "late", "ended", "cost")
_THESE: Any = sa.bindparam("these", expanding=True)
_FIGURES = sa.select(t.run_figures).where(t.run_figures.c.run.in_(_THESE))
_TAKEN = t.run_figures.delete().where(t.run_figures.c.run.in_(_THESE)).returning(t.run_figures)
Sums = dict[tuple[Any, ...], dict[str, float]]
Steps = dict[tuple[Any, ...], int]


class CountedRuns(NamedTuple):
    """The figures of some runs."""

    runs: Mapping[int, str]
    """Those that were read, with their conversations; one without figures is not counted."""
    rows: Sequence[Row]
    beside: Mapping[int, Row | None]
    """The first runs of their conversations, read beside them, and how those were counted then."""

    def but(self, left_out: Collection[int]) -> "CountedRuns":
        """The figures without those of these runs."""
        runs = {run: whose for run, whose in self.runs.items() if run not in left_out}
        beside = {run: row for run, row in self.beside.items() if run in runs}
        return CountedRuns(runs, [row for row in self.rows if row["run"] in runs], beside)

    def counted_meanwhile(self, core: sa.Connection) -> set[int]:
        """Those read beside the others that somebody else has counted since."""
        now = _counted(core, self.beside)
        return {run for run, row in self.beside.items() if now.get(run) != row}


def read_figures(
    core: sa.Connection, desk: str, positions: Collection[int], zone: tzinfo
) -> CountedRuns:
    """The figures of these runs, and of the first runs of their conversations: a later run may
    have brought the first reply. Mail of programs is not counted; figures of erased messages stay
    as they are."""
    first = first_of_same(core, desk, positions) - set(positions)
    before = _counted(core, first)  # first of all: what is counted anew meanwhile is told by this
    wanted = first.union(positions)
    runs = read_runs(core, desk, wanted)
    counted = [run for run in runs if not run.is_screened]
    records = KnownRecords(core, desk, counted)
    rows = [figures_of(run, records, zone) for run in counted]
    whose = {run.position: run.conversation for run in runs}
    return CountedRuns(whose, rows, {run: before.get(run) for run in first if run in whose})


def _counted(core: sa.Connection, runs: Collection[int]) -> dict[int, Row]:
    """The figures of these runs as they are."""
    if not runs:
        return {}
    rows = core.execute(_FIGURES, {"these": list(runs)})
    return {row.run: row._asdict() for row in rows}


def write_figures(core: sa.Connection, counted: CountedRuns) -> None:
    """Exchange the figures of runs, and what they add to the sums."""
    here = t.run_figures
    if not counted.runs:
        return
    before = [row._asdict() for row in core.execute(_TAKEN, {"these": list(counted.runs)})]
    if counted.rows:
        core.execute(here.insert(), list(counted.rows))
    sums: Sums = defaultdict(lambda: dict.fromkeys(_COUNTS, 0))
    steps: Steps = defaultdict(int)
    for row in before:
        _add(sums, steps, row, -1)
    for row in counted.rows:
        _add(sums, steps, row, 1)
    _grow(core, t.day_figures, "became", _changed_sums(sums))
    _grow(core, t.day_replies, "took", _changed_steps(steps))


def sums_by_day(core: sa.Connection, desk: str) -> tuple[Sums, dict[tuple[Any, ...], Row]]:
    """What the figures of all runs of a desk add up to, by the keys of `day_figures` and of
    `day_replies`."""
    sums: Sums = defaultdict(lambda: dict.fromkeys(_COUNTS, 0))
    steps: Steps = defaultdict(int)
    for row in core.execute(sa.select(t.run_figures).where(t.run_figures.c.desk == desk)):
        _add(sums, steps, row._asdict(), 1)
    return dict(sums), {key: {"messages": count} for key, count in steps.items()}


def _changed_sums(sums: Sums) -> list[Row]:
    rows: list[Row] = []
    for key, counts in sums.items():
        if any(counts.values()):
            rows.append({**dict(zip((*_WHOSE, "became"), key, strict=True)), **counts})
    return rows


def _changed_steps(steps: Steps) -> list[Row]:
    rows: list[Row] = []
    for key, count in steps.items():
        if count:
            rows.append({**dict(zip((*_WHOSE, "took"), key, strict=True)), "messages": count})
    return rows


def _add(
    sums: Sums,
    steps: Steps,
    row: Mapping[str, Any],
    sign: int,
) -> None:
    whose = tuple(row[name] for name in _WHOSE)
    counts = sums[(*whose, row["became"])]
    counts["messages"] += sign
    counts["cost"] += sign * row["cost"]
    if row["looked_at"] in counts:
        counts[row["looked_at"]] += sign
    if row["in_time"] is not None:
        counts["in_time" if row["in_time"] else "late"] += sign
    if row["ended_day"] is not None:
        on_that_day = (row["desk"], row["ended_day"], *whose[2:], row["became"])
        sums[on_that_day]["ended"] += sign
    if row["reply_seconds"] is not None:
        steps[(*whose, step_of(row["reply_seconds"]))] += sign


def _grow(core: sa.Connection, table: sa.Table, last: str, rows: Sequence[Row]) -> None:
    """Add to sums; those that are not there yet begin with nothing. `last` ends their key."""
    if not rows:
        return
    key = (*_WHOSE, last)
    counts = [name for name in rows[0] if name not in key]
    names = (*key, *counts)
    columns = ", ".join(f'"{name}"' for name in names)
    values = ", ".join(f":{name}" for name in names)
    grown = ", ".join(f'"{name}" = {table.name}."{name}" + excluded."{name}"' for name in counts)
    upsert = (
        f"INSERT INTO {table.name} ({columns}) VALUES ({values})"  # noqa: S608 our own names
        f" ON CONFLICT ({', '.join(key)}) DO UPDATE SET {grown}"
    )
    core.execute(sa.text(upsert), list(rows))
