"""Embeddings that were computed before, kept in a SQLite file. A damaged or locked file only
costs time."""

import logging
import sqlite3
import threading
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Protocol

logger = logging.getLogger(__name__)

_AT_ONCE = 500
_PATIENCE = 5.0


class VectorCache(Protocol):
    """Where an Embedder keeps its vectors between processes."""

    def read(self, keys: Iterable[bytes]) -> dict[bytes, bytes]: ...

    def write(self, vectors: Mapping[bytes, bytes]) -> None: ...


class SqliteVectorCache:
    """One table of digest and vector. Several processes may use the same file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._broken = False

    def read(self, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        wanted = list(keys)
        vectors: dict[bytes, bytes] = {}
        with self._lock:
            try:
                for start in range(0, len(wanted), _AT_ONCE):
                    some = wanted[start : start + _AT_ONCE]
                    marks = ",".join("?" * len(some))
                    rows = self._open().execute(
                        f"SELECT key, vector FROM vectors WHERE key IN ({marks})",  # noqa: S608
                        some,
                    )
                    vectors.update(rows.fetchall())
            except (sqlite3.Error, OSError) as error:
                self._give_up(error)
        return vectors

    def write(self, vectors: Mapping[bytes, bytes]) -> None:
        with self._lock:
            try:
                with self._open() as connection:
                    connection.executemany(
                        "INSERT OR REPLACE INTO vectors VALUES (?, ?)", vectors.items()
                    )
            except (sqlite3.Error, OSError) as error:
                self._give_up(error)

    def close(self) -> None:
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _open(self) -> sqlite3.Connection:
        if self._broken:
            raise sqlite3.OperationalError("given up before")
        if self._connection is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(
                self.path, timeout=_PATIENCE, check_same_thread=False
            )
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = NORMAL")
            self._connection.execute(
                "CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB NOT NULL)"
            )
        return self._connection

    def _give_up(self, error: Exception) -> None:
        if not self._broken:
            logger.warning("embeddings are not cached in %s: %s", self.path, error)
        self._broken = True
