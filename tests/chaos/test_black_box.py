"""The black box: lost, doubled, out of order and stuck are 0, whatever is killed meanwhile.

`make chaos PYTEST_ARGS="-k 'black_box and seed7'"` plays one seed again.
"""

import asyncio
from pathlib import Path

import pytest

from tests.chaos.black_box import BlackBox, Plan
from tests.mail_servers import MISSING, dovecot_program
from tests.servers import new_database, postgres_programs

pytestmark = [
    pytest.mark.chaos,
    pytest.mark.skipif(dovecot_program() is None, reason=MISSING),
]
SEEDS = [pytest.param(seed, id=f"seed{seed}") for seed in range(20)]


@pytest.mark.parametrize("seed", SEEDS)
async def test_one_process_on_sqlite(tmp_path: Path, seed: int) -> None:
    await play(tmp_path, Plan(seed, workers=0), str(tmp_path / "desk.db"))


@pytest.mark.skipif(postgres_programs() is None, reason="PostgreSQL's server is not installed")
@pytest.mark.parametrize("workers", [2, 4])
@pytest.mark.parametrize("seed", SEEDS)
async def test_workers_on_postgresql(tmp_path: Path, seed: int, workers: int) -> None:
    await play(tmp_path, Plan(seed, workers), await asyncio.to_thread(new_database))


async def play(folder: Path, plan: Plan, url: str) -> None:
    findings = await BlackBox(folder, plan, url).run()
    print(plan, findings)
    assert findings.is_well, findings
    assert findings.kills, findings
