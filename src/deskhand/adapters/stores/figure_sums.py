"""Reads the figures of metrics: what each day adds up to, and which messages stand behind it."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import sqlalchemy as sa

from deskhand.adapters.stores import tables as t
from deskhand.model.figures import (
    Became,
    CountedRun,
    Dimension,
    FigureFilter,
    Figures,
    Looked,
)

_SUMS = ("messages", "right", "wrong", "in_time", "late", "ended", "cost")


def figures_by_day(core: sa.Connection, wanted: FigureFilter) -> dict[int, Figures]:
    """The figures of each day that has any."""
    [by_day] = _added_up(core, wanted, "day")
    return by_day


def figures_by(
    core: sa.Connection, wanted: FigureFilter, dimension: Dimension
) -> dict[str, Figures]:
    """The figures of each desk, category, language or channel."""
    [by_part] = _added_up(core, wanted, dimension.value)
    return by_part


def figures_by_day_and(
    core: sa.Connection, wanted: FigureFilter, dimension: Dimension
) -> tuple[dict[int, Figures], dict[str, Figures]]:
    """Both of them from one look at the rows."""
    by_day, by_part = _added_up(core, wanted, "day", dimension.value)
    return by_day, by_part


def _added_up(core: sa.Connection, wanted: FigureFilter, *by: str) -> list[dict[Any, Figures]]:
    """The figures by each of these columns; the finest sums are added up here."""
    figures_by_column: list[dict[Any, Figures]] = [defaultdict(Figures) for _ in by]
    here = t.day_figures.c
    whose = [here[name] for name in by]
    sums = [sa.func.sum(here[name]) for name in _SUMS]
    query = (
        sa.select(*whose, here.became, *sums)
        .where(*_among(t.day_figures, wanted))
        .group_by(*whose, here.became)
    )
    for row in core.execute(query):
        became, messages, *rest = row[len(by) :]
        for of_column, value in zip(figures_by_column, row, strict=False):
            _add(of_column[value], Became(became), int(messages), rest)
    took = t.day_replies.c
    whose = [took[name] for name in by]
    steps = (
        sa.select(*whose, took.took, sa.func.sum(took.messages))
        .where(*_among(t.day_replies, wanted))
        .group_by(*whose, took.took)
    )
    for row in core.execute(steps):
        step, count = row[len(by) :]
        for of_column, value in zip(figures_by_column, row, strict=False):
            steps_taken = of_column[value].steps
            if count:
                steps_taken[int(step)] = steps_taken.get(int(step), 0) + int(count)
    return [dict(of_column) for of_column in figures_by_column]


def _add(figures: Figures, became: Became, messages: int, rest: Sequence[Any]) -> None:
    if messages:
        figures.became[became] = figures.became.get(became, 0) + messages
    for name, value in zip(_SUMS[1:], rest, strict=True):
        setattr(figures, name, getattr(figures, name) + value)


def _among(table: sa.Table, wanted: FigureFilter) -> Iterable[sa.ColumnElement[bool]]:
    yield table.c.desk.in_(wanted.desks)
    yield from _narrowed(table, wanted)


def _narrowed(table: sa.Table, wanted: FigureFilter) -> Iterable[sa.ColumnElement[bool]]:
    """Which days and which values, on whatever desk."""
    here = table.c
    yield here.day.between(wanted.first_day, wanted.last_day)
    for name, value in wanted.values.items():
        yield here[name] == value


def values_of(core: sa.Connection, wanted: FigureFilter) -> dict[Dimension, list[str]]:
    """What messages of these days were told apart by."""
    here = t.day_figures.c
    dimensions = (Dimension.CATEGORY, Dimension.LANGUAGE, Dimension.CHANNEL)
    columns = [here[dimension.value] for dimension in dimensions]
    days = (here.desk.in_(wanted.desks), here.day.between(wanted.first_day, wanted.last_day))
    rows = core.execute(sa.select(*columns).where(*days).distinct()).all()
    values_by_dimension: dict[Dimension, list[str]] = {}
    for place, dimension in enumerate(dimensions):
        values_by_dimension[dimension] = sorted({row[place] for row in rows})
    return values_by_dimension


def count_open(core: sa.Connection, wanted: FigureFilter) -> int:
    """How many messages are not over, whenever they came."""
    here = t.run_figures.c
    chosen = [here[name] == value for name, value in wanted.values.items()]
    query = (
        sa.select(sa.func.count())
        .select_from(t.run_figures)
        .where(here.desk.in_(wanted.desks), here.ended_day.is_(None), *chosen)
    )
    return int(core.execute(query).scalar_one())


def list_runs(
    core: sa.Connection, wanted: FigureFilter, before: int | None, limit: int
) -> list[CountedRun]:
    """The messages behind a figure, the newest first, from one that came before `before` on.

    Each desk is asked by itself: its index holds its messages in this order, so only as many as
    are wanted are looked at.
    """
    here = t.run_figures.c
    chosen = [*_narrowed(t.run_figures, wanted), *_which(wanted)]
    if before is not None:
        day = core.execute(sa.select(here.day).where(here.run == before)).scalar()
        last = wanted.last_day if day is None else day
        chosen.append(sa.or_(here.day < last, sa.and_(here.day == last, here.run < before)))
    query = (
        sa.select(t.run_figures, t.runs.c.id)
        .join(t.runs, t.runs.c.position == here.run)
        .where(*chosen)
        .order_by(here.day.desc(), here.run.desc())
        .limit(limit)
    )
    runs: list[CountedRun] = []
    for desk in wanted.desks:
        runs += [_counted(row) for row in core.execute(query.where(here.desk == desk))]
    runs.sort(key=lambda run: (run.day, run.run), reverse=True)
    return runs[:limit]


def _which(wanted: FigureFilter) -> Iterable[sa.ColumnElement[bool]]:
    here = t.run_figures.c
    if wanted.became is not None:
        yield here.became == wanted.became.value
    if wanted.looked_at is not None:
        yield here.looked_at == wanted.looked_at.value
    if wanted.in_time is not None:
        yield here.in_time == int(wanted.in_time)
    if wanted.slower_than is not None:
        yield here.reply_seconds >= wanted.slower_than


def _counted(row: sa.Row[Any]) -> CountedRun:
    looked_at = None if row.looked_at is None else Looked(row.looked_at)
    in_time = None if row.in_time is None else bool(row.in_time)
    became = Became(row.became)
    return CountedRun(
        row.desk, row.id, row.day, row.run, became, row.reply_seconds, in_time, looked_at
    )
