"""SQLite on a disk that takes its time, and a process that is killed while it waits for it."""

import asyncio
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.chaos.load import Load, all_well
from tests.crash_scenario import World
from tests.waiting import PATIENCE

ROOT = Path(__file__).parents[2]
MESSAGES, CONVERSATIONS = 80, 20


@pytest.mark.slow
def test_a_process_killed_again_and_again_on_a_slow_disk_loses_nothing(tmp_path: Path) -> None:
    settings = [str(tmp_path), str(MESSAGES), str(CONVERSATIONS), "0.05"]
    command = [sys.executable, "-m", "tests.chaos.load", *settings]
    for answered in (15, 45):
        with subprocess.Popen(command, cwd=ROOT) as process:
            deadline = time.monotonic() + PATIENCE
            while len(World(tmp_path).happened()) < answered:
                assert process.poll() is None
                assert time.monotonic() < deadline
                time.sleep(0.02)
            process.kill()
    assert subprocess.run(command, cwd=ROOT, check=False, timeout=PATIENCE).returncode == 0
    assert asyncio.run(Load(tmp_path, MESSAGES, CONVERSATIONS).check()) == all_well(MESSAGES)
