"""A PostgreSQL database as the database of desks: the stores that lie in it, and where."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, NoReturn

from deskhand.adapters.stores.postgres import PostgresStore
from deskhand.adapters.stores.postgres_database import PostgresDatabase
from deskhand.adapters.stores.sqlite_backend import CopyTarget, Progress, cannot_copy
from deskhand.adapters.stores.sqlite_database import SqliteDatabase

if TYPE_CHECKING:
    from deskhand.adapters.stores.integrity import Integrity
    from deskhand.adapters.stores.knowledge import SqlKnowledgeStore
    from deskhand.adapters.stores.own_tables import OwnDatabase


class PostgresBackend(PostgresDatabase):
    """A PostgreSQL database. One process may serve a desk in it, or many workers together."""

    @property
    def address(self) -> str:
        """What a command's `--database` takes to open this database, with its password."""
        return self.url

    def store(
        self, desk: str, owner: str | None = None, *, now: Callable[[], float] = time.time
    ) -> PostgresStore:
        """A desk's runs, reviews and effects."""
        return PostgresStore(self, desk, owner, now)

    def knowledge_store(self, desk: str) -> "SqlKnowledgeStore":
        """A desk's index of articles; pgvector compares the vectors where it is installed."""
        from deskhand.adapters.stores.knowledge import SqlKnowledgeStore
        from deskhand.adapters.stores.knowledge_fulltext import PostgresWords
        from deskhand.adapters.stores.knowledge_pgvector import PgVector

        return SqlKnowledgeStore(self, desk, PostgresWords(), PgVector())

    def own_tables(self, desk: str) -> "OwnDatabase":
        """The tables that a desk's own code keeps, in a schema of their own."""
        from deskhand.adapters.stores.own_tables import OwnDatabase, PostgresOwnTables

        return OwnDatabase(PostgresOwnTables(self, desk))

    async def check_integrity(self) -> "Integrity":
        """Read every row, and ask the server for damaged pages."""
        from deskhand.adapters.stores.integrity import check_server

        return await check_server(self.url)

    def for_workers(self) -> "PostgresBackend":
        """This database, for many workers to share."""
        return self

    async def copy_to(self, target: CopyTarget, progress: Progress) -> NoReturn:
        """Raises ConfigError: copies go to PostgreSQL, not from it."""
        raise cannot_copy()

    async def copy_from(self, source: SqliteDatabase, progress: Progress) -> dict[str, int]:
        """Take over everything from a SQLite file; returns the rows copied, by table.

        Raises Conflict unless this database is empty.
        """
        from deskhand.adapters.stores.database_copy import copy_database

        return await copy_database(source, self, progress)
