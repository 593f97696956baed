"""Workers are killed and the database restarts under load: nothing lost, nothing doubled, order
kept, all at rest.

The small one runs with all tests, the large one with `make chaos`.
"""

import asyncio
import random
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.chaos.worker import INTAKE, Settings, member
from tests.chaos.workers import Workers, all_well, at_rest, hand_in, load, report
from tests.servers import PostgresServer, postgres_programs

pytest.importorskip("dbos", reason="DBOS is not installed (pip install deskhand[scale])")
pytestmark = pytest.mark.skipif(
    postgres_programs() is None,
    reason="PostgreSQL's server is not installed (Debian: apt-get install postgresql)",
)

LEAST_KILLS = 5


@dataclass(frozen=True)
class Storm:
    workers: int
    messages: int
    conversations: int
    in_flight: int = 16
    """Of a worker."""
    kill_every: float = 3.0
    """Seconds, at least."""


class Fury:
    """Kills a worker every few seconds and starts another in its place; once, it restarts the
    database.

    However slow the machine, as many runs as may be in flight have ended before the next kill: a
    run that was in five crashes would be a dead letter, and rightly so.
    """

    def __init__(self, server: PostgresServer, crew: Workers, storm: Storm, folder: Path) -> None:
        self.kills = self.coming = 0
        self.restarts = asyncio.Event()
        """The database is about to go away."""
        self.spent = asyncio.Event()
        """It has done enough for the test to mean something."""
        self._server, self._crew, self._mails = server, crew, folder / "world"
        self._kill_every = storm.kill_every
        self._patience = storm.workers * storm.in_flight
        self._living = [crew.start() for _ in range(storm.workers)]
        self._rng = random.Random(2026)

    async def wait_for_all(self) -> None:
        for process in self._living:
            await process.up()

    async def rage(self) -> None:
        seen = 0
        while True:
            await asyncio.sleep(self._kill_every)
            for number, process in enumerate(self._living):
                if not process.is_alive:
                    self._living[number] = self._crew.start()
            up = [number for number, process in enumerate(self._living) if process.is_up]
            answered = await asyncio.to_thread(self._answered)
            if len(up) <= len(self._living) // 2 or answered < min(
                seen + self._patience, self.coming
            ):
                continue
            seen = answered
            victim = self._rng.choice(up)
            self._living[victim].kill()
            self._living[victim] = self._crew.start()
            self.kills += 1
            if self.kills == 2:
                await self._restart_the_database()
            if self.kills == LEAST_KILLS:
                self.spent.set()

    def _answered(self) -> int:
        return self._mails.read_bytes().count(b"\nmail\t") if self._mails.exists() else 0

    async def _restart_the_database(self) -> None:
        self.restarts.set()
        await asyncio.to_thread(self._server.stop)
        await asyncio.sleep(1)
        await asyncio.to_thread(self._server.start)


async def live_through(folder: Path, server: PostgresServer, storm: Storm) -> None:
    messages, conversations = storm.messages, storm.conversations
    lanes = load(messages, conversations)
    with Workers(server.url(), folder, Settings(in_flight=storm.in_flight, poll=0.2)) as crew:
        fury = Fury(server, crew, storm, folder)
        await fury.wait_for_all()
        begun = time.monotonic()
        async with member(server.url(), folder, INTAKE) as intake:
            raging = asyncio.create_task(fury.rage())
            middle = len(lanes[0]) // 2
            fury.coming = middle * conversations
            refused = await hand_in(intake, [lane[:middle] for lane in lanes])
            await fury.restarts.wait()
            fury.coming = messages - conversations
            refused += await hand_in(intake, [lane[middle:-1] for lane in lanes])
            await fury.spent.wait()
            fury.coming = messages
            refused += await hand_in(intake, [lane[-1:] for lane in lanes])
            await at_rest(intake._store, within=3600)
            raging.cancel()
            took = time.monotonic() - begun
            result = await report(intake._store, folder, lanes)
    print(
        f"\n{storm.workers} workers, {messages} messages over {conversations} conversations in"
        f" {took:.0f} s, {fury.kills} kills, 1 database restart ({refused} times intake said no):"
        f" {result}"
    )
    assert result == all_well(messages)


async def check(folder: Path, storm: Storm) -> None:
    server = await asyncio.to_thread(PostgresServer)
    try:
        await live_through(folder, server, storm)
    finally:
        await asyncio.to_thread(server.remove)


@pytest.mark.slow
async def test_four_workers_and_two_hundred_messages(tmp_path: Path) -> None:
    await check(tmp_path, Storm(4, 200, 40, in_flight=8, kill_every=1.0))


@pytest.mark.chaos
async def test_four_workers_and_two_thousand_messages(tmp_path: Path) -> None:
    await check(tmp_path, Storm(4, 2_000, 300))


@pytest.mark.chaos
async def test_eight_workers_and_twenty_thousand_messages(tmp_path: Path) -> None:
    await check(tmp_path, Storm(8, 20_000, 1_000))
