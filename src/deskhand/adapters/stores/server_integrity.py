"""Looks for damage in a PostgreSQL database, as far as a client can."""

import asyncpg

from deskhand.adapters.stores import tables as t
from deskhand.adapters.stores.file_integrity import Integrity
from deskhand.adapters.stores.postgres_database import CONNECT_SECONDS, Connection


async def check_server(url: str) -> Integrity:
    """Read every row of our tables on PostgreSQL, and ask for pages with a wrong checksum.

    Indexes are checked where the extension amcheck is installed.
    """
    connection = await asyncpg.connect(url, timeout=CONNECT_SECONDS)
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


async def _check_indexes(connection: Connection) -> list[str]:
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


async def _failure(connection: Connection, where: str, query: str, *arguments: str) -> list[str]:
    try:
        await connection.fetchval(query, *arguments)
    except asyncpg.PostgresError as error:
        return [f"{where}: {error}"]
    return []
