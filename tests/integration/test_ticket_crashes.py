"""A process that dies at any named point of a ticket's life leaves each ticket in one place."""

import asyncio
import shutil
import signal
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from deskhand.crashpoints import TICKET_POINTS, VARIABLE, Crash, arm, disarm
from tests.conformance.adapters import ACTIVE_STORES, ADAPTERS
from tests.forked import run_forked
from tests.integration.test_crashes import empty_database
from tests.servers import new_database, postgres_programs, redis
from tests.ticket_scenario import TicketScene, opened_scene

__all__ = ["empty_database"]

STORES = [("sqlite", "own"), ("sqlite", "redis"), ("postgres", "own"), ("postgres", "redis")]
EVERY_STORE = pytest.mark.parametrize(
    ("database", "active"), STORES, ids=["+".join(names) for names in STORES]
)
PASSAGES = {
    "tickets.before_change": 5,
    "tickets.after_change": 5,
    "tickets.after_checkpoint": 3,
    "tickets.before_clear": 2,
    "tickets.after_clear": 2,
}
"""How often a life that nothing interrupts passes each point."""


@pytest.fixture(autouse=True)
def _disarmed() -> Iterator[None]:
    yield
    disarm()


@asynccontextmanager
async def opening(database: str, active: str, folder: Path) -> AsyncIterator[Any]:
    """`opened(desk)`: store and active store of a fresh desk, as a new process opens them."""
    async with ADAPTERS[database](folder) as stores, ACTIVE_STORES["redis"](folder) as redis:

        async def scene(desk: str) -> TicketScene:
            return TicketScene(await stores(desk), redis(desk) if active == "redis" else None)

        yield scene


def test_every_point_is_known() -> None:
    assert set(PASSAGES) == set(TICKET_POINTS)


@pytest.mark.parametrize(
    "anywhere", [False, pytest.param(True, marks=pytest.mark.chaos)], ids=["", "anywhere"]
)
@EVERY_STORE
async def test_a_life_cut_short_goes_on_as_if_nothing_had_happened(
    database: str, active: str, anywhere: bool, tmp_path: Path
) -> None:
    """In a SQLite file wherever it is cut short. On PostgreSQL at the first passage of each point,
    and the last where a process is killed; everywhere with `make chaos`."""
    passages = PASSAGES
    if database == "postgres" and not anywhere:
        passages = dict.fromkeys(TICKET_POINTS, 1)
    passed: Counter[str] = Counter()
    async with opening(database, active, tmp_path) as opened:
        for point in TICKET_POINTS:
            for passage in range(1, passages[point] + 1):
                passed[point] += await crashes_of_a_life(opened, point, passage)
    assert passed == Counter(passages)


async def crashes_of_a_life(opened: Any, point: str, passage: int) -> int:
    """How often the life dies at this passage; what stands is checked after each step."""
    crashes = 0
    desk = f"{point}.{passage}"
    scene = await opened(desk)
    arm(point, _die, passage)
    for number in range(len(scene.steps())):
        try:
            await scene.steps()[number]()
        except Crash:
            crashes += 1
            disarm()
            scene = await opened(desk)
            await scene.check()
            await scene.steps()[number]()
        await scene.check()
    disarm()
    await scene.check(messages=3)
    return crashes


def _die() -> None:
    raise Crash


@EVERY_STORE
@pytest.mark.parametrize("point", TICKET_POINTS)
async def test_a_killed_process_loses_no_ticket(
    point: str, database: str, active: str, tmp_path: Path, empty_database: Path
) -> None:
    places = [await _database(database, tmp_path, empty_database)]
    if active == "redis":
        places.append(await _redis(tmp_path))
    await asyncio.to_thread(_run, tmp_path, places, f"{point}:{PASSAGES[point]}")
    assert (tmp_path / "done").read_text() != "5"
    await asyncio.to_thread(_run, tmp_path, places, None)
    async with opened_scene(*places) as scene:
        await scene.check(messages=3)


async def _database(kind: str, folder: Path, empty: Path) -> str:
    if kind == "sqlite":
        return str(shutil.copy(empty, folder / "desk.db"))
    if postgres_programs() is None:
        pytest.skip("PostgreSQL's server is not installed (Debian: apt-get install postgresql)")
    return await asyncio.to_thread(new_database)


async def _redis(folder: Path) -> str:
    pytest.importorskip("redis", reason="the extra `redis` is not installed")
    if shutil.which("redis-server") is None:
        pytest.skip("Redis is not installed (Debian: apt-get install redis-server)")
    server = await asyncio.to_thread(redis)
    return f"{server.url}?prefix={folder.name}"


def _run(folder: Path, places: Sequence[str], crash_at: str | None) -> None:
    environment = {} if crash_at is None else {VARIABLE: crash_at}
    ended = run_forked("tests.ticket_scenario", str(folder), *places, environment=environment)
    expected = 0 if crash_at is None else -signal.SIGKILL
    assert ended.code == expected, ended.errors
