"""New SQLite files of the test process begin as copies of one that was migrated for real, and no
commit waits for the disk.

Migrating an empty file takes an eighth of a second of CPU, and thousands of tests begin with one.
What was handed to the system outlives every crash but that of the machine, which no test brings
about, so a wait for the disk proves nothing. Commands that tests start as processes do wait.
"""

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from deskhand.adapters.stores.sqlite_database import SqliteDatabase, Tx

REAL_PREPARE = SqliteDatabase._prepare
"""For tests of the migrations themselves."""


@contextmanager
def begin_migrated(template: Path) -> Iterator[None]:
    asyncio.run(_make(template))

    def copy_and_prepare(database: SqliteDatabase, tx: Tx) -> None:
        if _is_empty(tx.raw):
            with closing(sqlite3.connect(template)) as source:
                source.backup(tx.raw)
        REAL_PREPARE(database, tx)
        tx.raw.execute("PRAGMA synchronous=OFF")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SqliteDatabase, "_prepare", copy_and_prepare)
        yield


async def _make(template: Path) -> None:
    await (await SqliteDatabase.open(template)).close()


def _is_empty(connection: sqlite3.Connection) -> bool:
    [pages] = connection.execute("PRAGMA page_count").fetchone()
    return bool(pages == 0)
