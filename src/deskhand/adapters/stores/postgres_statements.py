"""Statements on PostgreSQL's hot path: those of many runs at once."""

from collections.abc import Iterable, Sequence

from deskhand.adapters.stores.postgres_database import Connection
from deskhand.adapters.stores.statements import (
    HEAD_OF_RUN,
    LAST_STATEMENT,
    LAST_STEP,
    SOURCES,
    ReadRecords,
    digests_of,
    next_statement,
)
from deskhand.model.audited import StatementKind

_INSERT_MANY = """
INSERT INTO statements(desk, run, number, kind, at, body, chain)
SELECT * FROM unnest(
  $1::text[], $2::bigint[], $3::int[], $4::text[], $5::float8[], $6::text[], $7::bytea[])
"""


def _any(sql: str) -> str:
    return sql.format(these="= ANY($1)")


async def state_on_postgres(connection: Connection, positions: Sequence[int], now: float) -> None:
    """State what the records of these runs are, now that they have come to rest."""
    if not positions:
        return
    heads = await connection.fetch(_any(HEAD_OF_RUN), positions)
    steps = await connection.fetch(_any(LAST_STEP), positions)
    records = [await connection.fetch(_any(source.sql), positions) for source in SOURCES]
    runs = digests_of(ReadRecords(heads, steps, records))
    last = {row[0]: tuple(row) for row in await connection.fetch(_any(LAST_STATEMENT), positions)}
    made = []
    for position, run in runs.items():
        statement = next_statement(run, last.get(position), StatementKind.RESTED, now)
        made.append(
            (
                run.desk,
                position,
                statement.number,
                statement.kind,
                statement.at,
                statement.body,
                statement.chain,
            )
        )
    columns = [list(column) for column in zip(*made, strict=True)]
    await connection.execute(_INSERT_MANY, *columns)


_LATE = """
SELECT position FROM runs WHERE id = ANY($1) AND status NOT IN ('queued', 'running')
ORDER BY position FOR UPDATE
"""


async def state_late_on_postgres(
    connection: Connection, run_ids: Iterable[str | None], now: float
) -> None:
    """State the records of runs after some that came while they were at rest."""
    rows = await connection.fetch(_LATE, sorted({run_id for run_id in run_ids if run_id}))
    await state_on_postgres(connection, [row["position"] for row in rows], now)
