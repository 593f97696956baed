"""Time limits: they end what takes too long, each at its own time, and leave all else alone."""

import asyncio
import time

import pytest

from deskhand.time_limits import TimeLimit, ring_in


async def test_what_takes_too_long_is_ended_and_told_as_a_timeout() -> None:
    limit = TimeLimit(0.01)
    with pytest.raises(TimeoutError), limit:
        await asyncio.sleep(10)
    assert limit.is_over
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0


async def test_what_ends_in_time_is_left_alone() -> None:
    with TimeLimit(0.02) as limit:
        await asyncio.sleep(0)
    await asyncio.sleep(0.05)
    assert not limit.is_over


async def test_a_cancellation_from_elsewhere_is_no_timeout() -> None:
    async def work() -> None:
        with TimeLimit(10):
            await asyncio.sleep(10)

    task = asyncio.create_task(work())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_an_error_of_the_work_itself_is_kept() -> None:
    with pytest.raises(ValueError, match="its own"), TimeLimit(10):
        raise ValueError("its own")


async def test_the_inner_of_two_limits_ends_the_inner_work_alone() -> None:
    with TimeLimit(10) as outer:
        with pytest.raises(TimeoutError), TimeLimit(0.01):
            await asyncio.sleep(10)
        await asyncio.sleep(0)
    assert not outer.is_over


async def test_each_rings_at_its_own_time_whatever_is_called_off() -> None:
    rung: list[str] = []
    begun = time.monotonic()
    later = asyncio.get_running_loop().create_future()

    def ring_later() -> None:
        rung.append("later")
        later.set_result(None)

    ring_in(0.06, ring_later)
    called_off = ring_in(0.01, lambda: rung.append("called off"))
    ring_in(0.03, lambda: rung.append("sooner"))
    called_off.cancel()
    await later
    assert rung == ["sooner", "later"]
    assert time.monotonic() - begun >= 0.06


def test_each_event_loop_has_its_own() -> None:
    async def ends() -> bool:
        limit = TimeLimit(0.01)
        with pytest.raises(TimeoutError), limit:
            await asyncio.sleep(10)
        return limit.is_over

    assert asyncio.run(ends())
    assert asyncio.run(ends())
