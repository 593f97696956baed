"""Processes are killed in the middle of chats: no turn is lost and no line is there twice.

The small ones run with all tests, the large ones with `make chaos`.
"""

import asyncio
from pathlib import Path

import pytest

from tests.chaos.chats import Plan, Storm
from tests.servers import new_database, postgres_programs

on_postgres = pytest.mark.skipif(
    postgres_programs() is None, reason="PostgreSQL's server is not installed"
)


@pytest.mark.slow
async def test_a_process_on_sqlite_is_killed_twice(tmp_path: Path) -> None:
    await play(tmp_path, Plan(chats=3, kills=2), str(tmp_path / "desk.db"))


@on_postgres
@pytest.mark.slow
async def test_one_of_two_workers_and_the_intake_are_killed(tmp_path: Path) -> None:
    pytest.importorskip("dbos", reason="DBOS is not installed (pip install deskhand[scale])")
    url = await asyncio.to_thread(new_database)
    await play(tmp_path, Plan(chats=3, kills=3, workers=2), url)


@pytest.mark.chaos
@pytest.mark.parametrize("seed", range(5))
async def test_many_kills_on_sqlite(tmp_path: Path, seed: int) -> None:
    await play(tmp_path, Plan(chats=30, kills=12, seed=seed), str(tmp_path / "desk.db"))


@on_postgres
@pytest.mark.chaos
@pytest.mark.parametrize("seed", range(5))
async def test_many_kills_of_two_workers(tmp_path: Path, seed: int) -> None:
    pytest.importorskip("dbos", reason="DBOS is not installed (pip install deskhand[scale])")
    url = await asyncio.to_thread(new_database)
    await play(tmp_path, Plan(chats=30, kills=12, workers=2, seed=seed), url)


async def play(folder: Path, plan: Plan, url: str) -> None:
    findings = await Storm(folder, plan, url).run()
    print(plan, findings)
    assert findings.is_well, findings
    assert findings.kills == plan.kills, findings
