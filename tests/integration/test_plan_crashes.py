"""A plan asks the customer between two effects: with the answer it goes on at the question, and
what was done before stays done, wherever the process dies."""

import asyncio
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from deskhand import crashpoints
from deskhand.crashpoints import CRASH_POINTS
from tests.integration.test_crashes import empty_database, passages, survive
from tests.plan_scenario import PlanScene
from tests.servers import new_database, postgres_programs

__all__ = ["empty_database"]


@pytest.fixture(autouse=True)
def _disarmed() -> Iterator[None]:
    yield
    crashpoints.disarm()


async def test_an_answer_resumes_the_plan_at_its_question(tmp_path: Path) -> None:
    scene = PlanScene(tmp_path)
    await scene.open()
    await scene.work()
    await scene.check()
    await scene.close()


@pytest.fixture(scope="session")
def passed(tmp_path_factory: pytest.TempPathFactory) -> Counter[str]:
    """How often an undisturbed life passes each point."""
    return asyncio.run(passages(tmp_path_factory.mktemp("counting"), PlanScene))


@pytest.mark.parametrize("point", CRASH_POINTS)
async def test_a_crash_at_any_passage_doubles_nothing_and_loses_nothing(
    tmp_path: Path, empty_database: Path, passed: Counter[str], point: str
) -> None:
    total = passed[point]
    assert total > 0
    for passage in range(1, total + 1):
        folder = tmp_path / str(passage)
        folder.mkdir()
        shutil.copy(empty_database, folder / "desk.db")
        await survive(folder, point, passage, scene_of=PlanScene)


@pytest.mark.skipif(postgres_programs() is None, reason="PostgreSQL's server is not installed")
@pytest.mark.parametrize("passage", [pytest.param(1, marks=pytest.mark.chaos), 3])
@pytest.mark.parametrize("point", CRASH_POINTS)
async def test_the_same_holds_on_postgresql(tmp_path: Path, point: str, passage: int) -> None:
    url = await asyncio.to_thread(new_database)
    await survive(tmp_path, point, passage, url, PlanScene)
