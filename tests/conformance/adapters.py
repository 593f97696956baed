"""The adapters that must behave alike. A new one is added here and has passed when this folder's
tests have."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from deskhand.adapters.stores.active_tickets import SqlActiveTickets
from deskhand.adapters.stores.postgres import PostgresStore
from deskhand.adapters.stores.postgres_database import PostgresDatabase
from deskhand.adapters.stores.redis_tickets import RedisActiveTickets, open_redis_tickets
from deskhand.adapters.stores.sqlite import SqliteStore
from deskhand.adapters.stores.sqlite_database import SqliteDatabase
from tests.servers import new_database, postgres_programs, redis

Stores = Callable[..., Any]
"""`stores(desk="desk", owner=None)`: another store on the same database, as another process
would open it."""
ActiveStores = Callable[..., Any]
"""`active(desk="desk")`: a desk's store of active tickets."""


@asynccontextmanager
async def sqlite(folder: Path) -> AsyncIterator[Stores]:
    databases: list[SqliteDatabase] = []

    async def opened(desk: str = "desk", owner: str | None = None, **more: Any) -> SqliteStore:
        database = await SqliteDatabase.open(folder / "conformance.db")
        databases.append(database)
        return SqliteStore(database, desk, owner, **more)

    try:
        yield opened
    finally:
        for database in databases:
            await database.close()


@asynccontextmanager
async def postgres(folder: Path) -> AsyncIterator[Stores]:
    if postgres_programs() is None:
        pytest.skip("PostgreSQL's server is not installed (Debian: apt-get install postgresql)")
    url = await asyncio.to_thread(new_database)
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


ADAPTERS: dict[str, Callable[[Path], AbstractAsyncContextManager[Stores]]] = {
    "postgres": postgres,
    "sqlite": sqlite,
}


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
