"""An empty SQLite file begins with the schema that migrating one led to before."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from deskhand.adapters.stores import sqlite_database
from deskhand.adapters.stores.migrate import HEAD
from deskhand.adapters.stores.sqlite_database import SqliteDatabase
from tests.migrated import REAL_PREPARE


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("DESKHAND_CACHE", str(folder))
    monkeypatch.setattr(SqliteDatabase, "_prepare", REAL_PREPARE)
    return folder


async def made(path: Path) -> set[tuple[Any, ...]]:
    """What a new database holds."""
    await (await SqliteDatabase.open(path)).close()
    connection = sqlite3.connect(path)
    try:
        [version] = connection.execute("SELECT version_num FROM alembic_version").fetchall()
        objects = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master")
        return {version, *objects}
    finally:
        connection.close()


def refuse_to_migrate(*arguments: Any) -> None:
    pytest.fail("it was migrated step by step")


async def test_a_second_new_file_is_the_same_and_not_migrated_step_by_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = await made(tmp_path / "first.db")
    monkeypatch.setattr(sqlite_database, "migrate", refuse_to_migrate)
    second = await made(tmp_path / "second.db")
    assert second == first
    assert (HEAD,) in second


async def test_what_is_kept_is_for_its_owner_alone(tmp_path: Path, cache: Path) -> None:
    await made(tmp_path / "first.db")
    [kept] = cache.iterdir()
    assert (cache.stat().st_mode & 0o777, kept.stat().st_mode & 0o777) == (0o700, 0o600)


@pytest.mark.parametrize(
    "damaged",
    [
        b"",
        b"{",
        b"[]",
        b"{}",
        b'{"statements": ["CREATE TABLE runs (x)"], "version": "0001"}',
        f'{{"statements": ["CREATE TABLE runs (x)", "CREATE x"], "version": "{HEAD}"}}'.encode(),
        f'{{"statements": [7], "version": "{HEAD}"}}'.encode(),
    ],
)
async def test_a_damaged_file_in_the_cache_only_costs_time(
    tmp_path: Path, cache: Path, damaged: bytes
) -> None:
    first = await made(tmp_path / "first.db")
    [kept] = cache.iterdir()
    kept.write_bytes(damaged)
    assert await made(tmp_path / "second.db") == first


async def test_a_cache_that_cannot_be_written_does_no_harm(tmp_path: Path, cache: Path) -> None:
    cache.write_text("a file where the folder should be")
    assert (HEAD,) in await made(tmp_path / "first.db")


async def test_a_file_with_tables_of_somebody_else_is_migrated(tmp_path: Path) -> None:
    await made(tmp_path / "first.db")
    path = tmp_path / "other.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE theirs (x)")
    connection.commit()
    connection.close()
    assert {"theirs", "runs"} <= {row[1] for row in await made(path) if len(row) > 1}
