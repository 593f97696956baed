"""A channel is kept at work: by one process, through lost connections, with its health for
everybody to see."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from deskhand.engine.channel_runner import DOWN_AFTER, ChannelRunner
from deskhand.errors import AlreadyServed, Fenced, StoreUnavailable
from deskhand.model.message import Message
from deskhand.model.run import Accepted
from deskhand.ports import Intake
from tests.kit import TestClock, a_message
from tests.waiting import PATIENCE

Listen = Callable[[Intake], Awaitable[None]]


class FakeChannel:
    name = "support"

    def __init__(self, *lives: Listen) -> None:
        self._lives = list(lives)
        self.begun = 0

    async def listen(self, intake: Intake) -> None:
        self.begun += 1
        await (self._lives.pop(0) if self._lives else rest)(intake)

    async def check(self) -> str:
        return "fine"

    async def close(self) -> None:
        return None


class FakeLease:
    def __init__(self) -> None:
        self.held_elsewhere = False
        self.taken_away = False

    async def acquire(self, seconds: float) -> None:
        if self.held_elsewhere:
            raise AlreadyServed("another process reads it")
        self.taken_away = False

    async def renew(self, seconds: float) -> None:
        if self.taken_away:
            raise Fenced("another process reads it now")

    async def give_up(self) -> None:
        return None


async def rest(intake: Intake) -> None:
    intake.well()
    await asyncio.Event().wait()


async def break_off(intake: Intake) -> None:
    raise StoreUnavailable("the server hung up")


async def stumble(intake: Intake) -> None:
    raise RuntimeError("a fault of ours")


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not holds():  # noqa: ASYNC110 time stands still in these tests
            await asyncio.sleep(0)


async def accept(message: Message) -> Accepted:
    return Accepted("run_1", duplicate=False)


async def kept(channel: FakeChannel, lease: FakeLease, clock: TestClock) -> ChannelRunner:
    keeper = ChannelRunner(channel, lease, accept, clock)
    keeper.start()
    return keeper


async def test_a_lost_connection_is_tried_again_ever_more_patiently() -> None:
    clock, channel = TestClock(), FakeChannel(break_off, break_off, stumble)
    keeper = await kept(channel, FakeLease(), clock)
    await until(lambda: keeper.health.state == "connected")
    await keeper.stop()
    waits = [wait for wait in clock.slept if wait != 5.0]
    assert channel.begun == 4
    assert [round(wait) for wait in waits[:3]] in ([1, 2, 4], [1, 2, 3], [1, 2, 5])


async def test_a_channel_that_another_process_reads_is_left_to_it() -> None:
    lease, channel = FakeLease(), FakeChannel()
    lease.held_elsewhere = True
    keeper = await kept(channel, lease, TestClock())
    await until(lambda: keeper.health.state == "read elsewhere")
    assert channel.begun == 0
    assert keeper.is_well
    lease.held_elsewhere = False
    await until(lambda: keeper.health.state == "connected")
    await keeper.stop()


async def test_whoever_loses_the_lease_stops_reading() -> None:
    lease, stopped = FakeLease(), asyncio.Event()

    async def read(intake: Intake) -> None:
        try:
            await rest(intake)
        finally:
            stopped.set()

    keeper = await kept(FakeChannel(read), lease, TestClock())
    await until(lambda: keeper.health.state == "connected")
    lease.held_elsewhere = lease.taken_away = True
    await asyncio.wait_for(stopped.wait(), PATIENCE)
    await until(lambda: keeper.health.state == "read elsewhere")
    await keeper.stop()


async def test_a_channel_that_fails_while_it_is_stopped_stops() -> None:
    """As a group of tasks does of which one fails when all are cancelled."""

    async def fail_at_the_end(intake: Intake) -> None:
        try:
            await rest(intake)
        except asyncio.CancelledError:
            raise StoreUnavailable("the server hung up") from None

    channel = FakeChannel(fail_at_the_end)
    keeper = await kept(channel, FakeLease(), TestClock())
    await until(lambda: keeper.health.state == "connected")
    stopping = asyncio.create_task(keeper.stop())
    for _ in range(1000):
        await asyncio.sleep(0)
    assert stopping.done()
    assert channel.begun == 1


async def test_a_channel_that_stays_away_makes_the_process_not_ready() -> None:
    clock = TestClock()
    keeper = ChannelRunner(FakeChannel(*[break_off] * 100_000), FakeLease(), accept, clock)
    assert keeper.is_well
    keeper.start()
    began = clock.now()
    await until(lambda: not keeper.is_well)
    assert clock.now() - began >= DOWN_AFTER
    assert keeper.trouble == "the server hung up"
    await keeper.stop()


async def test_messages_wait_for_a_database_that_is_away() -> None:
    refused = [StoreUnavailable("away"), StoreUnavailable("away")]

    async def submit(message: Message) -> Accepted:
        if refused:
            raise refused.pop()
        return Accepted("run_1", duplicate=False)

    keeper = ChannelRunner(FakeChannel(), FakeLease(), submit, TestClock())
    assert (await keeper.hand_in(a_message())).run_id == "run_1"


@pytest.mark.parametrize("state", ["connected", "read elsewhere"])
async def test_stopping_ends_whatever_it_does(state: str) -> None:
    lease = FakeLease()
    lease.held_elsewhere = state != "connected"
    keeper = await kept(FakeChannel(), lease, TestClock())
    await until(lambda: keeper.health.state == state)
    await asyncio.wait_for(keeper.stop(), PATIENCE)
