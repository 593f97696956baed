"""`make chaos`: SIGKILL at every passage of every named point, then kills at random moments
under load."""

import asyncio
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from deskhand.crashpoints import CRASH_POINTS
from tests.chaos.load import Load, all_well
from tests.forked import ROOT
from tests.integration.test_crashes import check_after, empty_database, kill_at, passages

pytestmark = pytest.mark.chaos

__all__ = ["empty_database"]


@pytest.mark.parametrize("point", CRASH_POINTS)
def test_a_kill_at_every_passage_of_every_point(
    tmp_path: Path, empty_database: Path, point: str
) -> None:
    counting = tmp_path / "counting"
    counting.mkdir()
    total = asyncio.run(passages(counting))[point]
    codes: Counter[int] = Counter()
    for passage in range(1, total + 1):
        folder = tmp_path / str(passage)
        folder.mkdir()
        shutil.copy(empty_database, folder / "desk.db")
        codes[kill_at(folder, f"{point}:{passage}")] += 1
        asyncio.run(check_after(folder))
    print(
        f"\n{point}: {total} passages, {codes[-signal.SIGKILL]} killed, 0 lost, 0 doubled, order"
        " kept"
    )
    assert codes[-signal.SIGKILL] >= 1


def test_random_kills_under_load(tmp_path: Path) -> None:
    """A worker process is killed again and again while it works thousands of messages."""
    messages, conversations = 2000, 300
    rng, kills, deadline = random.Random(2026), 0, time.monotonic() + 600
    command = [
        sys.executable,
        "-m",
        "tests.chaos.load",
        str(tmp_path),
        str(messages),
        str(conversations),
    ]
    while time.monotonic() < deadline:
        worker = subprocess.Popen(command, cwd=ROOT)
        try:
            code = worker.wait(timeout=rng.uniform(0.8, 2.5))
        except subprocess.TimeoutExpired:
            worker.kill()
            worker.wait()
            kills += 1
            continue
        assert code == 0
        break
    report = asyncio.run(Load(tmp_path, messages, conversations).check())
    print(f"\n{messages} messages, {kills} kills: {report}")
    assert report == all_well(messages)
    assert kills >= 5
