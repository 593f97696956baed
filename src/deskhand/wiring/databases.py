"""Opening a database, and the stores that lie in it."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, TypeAlias
from zoneinfo import ZoneInfo

from deskhand.adapters.stores.api_keys import SqlKeyStore
from deskhand.adapters.stores.channels import SqlChannelStore
from deskhand.adapters.stores.chats import SqlChats
from deskhand.adapters.stores.console_actions import SqlConsoleActions
from deskhand.adapters.stores.console_feed import SqlConsoleFeed
from deskhand.adapters.stores.exchanges import SqlExchanges
from deskhand.adapters.stores.run_store import desk_names
from deskhand.adapters.stores.search_index import SqlSearchIndex
from deskhand.adapters.stores.sqlite_backend import SqliteBackend
from deskhand.adapters.stores.trust import SqlTrustStore
from deskhand.adapters.stores.users import SqlUserStore
from deskhand.errors import ConfigError
from deskhand.ports import KnowledgeStore
from deskhand.ports.database import Backup
from deskhand.wiring.database_files import database_file, without_password

if TYPE_CHECKING:  # the driver takes a tenth of a second to import: only for those who use it
    from deskhand.adapters.stores.notices import SqlNoticeStore
    from deskhand.adapters.stores.own_tables import OwnDatabase
    from deskhand.adapters.stores.postgres import PostgresStore
    from deskhand.adapters.stores.postgres_backend import PostgresBackend
    from deskhand.adapters.stores.sqlite import SqliteStore
    from deskhand.config.desk import DeskSpec

Database: TypeAlias = "SqliteBackend | PostgresBackend"
DeskStore: TypeAlias = "SqliteStore | PostgresStore"


@asynccontextmanager
async def open_database(url: str, *, or_read: bool = False) -> AsyncIterator[Database]:
    """`postgresql://...`, `sqlite:///path` or a path; a missing file is created.

    With `or_read`, a file that may not be written is opened to read: every write is refused.
    """
    file = database_file(url)
    database: Database
    if or_read and file is not None and file.exists():
        from deskhand.adapters.stores.sqlite_lookup import may_write
        from deskhand.adapters.stores.sqlite_reading import opened_to_read

        if not may_write(file):
            async with opened_to_read(file) as reading:
                yield reading
            return
    if file is None:
        from deskhand.adapters.stores.postgres_backend import PostgresBackend

        database = await PostgresBackend.open(url)
    else:
        database = await SqliteBackend.open(file)
    try:
        yield database
    finally:
        await database.close()


@asynccontextmanager
async def scratch_database() -> AsyncIterator[SqliteBackend]:
    """An empty SQLite database in a folder of its own, gone when it is closed."""
    with TemporaryDirectory(prefix="deskhand-") as folder:
        database = await SqliteBackend.open(Path(folder) / "scratch.db")
        try:
            yield database
        finally:
            await database.close()


def open_store(database: Database, desk: str, owner: str | None = None) -> DeskStore:
    """A desk's records, to read and to decide on, without serving the desk."""
    return database.store(desk, owner)


async def desks_in(database: Database) -> list[str]:
    """The desks that have ever taken a message in this database."""
    return await database.read_core(desk_names)


def user_accounts(database: Database) -> SqlUserStore:
    """The people who may log in to the pages of the desks in this database."""
    return SqlUserStore(database)


def console_actions(database: Database) -> SqlConsoleActions:
    """What people did in the console."""
    return SqlConsoleActions(database)


def api_keys(database: Database) -> SqlKeyStore:
    """The keys to the API of every desk in this database."""
    return SqlKeyStore(database)


def console_feed(database: Database, specs: "Iterable[DeskSpec]" = ()) -> SqlConsoleFeed:
    """What open consoles follow in this database, on which these desks are served."""
    zones = {spec.name: ZoneInfo(spec.time_zone) for spec in specs}
    return SqlConsoleFeed(database, zones=zones)


def search_index(database: Database, spec: "DeskSpec") -> SqlSearchIndex:
    """A desk's part of the index that the console's search asks, and of the figures of metrics."""
    return SqlSearchIndex(database, spec.name, ZoneInfo(spec.time_zone))


def knowledge_store(database: Database, desk: str) -> KnowledgeStore:
    """A desk's index of articles."""
    return database.knowledge_store(desk)


def chats_of(database: Database, desk: str) -> SqlChats:
    """The chats of a desk."""
    return SqlChats(database, desk)


def exchanges_of(database: Database, desk: str) -> SqlExchanges:
    """A desk's answered messages."""
    return SqlExchanges(database, desk)


def own_database(database: Database, desk: str) -> "OwnDatabase":
    """The tables that a desk's own code keeps; made when first used."""
    return database.own_tables(desk)


def trust_store(database: Database, desk: str) -> SqlTrustStore:
    """What people and customers made of a desk's replies."""
    return SqlTrustStore(database, desk)


def channel_store(database: Database, desk: str, channel: str, owner: str) -> SqlChannelStore:
    """What a channel has read and shown so far."""
    return SqlChannelStore(database, desk, channel, owner)


def notices_of(database: Database, desk: str) -> "SqlNoticeStore":
    """Notices to a desk's reviewers, to see which did not arrive."""
    from deskhand.adapters.stores.notices import SqlNoticeStore

    return SqlNoticeStore(database, desk)


async def backup_database(
    url: str, target: Path, progress: Callable[[str, int, int], None]
) -> Backup:
    """Copy one moment of a SQLite database to a new file, whoever serves it meanwhile.

    The database is left as it is: not even an older schema is brought up to date. Raises
    ConfigError for PostgreSQL, which brings a program of its own for this.
    """
    from deskhand.adapters.stores.sqlite_backup import backup_files

    file = database_file(url)
    if file is None:
        raise ConfigError(
            "PostgreSQL is backed up with its own program, which takes one moment of everything",
            fix=f"pg_dump --format=custom --file={target} --dbname='{without_password(url)}'",
        )
    loop = asyncio.get_running_loop()

    def tell(name: str, done: int, total: int) -> None:
        loop.call_soon_threadsafe(progress, name, done, total)

    return await asyncio.to_thread(backup_files, file, target, tell)


async def copy_database(
    source: Database, target: Database, progress: Callable[[str, int, int], None]
) -> dict[str, int]:
    """Copy a SQLite file to an empty PostgreSQL database; returns the rows copied, by table."""
    return await source.copy_to(target, progress)
