"""What is deleted from a SQLite file is overwritten, however SQLite was built."""

import sqlite3
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from deskhand.adapters.stores.own_tables import SqliteOwnTables
from deskhand.adapters.stores.search_index import SqlSearchIndex
from deskhand.adapters.stores.sqlite import SqliteStore
from deskhand.adapters.stores.sqlite_database import SqliteDatabase
from deskhand.model.message import Address
from deskhand.model.run import RunStatus
from tests.kit import a_message

SECRET = "Carla asked about her cracked teapot"


class LeavesDeletedContent(sqlite3.Connection):
    """As SQLite is on machines where nobody built it otherwise."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.execute("PRAGMA secure_delete=OFF").close()


@pytest.fixture(autouse=True)
def usual_build(monkeypatch: pytest.MonkeyPatch) -> None:
    connect = partial(sqlite3.connect, factory=LeavesDeletedContent)
    monkeypatch.setattr(sqlite3, "connect", connect)


async def test_a_deleted_row_is_not_left_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "desk.db"
    database = await SqliteDatabase.open(path)
    clock = [1000.0]
    store = SqliteStore(database, "desk", now=lambda: clock[0])
    for number in range(40):
        await store.remember_response(f"key-{number}", "digest", f"{SECRET} {number}".encode())
    await store.erase("somebody@example.com", "test")
    clock[0] += 100
    await store.prune(responses=10, totals=10)
    await database.checkpoint()
    await database.close()

    assert SECRET.encode() not in path.read_bytes()


async def test_no_word_of_somebody_erased_is_left_in_the_search(tmp_path: Path) -> None:
    path = tmp_path / "desk.db"
    database = await SqliteDatabase.open(path)
    store, index = SqliteStore(database, "desk"), SqlSearchIndex(database, "desk")
    for number in range(60):
        sender = Address(address=f"carla{number % 2}@example.com")
        message = a_message(number, body="My zanzibar teapot").changed(sender=sender)
        if number % 2:
            message = message.changed(body="Where is my parcel?")
        accepted = await store.accept(message, flow="flow")
        await store.claim(accepted.run_id, {"flow": "v1"})
        await store.finish(accepted.run_id, RunStatus.DONE)
        await index.index_some()
    await database.checkpoint()
    before = path.read_bytes()
    await store.erase("carla0@example.com", "test")
    await database.close()

    for word in (b"zanzibar", b"carla0"):
        assert word in before
        assert word not in path.read_bytes()
    assert b"parcel" in path.read_bytes()


async def test_a_deleted_row_of_a_desks_own_is_not_left_in_its_file(tmp_path: Path) -> None:
    path = tmp_path / "desk.shop.db"
    own = SqliteOwnTables(path)

    def fill(connection: sa.Connection) -> None:
        connection.execute(sa.text("CREATE TABLE orders (number INTEGER, words TEXT)"))
        for number in range(40):
            row = {"number": number, "words": f"{SECRET} {number}"}
            connection.execute(sa.text("INSERT INTO orders VALUES (:number, :words)"), row)

    def empty(connection: sa.Connection) -> None:
        connection.execute(sa.text("DELETE FROM orders WHERE number > 2"))
        connection.execute(sa.text("UPDATE orders SET words = ''"))

    await own.write(fill, keep=True)
    await own.write(empty, keep=True)

    assert SECRET.encode() not in path.read_bytes()
