"""The DBOS dispatcher keeps the promises that every dispatcher makes, and those that only it can
make."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from deskhand.adapters.chat_models.rate_limit import SharedRate
from deskhand.adapters.dispatch.dbos_dispatcher import DbosDispatcher
from deskhand.adapters.dispatch.dbos_queue import Executor, QueuedRun, QueueSettings
from deskhand.adapters.dispatch.worker_process import WorkerLimits, WorkerProcess
from deskhand.agents.parts import Parts
from deskhand.engine.clock import SystemClock
from deskhand.engine.worker import Worker
from deskhand.errors import ModelUnavailable, NotFound
from deskhand.model.envelope import Envelope
from deskhand.model.run import RunStatus
from tests.conformance import test_dispatcher as promises
from tests.conformance import test_waiting_runs as waiting_promises
from tests.conformance.adapters import ADAPTERS, Stores
from tests.kit import a_flow, a_message, chain_of
from tests.waiting import PATIENCE

pytest.importorskip("dbos", reason="DBOS is not installed (pip install deskhand[scale])")
pytestmark = pytest.mark.real


@pytest.fixture
async def stores(tmp_path: Path) -> AsyncIterator[Stores]:
    async with ADAPTERS["postgres"](tmp_path) as opened:
        yield opened


@asynccontextmanager
async def serving(
    store: Any, service: promises.Service, *, grace: float = 5.0, **limits: Any
) -> AsyncIterator[DbosDispatcher]:
    async def one(env: Envelope, ctx: Any, settings: Any) -> dict[str, Any]:
        return await service(env)

    worker = Worker(
        store, {"flow": a_flow(chain_of(["one"]), Parts(services={"one": one}))}, SystemClock()
    )
    settings = WorkerLimits(**{"sweep": 0.1, "poll": 0.03, **limits})
    worker_process = WorkerProcess(store._postgres, store.owner, [store.desk], settings)
    dispatcher = DbosDispatcher(
        worker_process, store, worker.work, lambda message: "flow", {"flow": "v1"}
    )
    await dispatcher.start()
    try:
        yield dispatcher
    finally:
        await dispatcher.stop(grace=grace)


KEPT: tuple[Callable[[Stores], Awaitable[None]], ...] = (
    promises.test_three_hundred_messages_each_handed_in_three_times_are_three_hundred_runs,
    promises.test_order_is_kept_within_a_conversation_while_conversations_run_side_by_side,
    promises.test_a_stop_hands_back_what_is_not_finished_and_the_next_start_takes_it_up,
    promises.test_a_stop_lets_a_run_come_to_rest_within_its_grace,
    promises.test_a_run_that_keeps_killing_the_process_ends_as_dead_letter_and_can_be_requeued,
    promises.test_suspects_are_worked_one_at_a_time,
    promises.test_one_bad_run_does_not_disturb_the_others,
    promises.test_waiting_for_a_run_that_is_at_rest_answers_at_once,
    waiting_promises.test_runs_wait_without_a_place_and_go_on_in_order_when_the_model_is_back,
    waiting_promises.test_a_run_whose_time_has_come_is_tried_again_by_itself,
    waiting_promises.test_a_wait_outlives_the_process,
    waiting_promises.test_a_waiting_run_can_be_cancelled_and_lets_the_next_pass,
)


@pytest.mark.parametrize(
    "promise", KEPT, ids=lambda promise: promise.__name__.removeprefix("test_")
)
async def test_it_keeps(
    promise: Callable[[Stores], Awaitable[None]], stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(promises, "serving", serving)
    await promise(stores)


async def test_work_that_comes_while_a_worker_is_still_starting_is_done(
    stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    launch = Executor.launch

    def slowly(self: Executor, desks: Sequence[str], settings: QueueSettings) -> None:
        launch(self, desks, settings)
        time.sleep(0.5)  # the queue gives us work by now

    monkeypatch.setattr(promises, "serving", serving)
    monkeypatch.setattr(Executor, "launch", slowly)
    async with asyncio.timeout(PATIENCE):
        await promises.test_a_stop_hands_back_what_is_not_finished_and_the_next_start_takes_it_up(
            stores
        )


async def test_work_in_flight_is_bounded_and_intake_waits_while_the_backlog_is_full(
    stores: Stores,
) -> None:
    at_work = most = 0
    gate, three = asyncio.Event(), asyncio.Event()

    async def service(env: Envelope) -> dict[str, Any]:
        nonlocal at_work, most
        at_work += 1
        most = max(most, at_work)
        if at_work == 3:
            three.set()
        await gate.wait()
        at_work -= 1
        return {}

    async with serving(await stores(), service, in_flight=3, backlog=5) as dispatcher:
        submits = [asyncio.create_task(dispatcher.submit(a_message(n))) for n in range(30)]
        async with asyncio.timeout(PATIENCE):
            await three.wait()
            while sum(task.done() for task in submits) < 3 + 5:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        await asyncio.sleep(0.3)
        assert sum(task.done() for task in submits) == 3 + 5
        gate.set()
        accepted = await asyncio.gather(*submits)
        assert {await dispatcher.wait(one.run_id) for one in accepted} == {RunStatus.DONE}
    assert most == 3


async def test_runs_that_never_reached_the_queue_are_found_and_worked_in_order(
    stores: Stores,
) -> None:
    seen: list[str] = []

    async def service(env: Envelope) -> dict[str, Any]:
        seen.append(env.run_id)
        return {}

    store = await stores()
    left = [
        (await store.accept(a_message(n, conversation="c"), flow="flow")).run_id for n in range(5)
    ]
    async with serving(store, service) as dispatcher:
        assert {await dispatcher.wait(run) for run in left} == {RunStatus.DONE}
    assert seen == left


async def test_the_later_run_comes_first_on_the_queue_and_still_waits_for_the_earlier(
    stores: Stores,
) -> None:
    seen: list[str] = []

    async def service(env: Envelope) -> dict[str, Any]:
        seen.append(env.run_id)
        return {}

    store = await stores()
    first = (await store.accept(a_message(1, conversation="c"), flow="flow")).run_id
    async with serving(store, service, sweep=60) as dispatcher:
        second = (await dispatcher.submit(a_message(2, conversation="c"))).run_id
        assert await dispatcher.wait(second) is RunStatus.DONE
    assert seen == [first, second]


async def test_waiting_for_a_run_nobody_knows_is_an_error(stores: Stores) -> None:
    async with serving(await stores(), promises.nothing) as dispatcher:
        with pytest.raises(NotFound):
            await dispatcher.wait("run_nobody_knows")


async def test_a_models_rate_holds_over_all_workers(stores: Stores) -> None:
    one, two = await stores(), await stores()
    rates = [SharedRate(store._postgres, {"p/m": 600}) for store in (one, two)]
    loop = asyncio.get_running_loop()
    begun = loop.time()
    await asyncio.gather(*(rates[n % 2].turn("p/m") for n in range(20)), rates[0].turn("p/other"))
    assert loop.time() - begun > 0.8
    slow = SharedRate(one._postgres, {"p/slow": 1})
    await slow.turn("p/slow")
    first = await free_at(one, "p/slow")
    waiting = asyncio.create_task(slow.turn("p/slow"))
    while await free_at(one, "p/slow") == first:  # noqa: ASYNC110
        await asyncio.sleep(0.02)
    with pytest.raises(ModelUnavailable):
        await slow.turn("p/slow")
    waiting.cancel()


async def free_at(store: Any, model: str) -> float:
    """The next moment that nobody has reserved."""
    query = sa.text("SELECT free_at FROM model_rates WHERE model = :model")
    moment: float = await store._postgres.read_core(
        lambda core: core.execute(query, {"model": model}).scalar_one()
    )
    return moment


async def test_a_run_that_our_own_failed_attempt_left_running_is_taken_up_again(
    stores: Stores,
) -> None:
    """The database was away when the attempt ended; only the next run of the conversation is on
    the queue, and must not wait for the first for ever."""

    async def service(env: Envelope) -> dict[str, Any]:
        return {}

    store = await stores()
    first = await store.accept(a_message("first", conversation="c"), flow="flow")
    assert await store.claim(first.run_id, {"flow": "v1"}) is not None
    second = await store.accept(a_message("second", conversation="c"), flow="flow")
    async with serving(store, service) as dispatcher:
        async with asyncio.timeout(30):
            assert await dispatcher.wait(second.run_id) is RunStatus.DONE
        assert (await store.run(first.run_id)).status is RunStatus.DONE


async def test_intake_that_starts_before_the_first_worker_finds_the_queue(
    stores: Stores, caplog: pytest.LogCaptureFixture
) -> None:
    async def work(env: Envelope) -> dict[str, Any]:
        return {}

    store = await stores()
    async with serving(store, work, in_flight=0) as intake:
        accepted = await intake.submit(a_message())
        process = intake._process
        tickets = [QueuedRun(accepted.run_id, store.desk, "c1")]
        await process._make_sure(tickets)
        assert await process._make_sure(tickets) == 0  # it is on the queue
        async with serving(await stores(), work):
            assert await intake.wait(accepted.run_id) is RunStatus.DONE
    assert [record.getMessage() for record in caplog.records] == []
