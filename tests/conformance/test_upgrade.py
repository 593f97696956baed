"""A desk whose database has the first schema is brought to the newest one: every row is there, and
`audit verify` proves what it can."""

import asyncio
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any
from uuid import uuid4

import asyncpg
import pytest
import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from sqlalchemy.ext.asyncio import create_async_engine

from deskhand.adapters.stores import migrate as migrating
from deskhand.adapters.stores.postgres import PostgresStore
from deskhand.adapters.stores.postgres_database import PostgresDatabase
from deskhand.adapters.stores.sqlite import SqliteStore
from deskhand.adapters.stores.sqlite_database import SqliteDatabase
from deskhand.engine.audit import verify_desk
from deskhand.model.run import Event, LlmCall
from tests.conformance.adapters import Stores
from tests.conformance.test_audited_records import Worked
from tests.conformance.test_store import claimed
from tests.migrated import REAL_PREPARE
from tests.servers import postgres

SCRIPTS = Path(migrating.__file__).parent / "migrations"
FIRST = "0001"
NOT_OF_THE_FIRST = ("seals", "alembic_version")
"""A seal of today covers statements, which the first schema does not have."""

Rows = dict[str, list[dict[str, Any]]]


def fill_first_schema(connection: sa.Connection, rows: Rows) -> Rows:
    """Creates the first schema and writes what of the rows fits it; returns that."""
    config = Config()
    config.set_main_option("script_location", str(SCRIPTS))
    config.attributes["connection"] = connection
    command.upgrade(config, FIRST)
    first = sa.MetaData()
    first.reflect(connection)
    written: Rows = {}
    for table in first.sorted_tables:
        if table.name in NOT_OF_THE_FIRST or not rows.get(table.name):
            continue
        fitting = [_fitting(row, table) for row in rows[table.name]]
        connection.execute(table.insert(), fitting)
        written[table.name] = fitting
        if connection.dialect.name == "postgresql":
            _count_on(connection, table)
    connection.commit()
    return written


def _fitting(row: dict[str, Any], table: sa.Table) -> dict[str, Any]:
    return {column.name: row[column.name] for column in table.c if column.name in row}


def _count_on(connection: sa.Connection, table: sa.Table) -> None:
    """PostgreSQL's own numbers go on after those that were written here."""
    for column in table.primary_key.columns:
        named = {"table": table.name, "column": column.name}
        sequence = sa.text("SELECT pg_get_serial_sequence(:table, :column)")
        name = connection.execute(sequence, named).scalar()
        if name is not None:
            last = connection.execute(sa.select(sa.func.max(column))).scalar()
            connection.execute(sa.text("SELECT setval(:name, :last)"), {"name": name, "last": last})


async def on_sqlite(path: Path, work: Callable[[sa.Connection], Rows]) -> Rows:
    engine = sa.create_engine(f"sqlite:///{path}")
    with engine.connect() as connection:
        done = work(connection)
    engine.dispose()
    return done


async def on_postgres(url: str, work: Callable[[sa.Connection], Rows]) -> Rows:
    engine = create_async_engine(url.replace("postgresql://", "postgresql+asyncpg://"))
    async with engine.connect() as connection:
        done = await connection.run_sync(work)
    await engine.dispose()
    return done


async def empty_postgres() -> str:
    server = await asyncio.to_thread(postgres)
    name = f"first_{uuid4().hex[:12]}"
    connection = await asyncpg.connect(server.url())
    await connection.execute(f"CREATE DATABASE {name}")
    await connection.close()
    return server.url(name)


async def all_rows(database: Any, tables: list[str]) -> Rows:
    def read(core: sa.Connection) -> Rows:
        kept = sa.MetaData()
        kept.reflect(core, only=tables)
        found: Rows = {}
        for table in kept.sorted_tables:
            found[table.name] = [dict(row._mapping) for row in core.execute(sa.select(table))]
        return found

    return await database.read_core(read)  # type: ignore[no-any-return]


async def test_rows_of_the_first_schema_come_through_and_verify(
    stores: Stores, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SqliteDatabase, "_prepare", REAL_PREPARE)
    today: Any = await stores()
    await Worked(today).work()
    names = [name for name in migrating_tables() if name not in NOT_OF_THE_FIRST]
    rows = await all_rows(today._database, names)
    database: Any
    if isinstance(today, SqliteStore):
        path = tmp_path / "first.db"
        written = await on_sqlite(path, lambda connection: fill_first_schema(connection, rows))
        database = await SqliteDatabase.open(path)
        store: Any = SqliteStore(database, today.desk)
    else:
        url = await empty_postgres()
        written = await on_postgres(url, lambda connection: fill_first_schema(connection, rows))
        database = await PostgresDatabase.open(url)
        store = PostgresStore(database, today.desk)
    try:
        await check_migrated(store, written)
    finally:
        await database.close()


def migrating_tables() -> list[str]:
    from deskhand.adapters.stores.tables import metadata

    return list(metadata.tables)


def _only(row: dict[str, Any], names: Iterable[str]) -> dict[str, Any]:
    return {name: row[name] for name in names}


async def check_migrated(store: Any, written: Rows) -> None:
    assert {"runs", "messages", "steps", "effects", "reviews", "events", "llm_calls"} <= set(
        written
    )
    migrated = await all_rows(store._database, list(written))
    for table, before in written.items():
        after = [_only(row, before[0]) for row in migrated[table]]
        assert sorted(map(str, after)) == sorted(map(str, before)), table
    report = await verify_desk(store)
    assert report.problems == []
    assert (report.runs, report.rows, report.unstated_runs) == (1, 2, 1)
    assert report.stated_since is not None

    # the desk goes on, and what it writes from now on is covered
    await claimed(store, 2)
    await store.record_call(LlmCall(None, "", "embed", "p/m", "digest"))
    await store.record_event(Event("desk.noted", by="eva", payload={}))
    assert (await verify_desk(store)).problems == []
    newest = sa.text("UPDATE llm_calls SET cost = 9 WHERE id = (SELECT max(id) FROM llm_calls)")
    await store._database.write_core(lambda core: core.execute(newest).rowcount)
    [problem] = (await verify_desk(store)).problems
    assert problem.what.startswith("llm_calls ")
    assert problem.what.endswith(" was changed")
