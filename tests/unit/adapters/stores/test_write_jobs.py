"""Those whose writes were committed together go on a few at a time."""

import asyncio

from deskhand.adapters.stores.write_jobs import TOLD_AT_ONCE, CommitTeller, WriteJob


def committed(loop: asyncio.AbstractEventLoop, count: int) -> list[WriteJob]:
    return [
        WriteJob(lambda tx: None, True, loop.create_future(), result=number)
        for number in range(count)
    ]


async def test_what_comes_in_meanwhile_is_served_before_the_last_is_told() -> None:
    loop = asyncio.get_running_loop()
    jobs = committed(loop, 5 * TOLD_AT_ONCE)
    CommitTeller(loop).tell(jobs)
    await asyncio.sleep(0)
    assert [job.future.done() for job in jobs] == [True] * TOLD_AT_ONCE + [False] * (
        4 * TOLD_AT_ONCE
    )
    assert await asyncio.gather(*(job.future for job in jobs)) == list(range(len(jobs)))


async def test_they_are_told_in_the_order_of_their_writes_over_several_commits() -> None:
    loop = asyncio.get_running_loop()
    teller = CommitTeller(loop)
    jobs = committed(loop, 6 * TOLD_AT_ONCE)
    told: list[int] = []
    for job in jobs:
        job.future.add_done_callback(lambda future: told.append(future.result()))
    middle = 2 * TOLD_AT_ONCE
    teller.tell(jobs[:middle])
    await asyncio.sleep(0)
    teller.tell(jobs[middle:])
    await asyncio.gather(*(job.future for job in jobs))
    assert told == list(range(len(jobs)))


async def test_nobody_waits_for_a_database_that_is_closed() -> None:
    loop = asyncio.get_running_loop()
    teller = CommitTeller(loop)
    jobs = committed(loop, 3 * TOLD_AT_ONCE)
    teller.tell(jobs)
    teller.tell_all()
    assert all(job.future.done() for job in jobs)


async def test_an_error_is_told_and_who_gave_up_is_passed_by() -> None:
    loop = asyncio.get_running_loop()
    failed, left = committed(loop, 2)
    failed.error = ValueError("no such run")
    left.future.cancel()
    CommitTeller(loop).tell([failed, left])
    await asyncio.sleep(0)
    assert isinstance(failed.future.exception(), ValueError)
    assert left.future.cancelled()
