"""Those whose writes were committed together go on one after the other."""

import asyncio
from pathlib import Path

from deskhand.adapters.stores.sqlite_database import SqliteDatabase
from deskhand.adapters.stores.write_jobs import CommitTeller, WriteJob

WRITERS = 64


def committed(loop: asyncio.AbstractEventLoop, count: int) -> list[WriteJob]:
    return [
        WriteJob(lambda tx: None, True, loop.create_future(), result=number)
        for number in range(count)
    ]


def teller_for(loop: asyncio.AbstractEventLoop) -> CommitTeller:
    return CommitTeller(loop, when_told=lambda: None)


async def test_what_comes_in_meanwhile_is_served_before_the_last_is_told() -> None:
    loop = asyncio.get_running_loop()
    jobs = committed(loop, 5)
    teller_for(loop).tell(jobs)
    await asyncio.sleep(0)
    assert [job.future.done() for job in jobs] == [True, False, False, False, False]
    assert await asyncio.gather(*(job.future for job in jobs)) == list(range(len(jobs)))


async def test_they_are_told_in_the_order_of_their_writes_over_several_commits() -> None:
    loop = asyncio.get_running_loop()
    teller = teller_for(loop)
    jobs = committed(loop, 6)
    told: list[int] = []
    for job in jobs:
        job.future.add_done_callback(lambda future: told.append(future.result()))
    teller.tell(jobs[:2])
    await asyncio.sleep(0)
    teller.tell(jobs[2:])
    await asyncio.gather(*(job.future for job in jobs))
    assert told == list(range(len(jobs)))


async def test_what_they_write_next_is_committed_together(tmp_path: Path) -> None:
    database = await SqliteDatabase.open(tmp_path / "desk.db")
    begun = database.commits

    async def write_twice() -> None:
        for _ in range(2):
            await database.write(lambda tx: None, single=True)

    await asyncio.gather(*(write_twice() for _ in range(WRITERS)))
    commits = database.commits - begun
    await database.close()
    # one for the first writes, then one each time that half of those left have written again
    assert commits <= 1 + WRITERS.bit_length()


async def test_nobody_waits_for_a_database_that_is_closed() -> None:
    loop = asyncio.get_running_loop()
    teller = teller_for(loop)
    jobs = committed(loop, 3)
    teller.tell(jobs)
    teller.tell_all()
    assert all(job.future.done() for job in jobs)


async def test_an_error_is_told_and_who_gave_up_is_passed_by() -> None:
    loop = asyncio.get_running_loop()
    failed, left = committed(loop, 2)
    failed.error = ValueError("no such run")
    left.future.cancel()
    teller_for(loop).tell([failed, left])
    await asyncio.sleep(0)
    assert isinstance(failed.future.exception(), ValueError)
    assert left.future.cancelled()
