"""The adapters that must behave alike. A new one is added here and has passed when this folder's
tests have."""

import asyncio
import shutil
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from deskhand.adapters.stores.active_tickets import SqlActiveTickets
from deskhand.adapters.stores.postgres import PostgresStore
from deskhand.adapters.stores.postgres_database import PostgresDatabase
from deskhand.adapters.stores.redis_tickets import RedisActiveTickets, open_redis_tickets
from deskhand.adapters.stores.sqlite import SqliteStore
from deskhand.adapters.stores.sqlite_database import SqliteDatabase
from tests.servers import keep_database, new_database, postgres_programs, redis

Stores = Callable[..., Any]
"""`stores(desk="desk", owner=None)`: another store on the same database, as another process
would open it."""
ActiveStores = Callable[..., Any]
"""`active(desk="desk")`: a desk's store of active tickets."""


@asynccontextmanager
async def sqlite(folder: Path, begin: str = "") -> AsyncIterator[Stores]:
    """`begin`: a file that it begins as a copy of."""
    databases: list[SqliteDatabase] = []
    path = folder / "conformance.db"
    if begin:
        with closing(sqlite3.connect(begin)) as source, closing(sqlite3.connect(path)) as target:
            source.backup(target)

    async def opened(desk: str = "desk", owner: str | None = None, **more: Any) -> SqliteStore:
        database = await SqliteDatabase.open(path)
        databases.append(database)
        return SqliteStore(database, desk, owner, **more)

    try:
        yield opened
    finally:
        for database in databases:
            await database.close()


@asynccontextmanager
async def postgres(folder: Path, begin: str = "") -> AsyncIterator[Stores]:
    """`begin`: a database that it begins as a copy of."""
    if postgres_programs() is None:
        pytest.skip("PostgreSQL's server is not installed (Debian: apt-get install postgresql)")
    url = await asyncio.to_thread(new_database, begin)
    databases: list[PostgresDatabase] = []

    async def opened(desk: str = "desk", owner: str | None = None, **more: Any) -> PostgresStore:
        database = await PostgresDatabase.open(url)
        databases.append(database)
        return PostgresStore(database, desk, owner, **more)

    try:
        yield opened
    finally:
        for database in databases:
            await database.close()


ADAPTERS: dict[str, Callable[..., AbstractAsyncContextManager[Stores]]] = {
    "postgres": postgres,
    "sqlite": sqlite,
}
Work = Callable[[Any], Awaitable[str]]
"""Something to do with a new store; what it returns is told to those that begin after it."""


@dataclass(frozen=True)
class Snapshot:
    """What a database holds after some work."""

    begin: str
    told: str


_snapshots: dict[tuple[str, Work], Snapshot] = {}


async def snapshot_after(work: Work, adapter: str, folder: Path) -> Snapshot:
    """Does the work once in a process, for every test that begins after it."""
    if (adapter, work) not in _snapshots:
        async with ADAPTERS[adapter](folder) as stores:
            store = await stores()
            told = await work(store)
        begin = str(folder / "conformance.db")
        if adapter == "postgres":
            begin = keep_database(store._database.url)
        _snapshots[adapter, work] = Snapshot(begin, told)
    return _snapshots[adapter, work]


@asynccontextmanager
async def active_in_sqlite(folder: Path) -> AsyncIterator[ActiveStores]:
    async with sqlite(folder) as stores:
        store = await stores()
        yield lambda desk="desk": SqlActiveTickets(store._database, desk)


@asynccontextmanager
async def active_in_postgres(folder: Path) -> AsyncIterator[ActiveStores]:
    async with postgres(folder) as stores:
        store = await stores()
        yield lambda desk="desk": SqlActiveTickets(store._database, desk)


@asynccontextmanager
async def active_in_redis(folder: Path) -> AsyncIterator[ActiveStores]:
    pytest.importorskip("redis", reason="the extra `redis` is not installed")
    if shutil.which("redis-server") is None:
        pytest.skip("Redis is not installed (Debian: apt-get install redis-server)")
    server = await asyncio.to_thread(redis)
    opened: list[RedisActiveTickets] = []

    def store(desk: str = "desk") -> RedisActiveTickets:
        opened.append(open_redis_tickets(f"{server.url}?prefix={folder.name}", desk))
        return opened[-1]

    try:
        yield store
    finally:
        for one in opened:
            await one.close()


ACTIVE_STORES: dict[str, Callable[[Path], AbstractAsyncContextManager[ActiveStores]]] = {
    "postgres": active_in_postgres,
    "redis": active_in_redis,
    "sqlite": active_in_sqlite,
}
