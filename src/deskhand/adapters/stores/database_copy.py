"""Moving a desk's whole memory from a SQLite file to PostgreSQL: everything or nothing."""

import asyncio
import time
from collections.abc import Callable
from typing import Any

import asyncpg
import sqlalchemy as sa

from deskhand.adapters.stores import leases
from deskhand.adapters.stores import tables as t
from deskhand.adapters.stores.own_tables_copy import copy_own_tables
from deskhand.adapters.stores.postgres_database import CONNECT_SECONDS, PostgresDatabase
from deskhand.adapters.stores.sqlite_database import SqliteDatabase
from deskhand.adapters.stores.sqlite_lookup import own_files
from deskhand.errors import Conflict

CHUNK = 2000
CHUNK_OF_FILES = 4
"""A row may have ten megabytes."""
LEFT_BEHIND = {
    t.leases.name,
    t.workers.name,
    t.sessions.name,
    t.setup_links.name,
    t.begun_logins.name,
    t.login_failures.name,
    t.write_checks.name,
    t.console_changes.name,
    t.console_lookers.name,
    t.search_due.name,
    t.search_runs.name,
    t.search_people.name,
    t.run_figures.name,
    t.day_figures.name,
    t.day_replies.name,
}
"""Who serves a database, and who looks into it, is nothing to take along. The words for search and
the figures of metrics are made anew: the triggers of the target note whatever arrives."""

Progress = Callable[[str, int, int], None]
"""Told the table, rows copied so far and rows in all."""


async def copy_database(
    source: SqliteDatabase, target: PostgresDatabase, progress: Progress
) -> dict[str, int]:
    """Copy every table in one transaction and compare the counts; Conflict when the target is not
    empty.

    Conflict also while somebody serves the source: runs at work would be worked in both, and what
    comes in meanwhile would be missing in the copy.
    """
    moved = [table for table in t.metadata.sorted_tables if table.name not in LEFT_BEHIND]
    # Triggers write down what happens while somebody wants to know: so those come last.
    moved.sort(key=lambda table: table is t.webhook_endpoints)
    await _check_source(source)
    counts = await source.read_core(
        lambda core: {table.name: _count(core, table) for table in moved}
    )
    own = await asyncio.to_thread(own_files, source.path)
    connection = await asyncpg.connect(target.url, timeout=CONNECT_SECONDS)
    try:
        async with connection.transaction():
            for table in moved:
                await _check_empty(connection, table)
            for table in moved:
                await _copy_table(source, connection, table, counts[table.name], progress)
                await _check_count(connection, table, counts[table.name])
                await _move_sequence(connection, table)
            for desk, file in own.items():
                counts |= await copy_own_tables(file, desk, connection, progress)
    finally:
        await connection.close()
    return counts


def _count(core: sa.Connection, table: sa.Table) -> int:
    return core.execute(sa.select(sa.func.count()).select_from(table)).scalar_one()


async def _check_source(source: SqliteDatabase) -> None:
    """Raises Conflict while somebody serves the source: what it accepts afterwards would be
    missing in the copy."""
    server = await source.read_core(lambda core: leases.find_server(core, time.time()))
    if server is not None:
        raise Conflict(f"{source.name} is served by {server}; stop that process, then copy")
    query = sa.select(t.runs.c.id).where(t.runs.c.status == "running").limit(1)
    at_work = await source.read_core(lambda core: core.execute(query).scalar())
    if at_work is not None:
        raise Conflict(
            f"run {at_work} is at work in {source.name}; stop whoever serves it, then copy"
        )


async def _check_empty(connection: Any, table: sa.Table) -> None:
    if await connection.fetchval(f'SELECT EXISTS(SELECT 1 FROM "{table.name}")'):  # noqa: S608 our own table names
        raise Conflict(f"the target's table {table.name} is not empty; copy into a fresh database")


async def _copy_table(
    source: SqliteDatabase, connection: Any, table: sa.Table, total: int, progress: Progress
) -> None:
    loop, done = asyncio.get_running_loop(), 0
    columns = [column.name for column in table.columns]
    size = CHUNK_OF_FILES if table is t.attachments else CHUNK

    def hand_over(core: sa.Connection) -> None:
        """Runs in the reader's thread and waits there until each chunk has arrived."""
        nonlocal done
        rows = core.execution_options(yield_per=size).execute(sa.select(table))
        for chunk in rows.partitions(size):
            arriving = connection.copy_records_to_table(
                table.name, records=[tuple(row) for row in chunk], columns=columns
            )
            asyncio.run_coroutine_threadsafe(arriving, loop).result()
            done += len(chunk)
            loop.call_soon_threadsafe(progress, table.name, done, total)

    await source.read_core(hand_over)


async def _check_count(connection: Any, table: sa.Table, expected: int) -> None:
    arrived = await connection.fetchval(f'SELECT count(*) FROM "{table.name}"')  # noqa: S608 our own table names
    if arrived != expected:
        raise Conflict(
            f"{table.name}: {expected} rows were there, {arrived} arrived; nothing was kept, copy"
            " again"
        )


async def _move_sequence(connection: Any, table: sa.Table) -> None:
    """New rows are numbered after the copied ones."""
    numbered = table.autoincrement_column
    if numbered is None:
        return
    column, name = numbered.name, table.name
    newest = await connection.fetchval(f'SELECT max("{column}") FROM "{name}"')  # noqa: S608 our own names
    sequence = await connection.fetchval("SELECT pg_get_serial_sequence($1, $2)", name, column)
    await connection.execute("SELECT setval($1, $2, $3)", sequence, newest or 1, newest is not None)
