"""What an auditor reads and leaves behind, in SQLAlchemy Core."""

from itertools import groupby

import sqlalchemy as sa

from deskhand.adapters.stores import tables as t
from deskhand.adapters.stores.rows import STEP_COLUMNS, step_of
from deskhand.model.audited import Journaled, Seal


def journals(core: sa.Connection, desk: str, after: int, limit: int) -> list[Journaled]:
    runs = core.execute(
        sa.select(
            t.runs.c.id,
            t.runs.c.position,
            t.messages.c.body,
            t.messages.c.salt,
            t.messages.c.body_digest,
        )
        .join(t.messages, t.messages.c.run == t.runs.c.position)
        .where(t.runs.c.desk == desk, t.runs.c.position > after)
        .order_by(t.runs.c.position)
        .limit(limit)
    ).all()
    if not runs:
        return []
    rows_of_runs = core.execute(
        sa.select(t.steps.c.run, *STEP_COLUMNS)
        .where(t.steps.c.desk == desk, t.steps.c.run.between(runs[0].position, runs[-1].position))
        .order_by(t.steps.c.run, t.steps.c.seq)
    )
    steps = {
        position: list(rows) for position, rows in groupby(rows_of_runs, key=lambda row: row.run)
    }
    journaled = []
    for run in runs:
        journal = [step_of(run.id, row[1:]) for row in steps.get(run.position, [])]
        journaled.append(
            Journaled(run.id, run.position, run.body, run.salt, run.body_digest, journal)
        )
    return journaled


def save_seal(core: sa.Connection, desk: str, at: float, heads: bytes, mac: str) -> Seal:
    made = core.execute(t.seals.insert().values(desk=desk, at=at, heads=heads, mac=mac))
    key = made.inserted_primary_key
    assert key is not None
    return Seal(key[0], at, heads, mac)


def seals(core: sa.Connection, desk: str) -> list[Seal]:
    query = sa.select(t.seals).where(t.seals.c.desk == desk).order_by(t.seals.c.id)
    return [Seal(row.id, row.at, row.heads, row.mac) for row in core.execute(query)]
