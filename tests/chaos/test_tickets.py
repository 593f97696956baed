"""Two workers that get messages of one matter at the same moment make one ticket, and a Redis that
is emptied and killed loses none.

The small ones run with all tests, the large ones with `make chaos`.
"""

import asyncio
import random
import shutil
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from deskhand.adapters.stores.postgres import PostgresStore
from deskhand.adapters.stores.postgres_database import PostgresDatabase
from deskhand.adapters.stores.sqlite_backend import SqliteBackend
from deskhand.errors import StoreUnavailable
from deskhand.model.ticket_state import TicketFilter
from tests.servers import RedisServer, new_database, postgres_programs
from tests.tickets_kit import accepted, mail, placing_of, tickets_of

PATIENCE = 500.0
"""Seconds after which something hangs."""


class TicketWorker:
    def __init__(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._process = process
        self._in, self._out = process.stdin, process.stdout

    async def answer(self) -> str:
        line = await asyncio.wait_for(self._out.readline(), PATIENCE)
        assert line, "the worker is gone"
        return line.decode().strip()

    def tell(self, words: str) -> None:
        self._in.write(f"{words}\n".encode())

    async def end(self) -> None:
        self._in.close()
        await self._process.wait()


@asynccontextmanager
async def workers(url: str) -> AsyncIterator[list[TicketWorker]]:
    begun: list[TicketWorker] = []
    for name in ("left", "right"):
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "tests.chaos.ticket_worker",
            url,
            name,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        begun.append(TicketWorker(process))
    try:
        for worker in begun:
            assert await worker.answer() == "ready"
        yield begun
    finally:
        for worker in begun:
            await worker.end()


@pytest.mark.skipif(postgres_programs() is None, reason="PostgreSQL is not installed")
@pytest.mark.parametrize(
    "pairs", [10, pytest.param(200, marks=pytest.mark.chaos)], ids=["small", "large"]
)
async def test_two_workers_make_one_ticket_of_each_matter(pairs: int) -> None:
    url = await asyncio.to_thread(new_database)
    database = await PostgresDatabase.open(url)
    try:
        async with workers(url) as both:
            for number in range(pairs):
                for worker in both:
                    worker.tell(str(number))
                left, right = [await worker.answer() for worker in both]
                assert left == right, f"matter {number} has two tickets"
        tickets = tickets_of(PostgresStore(database, "desk", None))
        assert await tickets.store.count(TicketFilter()) == pairs
        assert (await tickets.rebuild()).mended == 0
    finally:
        await database.close()


@pytest.mark.skipif(shutil.which("redis-server") is None, reason="Redis is not installed")
@pytest.mark.parametrize(
    "messages", [40, pytest.param(500, marks=pytest.mark.chaos)], ids=["small", "large"]
)
async def test_a_redis_that_is_emptied_and_killed_loses_no_ticket(
    messages: int, tmp_path: Path
) -> None:
    from redis.asyncio import Redis

    from deskhand.adapters.stores.redis_tickets import open_redis_tickets

    chance = random.Random(5)
    database = await SqliteBackend.open(tmp_path / "desk.db")
    store = database.store("desk")
    server = await asyncio.to_thread(RedisServer)
    active = open_redis_tickets(server.url, "desk")
    emptied = killed = 0
    try:
        for number in range(messages):
            customer = chance.randrange(messages // 4)
            words = f"Order {50_000 + customer} is late, {number}"
            message = mail(number, words, address=f"c{customer}@example.com")
            run = await accepted(store, message)
            fate = chance.random()
            if fate < 0.1:
                async with Redis.from_url(server.url) as raw:
                    await raw.flushall()
                emptied += 1
            elif fate < 0.15:
                await asyncio.to_thread(server.remove)
                with pytest.raises(StoreUnavailable):
                    await placing_of(tickets_of(store, active)).place(run, message)
                await active.close()
                server = await asyncio.to_thread(RedisServer)
                active = open_redis_tickets(server.url, "desk")
                killed += 1
            await placing_of(tickets_of(store, active)).place(run, message)
        tickets = tickets_of(store, active)
        await tickets.rebuild()
        held = [pair async for pair in active.all_checkpoints()]
        rows = await tickets.store.find(TicketFilter(), limit=1000)
        by_id = sorted(rows, key=lambda row: row.id)
        assert sum(row.messages for row in rows) == messages
        assert len({row.customer for row in rows}) == len(rows), "two tickets of one matter"
        checkpoints = sorted(ticket for _, ticket in held)
        assert checkpoints == [row.id for row in by_id]
        assert emptied
        assert killed
        await active.close()
    finally:
        await asyncio.to_thread(server.remove)
        await database.close()
