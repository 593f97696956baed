"""A SQLite file opened to look something up: no writer, no threads, no SQLAlchemy."""

import os
import re
import sqlite3
import time
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deskhand.adapters.stores import plain_reads
from deskhand.adapters.stores.migrate import HEAD
from deskhand.adapters.stores.sqlite_lists import Read, SqliteLists, T, desk_names
from deskhand.model.judgement import Figure, Judgement, ModeChange
from deskhand.model.notice import FailedNotice
from deskhand.model.totals import Stop
from deskhand.model.waiting import AwayModel

_PATIENCE_S = 5.0


class SqliteLookup(SqliteLists):
    """One desk's records in a file that is only read from: its lists, its modes, its state."""

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

    async def _ask(self, sql: str, values: Mapping[str, Any]) -> Sequence[Sequence[Any]]:
        return await self._look(lambda raw: raw.execute(sql, values).fetchall())

    # --- modes

    async def mode_changes(self, category: str | None = None) -> list[ModeChange]:
        return await plain_reads.mode_changes(self._ask, self.desk, category)

    async def judgements(
        self, category: str, *, since: float = 0.0, newest: int | None = None
    ) -> list[Judgement]:
        return await plain_reads.judgements(self._ask, self.desk, category, since, newest)

    async def figures(self) -> list[Figure]:
        return await plain_reads.figures(self._ask, self.desk)

    # --- what an operator should know

    async def stopped(self) -> Stop | None:
        return await plain_reads.stop_of(self._ask, self.desk)

    async def models_away(self) -> list[AwayModel]:
        return await plain_reads.models_away(self._ask, self.desk)

    async def count_screened(self, since: float) -> int:
        return await plain_reads.count_screened(self._ask, self.desk, since)

    async def failed_notices(self, since: float) -> list[FailedNotice]:
        return await plain_reads.failed_notices(self._ask, self.desk, since)


@dataclass(frozen=True, slots=True)
class LookedInto:
    """A file that is read from, until it is closed."""

    raw: sqlite3.Connection
    path: Path
    desks: list[str]
    """The desks that have runs in it."""

    def records(self, desk: str) -> SqliteLookup:
        return SqliteLookup(self.raw, self.path, desk)

    def can_be_written(self) -> bool:
        """Whether a transaction that changes nothing succeeds in it."""
        try:
            with closing(_connect(self.path)) as raw:
                raw.execute("BEGIN IMMEDIATE")
                raw.execute("DELETE FROM leases WHERE 1=0")
                raw.execute("COMMIT")
        except sqlite3.Error:
            return False
        return True

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
        raw = _connect(path)
        try:
            raw.execute("PRAGMA query_only=ON")
            versions = raw.execute("SELECT version_num FROM alembic_version").fetchall()
            if versions == [(HEAD,)]:
                return LookedInto(raw, path, desk_names(raw))
        except sqlite3.Error:
            pass
        raw.close()
    return None


def _connect(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, isolation_level=None, timeout=_PATIENCE_S)


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


def own_files(database: Path) -> dict[str, Path]:
    """The files of desks' own beside a database, by desk."""
    named = re.compile(
        rf"{re.escape(database.stem)}\.([a-z][a-z0-9-]*){re.escape(database.suffix)}"
    )
    beside = sorted(database.parent.iterdir())
    return {
        match[1]: file
        for file in beside
        if (match := named.fullmatch(file.name)) is not None and file.is_file()
    }
