"""A SQLite file as the database of desks: the stores that lie in it, and where each lies."""

import asyncio
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, NoReturn, Protocol

from deskhand.adapters.stores.sqlite import SqliteStore
from deskhand.adapters.stores.sqlite_database import SqliteDatabase
from deskhand.errors import ConfigError
from deskhand.model.ids import new_id

if TYPE_CHECKING:
    from deskhand.adapters.stores.integrity import Integrity
    from deskhand.adapters.stores.knowledge import SqlKnowledgeStore
    from deskhand.adapters.stores.own_tables import OwnDatabase

Progress = Callable[[str, int, int], None]
"""Called with the table, the rows copied so far and the rows in all."""


class CopyTarget(Protocol):
    """A database that may take over everything from a SQLite file."""

    async def copy_from(self, source: SqliteDatabase, progress: Progress) -> dict[str, int]: ...


class SqliteBackend(SqliteDatabase):
    """A SQLite file. One process serves a desk in it at a time."""

    @property
    def address(self) -> str:
        """What a command's `--database` takes to open this database."""
        return str(self.path)

    def store(
        self,
        desk: str,
        owner: str | None = None,
        *,
        now: Callable[[], float] = time.time,
        ids: Callable[[str], str] = new_id,
    ) -> SqliteStore:
        """A desk's runs, reviews and effects."""
        return SqliteStore(self, desk, owner, now, ids)

    def knowledge_store(self, desk: str) -> "SqlKnowledgeStore":
        """A desk's index of articles; words are looked up with FTS5."""
        from deskhand.adapters.stores.knowledge import SqlKnowledgeStore
        from deskhand.adapters.stores.knowledge_fulltext import SqliteWords

        return SqlKnowledgeStore(self, desk, SqliteWords())

    def own_tables(self, desk: str) -> "OwnDatabase":
        """The tables that a desk's own code keeps, in a file beside this one."""
        from deskhand.adapters.stores.own_tables import OwnDatabase, SqliteOwnTables

        beside = self.path.with_name(f"{self.path.stem}.{desk}{self.path.suffix}")
        return OwnDatabase(SqliteOwnTables(beside))

    async def check_integrity(self) -> "Integrity":
        """Look at every page, of the files of desks' own as well."""
        from deskhand.adapters.stores.integrity import check_files

        return await asyncio.to_thread(check_files, self.path)

    def for_workers(self) -> NoReturn:
        """Raises ConfigError: many workers cannot share a file."""
        raise ConfigError(
            "many workers need PostgreSQL",
            fix="name one with --database postgresql://user@host/name",
        )

    async def copy_to(self, target: CopyTarget, progress: Progress) -> dict[str, int]:
        """Copy everything to an empty PostgreSQL database; returns the rows copied, by table."""
        return await target.copy_from(self, progress)

    async def copy_from(self, source: SqliteDatabase, progress: Progress) -> NoReturn:
        """Raises ConfigError: a file takes no copies."""
        raise cannot_copy()


def cannot_copy() -> ConfigError:
    """The error for a copy in any direction but from a SQLite file to PostgreSQL."""
    return ConfigError(
        "a copy goes from a SQLite file to PostgreSQL",
        fix="deskhand db copy FILE postgresql://...",
    )
