"""The commands that the console starts: what is stopped halfway leaves nothing behind."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest

from deskhand.wiring import SHIPPED, run_bench
from tests.waiting import until


def _children() -> list[str]:
    """The processes that this one started, by number."""
    return Path("/proc/thread-self/children").read_text().split()


@pytest.mark.skipif(not Path("/proc/thread-self/children").exists(), reason="needs Linux's /proc")
async def test_an_eval_that_is_stopped_leaves_no_process(tmp_path: Path) -> None:
    before = _children()
    database, folders = str(tmp_path / "desk.db"), {"sample": SHIPPED / "sample"}
    made_by = sys.modules[run_bench.__module__]  # its name is the function's in the package
    bench: Any = made_by.CommandBench(database, folders, None)
    await bench.start_eval("sample", "ida")
    await until(lambda: _children() != before)

    task = bench._evaluating["sample"]
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)

    assert _children() == before
