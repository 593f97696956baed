"""Copies of a warm process die as processes do."""

import os
import signal
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path

import pytest

from tests.forked import ROOT, KillableProcess, Order
from tests.waiting import until


@asynccontextmanager
async def holding_a_lock(folder: Path) -> AsyncIterator[tuple[KillableProcess, Path]]:
    file, output = folder / "locked.db", folder / "output"
    order = Order("tests.lock_holder:main", [str(file)], str(output), folder=str(ROOT))
    process = KillableProcess(order)
    await process.start()
    try:
        await until(lambda: output.exists() and output.read_text() == "locked\n")
        yield process, file
    finally:
        await process.end(signal.SIGKILL)


def lock(file: Path) -> None:
    with closing(sqlite3.connect(file, timeout=0, isolation_level=None)) as connection:
        connection.execute("BEGIN EXCLUSIVE")


async def test_a_killed_copy_is_gone_and_so_is_its_lock(tmp_path: Path) -> None:
    async with holding_a_lock(tmp_path) as (process, file):
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            lock(file)

        assert await process.end(signal.SIGKILL) == -signal.SIGKILL

        lock(file)
        with pytest.raises(ProcessLookupError):
            os.kill(process.pid, 0)


async def test_each_copy_is_a_process_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    async with (
        holding_a_lock(tmp_path) as (process, _),
        holding_a_lock(tmp_path / "other") as (other, file),
    ):
        assert len({process.pid, other.pid, os.getpid()}) == 3

        await process.end(signal.SIGKILL)

        with pytest.raises(sqlite3.OperationalError, match="locked"):
            lock(file)


async def test_one_that_begins_again_ends_again(tmp_path: Path) -> None:
    async with holding_a_lock(tmp_path) as (process, file):
        await process.end(signal.SIGKILL)
        first = process.pid

        await process.start()
        output = tmp_path / "output"
        await until(lambda: output.read_text() == "locked\n" * 2)
        assert process.pid != first
        assert await process.end(signal.SIGTERM) == -signal.SIGTERM

        lock(file)
