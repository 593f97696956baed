"""What an auditor reads and leaves behind, in SQLAlchemy Core."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from itertools import groupby
from typing import Any, TypeVar

import sqlalchemy as sa

from deskhand.adapters.stores import statements
from deskhand.adapters.stores import tables as t
from deskhand.adapters.stores.rows import STEP_COLUMNS, step_of
from deskhand.adapters.stores.stated_records import read_desk_records
from deskhand.model.audited import DeskRecords, Journaled, LoweredTotal, PrunedHead, Seal, Statement

T = TypeVar("T")

_AUDITED = sa.select(
    t.runs.c.id,
    t.runs.c.position,
    t.messages.c.body,
    t.messages.c.salt,
    t.messages.c.body_digest,
    t.runs.c.pruned_rows,
    t.runs.c.pruned_chain,
    t.runs.c.pruned_at,
).outerjoin(t.messages, t.messages.c.run == t.runs.c.position)
"""Also runs whose message is gone: somebody may have deleted it."""


def journals(core: sa.Connection, desk: str, after: int, limit: int) -> list[Journaled]:
    """Runs with all their rows in order of acceptance, from position `after` on."""
    with _one_moment(core):
        runs = core.execute(
            _AUDITED.where(t.runs.c.desk == desk, t.runs.c.position > after)
            .order_by(t.runs.c.position)
            .limit(limit)
        ).all()
        if not runs:
            return []
        between = t.steps.c.run.between(runs[0].position, runs[-1].position)
        return _with_rows(core, desk, runs, between)


@contextmanager
def _one_moment(core: sa.Connection) -> Iterator[None]:
    """Whatever is read within was true at the same time, although others write."""
    if core.dialect.name == "postgresql":
        core.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        yield
        return
    core.exec_driver_sql("BEGIN")
    try:
        yield
    finally:
        core.exec_driver_sql("ROLLBACK")


def journals_at(core: sa.Connection, desk: str, positions: Sequence[int]) -> list[Journaled]:
    """The runs at these positions, with all their rows."""
    runs = core.execute(
        _AUDITED.where(t.runs.c.desk == desk, t.runs.c.position.in_(positions)).order_by(
            t.runs.c.position
        )
    ).all()
    return _with_rows(core, desk, runs, t.steps.c.run.in_(positions))


def _with_rows(
    core: sa.Connection, desk: str, runs: Sequence[Any], theirs: sa.ColumnElement[bool]
) -> list[Journaled]:
    rows_of_runs = core.execute(
        sa.select(t.steps.c.run, *STEP_COLUMNS)
        .where(t.steps.c.desk == desk, theirs)
        .order_by(t.steps.c.run, t.steps.c.seq)
    )
    steps = {
        position: list(rows) for position, rows in groupby(rows_of_runs, key=lambda row: row.run)
    }
    if not runs:
        return []
    positions = [run.position for run in runs]
    stated = statements.read_statements(core, desk, t.statements.c.run.in_(positions))
    records = statements.read_records(core, positions)
    journaled = []
    for run in runs:
        journal = [step_of(run.id, row[1:]) for row in steps.get(run.position, [])]
        pruned = None
        if run.pruned_at is not None:
            pruned = PrunedHead(run.pruned_rows or 0, bytes(run.pruned_chain or b""), run.pruned_at)
        journaled.append(
            Journaled(
                run.id,
                run.position,
                run.body,
                run.salt,
                run.body_digest or b"",
                journal,
                pruned,
                stated.get(run.position, []),
                records[run.position].records,
            )
        )
    return journaled


def at_one_moment(core: sa.Connection, read: Callable[[sa.Connection], T]) -> T:
    """What a function reads in several statements, all of the same moment."""
    with _one_moment(core):
        return read(core)


def desk_records(core: sa.Connection, desk: str) -> DeskRecords:
    """What belongs to the desk and to no run of it."""
    with _one_moment(core):
        return DeskRecords(desk_statements(core, desk), read_desk_records(core, desk))


def desk_statements(core: sa.Connection, desk: str) -> list[Statement]:
    """What was stated about records that belong to the desk and to no run."""
    return statements.read_statements(core, desk, t.statements.c.run == 0).get(0, [])


def changed_files(core: sa.Connection, desk: str) -> list[tuple[str, str]]:
    """Run and file of each attachment whose content is not what its digest says."""
    here = t.attachments.c
    described = (
        sa.select(here.id, here.digest, t.runs.c.id.label("run_id"))
        .join(t.runs, t.runs.c.position == here.run)
        .where(here.desk == desk)
        .order_by(here.run, here.number)
    )
    changed: list[tuple[str, str]] = []
    for file in core.execute(described).all():
        content = core.execute(sa.select(here.content).where(here.id == file.id)).scalar()
        if sha256(bytes(content or b"")).hexdigest() != file.digest:
            changed.append((file.run_id, file.id))
    return changed


def lowered_totals(core: sa.Connection, desk: str, since: float) -> list[LoweredTotal]:
    """Totals that are smaller than what the effects since then added to them, or gone."""
    counted: Counter[tuple[str, str, str, str, str]] = Counter()
    here, totals = t.effect_counts.c, t.totals.c
    with _one_moment(core):
        counts = sa.select(here.tool, here.body).where(here.desk == desk, here.at >= since)
        for tool, body in core.execute(counts):
            for scope, name, day, unit, amount in _counts(body):
                counted[scope, name, day, tool, unit] += amount
        kept = sa.select(
            totals.scope, totals.name, totals.day, totals.tool, totals.unit, totals.amount
        ).where(totals.desk == desk)
        amounts = {tuple(row[:5]): row[5] for row in core.execute(kept)}
    lowered: list[LoweredTotal] = []
    for (scope, name, day, tool, unit), least in sorted(counted.items()):
        amount = amounts.get((scope, name, day, tool, unit), 0)
        if amount < least:
            lowered.append(LoweredTotal(scope, day, tool, unit, amount, least))
    return lowered


def _counts(body: str) -> list[tuple[str, str, str, str, int]]:
    """What an effect added; nothing where somebody changed it, which its statement tells."""
    try:
        return [
            (scope, name, day, unit, int(amount))
            for scope, name, day, unit, amount in json.loads(body)
        ]
    except (ValueError, TypeError):
        return []


def save_seal(
    core: sa.Connection, desk: str, at: float, heads: bytes, mac: str, kind: str | None = None
) -> Seal:
    values = {"desk": desk, "at": at, "heads": heads, "mac": mac, "kind": kind}
    made = core.execute(t.seals.insert().values(**values))
    key = made.inserted_primary_key
    assert key is not None
    return Seal(key[0], at, heads, mac, kind)


def seals(core: sa.Connection, desk: str) -> list[Seal]:
    query = sa.select(t.seals).where(t.seals.c.desk == desk).order_by(t.seals.c.id)
    return [Seal(row.id, row.at, row.heads, row.mac, row.kind) for row in core.execute(query)]
