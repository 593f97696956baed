"""The process dies in the middle of a tool loop: it goes on at the turn it was at, and nothing
is done twice."""

import asyncio
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import pytest

from deskhand import crashpoints
from deskhand.adapters.stores.sqlite_database import SqliteDatabase
from deskhand.crashpoints import Crash
from tests.forked import run_forked
from tests.loop_scenario import TURNS, LoopScene
from tests.waiting import PATIENCE

POINTS = (
    "journal.before_commit",
    "journal.after_commit",
    "effect.before_intend",
    "totals.after_count",
    "effect.after_intend",
    "effect.after_perform",
    "effect.after_settle",
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


async def live_until_crash(folder: Path, point: str, passage: int) -> None:
    loop, crashed = asyncio.get_running_loop(), asyncio.Event()

    def die() -> NoReturn:
        loop.call_soon_threadsafe(crashed.set)
        raise Crash(point)

    scene = LoopScene(folder)
    await scene.open()
    crashpoints.arm(point, die, passage)
    life = asyncio.create_task(scene.work())
    death = asyncio.create_task(crashed.wait())
    await asyncio.wait({life, death}, return_when=asyncio.FIRST_COMPLETED, timeout=PATIENCE)
    crashpoints.disarm()
    assert crashed.is_set(), f"{point} was not passed {passage} times"
    await scene.dispatcher._sweeping.stop()
    tasks = [life, *scene.dispatcher._tasks]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, scene.dispatcher._sweeping.stop(), return_exceptions=True)
    scene.dispatcher.lost.cancel()
    await scene.database.close()


async def inherit(folder: Path) -> LoopScene:
    heir = LoopScene(folder)
    await heir.open()
    await heir.database.write_core(lambda core: core.exec_driver_sql("DELETE FROM leases").close())
    await asyncio.wait_for(heir.work(), PATIENCE)
    await heir.check()
    await heir.close()
    return heir


@pytest.mark.parametrize("passage", [1, 7])
@pytest.mark.parametrize("point", POINTS)
async def test_a_loop_goes_on_where_its_rows_end(
    tmp_path: Path, empty_database: Path, point: str, passage: int
) -> None:
    shutil.copy(empty_database, tmp_path / "desk.db")
    await live_until_crash(tmp_path, point, passage)
    heir = await inherit(tmp_path)
    again = [turn for turn, times in heir.asked().items() if times > 1]
    assert len(again) <= 1, again
    if point.startswith(("effect", "totals")):
        assert again == [], "what the model said is written down before any of its calls runs"


async def test_a_process_killed_in_turn_seven_resumes_at_seven(tmp_path: Path) -> None:
    environment = {crashpoints.VARIABLE: "effect.after_perform:7"}
    died = await asyncio.to_thread(
        run_forked, "tests.loop_scenario", str(tmp_path), environment=environment
    )
    assert died.code == -signal.SIGKILL, died.errors
    scene = LoopScene(tmp_path)
    assert scene.asked() == dict.fromkeys(range(1, 8), 1)
    heir = await inherit(tmp_path)
    assert heir.asked() == dict.fromkeys(range(1, TURNS + 2), 1)
