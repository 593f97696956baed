"""A PostgreSQL database: a group-commit writer on asyncpg for the hot path, SQLAlchemy Core for
everything else."""

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self, TypeVar
from urllib.parse import urlsplit

import asyncpg
import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from deskhand.adapters.stores.migrate import is_newest, migrate
from deskhand.adapters.stores.postgres_plain import PlainStatements
from deskhand.adapters.stores.statements import stated
from deskhand.adapters.stores.write_health import WriteHealth, write_check
from deskhand.crashpoints import crash_point
from deskhand.errors import ConfigError, DeskhandError, StoreUnavailable

log = logging.getLogger("deskhand.postgres")

T = TypeVar("T")
CoreOp = Callable[[sa.Connection], T]
Connection = Any
"""An asyncpg connection; its classes are generic only for type checkers."""
Kind = Callable[[Connection, Sequence[Any]], Awaitable[Sequence[Any]]]
"""Writes many of a kind in a few statements: one result, or one exception, for each that was
handed in."""

MAX_BATCH = 512
CONNECT_SECONDS = 10
STATEMENT_SECONDS = 30
NOT_IDLE = {"idle_in_transaction_session_timeout": "5000"}
"""Milliseconds. A process that was suspended in a transaction, or whose machine is gone, must
not keep its locks: the others would wait for them, with their heartbeats and with its runs."""
MIGRATION_LOCK = 0x6465736B
MIGRATION_SETTINGS = {
    "idle_in_transaction_session_timeout": "0",
    "statement_timeout": "0",
    "lock_timeout": "0",
    "tcp_keepalives_idle": "30",
    "tcp_keepalives_interval": "10",
    "tcp_keepalives_count": "3",
}
"""A migration takes the time it needs, and waits as long for another process that migrates.
Keepalives free the lock of a machine that is gone."""
POINT_LOOKUPS = {
    "jit": "off",
    "enable_seqscan": "off",
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
}
"""The writer finds every row by an index: a plan made for a small table must not read all of it
when it has grown."""


def _engine_for(url: str, **options: Any) -> AsyncEngine:
    """Its connections stay open. Those over the pool's size would be closed after one statement:
    a page that reads thirty things side by side would open one for most of them."""
    return create_async_engine(
        _with_driver(url),
        max_overflow=0,
        connect_args={
            "timeout": CONNECT_SECONDS,
            "command_timeout": STATEMENT_SECONDS,
            "server_settings": NOT_IDLE,
        },
        **options,
    )


@dataclass(slots=True)
class _Job:
    kind: Kind
    values: Any
    future: asyncio.Future[Any]


class PostgresDatabase:
    """Opened once a process. What all runs in flight want written goes into one transaction, kind
    by kind.

    Jobs of one batch never depend on each other: whoever needs an earlier write has waited for it.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self.name = _public(url)
        self.commits = 0
        self.writes = 0
        self._health = WriteHealth()
        self._engine = _engine_for(url, pool_size=4, pool_pre_ping=True)
        self._reading = _engine_for(url, pool_size=4, isolation_level="AUTOCOMMIT")
        """Connections without a transaction around each read: every statement sees what was
        committed before it began, as it would within one. None is tried out before it is used:
        a read that meets a cut line is made again. That saves three round trips of four."""
        self._plain = PlainStatements(
            url,
            timeout=CONNECT_SECONDS,
            command_timeout=STATEMENT_SECONDS,
            server_settings=NOT_IDLE,
        )
        self._connection: Connection = None
        self._pending: deque[_Job] = deque()
        self._wake = asyncio.Event()
        self._closed = False
        self._writer: asyncio.Task[None] | None = None

    @classmethod
    async def open(cls, url: str) -> Self:
        """Connect, bring the schema up to date, one process at a time, and start the writer."""
        if urlsplit(url).scheme not in ("postgresql", "postgres"):
            raise ConfigError(
                f"{_public(url)!r} is no PostgreSQL address",
                fix="write postgresql://user@host/database",
            )
        database = cls(url)
        try:
            async with database._engine.connect() as connection:
                is_up_to_date = await connection.run_sync(is_newest)
            if not is_up_to_date:
                await _migrate(url)
            await database._connect()
            await database._plain.open()
        except Exception as error:
            await database._dispose()
            raise database._explain(error) from error
        database._writer = asyncio.create_task(database._write())
        return database

    async def write(self, kind: Kind, values: Any) -> Any:
        """Hand in one write of a kind; returns once its transaction is committed."""
        if self._closed:
            raise StoreUnavailable(f"{self.name} is closed")
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._pending.append(_Job(kind, values, future))
        self._wake.set()
        return await future

    async def write_core(self, op: CoreOp[T]) -> T:
        try:
            async with self._engine.begin() as connection:
                result = await connection.run_sync(stated, op)
        except DeskhandError:
            raise
        except Exception as error:
            failure = self._explain(error)
            self._health.failed(failure)
            raise failure from error
        self._health.succeeded()
        return result

    async def check_writes(self) -> None:
        """Raise StoreUnavailable while what is written does not get into the database."""
        if not self._health.is_known_good():
            await self.write_core(write_check)
            self._health.is_known_good()

    async def read_core(self, op: CoreOp[T]) -> T:
        """What `op` reads; once more where the line was cut, as after a pause of this process that
        outlived NOT_IDLE."""
        return await self._read_twice(self._reading, op)

    async def read_in_transaction(self, op: CoreOp[T]) -> T:
        """The same for what sets something for its own transaction, which is rolled back: for
        example that all its statements see one moment."""
        return await self._read_twice(self._engine, op)

    async def _read_twice(self, engine: AsyncEngine, op: CoreOp[T]) -> T:
        try:
            return await self._read(engine, op)
        except StoreUnavailable:
            return await self._read(engine, op)

    async def _read(self, engine: AsyncEngine, op: CoreOp[T]) -> T:
        try:
            async with engine.connect() as connection:
                return await connection.run_sync(op)
        except DeskhandError:
            raise
        except Exception as error:
            raise self._explain(error) from error

    glance = read_core

    async def ask(self, sql: str, values: Mapping[str, Any]) -> Sequence[Sequence[Any]]:
        """All rows of a statement in plain SQL whose values are named (`:desk`)."""
        return await self._ask_twice(lambda: self._plain.ask(sql, values))

    ask_quickly = ask

    async def look_up(self, query: sa.Select[Any], values: Mapping[str, Any]) -> Sequence[Any]:
        """The rows of a query that was put together once for all."""
        return await self._ask_twice(lambda: self._plain.look_up(query, values))

    async def _ask_twice(self, question: Callable[[], Awaitable[T]]) -> T:
        """The answer; asked once more where the line was cut."""
        try:
            return await self._asked(question)
        except StoreUnavailable:
            return await self._asked(question)

    async def _asked(self, question: Callable[[], Awaitable[T]]) -> T:
        try:
            return await question()
        except Exception as error:
            raise self._explain(error) from error

    async def close(self) -> None:
        """Commit what was handed in, then close; handing in more is refused."""
        if self._closed:
            return
        self._closed = True
        self._wake.set()
        if self._writer is not None:
            await asyncio.gather(self._writer, return_exceptions=True)
        if self._connection is not None:
            with contextlib.suppress(Exception):
                await self._connection.close(timeout=5)
        await self._dispose()

    async def _dispose(self) -> None:
        await self._engine.dispose()
        await self._reading.dispose()
        self._plain.close()

    # --- the writer

    async def _write(self) -> None:
        while self._pending or not self._closed:
            if not self._pending:
                self._wake.clear()
                await self._wake.wait()
                continue
            batch = [self._pending.popleft() for _ in range(min(len(self._pending), MAX_BATCH))]
            try:
                await self._commit(batch)
            except Exception as error:
                await self._one_by_one(batch, error)

    async def _commit(self, batch: list[_Job]) -> None:
        if self._connection is None or self._connection.is_closed():
            await self._connect()
        settled: list[tuple[_Job, Any]] = []
        async with self._connection.transaction():
            for kind, jobs in _by_kind(batch):
                results = await kind(self._connection, [job.values for job in jobs])
                settled += zip(jobs, results, strict=True)
            crash_point("journal.before_commit")
        crash_point("journal.after_commit")
        self._health.succeeded()
        self.commits += 1
        self.writes += len(batch)
        for job, result in settled:
            _settle(job, result)

    async def _one_by_one(self, batch: list[_Job], error: Exception) -> None:
        """After a failed batch: a database that is away fails them all, bad data only the job
        that brought it."""
        if _is_away(error):
            self._drop_connection()
        if len(batch) == 1 or _is_away(error):
            failure = self._explain(error)
            self._health.failed(failure)
            for job in batch:
                _settle(job, failure)
            return
        for job in batch:
            try:
                await self._commit([job])
            except Exception as own:
                _settle(job, self._explain(own))

    def _drop_connection(self) -> None:
        """One that was cut in the middle of something may not know it yet, and would refuse
        whatever comes next."""
        if self._connection is not None:
            self._connection.terminate()
            self._connection = None

    async def _connect(self) -> None:
        self._connection = await asyncpg.connect(
            self.url,
            timeout=CONNECT_SECONDS,
            command_timeout=STATEMENT_SECONDS,
            server_settings=POINT_LOOKUPS | NOT_IDLE,
        )

    def _explain(self, error: BaseException) -> Exception:
        """An error that says what to do where the database is to blame; a programming error
        stays itself."""
        cause: BaseException = (
            error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
        )
        if isinstance(cause, DeskhandError):
            return cause
        if _is_away(cause) or _is_away(error):
            words = (
                str(cause).strip().splitlines()[0] if str(cause).strip() else type(cause).__name__
            )
            return StoreUnavailable(
                f"database {self.name}: {words}: check that it runs and accepts this user"
            )
        return cause if isinstance(cause, Exception) else RuntimeError(str(cause))


async def _migrate(url: str) -> None:
    """Upgrade the schema on a connection without limits, one process at a time.

    All of it is one transaction: it is whole or, after a crash, as if it had never begun.
    """
    engine = create_async_engine(
        _with_driver(url),
        poolclass=sa.NullPool,
        connect_args={"timeout": CONNECT_SECONDS, "server_settings": MIGRATION_SETTINGS},
    )
    try:
        async with engine.begin() as connection:
            await _take_migration_lock(connection)
            await connection.run_sync(migrate)
    finally:
        await engine.dispose()


async def _take_migration_lock(connection: AsyncConnection) -> None:
    """Held until the transaction ends; says so where it has to wait."""
    key = {"key": MIGRATION_LOCK}
    is_ours = await connection.scalar(sa.text("SELECT pg_try_advisory_xact_lock(:key)"), key)
    if not is_ours:
        log.info("another process is bringing the database up to date: waiting for it")
        await connection.execute(sa.text("SELECT pg_advisory_xact_lock(:key)"), key)


_AWAY = (
    OSError,
    TimeoutError,
    sa.exc.TimeoutError,  # no connection of the pool came free
    asyncpg.PostgresConnectionError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,  # the connection is in the middle of something that will never end
    asyncpg.exceptions.OperatorInterventionError,
    asyncpg.exceptions.IdleInTransactionSessionTimeoutError,
    asyncpg.exceptions.InsufficientResourcesError,
    asyncpg.exceptions.InvalidAuthorizationSpecificationError,
    asyncpg.exceptions.InvalidCatalogNameError,
    asyncpg.exceptions.ReadOnlySQLTransactionError,
    asyncpg.exceptions.DeadlockDetectedError,
    asyncpg.exceptions.SerializationError,
)


def _is_away(error: BaseException | None) -> bool:
    """Whether the same work may succeed later: looked for through what SQLAlchemy wraps."""
    while error is not None:
        if isinstance(error, _AWAY):
            return True
        if isinstance(error, DBAPIError) and error.connection_invalidated:
            return True
        error = error.__cause__
    return False


def _by_kind(batch: Iterable[_Job]) -> list[tuple[Kind, list[_Job]]]:
    groups: dict[Kind, list[_Job]] = {}
    for job in batch:
        groups.setdefault(job.kind, []).append(job)
    return list(groups.items())


def _settle(job: _Job, result: Any) -> None:
    if job.future.done():
        return
    if isinstance(result, Exception):
        job.future.set_exception(result)
    else:
        job.future.set_result(result)


def _with_driver(url: str) -> str:
    """The address as SQLAlchemy wants it."""
    return "postgresql+asyncpg://" + url.partition("://")[2]


def _public(url: str) -> str:
    """The address without its password."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    port = f":{parts.port}" if parts.port else ""
    user = f"{parts.username}@" if parts.username else ""
    return f"{parts.scheme}://{user}{host}{port}{parts.path}"
