"""SQLite files that may only be read: on a read-only disk, or without the right to write."""

import asyncio
import shutil
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from tempfile import TemporaryDirectory

from deskhand.adapters.stores.migrate import is_newest
from deskhand.adapters.stores.sqlite_backend import SqliteBackend
from deskhand.adapters.stores.sqlite_database import BUSY_MS, SqliteDatabase, Tx
from deskhand.adapters.stores.sqlite_lookup import beside_file
from deskhand.errors import ConfigError

_AS_IT_IS = "mode=ro"
_NEVER_CHANGES = "mode=ro&immutable=1"
"""For a file that nobody writes: SQLite then needs no files beside it."""


class ReadOnlyBackend(SqliteBackend):
    """A SQLite file to read from. Every write raises StoreUnavailable."""

    parameters = _AS_IT_IS

    def _open_file(self) -> sqlite3.Connection:
        return sqlite3.connect(
            f"{self.path.absolute().as_uri()}?{self.parameters}",
            uri=True,
            isolation_level=None,
            check_same_thread=False,
            timeout=BUSY_MS / 1000,
        )

    def _prepare(self, tx: Tx) -> None:
        """Nothing: the schema is looked at when somebody opens the file."""
        if not is_newest(tx.core):
            raise ConfigError(f"{self.name} has an older schema", fix="copy it and open the copy")


class _UnchangingBackend(ReadOnlyBackend):
    parameters = _NEVER_CHANGES


@asynccontextmanager
async def opened_to_read(path: Path) -> AsyncIterator[ReadOnlyBackend]:
    """Open a file that may not be written, and read all that was committed to it.

    SQLite cannot read a write-ahead log where it may not make a file, and an older schema needs a
    migration. Both are read from a private copy, which is gone afterwards.
    """
    kind = await asyncio.to_thread(_readable_as, path)
    if kind is not None:
        database = await kind.open(path)
        try:
            yield database
        finally:
            await database.close()
        return
    with TemporaryDirectory(prefix="deskhand-") as folder:
        copy = Path(folder) / path.name
        await asyncio.to_thread(_copy, path, copy)
        await (await SqliteDatabase.open(copy)).close()
        database = await ReadOnlyBackend.open(copy)
        database.name = str(path)
        try:
            yield database
        finally:
            await database.close()


def _readable_as(path: Path) -> type[ReadOnlyBackend] | None:
    """How the file can be read where it lies; None where only a copy can be."""
    log = beside_file(path, "-wal")
    has_log = log.exists() and log.stat().st_size > 0
    ways = [ReadOnlyBackend] if has_log else [ReadOnlyBackend, _UnchangingBackend]
    for way in ways:
        uri = f"{path.absolute().as_uri()}?{way.parameters}"
        try:
            with closing(sqlite3.connect(uri, uri=True)) as raw:
                raw.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except sqlite3.OperationalError:
            continue
        return way if _is_newest(uri) else None
    return None


def _is_newest(uri: str) -> bool:
    import sqlalchemy as sa

    engine = sa.create_engine("sqlite://", creator=lambda: sqlite3.connect(uri, uri=True))
    try:
        with engine.connect() as connection:
            return is_newest(connection)
    finally:
        engine.dispose()


def _copy(path: Path, copy: Path) -> None:
    shutil.copyfile(path, copy)
    log = beside_file(path, "-wal")
    if log.exists():
        shutil.copyfile(log, beside_file(copy, "-wal"))
