"""A desk's own tables: in a file of their own beside a SQLite database, in a schema of their own
on PostgreSQL."""

import asyncio
import json
import sqlite3
import threading
from collections.abc import Callable, Collection
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import sqlalchemy as sa

from deskhand.adapters.stores.sqlite_database import OVERWRITE_DELETED, explain
from deskhand.adapters.stores.sqlite_engine import core_connection
from deskhand.own_tables import OwnTables

if TYPE_CHECKING:  # the driver takes a tenth of a second to import: only for those who use it
    from deskhand.adapters.stores.postgres_database import PostgresDatabase

T = TypeVar("T")
Work = Callable[[sa.Connection], T]

BUSY_SECONDS = 20.0
"""How long a transaction waits for those of other processes; then its step is tried again."""
_FIRST_USE = threading.Lock()
"""Of two connections that change the journal of a new file at once SQLite refuses one, without
waiting."""
_PREPARING = 0x6F776E74
"""The advisory lock under which PostgreSQL's tables are made."""

_metadata = sa.MetaData()
_steps = sa.Table(
    "deskhand_steps",
    _metadata,
    sa.Column("tables", sa.Text, primary_key=True),
    sa.Column("done", sa.Integer, nullable=False),
)
_once = sa.Table(
    "deskhand_once",
    _metadata,
    sa.Column("key", sa.Text, primary_key=True),
    sa.Column("result", sa.Text, nullable=False),
)
_customers = sa.Table(
    "deskhand_customers",
    _metadata,
    sa.Column("tables", sa.Text, primary_key=True),
    sa.Column("columns", sa.Text, nullable=False),
)
"""What the desk's code said last about whose rows are whose: whoever erases has the database,
not the code."""
ERASED = "erased"


class OwnTablesLocation(Protocol):
    """Where a desk's tables lie, and how a transaction is made there."""

    async def is_there(self) -> bool:
        """Whether the desk has ever used tables of its own; asking makes none."""
        ...

    async def read(self, work: Work[T]) -> T: ...

    async def write(self, work: Work[T], *, keep: bool, alone: bool = False) -> T:
        """One transaction; undone where it is not to be kept. `alone` keeps other processes from
        preparing as well."""
        ...


class OwnDatabase:
    """A desk's own tables at work; in a rehearsal everything is done as ever and undone again."""

    def __init__(
        self,
        location: OwnTablesLocation,
        *,
        keep: bool = True,
        _ready: set[OwnTables] | None = None,
    ) -> None:
        self._location, self._keep = location, keep
        self._ready: set[OwnTables] = set() if _ready is None else _ready
        self._preparing = asyncio.Lock()

    async def read(self, tables: OwnTables, work: Work[T]) -> T:
        await self._prepared(tables)
        return await self._location.read(work)

    async def write(self, tables: OwnTables, work: Work[T]) -> T:
        await self._prepared(tables)
        return await self._location.write(work, keep=self._keep)

    async def once(self, tables: OwnTables, key: str, work: Work[dict[str, Any]]) -> dict[str, Any]:
        return await self.write(tables, partial(_done_once, key, work))

    async def erase(self, people: Collection[str], run_ids: Collection[str]) -> int:
        """Forget whose rows these people's are, and what was answered under their runs' keys;
        how many rows."""
        if not await self._location.is_there():
            return 0
        return await self._location.write(partial(_erase, people, run_ids), keep=self._keep)

    def rehearsal(self) -> "OwnDatabase":
        return OwnDatabase(self._location, keep=False, _ready=self._ready)

    async def _prepared(self, tables: OwnTables) -> None:
        if tables in self._ready:
            return
        async with self._preparing:
            if tables not in self._ready:
                await self._location.write(partial(_prepare, tables), keep=True, alone=True)
                self._ready.add(tables)


def _prepare(tables: OwnTables, connection: sa.Connection) -> None:
    _metadata.create_all(connection)
    here = _steps.c.tables == tables.name
    done = connection.execute(sa.select(_steps.c.done).where(here)).scalar()
    for step in tables.steps[done or 0 :]:
        step(connection)
    if done is None:
        connection.execute(_steps.insert().values(tables=tables.name, done=len(tables.steps)))
    elif done < len(tables.steps):
        connection.execute(_steps.update().where(here).values(done=len(tables.steps)))

    _remember_customers(tables, connection)


def _remember_customers(tables: OwnTables, connection: sa.Connection) -> None:
    said, here = json.dumps(tables.customers), _customers.c.tables == tables.name
    stored = connection.execute(sa.select(_customers.c.columns).where(here)).scalar()
    if stored is None:
        connection.execute(_customers.insert().values(tables=tables.name, columns=said))
    elif stored != said:
        connection.execute(_customers.update().where(here).values(columns=said))


def _erase(people: Collection[str], run_ids: Collection[str], connection: sa.Connection) -> int:
    _metadata.create_all(connection)
    erased = 0
    owners = [*people, *(f"run:{run_id}" for run_id in run_ids)]
    addresses = [owner.lower() for owner in people if "@" in owner]
    for said in connection.execute(sa.select(_customers.c.columns)).scalars().all():
        for name, columns in json.loads(said).items():
            table = sa.table(name, *(sa.column(column) for column in columns))
            whose = table.c[columns[0]]
            theirs = sa.or_(whose.in_(owners), sa.func.lower(whose).in_(addresses))
            values = dict.fromkeys(columns, ERASED)
            erased += connection.execute(table.update().where(theirs).values(**values)).rowcount
    for run_id in run_ids:
        answered = _once.c.key.like(
            f"{run_id}.%"
        )  # an id of a run holds nothing that LIKE would read
        connection.execute(_once.update().where(answered).values(result="{}"))
    return erased


def _done_once(key: str, work: Work[dict[str, Any]], connection: sa.Connection) -> dict[str, Any]:
    """The key is taken first: whoever comes with the same one waits for this transaction and
    finds its result."""
    take = sa.text(
        "INSERT INTO deskhand_once (key, result) VALUES (:key, '') ON CONFLICT DO NOTHING"
    )
    if connection.execute(take, {"key": key}).rowcount == 0:
        earlier_result: dict[str, Any] = json.loads(
            connection.execute(sa.select(_once.c.result).filter_by(key=key)).scalar_one()
        )
        return earlier_result
    result = work(connection)
    connection.execute(_once.update().where(_once.c.key == key).values(result=json.dumps(result)))
    return result


class SqliteOwnTables:
    """A file of the desk's own, made when it is first used."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._writing = asyncio.Lock()

    async def is_there(self) -> bool:
        return await asyncio.to_thread(self._path.exists)

    async def read(self, work: Work[T]) -> T:
        return await asyncio.to_thread(self._transact, work, "BEGIN", "ROLLBACK")

    async def write(self, work: Work[T], *, keep: bool, alone: bool = False) -> T:
        """One at a time in this process; other processes are waited for by SQLite."""
        async with self._writing:
            return await asyncio.to_thread(
                self._transact, work, "BEGIN IMMEDIATE", "COMMIT" if keep else "ROLLBACK"
            )

    def _transact(self, work: Work[T], begin: str, end: str) -> T:
        try:
            with closing(self._connected()) as raw, core_connection(raw) as connection:
                raw.execute(begin)  # a connection that closes before the end undoes everything
                result = work(connection)
                raw.execute(end)
                return result
        except (sqlite3.Error, sa.exc.DBAPIError) as error:
            raise explain(error, self._path) from error

    def _connected(self) -> sqlite3.Connection:
        raw = sqlite3.connect(
            self._path, isolation_level=None, check_same_thread=False, timeout=BUSY_SECONDS
        )
        with _FIRST_USE:
            raw.execute("PRAGMA journal_mode=WAL")
        raw.execute("PRAGMA synchronous=FULL")
        raw.execute(OVERWRITE_DELETED)
        raw.execute("PRAGMA foreign_keys=ON")
        return raw


class PostgresOwnTables:
    """A schema of the desk's own; nothing else is in sight of its transactions."""

    def __init__(self, database: "PostgresDatabase", desk: str) -> None:
        self._database, self._schema = database, f"desk_{desk}"

    async def is_there(self) -> bool:
        query = sa.text("SELECT EXISTS(SELECT 1 FROM pg_namespace WHERE nspname = :name)")
        return await self._database.read_core(
            lambda connection: bool(connection.execute(query, {"name": self._schema}).scalar_one())
        )

    async def read(self, work: Work[T]) -> T:
        return await self._database.read_in_transaction(
            lambda connection: work(self._within(connection))
        )

    async def write(self, work: Work[T], *, keep: bool, alone: bool = False) -> T:
        return await self._database.write_core(partial(self._transact, work, keep, alone))

    def _transact(self, work: Work[T], keep: bool, alone: bool, connection: sa.Connection) -> T:
        if alone:
            connection.execute(sa.text("SET LOCAL idle_in_transaction_session_timeout = 0"))
            connection.execute(sa.text("SELECT pg_advisory_xact_lock(:key)"), {"key": _PREPARING})
            connection.execute(sa.schema.CreateSchema(self._schema, if_not_exists=True))
        self._within(connection)
        if keep:
            return work(connection)
        attempt = connection.begin_nested()
        try:
            return work(connection)
        finally:
            attempt.rollback()

    def _within(self, connection: sa.Connection) -> sa.Connection:
        quoted = connection.dialect.identifier_preparer.quote_identifier(self._schema)
        connection.execute(sa.text(f"SET LOCAL search_path TO {quoted}"))
        return connection
