"""Work aside from the runs: it goes on whatever fails, comes when nudged, and stops when told."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

import pytest

from deskhand.engine import background
from deskhand.engine.background import Background
from deskhand.errors import StoreUnavailable
from tests.waiting import PATIENCE

NEVER = 3600.0
log = logging.getLogger("deskhand.test")


def in_background(
    once: Callable[[], Awaitable[object]], every: float = 0.0, pause: float = 0.0
) -> Background:
    return Background(
        once, name="test", failed="it did not work", log=log, every=every, pause=pause
    )


async def until(condition: Callable[[], bool], what: str) -> None:
    try:
        async with asyncio.timeout(PATIENCE):
            while not condition():  # noqa: ASYNC110 any condition, not an event
                await asyncio.sleep(0.001)
    except TimeoutError:
        raise AssertionError(f"not within {PATIENCE:g} s: {what}") from None


async def test_rounds_follow_each_other_until_it_is_stopped() -> None:
    rounds: list[int] = []

    async def once() -> None:
        rounds.append(len(rounds))

    work = in_background(once)
    assert rounds == []
    work.start()
    work.start()
    await until(lambda: len(rounds) >= 3, "three rounds")
    await work.stop()
    done = len(rounds)
    await asyncio.sleep(0.01)
    assert rounds == list(range(done))


async def test_a_round_that_fails_when_it_is_broken_off_is_the_last() -> None:
    rounds: list[int] = []

    async def once() -> None:
        rounds.append(len(rounds))
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            raise StoreUnavailable("it was broken off") from None

    work = in_background(once)
    work.start()
    await until(lambda: len(rounds) == 1, "the first round")
    stopping = asyncio.create_task(work.stop())
    for _ in range(1000):
        await asyncio.sleep(0)
    assert stopping.done()
    assert rounds == [0]


async def test_a_nudge_brings_the_next_round_at_once_also_during_a_round() -> None:
    rounds: list[int] = []
    going_on = asyncio.Event()

    async def once() -> None:
        rounds.append(len(rounds))
        await going_on.wait()

    work = in_background(once, every=NEVER)
    work.start()
    await until(lambda: len(rounds) == 1, "the first round")
    work.nudge()
    work.nudge()
    going_on.set()
    await until(lambda: len(rounds) == 2, "the round that was asked for")
    await asyncio.sleep(0.01)
    assert len(rounds) == 2
    work.nudge()
    await until(lambda: len(rounds) == 3, "another one")
    await work.stop()


async def test_a_failure_is_told_and_the_next_round_comes(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "AFTER_FAILURE", 0.0)
    failures: list[Exception] = [
        StoreUnavailable("the database is away"),
        ValueError("a fault of ours"),
    ]
    succeeded = asyncio.Event()

    async def once() -> None:
        if failures:
            raise failures.pop(0)
        succeeded.set()

    work = in_background(once)
    work.start()
    await until(succeeded.is_set, "a round that succeeds")
    await work.stop()
    told = [
        (record.levelname, record.getMessage(), record.exc_info is not None)
        for record in caplog.records
    ]
    assert told == [
        ("WARNING", "it did not work: the database is away", False),
        ("ERROR", "it did not work", True),
    ]


async def test_stopping_breaks_off_the_round_and_waits_for_its_end() -> None:
    begun = asyncio.Event()
    ended: list[bool] = []

    async def once() -> None:
        try:
            begun.set()
            await asyncio.Event().wait()
        finally:
            ended.append(True)

    work = in_background(once)
    await work.stop()  # not started: nothing to do
    work.start()
    await until(begun.is_set, "the round")
    await work.stop()
    assert ended == [True]
    await work.stop()


async def test_what_was_stopped_can_be_started_again() -> None:
    rounds: list[int] = []

    async def once() -> None:
        rounds.append(1)

    work = in_background(once, every=NEVER)
    work.start()
    await until(lambda: len(rounds) == 1, "a round")
    await work.stop()
    work.start()
    await until(lambda: len(rounds) == 2, "a round after the second start")
    await work.stop()
