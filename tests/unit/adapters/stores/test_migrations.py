"""The migrations build exactly the tables, once, whole or not at all."""

import asyncio
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from deskhand.adapters.stores import migrate as migrating
from deskhand.adapters.stores import sqlite_database
from deskhand.adapters.stores.migrate import HEAD, migrate
from deskhand.adapters.stores.sqlite import SqliteStore
from deskhand.adapters.stores.sqlite_database import SqliteDatabase
from deskhand.adapters.stores.tables import metadata
from deskhand.errors import ConfigError
from deskhand.model.message import HANDED_BACK
from deskhand.model.queue import ReviewFilter
from deskhand.model.ticket_request import TICKET_HEADER, HandedIn, TicketTurn
from tests.conformance.test_review_queue import parked
from tests.kit import a_message
from tests.migrated import REAL_PREPARE
from tests.tickets_kit import accepted, mail, placing_of, tickets_of

SCRIPTS = Path(migrating.__file__).parent / "migrations"


@pytest.fixture(autouse=True)
def _new_files_are_migrated_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Step by step: not from the copy for tests, nor from a schema that was kept before."""
    monkeypatch.setenv("DESKHAND_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(SqliteDatabase, "_prepare", REAL_PREPARE)


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[sa.Connection]:
    engine = sa.create_engine(f"sqlite:///{tmp_path / 'd.db'}")
    with engine.connect() as opened:
        yield opened
    engine.dispose()


def config(connection: sa.Connection) -> Config:
    made = Config()
    made.set_main_option("script_location", str(SCRIPTS))
    made.attributes["connection"] = connection
    return made


def schema(connection: sa.Connection) -> set[tuple[str, str]]:
    rows = connection.execute(
        sa.text("SELECT name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'")
    )
    return {(name, " ".join((sql or "").split())) for name, sql in rows}


def virtual_tables(connection: sa.Connection) -> tuple[str, ...]:
    """SQLite's own full-text indexes, which SQLAlchemy has no words for; their shadows begin
    with the same name."""
    return tuple(
        name for name, sql in schema(connection) if sql.upper().startswith("CREATE VIRTUAL TABLE")
    )


def test_the_migrated_schema_is_the_one_in_tables(connection: sa.Connection) -> None:
    migrate(connection)
    full_text = virtual_tables(connection)

    def counts(name: str | None, kind: str, parents: Any) -> bool:
        return kind != "table" or not str(name).startswith(full_text)

    options = {"compare_type": True, "compare_server_default": True, "include_name": counts}
    assert compare_metadata(MigrationContext.configure(connection, opts=options), metadata) == []


def test_indexes_with_conditions_are_the_same_too(connection: sa.Connection) -> None:
    """Alembic does not compare what comes after WHERE."""
    migrate(connection)
    migrated = {
        (name, sql)
        for name, sql in schema(connection)
        if "WHERE" in sql and not sql.startswith(("CREATE VIEW", "CREATE TRIGGER"))
    }
    fresh = sa.create_engine("sqlite://")
    with fresh.connect() as other:
        metadata.create_all(other)
        assert migrated == {(name, sql) for name, sql in schema(other) if "WHERE" in sql}
    fresh.dispose()
    assert len(migrated) == 8


def test_the_newest_script_is_the_one_the_code_expects(connection: sa.Connection) -> None:
    scripts = ScriptDirectory.from_config(config(connection))
    assert scripts.get_heads() == [HEAD]
    migrate(connection)
    assert connection.execute(sa.text("SELECT version_num FROM alembic_version")).scalar() == HEAD


def test_a_second_upgrade_does_not_even_load_alembic(
    connection: sa.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    migrate(connection)
    before = schema(connection)

    def unexpected(*arguments: Any) -> None:
        pytest.fail("it was migrated again")

    monkeypatch.setattr(command, "upgrade", unexpected)
    migrate(connection)
    assert schema(connection) == before


def test_every_downgrade_works_and_can_be_undone(connection: sa.Connection) -> None:
    migrate(connection)
    newest = schema(connection)
    command.downgrade(config(connection), "base")
    assert {name for name, _ in schema(connection)} == {"alembic_version"}
    migrate(connection)
    assert schema(connection) == newest


async def test_a_migration_that_is_interrupted_leaves_nothing_and_can_be_begun_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "d.db"

    def die_half_way(connection: sa.Connection) -> None:
        migrate(connection)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(sqlite_database, "migrate", die_half_way)
        with pytest.raises(KeyboardInterrupt):
            await SqliteDatabase.open(path)
    raw = sqlite3.connect(path)
    assert raw.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,)
    raw.close()
    database = await SqliteDatabase.open(path)
    await SqliteStore(database, "desk").accept(a_message(), flow="flow")
    await database.close()


async def test_two_processes_may_open_a_new_file_at_the_same_time(tmp_path: Path) -> None:
    opened = await asyncio.gather(*(SqliteDatabase.open(tmp_path / "d.db") for _ in range(4)))
    for number, database in enumerate(opened):
        await SqliteStore(database, "desk").accept(a_message(number), flow="flow")
    assert len(await SqliteStore(opened[0], "desk").runs()) == 4
    for database in opened:
        await database.close()


async def test_a_database_of_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "d.db"
    await (await SqliteDatabase.open(path)).close()
    raw = sqlite3.connect(path)
    raw.execute("UPDATE alembic_version SET version_num='9999'")
    raw.commit()
    with pytest.raises(ConfigError, match="schema 9999, which this version does not know"):
        await SqliteDatabase.open(path)
    assert raw.execute("SELECT version_num FROM alembic_version").fetchone() == ("9999",)
    raw.close()


async def test_reviews_from_before_the_migration_are_found_by_their_words(tmp_path: Path) -> None:
    path = tmp_path / "d.db"
    database = await SqliteDatabase.open(path)
    store = SqliteStore(database, "desk")
    expected = {(await parked(store, number)).id for number in range(3)}
    await database.close()
    engine = sa.create_engine(f"sqlite:///{path}")
    with engine.begin() as connection:
        command.downgrade(config(connection), "0018")
    engine.dispose()

    database = await SqliteDatabase.open(path)
    found = await SqliteStore(database, "desk").find_reviews(ReviewFilter(terms=("parcel",)))
    await database.close()
    assert {review.id for review in found} == expected


def test_the_scripts_may_lie_in_a_folder_with_a_percent_sign(
    connection: sa.Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "50% off"
    shutil.copytree(SCRIPTS, folder, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(migrating, "_SCRIPTS", folder)
    migrate(connection)
    assert connection.execute(sa.text("SELECT version_num FROM alembic_version")).scalar() == HEAD


def test_a_webhook_that_was_on_its_way_becomes_a_delivery(connection: sa.Connection) -> None:
    command.upgrade(config(connection), "0045")
    insert = sa.text(
        "INSERT INTO notices(id, desk, payload, state, attempts, next_at, created_at)"
        " VALUES(:id, 'shop', '{}', :state, 2, 10.0, 5.0)"
    )
    notices = {"rev_1.opened": "due", "rev_1.closed": "done", "digest-shop-1": "due"}
    for name, state in notices.items():
        connection.execute(insert, {"id": name, "state": state})
    command.upgrade(config(connection), "head")
    moved = connection.execute(
        sa.text("SELECT endpoint, id, type, state, attempts FROM webhook_deliveries")
    ).all()
    assert [tuple(row) for row in moved] == [
        ("desk.yaml:shop", "rev_1.opened", "review.opened", "due", 2)
    ]
    left = connection.execute(sa.text("SELECT id FROM notices ORDER BY id")).scalars().all()
    assert list(left) == ["digest-shop-1", "rev_1.closed"]


async def test_what_programs_handed_in_before_the_migration_is_known(tmp_path: Path) -> None:
    path = tmp_path / "d.db"
    turn = TicketTurn(role="customer", content="Order 48213 is late")
    kept = HandedIn(messages=(turn,), taken=(0,))
    headers = {TICKET_HEADER: kept.model_dump_json()}
    message = mail(1, turn.content, channel=HANDED_BACK, headers=headers)
    database = await SqliteDatabase.open(path)
    store = SqliteStore(database, "desk")
    placed = await placing_of(tickets_of(store)).place(await accepted(store, message), message)
    await database.close()
    engine = sa.create_engine(f"sqlite:///{path}")
    with engine.begin() as connection:
        command.downgrade(config(connection), "0057")
    engine.dispose()

    database = await SqliteDatabase.open(path)
    tickets = tickets_of(SqliteStore(database, "desk"))
    [taken] = await tickets.store.turns_taken(["address:ann@example.com"], [turn])
    await database.close()
    assert taken.ticket == placed.ticket_id
