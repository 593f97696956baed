"""A SQLite file that is only looked into is left as it is, and read by those who may read it."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from deskhand.adapters.stores.api_keys import SqlKeyStore
from deskhand.adapters.stores.sqlite_backend import SqliteBackend
from deskhand.adapters.stores.sqlite_database import SqliteDatabase
from deskhand.adapters.stores.sqlite_lookup import look_into
from deskhand.errors import NotFound, StoreUnavailable
from tests.kit import a_message


async def _with_a_message(path: Path) -> str:
    database = await SqliteBackend.open(path)
    accepted = await database.store("parcels").accept(a_message(), flow="inbox")
    await database.close()
    return accepted.run_id


async def test_lists_show_what_a_store_shows(tmp_path: Path) -> None:
    run_id = await _with_a_message(tmp_path / "desk.db")
    looked = look_into(tmp_path / "desk.db")
    assert looked is not None
    with closing(looked):
        assert looked.desks == ["parcels"]
        lists = looked.records("parcels")
        assert [run.id for run in await lists.runs()] == [run_id]
        assert (await lists.messages([run_id]))[run_id].sender.address == "ann@example.com"
        assert await looked.records("another").runs() == []
        assert await lists.stopped() is None
        assert await lists.find_reviews() == []
        with pytest.raises(NotFound):
            await lists.review("rev_none")


async def test_what_is_being_written_is_seen(tmp_path: Path) -> None:
    database = await SqliteBackend.open(tmp_path / "desk.db")
    store = database.store("parcels")
    accepted = await store.accept(a_message(), flow="inbox")
    looked = look_into(tmp_path / "desk.db")
    assert looked is not None
    with closing(looked):
        assert [run.id for run in await looked.records("parcels").runs()] == [accepted.run_id]
    await database.close()


async def test_nothing_can_be_written(tmp_path: Path) -> None:
    await _with_a_message(tmp_path / "desk.db")
    looked = look_into(tmp_path / "desk.db")
    assert looked is not None
    with closing(looked), pytest.raises(sqlite3.OperationalError):
        looked.raw.execute("DELETE FROM runs")


async def test_another_schema_is_not_looked_into(tmp_path: Path) -> None:
    await _with_a_message(tmp_path / "desk.db")
    with closing(sqlite3.connect(tmp_path / "desk.db", isolation_level=None)) as raw:
        raw.execute("UPDATE alembic_version SET version_num='0001'")
    assert look_into(tmp_path / "desk.db") is None


def test_what_is_no_database_is_not_looked_into(tmp_path: Path) -> None:
    (tmp_path / "words").write_text("not a database at all, whatever its name says\n" * 100)
    (tmp_path / "empty").touch()
    assert look_into(tmp_path / "words") is None
    assert look_into(tmp_path / "empty") is None
    assert look_into(tmp_path / "missing") is None


async def test_a_damaged_table_is_one_clear_error(tmp_path: Path) -> None:
    await _with_a_message(tmp_path / "desk.db")
    looked = look_into(tmp_path / "desk.db")
    assert looked is not None
    with closing(sqlite3.connect(tmp_path / "desk.db", isolation_level=None)) as raw:
        raw.execute("DROP TABLE stops")
    with closing(looked), pytest.raises(StoreUnavailable, match=r"desk\.db"):
        await looked.records("parcels").stopped()


async def test_a_key_is_looked_up_without_another_thread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every request asks for its key, and a hop to a thread costs more than the look."""
    database = await SqliteBackend.open(tmp_path / "desk.db")
    keys = SqlKeyStore(database)
    key, secret = await keys.add("crm", ["messages:write"], ["parcels"])
    monkeypatch.delattr(SqliteDatabase, "read_core")
    monkeypatch.delattr(SqliteDatabase, "read")
    assert await keys.find(secret) == key
    await database.close()
