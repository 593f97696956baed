"""The black box: lost, doubled, out of order and stuck are 0, whatever is killed meanwhile.

`make chaos PYTEST_ARGS="-k black_box --seeds 3"` plays three seeds a setting instead of twenty. It
goes on where it was interrupted: `.black-box.json` tells which games went well, and by which code.
`PYTEST_ARGS="-k 'black_box and seed7' --again"` plays one that stands there.
"""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

import deskhand
from tests.chaos.black_box import BlackBox, Findings, Plan
from tests.chaos.played import BlackBoxTally, digest_of_code
from tests.mail_servers import MISSING, dovecot_program
from tests.servers import new_database, postgres_programs

pytestmark = [
    pytest.mark.chaos,
    pytest.mark.skipif(dovecot_program() is None, reason=MISSING),
]
ROOT = Path(__file__).parents[2]
CODE = (Path(deskhand.__file__).parent, ROOT / "tests" / "chaos")


@pytest.fixture(scope="module")
def tally() -> BlackBoxTally:
    return BlackBoxTally(ROOT / ".black-box.json", digest_of_code(CODE))


@pytest.fixture
def game(request: pytest.FixtureRequest, tally: BlackBoxTally) -> Iterator[str]:
    """The name of a game that is not in the tally yet."""
    name = request.node.name
    if name in tally.played and not request.config.getoption("--again"):
        pytest.skip(f"went well before: {tally.played[name]}")
    yield name
    print(f"black box: {tally}", flush=True)


async def test_one_process_on_sqlite(
    tmp_path: Path, black_box_seed: int, game: str, tally: BlackBoxTally
) -> None:
    plan = Plan(black_box_seed, workers=0)
    tally.add(game, await play(tmp_path, plan, str(tmp_path / "desk.db")))


@pytest.mark.skipif(postgres_programs() is None, reason="PostgreSQL's server is not installed")
@pytest.mark.parametrize("workers", [2, 4])
async def test_workers_on_postgresql(
    tmp_path: Path, black_box_seed: int, workers: int, game: str, tally: BlackBoxTally
) -> None:
    url = await asyncio.to_thread(new_database)
    tally.add(game, await play(tmp_path, Plan(black_box_seed, workers), url))


async def play(folder: Path, plan: Plan, url: str) -> Findings:
    findings = await BlackBox(folder, plan, url).run()
    print(plan, findings)
    assert findings.is_well, findings
    assert findings.kills, findings
    return findings


def test_an_interrupted_tally_goes_on_with_the_same_code_only(tmp_path: Path) -> None:
    file = tmp_path / "tally.json"
    BlackBoxTally(file, "a").add("seed0", Findings(kills=3))
    assert BlackBoxTally(file, "a").played["seed0"]["kills"] == 3
    assert not BlackBoxTally(file, "b").played
