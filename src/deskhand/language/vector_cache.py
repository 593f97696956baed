"""Embeddings that were computed before, kept in a SQLite file. A damaged or locked file only
costs time, and the file does not grow without end."""

import logging
import sqlite3
import threading
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Protocol

from deskhand.private_files import make_private_file, make_private_folder

logger = logging.getLogger(__name__)

_AT_ONCE = 500
_PATIENCE = 5.0
_DAY = 86400.0
MOST_VECTORS = 50_000
"""About 80 MB. Beyond it, those that were not used for the longest time are dropped."""
_DROPPED = 0.1
"""The share that is dropped then, so that not every write has to look for the oldest."""


class VectorCache(Protocol):
    """Where an Embedder keeps its vectors between processes."""

    def read(self, keys: Iterable[bytes]) -> dict[bytes, bytes]: ...

    def write(self, vectors: Mapping[bytes, bytes]) -> None: ...


class SqliteVectorCache:
    """One table of digest, vector and the day it was last used. Several processes may use the
    same file; `most` vectors are kept in it."""

    def __init__(self, path: Path, most: int = MOST_VECTORS) -> None:
        self.path = path
        self._most = most
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._broken = False

    def read(self, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        wanted = list(keys)
        vectors: dict[bytes, bytes] = {}
        with self._lock:
            try:
                for start in range(0, len(wanted), _AT_ONCE):
                    vectors |= self._read_some(wanted[start : start + _AT_ONCE])
            except (sqlite3.Error, OSError) as error:
                self._give_up(error)
        return vectors

    def write(self, vectors: Mapping[bytes, bytes]) -> None:
        with self._lock:
            try:
                with self._open() as connection:
                    connection.executemany(
                        "INSERT OR REPLACE INTO vectors(key, vector, used) VALUES (?, ?, ?)",
                        [(key, vector, _today()) for key, vector in vectors.items()],
                    )
                    self._drop_oldest(connection)
            except (sqlite3.Error, OSError) as error:
                self._give_up(error)

    def close(self) -> None:
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _read_some(self, keys: list[bytes]) -> dict[bytes, bytes]:
        """The vectors there are; that they were used is noted once a day."""
        marks = ",".join("?" * len(keys))
        rows = (
            self._open()
            .execute(
                f"SELECT key, vector, used FROM vectors WHERE key IN ({marks})",  # noqa: S608
                keys,
            )
            .fetchall()
        )
        today = _today()
        unmarked = [(today, key) for key, _, used in rows if used != today]
        if unmarked:
            with self._open() as connection:
                connection.executemany("UPDATE vectors SET used = ? WHERE key = ?", unmarked)
        return {key: vector for key, vector, _ in rows}

    def _drop_oldest(self, connection: sqlite3.Connection) -> None:
        (count,) = connection.execute("SELECT count(*) FROM vectors").fetchone()
        if count <= self._most:
            return
        too_many = count - self._most + int(self._most * _DROPPED)
        connection.execute(
            "DELETE FROM vectors WHERE key IN (SELECT key FROM vectors ORDER BY used, rowid"
            " LIMIT ?)",
            (too_many,),
        )

    def _open(self) -> sqlite3.Connection:
        if self._broken:
            raise sqlite3.OperationalError("given up before")
        if self._connection is None:
            make_private_folder(self.path.parent)
            make_private_file(self.path)
            self._connection = sqlite3.connect(
                self.path, timeout=_PATIENCE, check_same_thread=False
            )
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = NORMAL")
            self._connection.execute(
                "CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB NOT NULL,"
                " used INTEGER NOT NULL)"
            )
            self._connection.execute("CREATE INDEX IF NOT EXISTS by_use ON vectors (used)")
        return self._connection

    def _give_up(self, error: Exception) -> None:
        if not self._broken:
            logger.warning("embeddings are not cached in %s: %s", self.path, error)
        self._broken = True


def _today() -> int:
    """Today, in days since 1970."""
    return int(time.time() / _DAY)
