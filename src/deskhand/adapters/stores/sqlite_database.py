"""A SQLite file with one writer: what all runs in flight want written is committed together."""

import asyncio
import queue
import sqlite3
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, TypeVar, cast

import sqlalchemy as sa

from deskhand.adapters.stores.migrate import is_newest, migrate
from deskhand.adapters.stores.newest_schema import create_newest, is_empty, keep_newest
from deskhand.adapters.stores.sqlite_engine import core_connection, written_down
from deskhand.adapters.stores.statements import stated
from deskhand.adapters.stores.write_health import WriteHealth, write_check
from deskhand.adapters.stores.write_jobs import CommitTeller, WriteJob
from deskhand.crashpoints import Crash, crash_point
from deskhand.errors import StoreUnavailable
from deskhand.private_files import make_private_file

T = TypeVar("T")

MAX_BATCH = 512
BUSY_MS = 5000
MIGRATION_BUSY_MS = 120_000
"""How long to wait for another process that migrates the same file."""
OVERWRITE_DELETED = "PRAGMA secure_delete=ON"
"""What is deleted is overwritten at once; whether SQLite does so by itself depends on its build."""


@dataclass(slots=True)
class Tx:
    """One operation's hands on the database: `raw` for the hot path, `core` for everything else."""

    raw: sqlite3.Connection
    core: sa.Connection


Op = Callable[[Tx], T]


class SqliteDatabase:
    """Opened once a process; every desk's store writes through its one writer thread."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = str(path)
        self.commits = 0
        self.writes = 0
        self._health = WriteHealth()
        self._jobs: queue.SimpleQueue[list[WriteJob] | None] = queue.SimpleQueue()
        self._waiting: list[WriteJob] = []
        """Handed in since the event loop last came round: they go to the writer together, and
        wake it once."""
        self._readers = ThreadPoolExecutor(2, thread_name_prefix="deskhand-read")
        self._local = threading.local()
        self._opened: list[Tx] = []
        self._at_hand: Tx | None = None
        """For the event loop's own glances."""
        self._closed = False
        self._thread: threading.Thread
        self._teller: CommitTeller

    @classmethod
    async def open(cls, path: Path | str) -> Self:
        """Create the file if need be, bring its schema up to date, start the writer;
        StoreUnavailable says why not."""
        database = cls(Path(path))
        loop = asyncio.get_running_loop()
        ready: asyncio.Future[None] = loop.create_future()
        thread = threading.Thread(
            target=database._serve, args=(loop, ready), name="deskhand-write", daemon=True
        )
        database._thread = thread
        database._teller = CommitTeller(loop, database._hand_over)
        thread.start()
        await ready
        return database

    async def write(self, op: Op[T], *, single: bool = False) -> T:
        """Run `op` in the next commit and return its result once that commit is on disk.

        An exception undoes this operation alone; the others of its batch go on. `single` promises
        one statement, which needs no savepoint of its own.
        """
        if self._closed:
            raise StoreUnavailable(f"{self.path} is closed")
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        if not self._waiting and not self._teller.untold:  # who is told last hands over as well
            loop.call_soon(self._hand_over)
        self._waiting.append(WriteJob(op, single, future))
        return await future

    def _hand_over(self) -> None:
        """Give the writer what was handed in, unless more of those who are about to hand in
        something have yet to hear of the last commit: then it goes into one commit with theirs."""
        if len(self._waiting) >= self._teller.untold:
            self._reassign()

    def _reassign(self) -> None:
        if self._waiting:
            self._jobs.put(self._waiting)
            self._waiting = []

    async def read(self, op: Op[T]) -> T:
        if self._closed:
            raise StoreUnavailable(f"{self.path} is closed")
        return await asyncio.get_running_loop().run_in_executor(self._readers, self._read, op)

    async def write_core(self, op: Callable[[sa.Connection], T]) -> T:
        return await self.write(lambda tx: stated(tx.core, op))

    async def read_core(self, op: Callable[[sa.Connection], T]) -> T:
        return await self.read(lambda tx: op(tx.core))

    read_in_transaction = read_core

    async def glance(self, op: Callable[[sa.Connection], T]) -> T:
        """A read of a few rows by their index, on the event loop's own thread: a hop to another
        costs more than it.

        Readers wait for nobody in this mode, but for a program that has the whole file to itself:
        then in a thread.
        """
        try:
            return op(self._own_connection().core)
        except (sqlite3.Error, sa.exc.SQLAlchemyError):
            return await self.read_core(op)

    async def ask(self, sql: str, values: Mapping[str, Any]) -> Sequence[Sequence[Any]]:
        """All rows of a statement in plain SQL whose values are named (`:desk`)."""
        return await self.read(lambda tx: tx.raw.execute(sql, values).fetchall())

    async def ask_quickly(self, sql: str, values: Mapping[str, Any]) -> Sequence[Sequence[Any]]:
        """The same on the event loop's own thread, as `glance` reads."""
        try:
            return self._own_connection().raw.execute(sql, values).fetchall()
        except sqlite3.Error:
            return await self.ask(sql, values)

    async def look_up(self, query: sa.Select[Any], values: Mapping[str, Any]) -> Sequence[Any]:
        """A few rows of a query that was put together once for all.

        SQLAlchemy writes its SQL down once. Asking through SQLAlchemy each time costs ten times as
        much as the read.
        """
        written = written_down(query)
        rows = await self.ask_quickly(written.sql, {**written.constants, **values})
        return list(map(written.row, rows))

    def _own_connection(self) -> Tx:
        """The event loop's own, which waits for nobody."""
        if self._closed:
            raise StoreUnavailable(f"{self.path} is closed")
        if self._at_hand is None:
            self._at_hand = self._connect_to_read()
            self._at_hand.raw.execute("PRAGMA busy_timeout=0")
        return self._at_hand

    async def check_writes(self) -> None:
        """Raise StoreUnavailable while what is written does not get into the file."""
        if not self._health.is_known_good():
            await self.write_core(write_check)
            self._health.is_known_good()

    async def checkpoint(self) -> None:
        """Move the write-ahead log into the file and empty it."""

        def run() -> None:
            try:
                with closing(sqlite3.connect(self.path, timeout=BUSY_MS / 1000)) as raw:
                    raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            except sqlite3.Error as error:
                raise explain(error, self.path) from error

        await asyncio.to_thread(run)

    async def close(self) -> None:
        """Commit what was handed in, then close; handing in more is refused."""
        if self._closed:
            return
        self._closed = True
        self._reassign()
        self._jobs.put(None)
        await asyncio.to_thread(self._thread.join)
        self._teller.tell_all()
        self._readers.shutdown(wait=True)
        for tx in self._opened:
            tx.core.close()
            tx.raw.close()
        self._opened.clear()

    # --- the writer thread

    def _serve(self, loop: asyncio.AbstractEventLoop, ready: asyncio.Future[None]) -> None:
        try:
            # SQLite makes its other files with the rights of this one.
            with suppress(OSError):
                make_private_file(self.path)
            tx = self._connect()
        except sqlite3.Error as error:
            loop.call_soon_threadsafe(ready.set_exception, explain(error, self.path))
            return
        try:
            self._prepare(tx)
        except BaseException as error:
            tx.core.close()  # left to the garbage collector, it would complain from another thread
            tx.raw.close()
            loop.call_soon_threadsafe(ready.set_exception, explain(error, self.path))
            return
        loop.call_soon_threadsafe(ready.set_result, None)
        try:
            for batch in self._batches():
                self._commit(tx, batch)
                loop.call_soon_threadsafe(self._teller.tell, batch)
        except (
            Crash,
            RuntimeError,
        ):  # abandoned, or the loop is gone: nobody waits for these any more
            pass
        finally:
            tx.core.close()
            tx.raw.close()

    def _batches(self) -> Iterable[list[WriteJob]]:
        while (jobs := self._jobs.get()) is not None:
            batch = jobs
            last = False
            while len(batch) < MAX_BATCH:
                try:
                    following = self._jobs.get_nowait()
                except queue.Empty:
                    break
                if following is None:
                    last = True
                    break
                batch += following
            yield batch
            if last:
                return

    def _commit(self, tx: Tx, batch: list[WriteJob]) -> None:
        try:
            tx.raw.execute("BEGIN IMMEDIATE")
            for job in batch:
                self._apply(tx, job)
                if (
                    not tx.raw.in_transaction
                ):  # SQLite gave the whole transaction up: full disk, I/O error
                    raise job.error or StoreUnavailable("the transaction was rolled back")
            crash_point("journal.before_commit")
            tx.raw.execute("COMMIT")
            crash_point("journal.after_commit")
        except Exception as error:
            _roll_back(tx)
            for job in batch:
                job.error = explain(error, self.path)
            self._health.failed(batch[0].error)
            return
        self._health.succeeded()
        self.commits += 1
        self.writes += len(batch)

    def _apply(self, tx: Tx, job: WriteJob) -> None:
        try:
            if job.single:
                job.result = job.op(tx)
                return
            tx.raw.execute("SAVEPOINT op")
            job.result = job.op(tx)
            tx.raw.execute("RELEASE op")
        except Exception as error:
            job.error = explain(error, self.path)
            self._health.failed(job.error)
            if not job.single and tx.raw.in_transaction:
                tx.raw.execute("ROLLBACK TO op")
                tx.raw.execute("RELEASE op")

    # --- connections

    def _connect(self) -> Tx:
        raw = self._open_file()
        return Tx(raw, core_connection(raw))

    def _open_file(self) -> sqlite3.Connection:
        return sqlite3.connect(
            self.path, isolation_level=None, check_same_thread=False, timeout=BUSY_MS / 1000
        )

    def _prepare(self, tx: Tx) -> None:
        tx.raw.execute(
            "PRAGMA page_size=8192"
        )  # rows of about 1 KB fill these better than 4 KB pages
        tx.raw.execute("PRAGMA journal_mode=WAL")
        tx.raw.execute("PRAGMA synchronous=FULL")
        tx.raw.execute(OVERWRITE_DELETED)
        if not is_newest(tx.core):
            tx.raw.execute(f"PRAGMA busy_timeout={MIGRATION_BUSY_MS}")
            tx.raw.execute("BEGIN IMMEDIATE")  # whole or not at all, and by one process
            _bring_up_to_date(tx.core)
            tx.raw.execute("COMMIT")
        tx.raw.execute(f"PRAGMA busy_timeout={BUSY_MS}")

    def _connect_to_read(self) -> Tx:
        tx = self._connect()
        self._opened.append(tx)
        tx.raw.execute("PRAGMA query_only=ON")
        return tx

    def _read(self, op: Op[T]) -> T:
        try:
            tx: Tx | None = getattr(self._local, "tx", None)
            if tx is None:
                tx = self._local.tx = self._connect_to_read()
            return op(tx)
        except (sqlite3.Error, sa.exc.SQLAlchemyError) as error:
            raise explain(error, self.path) from error


def _bring_up_to_date(connection: sa.Connection) -> None:
    """Migrate, unless the database is empty and can begin with the newest schema."""
    began_empty = is_empty(connection)
    if began_empty and create_newest(connection):
        return
    migrate(connection)
    if began_empty:
        keep_newest(connection)


def _roll_back(tx: Tx) -> None:
    if tx.raw.in_transaction:
        with suppress(
            sqlite3.Error
        ):  # on a disk that fails, SQLite undoes it when the file is next opened
            tx.raw.execute("ROLLBACK")


_ADVICE = (
    ("locked", "another program holds the file; close it or wait"),
    ("readonly", "the file or its folder is read-only; make both writable for this user"),
    ("read-only", "the file or its folder is read-only; make both writable for this user"),
    ("disk is full", "the disk is full; make room, nothing accepted so far is lost"),
    (
        "unable to open",
        "the folder does not exist or may not be written; create it or choose another path",
    ),
    ("not a database", "this is not a SQLite file; choose another path"),
    ("malformed", "the file is damaged; restore it from a backup"),
    ("disk I/O error", "the disk reports an error; check it and its free space"),
)


def explain(error: BaseException, path: Path) -> BaseException:
    """Turn the driver's error into one that says what to do; every other error stays as it is."""
    cause = (
        cast(BaseException, error.orig)
        if isinstance(error, sa.exc.DBAPIError) and error.orig
        else error
    )
    if isinstance(cause, sqlite3.IntegrityError) or not isinstance(cause, sqlite3.Error):
        return cause
    text = str(cause)
    advice = next((words for sign, words in _ADVICE if sign in text), "see the message")
    return StoreUnavailable(f"database {path}: {text}: {advice}")
