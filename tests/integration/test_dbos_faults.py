"""What machines do to workers: disks that stall, clocks that jump. Nothing lost, nothing
doubled, order kept."""

import asyncio
import os
import signal
import subprocess
import time
from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import pytest

from deskhand.adapters.dispatch.worker_registry import WorkerRegistry
from deskhand.adapters.stores.postgres import PostgresStore
from deskhand.adapters.stores.postgres_database import PostgresDatabase
from deskhand.errors import AlreadyServed
from tests.chaos.worker import DESK, INTAKE, Settings, member
from tests.chaos.workers import Workers, all_well, at_rest, hand_in, load, report
from tests.servers import PostgresServer, new_database, postgres_programs

pytest.importorskip("dbos", reason="DBOS is not installed (pip install deskhand[scale])")
pytestmark = pytest.mark.skipif(
    postgres_programs() is None,
    reason="PostgreSQL's server is not installed (Debian: apt-get install postgresql)",
)

HOUR = 3600.0


# --- a slow disk


@pytest.fixture
async def slow_server() -> AsyncIterator[PostgresServer]:
    """Every commit waits for its disk a tenth of a second, which is the most that PostgreSQL
    offers."""
    server = await asyncio.to_thread(lambda: PostgresServer(durable=True))
    connection = await asyncpg.connect(server.url())
    await connection.execute("ALTER SYSTEM SET commit_siblings = 0")
    await connection.execute("ALTER SYSTEM SET commit_delay = 100000")
    await connection.execute("SELECT pg_reload_conf()")
    await connection.close()
    yield server
    await asyncio.to_thread(server.remove)


@pytest.mark.slow
async def test_a_slow_disk_that_stalls_for_longer_than_the_lease(
    slow_server: PostgresServer, tmp_path: Path
) -> None:
    url, lanes = slow_server.url(), load(80, 40)
    with Workers(url, tmp_path, Settings(lease=2.0)) as workers:
        crew = [workers.start() for _ in range(3)]
        for process in crew:
            await process.up()
        async with member(url, tmp_path, INTAKE) as intake:
            handing_in = asyncio.create_task(hand_in(intake, lanes, pause=0.5))
            await asyncio.sleep(1)
            await stall(slow_server, 3.0)
            crew[0].kill()
            await asyncio.sleep(1)
            await stall(slow_server, 3.0)
            await handing_in
            await at_rest(intake._store)
            assert await report(intake._store, tmp_path, lanes) == all_well(80)


async def stall(server: PostgresServer, seconds: float) -> None:
    """All of PostgreSQL's processes hang, as on a disk that does not answer, and go on as if
    nothing had been."""
    family = [server.pid, *children_of(server.pid)]
    for pid in family:
        os.kill(pid, signal.SIGSTOP)
    await asyncio.sleep(seconds)
    for pid in family:
        os.kill(pid, signal.SIGCONT)


def children_of(pid: int) -> list[int]:
    listed = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False
    )
    return [int(word) for word in listed.stdout.split()]


# --- clocks


@pytest.mark.slow
async def test_workers_whose_clocks_jump_an_hour_to_and_fro(tmp_path: Path) -> None:
    url, lanes = await asyncio.to_thread(new_database), load(200, 40)
    with Workers(url, tmp_path) as workers:
        crew = [
            workers.start(clock_errors=errors)
            for errors in ((0.0, HOUR), (-HOUR, 0.0, HOUR), (HOUR, -HOUR), (-HOUR,))
        ]
        for process in crew:
            await process.up()
        async with member(url, tmp_path, INTAKE) as intake:
            handing_in = asyncio.create_task(hand_in(intake, lanes, pause=0.5))
            await asyncio.sleep(1)
            crew[0].kill()
            await handing_in
            await at_rest(intake._store)
            assert await report(intake._store, tmp_path, lanes) == all_well(200)


async def test_a_lease_is_kept_and_taken_by_the_databases_clock(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    database = await PostgresDatabase.open(await asyncio.to_thread(new_database))
    registry, right = WorkerRegistry(database, database.name), time.time
    try:
        monkeypatch.setattr(time, "time", lambda: right() - HOUR)
        await registry.sign_on("own_late", [DESK], {}, 60)
        await registry.beat("own_late", [DESK], 0, 60)
        monkeypatch.setattr(time, "time", lambda: right() + HOUR)
        with pytest.raises(AlreadyServed):
            await PostgresStore(database, DESK).acquire(60)
        await registry.sign_off("own_late", [DESK])
        await PostgresStore(database, DESK).acquire(60)
        monkeypatch.setattr(time, "time", lambda: right() - HOUR)
        with pytest.raises(AlreadyServed, match=r"ends in \d\d s"):
            await registry.sign_on("own_late", [DESK], {}, 60)
    finally:
        await database.close()
