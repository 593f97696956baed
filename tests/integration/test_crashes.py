"""The process dies at a named point: afterwards nothing is lost, nothing is done twice, order is
kept."""

import asyncio
import shutil
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import pytest

from deskhand import crashpoints
from deskhand.adapters.stores.sqlite_database import SqliteDatabase
from deskhand.crashpoints import CRASH_POINTS, Crash
from tests.crash_scenario import Scene
from tests.forked import run_forked
from tests.servers import new_database, postgres_programs

KILLED_AT = (
    "dispatch.after_accept:2",
    "dispatch.after_claim:1",
    "loop.after_work:5",
    "loop.after_row:2",
    "journal.before_commit:9",
    "totals.after_count:3",
    "effect.after_intend:3",
    "effect.after_perform:4",
    "dispatch.before_finish:2",
)


@pytest.fixture(autouse=True)
def _disarmed() -> Iterator[None]:
    yield
    crashpoints.disarm()


@pytest.fixture(scope="session")
def empty_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated file to copy: migrating afresh for every crash would be most of the time."""
    path = tmp_path_factory.mktemp("empty") / "desk.db"

    async def make() -> None:
        await (await SqliteDatabase.open(path)).close()

    asyncio.run(make())
    return path


async def live_until_crash(
    folder: Path,
    point: str,
    passage: int,
    url: str | None = None,
    scene_of: type[Scene] = Scene,
) -> bool:
    """Work the scenario until the point kills it; False when the point was never passed so
    often."""
    loop, crashed = asyncio.get_running_loop(), asyncio.Event()

    def die() -> NoReturn:
        loop.call_soon_threadsafe(crashed.set)
        raise Crash(point)

    scene = scene_of(folder, url)
    await scene.open()
    crashpoints.arm(point, die, passage)
    life = asyncio.create_task(scene.work())
    death = asyncio.create_task(crashed.wait())
    await asyncio.wait({life, death}, return_when=asyncio.FIRST_COMPLETED)
    crashpoints.disarm()
    if not crashed.is_set():
        death.cancel()
        await life
        await scene.close()
        return False
    await abandon(scene, life)
    return True


async def abandon(scene: Scene, life: asyncio.Task[None]) -> None:
    """What a killed process does: nothing more. Its lease would be found dead; here its process
    still lives."""
    await scene.dispatcher._sweeping.stop()
    tasks = [life, *scene.dispatcher._tasks]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, scene.dispatcher._sweeping.stop(), return_exceptions=True)
    scene.dispatcher.lost.cancel()
    await scene.database.close()


async def passages(folder: Path, scene_of: type[Scene] = Scene) -> Counter[str]:
    """How often an undisturbed life passes each point."""
    passed: Counter[str] = Counter()
    for name in CRASH_POINTS:
        crashpoints.arm(name, lambda: None, 10_000)
    scene = scene_of(folder)
    await scene.open()
    await scene.work()
    await scene.close()
    assert crashpoints._armed is not None
    for name, armed in crashpoints._armed.items():
        passed[name] = 10_000 - armed.passages_left
    crashpoints.disarm()
    return passed


async def survive(
    folder: Path,
    point: str,
    passage: int,
    url: str | None = None,
    scene_of: type[Scene] = Scene,
) -> bool:
    """Let one life die at the point and another end the work; returns whether the first died."""
    crashed = await live_until_crash(folder, point, passage, url, scene_of)
    heir = scene_of(folder, url)
    await heir.open()
    await heir.database.write_core(lambda core: core.exec_driver_sql("DELETE FROM leases").close())
    await heir.work()
    await heir.check()
    await heir.close()
    return crashed


def test_every_named_point_is_passed(tmp_path: Path) -> None:
    passed = asyncio.run(passages(tmp_path))
    assert all(passed[name] > 0 for name in CRASH_POINTS), passed


@pytest.mark.parametrize("passage", [1, 2, 3, 5])
@pytest.mark.parametrize("point", CRASH_POINTS)
async def test_an_abandoned_engine_loses_nothing_and_doubles_nothing(
    tmp_path: Path, empty_database: Path, point: str, passage: int
) -> None:
    shutil.copy(empty_database, tmp_path / "desk.db")
    crashed = await survive(tmp_path, point, passage)
    assert crashed or passage > 3


@pytest.mark.skipif(postgres_programs() is None, reason="PostgreSQL's server is not installed")
@pytest.mark.parametrize("passage", [1, pytest.param(3, marks=pytest.mark.chaos)])
@pytest.mark.parametrize("point", CRASH_POINTS)
async def test_the_same_holds_on_postgresql(tmp_path: Path, point: str, passage: int) -> None:
    url = await asyncio.to_thread(new_database)
    assert await survive(tmp_path, point, passage, url)


async def test_crash_after_crash_ends_well_too(tmp_path: Path, empty_database: Path) -> None:
    shutil.copy(empty_database, tmp_path / "desk.db")
    for point in (
        "loop.after_work",
        "effect.after_perform",
        "journal.after_commit",
        "dispatch.after_claim",
    ):
        await live_until_crash(tmp_path, point, 1)
        database = await SqliteDatabase.open(tmp_path / "desk.db")
        await database.write(lambda tx: tx.raw.execute("DELETE FROM leases").close())
        await database.close()
    assert not await survive(tmp_path, "dispatch.after_accept", 10_000)


def kill_at(folder: Path, setting: str, *url: str) -> int:
    """Run the scenario in a process that kills itself there; its exit code."""
    environment = {crashpoints.VARIABLE: setting}
    ended = run_forked("tests.crash_scenario", str(folder), *url, environment=environment)
    assert ended.code in (0, -signal.SIGKILL), ended.errors
    return ended.code


async def check_after(folder: Path, url: str | None = None) -> None:
    heir = Scene(folder, url)
    await heir.open()
    await heir.work()
    await heir.check()
    await heir.close()


@pytest.mark.parametrize("setting", KILLED_AT)
def test_a_killed_process_loses_nothing_and_doubles_nothing(
    tmp_path: Path, empty_database: Path, setting: str
) -> None:
    shutil.copy(empty_database, tmp_path / "desk.db")
    assert kill_at(tmp_path, setting) == -signal.SIGKILL
    asyncio.run(check_after(tmp_path))


@pytest.mark.skipif(postgres_programs() is None, reason="PostgreSQL's server is not installed")
@pytest.mark.parametrize("setting", KILLED_AT[3:7])
def test_a_killed_process_on_postgresql_loses_nothing_and_doubles_nothing(
    tmp_path: Path, setting: str
) -> None:
    url = new_database()
    assert kill_at(tmp_path, setting, url) == -signal.SIGKILL
    asyncio.run(check_after(tmp_path, url))
