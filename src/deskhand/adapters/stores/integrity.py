"""Looks for damage in a database: every page of a SQLite file, every row on PostgreSQL."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from deskhand.adapters.stores.sqlite_lookup import own_files

MOST_TOLD = 5
_CONNECT_SECONDS = 10


class Integrity(NamedTuple):
    """What was looked at, and what is wrong there."""

    looked_at: str
    problems: tuple[str, ...]


def check_files(path: Path) -> Integrity:
    """Check a SQLite file and the files of desks' own beside it: every page, every index."""
    files = [path, *own_files(path).values()]
    problems = [f"{file}: {problem}" for file in files for problem in damage_of(file)]
    pages = sum(file.stat().st_size for file in files) // 1024
    counted = f"{len(files)} file{'s' * (len(files) != 1)} of {pages:,} KB"
    return Integrity(f"every page of {counted}", tuple(problems))


def damage_of(file: Path, parameters: str = "mode=ro") -> list[str]:
    """What SQLite finds wrong with a file; empty where it is sound."""
    uri = f"{file.absolute().as_uri()}?{parameters}"
    try:
        with closing(sqlite3.connect(uri, uri=True)) as raw:
            rows = raw.execute(f"PRAGMA integrity_check({MOST_TOLD})").fetchall()
    except sqlite3.Error as error:
        return [str(error)]
    return [line for (text,) in rows for line in str(text).splitlines() if text != "ok"]


async def check_server(url: str) -> Integrity:
    """Read every row of our tables on PostgreSQL, and ask for pages with a wrong checksum.

    Indexes are checked where the extension amcheck is installed.
    """
    import asyncpg

    from deskhand.adapters.stores import tables as t

    connection = await asyncpg.connect(url, timeout=_CONNECT_SECONDS)
    problems: list[str] = []
    try:
        for table in t.metadata.sorted_tables:
            problems += await _failure(connection, table.name, _read_all(table.name))
        failures = await connection.fetchval(
            "SELECT coalesce(checksum_failures, 0) FROM pg_stat_database"
            " WHERE datname = current_database()"
        )
        if failures:
            problems.append(f"{failures} page(s) with a wrong checksum")
        checksums = await connection.fetchval("SHOW data_checksums")
        amcheck = await connection.fetchval("SELECT 1 FROM pg_extension WHERE extname = 'amcheck'")
        if amcheck:
            problems += await _check_indexes(connection)
    finally:
        await connection.close()
    looked_at = f"every row of {len(t.metadata.sorted_tables)} tables, checksums {checksums}"
    return Integrity(looked_at + (", indexes" if amcheck else ""), tuple(problems))


def _read_all(table: str) -> str:
    """A statement that has to read all of every row, also what lies apart for its size."""
    return f'SELECT count(md5(row::text)) FROM "{table}" row'  # noqa: S608 our own table names


async def _check_indexes(connection: Any) -> list[str]:
    rows = await connection.fetch(
        "SELECT c.oid::regclass::text AS name FROM pg_class c JOIN pg_am a ON a.oid = c.relam"
        " JOIN pg_namespace n ON n.oid = c.relnamespace"
        " WHERE c.relkind = 'i' AND a.amname = 'btree' AND n.nspname = current_schema()"
    )
    problems: list[str] = []
    for row in rows:
        check = "SELECT bt_index_check($1::regclass, true)"
        problems += await _failure(connection, row["name"], check, row["name"])
    return problems


async def _failure(connection: Any, where: str, query: str, *arguments: str) -> list[str]:
    import asyncpg

    try:
        await connection.fetchval(query, *arguments)
    except asyncpg.PostgresError as error:
        return [f"{where}: {error}"]
    return []
