"""The black box: lost, doubled, out of order and stuck are 0, whatever is killed meanwhile.

`make chaos PYTEST_ARGS="-k black_box --seeds 3"` plays three seeds a setting instead of twenty, and
`-n 3` plays three games side by side: a game is mostly waiting. It goes on where it was
interrupted: `.black-box/` tells which games went well, and by which code.
`PYTEST_ARGS="-k 'black_box and seed7' --again"` plays what stands there,
`python -m tests.chaos.played` prints it.
"""

import asyncio
from pathlib import Path

import pytest

from tests.chaos.black_box import BlackBox, Plan
from tests.chaos.played import BlackBoxTally, black_box_tally
from tests.mail_servers import MISSING, dovecot_program
from tests.servers import new_database, postgres_programs

pytestmark = [
    pytest.mark.chaos,
    pytest.mark.skipif(dovecot_program() is None, reason=MISSING),
]
FEWEST_KILLS = 10


@pytest.fixture(scope="module")
def tally() -> BlackBoxTally:
    return black_box_tally()


async def test_game(
    tmp_path: Path,
    request: pytest.FixtureRequest,
    black_box_seed: int,
    black_box_workers: int,
    tally: BlackBoxTally,
) -> None:
    if black_box_workers and postgres_programs() is None:
        pytest.skip("PostgreSQL's server is not installed")
    name = request.node.callspec.id
    if name in tally.played and not request.config.getoption("--again"):
        pytest.skip(f"went well before: {tally.played[name]}")

    url = str(tmp_path / "desk.db")
    if black_box_workers:
        url = await asyncio.to_thread(new_database)
    plan = Plan(black_box_seed, black_box_workers)
    findings = await BlackBox(tmp_path, plan, url).run()

    print(plan, findings, flush=True)
    assert findings.is_well, findings
    assert findings.kills >= FEWEST_KILLS, findings
    tally.add(name, findings)
    print(f"black box: {tally}", flush=True)
