"""A model that does not answer is left alone: who is asked when, and what those who wait are
told."""

import asyncio
from collections.abc import AsyncIterator
from email.utils import formatdate
from itertools import pairwise

import pytest

from deskhand.adapters.chat_models.circuit_breaker import BreakerPolicy, Circuits, GuardedChatModel
from deskhand.adapters.chat_models.faults import RetryPolicy
from deskhand.adapters.chat_models.http_model import HttpChatModel
from deskhand.adapters.chat_models.providers import provider_table
from deskhand.errors import ModelAway, ModelRefused, ModelUnavailable, SpendingCapReached
from deskhand.model.chat import ChatRequest, Chunk, Completion
from tests import fake_openai as fake
from tests.fake_openai import FakeOpenAI
from tests.kit import TestClock

POLICY = BreakerPolicy(first_pause=1.0, longest_pause=60.0, random=lambda: 1.0)
"""Always the longest pause and the last place."""


class Model:
    """Does what it is told, call by call; answers when it was told nothing more."""

    def __init__(self, *faults: BaseException) -> None:
        self.faults = list(faults)
        self.calls = 0
        self.gate: asyncio.Event | None = None

    async def complete(self, request: ChatRequest) -> Completion:
        self.calls += 1
        if self.gate is not None:
            await self.gate.wait()
        if self.faults:
            raise self.faults.pop(0)
        return Completion("hello", request.model)

    async def stream(self, request: ChatRequest) -> AsyncIterator[Chunk]:
        whole = await self.complete(request)
        yield Chunk(whole.text)
        yield Chunk(completion=whole)


class Bench:
    def __init__(self, *faults: BaseException) -> None:
        self.clock = TestClock()
        self.model = Model(*faults)
        self.back: list[str] = []
        self.guarded = GuardedChatModel(self.model, Circuits(self.clock, self._is_back, POLICY))

    async def _is_back(self, model: str) -> None:
        self.back.append(model)

    async def ask(self, model: str = "house/m") -> str:
        return (await self.guarded.complete(ask(model))).text

    async def fails(self, model: str = "house/m") -> ModelAway:
        with pytest.raises(ModelAway) as caught:
            await self.ask(model)
        return caught.value


def ask(model: str = "house/m") -> ChatRequest:
    return ChatRequest(messages=({"role": "user", "content": "hi"},), model=model)


def down(retry_after: float | None = None) -> ModelUnavailable:
    return ModelUnavailable("house/m answered 503", retry_after=retry_after)


async def test_a_single_failure_makes_its_own_run_wait_and_nobody_else() -> None:
    bench = Bench(down())
    away = await bench.fails()
    assert (away.model, away.asked, away.until - bench.clock.now()) == ("house/m", True, 1.0)
    assert await bench.ask() == "hello"
    assert bench.back == []


async def test_after_a_few_failures_in_a_row_the_model_is_left_alone() -> None:
    bench = Bench(down(), down(), down())
    for _ in range(3):
        assert (await bench.fails()).asked
    turned_away = await bench.fails()
    assert (bench.model.calls, turned_away.asked) == (3, False)
    assert turned_away.until >= bench.clock.now() + 1.0
    assert "answered 503" in str(turned_away)


async def test_one_call_at_a_time_tries_whether_the_model_is_back() -> None:
    bench = Bench(down(), down(), down())
    for _ in range(3):
        await bench.fails()
    bench.clock.at += 1.0
    bench.model.gate = asyncio.Event()
    probe = asyncio.create_task(bench.ask())
    await asyncio.sleep(0)
    assert not (await bench.fails()).asked
    assert bench.model.calls == 4
    bench.model.gate.set()
    assert await probe == "hello"
    assert bench.back == ["house/m"]
    assert await bench.ask() == "hello"


async def test_pauses_grow_while_the_model_stays_away() -> None:
    bench = Bench(*[down()] * 12)
    for _ in range(3):
        await bench.fails()
    pauses = []
    for _ in range(9):
        begun = bench.clock.at
        while not (away := await bench.fails()).asked:
            bench.clock.at = away.until
        pauses.append(bench.clock.at - begun)
    assert all(later > earlier for earlier, later in pairwise(pauses[:6]))
    assert pauses[-1] <= 60.0 * 1.25


async def test_a_retry_after_is_waited_for_at_once_and_in_full() -> None:
    bench = Bench(down(retry_after=90.0))
    away = await bench.fails()
    assert away.until >= bench.clock.now() + 90.0
    bench.clock.at += 89.0
    assert not (await bench.fails()).asked
    assert bench.model.calls == 1
    bench.clock.at += 1.0
    assert await bench.ask() == "hello"


@pytest.mark.parametrize("form", ["seconds", "date"])
async def test_an_endpoint_that_asks_to_wait_is_heard_in_either_form(form: str) -> None:
    clock = TestClock()
    header = "60" if form == "seconds" else formatdate(clock.now() + 60, usegmt=True)
    async with FakeOpenAI([fake.failure(429, retry_after=header)]) as server:
        model = HttpChatModel(
            environ={"DESKHAND_VLLM_BASE_URL": server.base_url},
            clock=clock,
            retries=RetryPolicy.brief(),
        )
        with pytest.raises(ModelUnavailable) as caught:
            await model.complete(ask("vllm/m"))
        await model.aclose()
    assert caught.value.retry_after == pytest.approx(60)
    assert (server.count, clock.slept) == (1, [])


async def test_a_hanging_call_is_given_up_after_its_time_and_not_repeated() -> None:
    async with FakeOpenAI([fake.hang()] * 3) as server:
        table = {"house": {"base_url": server.base_url, "timeout": 0.2}}
        model = HttpChatModel(provider_table(table), retries=RetryPolicy.brief())
        with pytest.raises(ModelUnavailable, match=r"did not answer within 0\.2 s"):
            await model.complete(ask())
        await model.aclose()
    assert server.count == 1


async def test_a_call_cut_off_after_a_long_time_counts_and_a_short_one_does_not() -> None:
    bench = Bench(*[asyncio.CancelledError()] * 6)
    for _ in range(3):
        with pytest.raises(asyncio.CancelledError):
            await bench.ask()
    assert bench.model.calls == 3

    class Slow(Model):
        async def complete(self, request: ChatRequest) -> Completion:
            bench.clock.at += 31.0
            return await super().complete(request)

    slow = Slow(*[asyncio.CancelledError()] * 3)
    guarded = GuardedChatModel(slow, bench.guarded._circuits)
    for _ in range(3):
        with pytest.raises(asyncio.CancelledError):
            await guarded.complete(ask())
    assert "in time" in str(await bench.fails())


@pytest.mark.parametrize("fault", [ModelRefused("no such model"), SpendingCapReached("enough")])
async def test_what_is_no_outage_passes_as_it_is(fault: Exception) -> None:
    bench = Bench(*[fault] * 5)
    for _ in range(5):
        with pytest.raises(type(fault)):
            await bench.ask()
    assert await bench.ask() == "hello"


async def test_a_probe_that_was_cancelled_leaves_its_place_to_the_next() -> None:
    bench = Bench(down(), down(), down(), asyncio.CancelledError())
    for _ in range(3):
        await bench.fails()
    bench.clock.at += 1.0
    with pytest.raises(asyncio.CancelledError):
        await bench.ask()
    assert await bench.ask() == "hello"


async def test_each_model_has_a_circuit_of_its_own() -> None:
    bench = Bench(down(), down(), down())
    for _ in range(3):
        await bench.fails()
    assert await bench.ask("house/other") == "hello"


async def test_many_who_wait_do_not_come_at_the_same_moment() -> None:
    bench = Bench(down(), down(), down())
    for _ in range(3):
        await bench.fails()
    last = [await bench.fails() for _ in range(1000)][-1]
    assert last.until - bench.clock.now() > 15.0


async def test_a_stream_passes_the_same_circuit() -> None:
    bench = Bench(down(), down(), down())
    for _ in range(3):
        with pytest.raises(ModelAway):
            [chunk async for chunk in bench.guarded.stream(ask())]
    assert not (await bench.fails()).asked
    bench.clock.at += 1.0
    chunks = [chunk async for chunk in bench.guarded.stream(ask())]
    assert "".join(chunk.text for chunk in chunks) == "hello"
    assert bench.back == ["house/m"]
