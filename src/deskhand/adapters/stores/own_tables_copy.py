"""Moving the tables of desks' own from the files beside a SQLite database into schemas of their own
on PostgreSQL.

The desk's code is not needed: tables are made as they are found, with keys, indexes and what they
refer to. Columns of whole numbers become 64 bits wide, as SQLite's are.
"""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.schema import CreateIndex, CreateSchema, CreateTable

from deskhand.errors import Conflict

CHUNK = 2000

Progress = Callable[[str, int, int], None]


async def copy_own_tables(
    file: Path, desk: str, connection: Any, progress: Progress
) -> dict[str, int]:
    """Copy a desk's own tables within the caller's transaction; returns the rows of each
    `desk/table`. Conflict where the schema holds something already."""
    from sqlalchemy.dialects import postgresql

    schema, dialect = f"desk_{desk}", postgresql.dialect()  # type: ignore[no-untyped-call]
    if await connection.fetchval(
        "SELECT EXISTS(SELECT 1 FROM pg_tables WHERE schemaname = $1)", schema
    ):
        raise Conflict(f"the target's schema {schema} is not empty; copy into a fresh database")
    engine = sa.create_engine(f"sqlite:///{file}")
    counts: dict[str, int] = {}
    try:
        metadata = await asyncio.to_thread(_reflected, engine)
        await connection.execute(
            str(CreateSchema(schema, if_not_exists=True).compile(dialect=dialect))
        )
        for table in metadata.sorted_tables:
            there = _on_postgres(table, schema)
            await connection.execute(str(CreateTable(there).compile(dialect=dialect)))
            for index in there.indexes:
                await connection.execute(str(CreateIndex(index).compile(dialect=dialect)))
            rows = await asyncio.to_thread(_rows, engine, table)
            await _fill(connection, there, rows, progress, f"{desk}/{table.name}")
            counts[f"{desk}/{table.name}"] = len(rows)
    finally:
        engine.dispose()
    return counts


def _reflected(engine: sa.Engine) -> sa.MetaData:
    metadata = sa.MetaData()
    metadata.reflect(engine)
    return metadata


def _rows(engine: sa.Engine, table: sa.Table) -> list[tuple[Any, ...]]:
    json_columns = [
        number for number, column in enumerate(table.columns) if isinstance(column.type, sa.JSON)
    ]
    copied = []
    with engine.connect() as connection:
        for row in connection.execute(sa.select(table)):
            values = list(row)
            for number in json_columns:
                values[number] = json.dumps(values[number])
            copied.append(tuple(values))
    return copied


def _on_postgres(table: sa.Table, schema: str) -> sa.Table:
    """The same table in a schema of its own, which keeps names apart, so they stay."""
    there = table.to_metadata(_referring_to(table, schema), schema=schema)
    for column in there.columns:
        kind = column.type.as_generic(allow_nulltype=True)
        column.type = sa.BigInteger() if isinstance(kind, sa.Integer) else kind
        if isinstance(column.type, sa.types.NullType):
            column.type = sa.Text()
    return there


def _referring_to(table: sa.Table, schema: str) -> sa.MetaData:
    """Where the tables it refers to are known under the schema as well."""
    metadata = sa.MetaData()
    for key in table.foreign_keys:
        other = key.column.table
        if other is not table and f"{schema}.{other.name}" not in metadata.tables:
            other.to_metadata(metadata, schema=schema)
    return metadata


async def _fill(
    connection: Any, table: sa.Table, rows: list[tuple[Any, ...]], progress: Progress, label: str
) -> None:
    columns, schema = [column.name for column in table.columns], table.schema
    for start in range(0, len(rows), CHUNK):
        some = rows[start : start + CHUNK]
        await connection.copy_records_to_table(
            table.name, schema_name=schema, records=some, columns=columns
        )
        progress(label, start + len(some), len(rows))
    where = f'"{schema}"."{table.name}"'
    arrived = await connection.fetchval(f"SELECT count(*) FROM {where}")  # noqa: S608 quoted names of tables there are
    if arrived != len(rows):
        raise Conflict(
            f"{label}: {len(rows)} rows were there, {arrived} arrived; nothing was kept, copy again"
        )
    numbered = table.autoincrement_column
    if numbered is not None:
        newest = await connection.fetchval(f'SELECT max("{numbered.name}") FROM {where}')  # noqa: S608 the same
        sequence = await connection.fetchval(
            "SELECT pg_get_serial_sequence($1, $2)", where, numbered.name
        )
        if sequence is not None:
            await connection.execute(
                "SELECT setval($1, $2, $3)", sequence, newest or 1, newest is not None
            )
