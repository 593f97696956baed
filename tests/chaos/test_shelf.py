"""Reservations while the processes that make them are killed: stock never negative, never wrong,
each one once.

The small one runs with all tests, the large one with `make chaos`.
"""

import asyncio
import random
import sys
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from deskhand.desks.pharmacy.catalogue import TABLES, reservations, stock
from deskhand.desks.pharmacy.shelf import number_for
from deskhand.model.run import EffectKey
from deskhand.wiring import open_database, own_database, read_desk
from tests.chaos.shelf_worker import cancels
from tests.pharmacy_kit import Counter
from tests.servers import new_database, postgres_programs

CUSTOMERS = 50
ON_THE_SHELF = 30
PATIENCE = 500.0
"""Seconds after which something hangs."""


class Shop:
    """Processes that all serve the same fifty customers, each in an order of its own."""

    def __init__(self, url: str, processes: int, kills: int) -> None:
        self._url, self._processes, self._kills = url, processes, kills
        self._rng, self._seeds = random.Random(2026), iter(range(1000))
        self.killed = 0

    async def open(self) -> None:
        await asyncio.wait_for(
            asyncio.gather(*(self._position() for _ in range(self._processes))), PATIENCE
        )

    async def _position(self) -> None:
        """One process after the other until one was allowed to finish."""
        while not await self._shift():
            pass

    async def _shift(self) -> bool:
        process = await asyncio.create_subprocess_exec(
            *(
                sys.executable,
                "-m",
                "tests.chaos.shelf_worker",
                self._url,
                str(next(self._seeds)),
                str(CUSTOMERS),
            ),
            stdout=asyncio.subprocess.PIPE,
        )
        assert process.stdout is not None
        try:
            doomed, self._kills = self._kills > 0, self._kills - 1
            for _ in range(self._rng.randint(1, CUSTOMERS // 2)):
                if not await process.stdout.readline():
                    break
            if doomed and process.returncode is None:
                process.kill()
                self.killed += 1
            else:
                await process.stdout.read()
        finally:
            if process.returncode is None and not doomed:
                await process.wait()
        await process.wait()
        return process.returncode == 0


async def shelf_after(url: str, processes: int, kills: int) -> None:
    async with open_database(url) as database:
        counter = Counter(read_desk("pharmacy"), own_database(database, "pharmacy"))
        here = sa.and_(stock.c.product == "D003", stock.c.pharmacy == "PH01")
        await counter.change(stock.update().values(packs=0))
        await counter.change(stock.update().where(here).values(packs=ON_THE_SHELF))

        shop, lowest = Shop(url, processes, kills), ON_THE_SHELF
        opening = asyncio.create_task(shop.open())
        while not opening.done():
            lowest = min(lowest, await counter.shelf())
            await asyncio.wait({opening}, timeout=0.05)
        await opening

        every = await counter.own.read(
            TABLES, lambda db: list(db.execute(sa.select(reservations)).mappings())
        )
        left = await counter.shelf()
    check(every, left, lowest)
    assert shop.killed == kills


def check(every: list[Any], left: int, lowest: int) -> None:
    active = [one for one in every if one["status"] == "active"]
    assert lowest >= 0
    assert left + sum(one["packs"] for one in active) == ON_THE_SHELF
    owners = [one["owner"] for one in every]
    assert len(owners) == len(
        set(owners)
    )  # nobody was served twice, however often he was asked for
    keys = {number_for(str(EffectKey(f"create-{number}", 1, 0))) for number in range(CUSTOMERS)}
    assert {one["id"] for one in every} <= keys
    changed_their_mind = {
        f"customer{number}@example.com" for number in range(CUSTOMERS) if cancels(number)
    }
    assert {
        one["owner"] for one in every if one["status"] == "cancelled"
    } == changed_their_mind & set(owners)
    # Fifty wanted, thirty were there: what came back was taken by somebody else, or is still to be
    # had.
    assert left <= sum(one["packs"] for one in every if one["status"] == "cancelled")


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
@pytest.mark.parametrize(
    ("processes", "kills"),
    [pytest.param(2, 2, id="few"), pytest.param(3, 15, id="many", marks=pytest.mark.chaos)],
)
@pytest.mark.slow
async def test_stock_is_right_however_often_processes_die(
    kind: str, processes: int, kills: int, tmp_path: Path
) -> None:
    if kind == "postgres" and postgres_programs() is None:
        pytest.skip("PostgreSQL's server is not installed (Debian: apt-get install postgresql)")
    url = str(tmp_path / "desk.db") if kind == "sqlite" else await asyncio.to_thread(new_database)
    await shelf_after(url, processes, kills)
