"""What lies in a database, and how a database is opened."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from deskhand.adapters.stores.api_keys import SqlKeyStore
from deskhand.adapters.stores.channels import SqlChannelStore
from deskhand.adapters.stores.desks import desk_names
from deskhand.adapters.stores.exchanges import SqlExchanges
from deskhand.adapters.stores.sqlite import SqliteStore
from deskhand.adapters.stores.sqlite_database import SqliteDatabase
from deskhand.adapters.stores.trust import SqlTrustStore
from deskhand.adapters.stores.users import SqlUserStore
from deskhand.errors import ConfigError
from deskhand.ports import (
    KnowledgeStore,
)

if TYPE_CHECKING:
    from deskhand.adapters.stores.notices import SqlNoticeStore
    from deskhand.adapters.stores.own_tables import OwnDatabase
    from deskhand.adapters.stores.postgres import PostgresStore
    from deskhand.adapters.stores.postgres_database import PostgresDatabase


Database: TypeAlias = "SqliteDatabase | PostgresDatabase"


DeskStore: TypeAlias = "SqliteStore | PostgresStore"


def database_file(url: str) -> Path | None:
    """The file behind a SQLite address or a path; None for a PostgreSQL address."""
    path = url.removeprefix("sqlite:///")
    if path.startswith(("postgresql://", "postgres://")):
        return None
    if "://" in path:
        kind = path.partition("://")[0]
        raise ConfigError(
            f"databases of kind {kind!r} are not known",
            fix="write postgresql://user@host/name, sqlite:///FILE or a path",
        )
    return Path(path)


@asynccontextmanager
async def open_database(url: str) -> AsyncIterator[Database]:
    """`postgresql://...`, `sqlite:///path` or a path; a file is created when it is not there."""
    file = database_file(url)
    database: Database = await (_open_postgres(url) if file is None else SqliteDatabase.open(file))
    try:
        yield database
    finally:
        await database.close()


async def _open_postgres(url: str) -> "PostgresDatabase":
    from deskhand.adapters.stores.postgres_database import PostgresDatabase

    return await PostgresDatabase.open(url)


def open_store(database: Database, desk: str, owner: str | None = None) -> DeskStore:
    """A desk's records, to read and to decide on, without serving it."""
    if isinstance(database, SqliteDatabase):
        return SqliteStore(database, desk, owner)
    from deskhand.adapters.stores.postgres import PostgresStore

    return PostgresStore(database, desk, owner)


async def desks_in(database: Database) -> list[str]:
    """The desks that have ever taken a message in this database."""
    return await database.read_core(desk_names)


def user_accounts(database: Database) -> SqlUserStore:
    """The people who may log in to the pages of the desks in this database."""
    return SqlUserStore(database)


def api_keys(database: Database) -> SqlKeyStore:
    """The keys to the API of every desk in this database."""
    return SqlKeyStore(database)


def knowledge_store(database: Database, desk: str) -> KnowledgeStore:
    """A desk's index of articles; pgvector compares the vectors where the database has it."""
    from deskhand.adapters.stores.knowledge import SqlKnowledgeStore
    from deskhand.adapters.stores.knowledge_fulltext import PostgresWords, SqliteWords
    from deskhand.adapters.stores.knowledge_pgvector import PgVector

    if isinstance(database, SqliteDatabase):
        return SqlKnowledgeStore(database, desk, SqliteWords())
    return SqlKnowledgeStore(database, desk, PostgresWords(), PgVector())


def exchanges_of(database: Database, desk: str) -> SqlExchanges:
    """A desk's answered messages."""
    return SqlExchanges(database, desk)


def own_database(database: Database, desk: str) -> "OwnDatabase":
    """The tables of a desk's own: a file beside a SQLite database, a schema on PostgreSQL; made
    when first used."""
    from deskhand.adapters.stores.own_tables import OwnDatabase, PostgresOwnTables, SqliteOwnTables

    if isinstance(database, SqliteDatabase):
        beside = database.path.with_name(f"{database.path.stem}.{desk}{database.path.suffix}")
        return OwnDatabase(SqliteOwnTables(beside))
    return OwnDatabase(PostgresOwnTables(database, desk))


def trust_store(database: Database, desk: str) -> SqlTrustStore:
    """What people and customers made of a desk's replies."""
    return SqlTrustStore(database, desk)


def channel_store(database: Database, desk: str, channel: str, owner: str) -> SqlChannelStore:
    """What a channel remembers."""
    return SqlChannelStore(database, desk, channel, owner)


def notices_of(database: Database, desk: str) -> "SqlNoticeStore":
    """Word to a desk's reviewers, for looking at what did not arrive."""
    from deskhand.adapters.stores.notices import SqlNoticeStore

    return SqlNoticeStore(database, desk)


class Erased(NamedTuple):
    """What was forgotten of a person: runs, and rows in the desk's own tables."""

    runs: int
    own_rows: int


async def erase_person(database: Database, desk: str, address: str, by: str) -> Erased:
    """The desk's own tables first: what names a person there is known from the engine's, which
    go after them."""
    from deskhand.adapters.stores.erasure import known_as

    names, run_ids = await database.read_core(lambda core: known_as(core, desk, address))
    rows = await own_database(database, desk).erase(names, run_ids)
    return Erased(await open_store(database, desk).erase(address, by), rows)


async def copy_database(
    source: Database, target: Database, progress: Callable[[str, int, int], None]
) -> dict[str, int]:
    """Everything from a SQLite file to an empty PostgreSQL database; rows copied, by table."""
    if not isinstance(source, SqliteDatabase) or isinstance(target, SqliteDatabase):
        raise ConfigError(
            "a copy goes from a SQLite file to PostgreSQL",
            fix="deskhand db copy FILE postgresql://...",
        )
    from deskhand.adapters.stores import database_copy

    return await database_copy.copy_database(source, target, progress)
