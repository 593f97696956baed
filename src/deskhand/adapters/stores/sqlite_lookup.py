"""A SQLite file opened to look something up: no writer, no threads, no SQLAlchemy."""

import os
import sqlite3
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from deskhand.adapters.stores.migrate import HEAD
from deskhand.adapters.stores.sqlite_lists import Read, SqliteLists, T, desk_names, read_stop
from deskhand.model.totals import Stop

_PATIENCE_S = 5.0


class SqliteLookup(SqliteLists):
    """One desk's lists in a file that is only read from."""

    def __init__(self, raw: sqlite3.Connection, path: Path, desk: str) -> None:
        self.desk = desk
        self._raw, self._path = raw, path
        self._now = time.time

    async def _look(self, read: Read[T]) -> T:
        try:
            return read(self._raw)
        except sqlite3.Error as error:
            from deskhand.adapters.stores.sqlite_database import explain

            raise explain(error, self._path) from error

    async def stopped(self) -> Stop | None:
        return await self._look(lambda raw: read_stop(raw, self.desk))


@dataclass(frozen=True, slots=True)
class LookedInto:
    """A file that is read from, until it is closed."""

    raw: sqlite3.Connection
    path: Path
    desks: list[str]
    """The desks that have runs in it."""

    def lists(self, desk: str) -> SqliteLookup:
        return SqliteLookup(self.raw, self.path, desk)

    def close(self) -> None:
        self.raw.close()


def look_into(path: Path) -> LookedInto | None:
    """Open a file whose schema is the newest, to write nothing.

    None where somebody must do more than look: the schema is another one, the file may not be
    written (SQLite makes files beside it), or something is wrong with it.
    """
    if not may_write(path):
        return None
    with suppress(sqlite3.Error):
        raw = sqlite3.connect(path, isolation_level=None, timeout=_PATIENCE_S)
        try:
            raw.execute("PRAGMA query_only=ON")
            versions = raw.execute("SELECT version_num FROM alembic_version").fetchall()
            if versions == [(HEAD,)]:
                return LookedInto(raw, path, desk_names(raw))
        except sqlite3.Error:
            pass
        raw.close()
    return None


def may_write(path: Path) -> bool:
    """Whether this process may write a SQLite file and what SQLite keeps beside it."""
    if not os.access(path, os.W_OK):
        return False
    beside = [beside_file(path, "-wal"), beside_file(path, "-shm")]
    return os.access(path.absolute().parent, os.W_OK) or all(
        os.access(file, os.W_OK) for file in beside
    )


def beside_file(path: Path, ending: str) -> Path:
    """A file that SQLite keeps beside a database, such as its write-ahead log (`-wal`)."""
    return path.with_name(path.name + ending)
