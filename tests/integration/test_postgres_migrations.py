"""Migrations on PostgreSQL take the time they need, and one process at a time makes them."""

import asyncio
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import asyncpg
import pytest
import sqlalchemy as sa

from deskhand.adapters.stores import postgres_database
from deskhand.adapters.stores.migrate import HEAD, migrate
from deskhand.adapters.stores.postgres_database import MIGRATION_LOCK, PostgresDatabase
from deskhand.errors import StoreUnavailable
from tests.servers import TEMPLATE, PostgresServer, make_template, postgres, postgres_programs

pytestmark = pytest.mark.skipif(
    postgres_programs() is None, reason="PostgreSQL's server is not installed"
)

OPEN = """
import asyncio, sys
from deskhand.adapters.stores.postgres_database import PostgresDatabase

async def main():
    await (await PostgresDatabase.open(sys.argv[1])).close()

asyncio.run(main())
"""


@pytest.fixture
async def empty() -> AsyncIterator[str]:
    """The address of a database without any table."""
    server = await asyncio.to_thread(postgres)
    name = f"empty_{uuid4().hex[:12]}"
    connection = await asyncpg.connect(server.url())
    await connection.execute(f"CREATE DATABASE {name}")
    yield server.url(name)
    await connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
    await connection.close()


async def reached(url: str) -> str:
    connection = await asyncpg.connect(url)
    try:
        return str(await connection.fetchval("SELECT version_num FROM alembic_version"))
    finally:
        await connection.close()


async def test_a_migration_may_take_longer_than_any_limit(
    empty: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slowly(connection: sa.Connection) -> None:
        connection.execute(sa.text("SELECT pg_sleep(2.5)"))
        time.sleep(1.5)  # idle in the transaction, as while a slow machine imports
        migrate(connection)

    monkeypatch.setattr(postgres_database, "STATEMENT_SECONDS", 2)
    monkeypatch.setattr(
        postgres_database, "NOT_IDLE", {"idle_in_transaction_session_timeout": "1000"}
    )
    monkeypatch.setattr(postgres_database, "is_newest", lambda connection: False)
    monkeypatch.setattr(postgres_database, "migrate", slowly)
    database = await PostgresDatabase.open(empty)
    await database.close()
    assert await reached(empty) == HEAD


async def test_two_processes_that_migrate_at_once_both_succeed(empty: str) -> None:
    held = await asyncpg.connect(empty)
    await held.execute(f"SELECT pg_advisory_lock({MIGRATION_LOCK})")
    processes = [subprocess.Popen([sys.executable, "-c", OPEN, empty]) for _ in range(2)]
    async with asyncio.timeout(300):
        while await waiting_for_a_lock(held) < 2:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    await held.close()
    codes = [await asyncio.to_thread(process.wait, 300) for process in processes]
    assert codes == [0, 0]
    assert await reached(empty) == HEAD


async def waiting_for_a_lock(connection: Any) -> int:
    """How many sessions of this database wait for an advisory lock."""
    return int(
        await connection.fetchval(
            "SELECT count(*) FROM pg_locks JOIN pg_database ON pg_database.oid = database"
            " WHERE locktype = 'advisory' AND NOT granted AND datname = current_database()"
        )
    )


async def test_a_database_that_is_up_to_date_waits_for_nobody_who_migrates(empty: str) -> None:
    await (await PostgresDatabase.open(empty)).close()
    held = await asyncpg.connect(empty)
    await held.execute(f"SELECT pg_advisory_lock({MIGRATION_LOCK})")
    async with asyncio.timeout(120):
        await (await PostgresDatabase.open(empty)).close()
    await held.close()


# --- the template that other tests copy


@pytest.fixture
async def bare_server() -> AsyncIterator[PostgresServer]:
    """A server of its own, without a template."""
    server = await asyncio.to_thread(PostgresServer)
    yield server
    await asyncio.to_thread(server.remove)


async def test_a_half_made_template_is_dropped_and_made_again(
    bare_server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(connection: sa.Connection) -> None:
        connection.execute(sa.text("CREATE TABLE runs (id integer)"))
        connection.commit()
        raise OSError("the connection is gone")

    with monkeypatch.context() as patched:
        patched.setattr(postgres_database, "migrate", breaks)
        with pytest.raises(StoreUnavailable, match="gone"):
            await make_template(bare_server)
    await make_template(bare_server)
    assert await reached(bare_server.url(TEMPLATE)) == HEAD


async def test_two_who_make_the_template_at_once_share_it(bare_server: PostgresServer) -> None:
    async with asyncio.timeout(300):
        await asyncio.gather(*(make_template(bare_server) for _ in range(2)))
    assert await reached(bare_server.url(TEMPLATE)) == HEAD
