"""`make soak`: a hundred thousand messages through four workers that nobody disturbs; their
memory comes to rest."""

import asyncio
import os
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

import pytest

from tests.chaos.worker import INTAKE, Settings, member
from tests.chaos.workers import WorkerProcess, Workers, all_well, at_rest, hand_in, load, report
from tests.servers import PostgresServer, postgres_programs

pytest.importorskip("dbos", reason="DBOS is not installed (pip install deskhand[scale])")
pytestmark = [
    pytest.mark.soak,
    pytest.mark.skipif(
        postgres_programs() is None,
        reason="PostgreSQL's server is not installed (Debian: apt-get install postgresql)",
    ),
]

MESSAGES = int(os.environ.get("SOAK_MESSAGES", "100000"))
WORKERS, CONVERSATIONS = 4, 300
MOST_GROWTH = 0.05
LOOK_EVERY = 2.0


@dataclass(frozen=True)
class Sample:
    done: float
    """Which part of the messages was answered."""
    megabytes: list[float]
    """Resident memory, worker by worker."""


def memory_of(processes: Sequence[WorkerProcess]) -> list[float]:
    listed = subprocess.run(
        ["ps", "-o", "pid=,rss=", "-p", ",".join(str(process.pid) for process in processes)],
        capture_output=True,
        text=True,
        check=True,
    )
    kilobytes = dict(line.split() for line in listed.stdout.splitlines())
    return [int(kilobytes[str(process.pid)]) / 1024 for process in processes]


def growth(samples: Sequence[Sample]) -> list[float]:
    """From the middle to the end, worker by worker; medians, since memory breathes."""
    middle = [sample.megabytes for sample in samples if 0.5 <= sample.done < 0.55]
    end = [sample.megabytes for sample in samples if sample.done >= 0.95]
    return [
        median(late) / median(early) - 1
        for early, late in zip(zip(*middle, strict=True), zip(*end, strict=True), strict=True)
    ]


async def watch(folder: Path, processes: Sequence[WorkerProcess], samples: list[Sample]) -> None:
    mails, begun, said = folder / "world", time.monotonic(), 0
    while True:
        await asyncio.sleep(LOOK_EVERY)
        answered = await asyncio.to_thread(
            lambda: mails.read_bytes().count(b"\nmail\t") if mails.exists() else 0
        )
        samples.append(Sample(answered / MESSAGES, await asyncio.to_thread(memory_of, processes)))
        if answered // (MESSAGES // 20) > said:
            said = answered // (MESSAGES // 20)
            sizes = ", ".join(f"{size:.1f}" for size in samples[-1].megabytes)
            print(
                f"{answered} answered after {time.monotonic() - begun:.0f} s, workers' memory in"
                f" MB: {sizes}"
            )


async def test_the_memory_of_workers_comes_to_rest(tmp_path: Path) -> None:
    server = await asyncio.to_thread(PostgresServer)
    lanes, samples = load(MESSAGES, CONVERSATIONS), list[Sample]()
    try:
        with Workers(
            server.url(), tmp_path, Settings(lease=10, in_flight=32, poll=0.3, think=0.001)
        ) as crew:
            living = [crew.start() for _ in range(WORKERS)]
            for process in living:
                await process.up()
            watching = asyncio.create_task(watch(tmp_path, living, samples))
            async with member(server.url(), tmp_path, replace(INTAKE, backlog=1000)) as intake:
                begun = time.monotonic()
                await hand_in(intake, lanes)
                await at_rest(intake._store, within=24 * 3600)
                took = time.monotonic() - begun
                await asyncio.sleep(2 * LOOK_EVERY)
                watching.cancel()
                assert all(process.is_alive for process in living)
                result = await report(intake._store, tmp_path, lanes)
    finally:
        await asyncio.to_thread(server.remove)
    grown = growth(samples)
    print(
        f"{MESSAGES} messages in {took:.0f} s ({MESSAGES / took:.0f}/s): {result}; memory grew in"
        " the second half by " + ", ".join(f"{part:+.1%}" for part in grown)
    )
    assert result == all_well(MESSAGES)
    assert max(grown) < MOST_GROWTH
