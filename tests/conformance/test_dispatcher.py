"""What every Dispatcher promises: each message worked once, in order within its conversation,
nothing dropped."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from deskhand.agents.parts import Parts
from deskhand.engine import dispatcher as dispatcher_module
from deskhand.engine.clock import SystemClock
from deskhand.engine.dispatcher import DispatchLimits, InProcessDispatcher
from deskhand.engine.worker import MAX_CRASHES, Worker
from deskhand.errors import AlreadyServed, Fenced, StoreUnavailable
from deskhand.model.envelope import Envelope
from deskhand.model.queue import ReviewFilter
from deskhand.model.run import RunStatus
from tests.conformance.adapters import Stores
from tests.kit import a_flow, a_message, chain_of
from tests.waiting import PATIENCE

Service = Callable[[Envelope], Awaitable[dict[str, Any]]]


@asynccontextmanager
async def serving(
    store: Any, service: Service, *, grace: float = 5.0, **limits: Any
) -> AsyncIterator[InProcessDispatcher]:
    async def one(env: Envelope, ctx: Any, settings: Any) -> dict[str, Any]:
        return await service(env)

    flow = a_flow(chain_of(["one"]), Parts(services={"one": one}))
    clock = SystemClock()
    worker = Worker(store, {"flow": flow}, clock)
    dispatcher = InProcessDispatcher(
        store,
        worker.work,
        lambda message: "flow",
        clock,
        DispatchLimits(**{"sweep": 0.02, **limits}),
    )
    await dispatcher.start()
    try:
        yield dispatcher
    finally:
        await dispatcher.stop(grace=grace)


async def nothing(env: Envelope) -> dict[str, Any]:
    return {}


async def test_three_hundred_messages_each_handed_in_three_times_are_three_hundred_runs(
    stores: Stores,
) -> None:
    worked: list[str] = []

    async def service(env: Envelope) -> dict[str, Any]:
        worked.append(env.run_id)
        return {}

    store = await stores()
    async with serving(store, service) as dispatcher:
        answers = await asyncio.gather(*(dispatcher.submit(a_message(n % 300)) for n in range(900)))
        runs = {answer.run_id for answer in answers}
        statuses = await asyncio.gather(*map(dispatcher.wait, runs))
    assert len(worked) == len(set(worked)) == len(statuses) == 300
    assert set(statuses) == {RunStatus.DONE}


async def test_order_is_kept_within_a_conversation_while_conversations_run_side_by_side(
    stores: Stores,
) -> None:
    order: dict[str, list[int]] = {}
    at_work: set[str] = set()
    most = 0

    async def service(env: Envelope) -> dict[str, Any]:
        nonlocal most
        assert env.message is not None
        conversation = env.message.conversation
        assert conversation not in at_work
        at_work.add(conversation)
        most = max(most, len(at_work))
        await asyncio.sleep(0.001)
        order.setdefault(conversation, []).append(int(env.message.id[1:]))
        at_work.discard(conversation)
        return {}

    store = await stores()
    async with serving(store, service) as dispatcher:
        accepted = await asyncio.gather(
            *(dispatcher.submit(a_message(n, conversation=f"c{n % 10}")) for n in range(200))
        )
        await asyncio.gather(*(dispatcher.wait(one.run_id) for one in accepted))
    assert all(numbers == sorted(numbers) for numbers in order.values())
    assert sum(map(len, order.values())) == 200
    assert most > 1


async def test_work_in_flight_is_bounded_and_intake_waits_while_the_backlog_is_full(
    stores: Stores,
) -> None:
    at_work = most = 0
    full, gate = asyncio.Event(), asyncio.Event()

    async def service(env: Envelope) -> dict[str, Any]:
        nonlocal at_work, most
        at_work += 1
        most = max(most, at_work)
        if at_work == 3:
            full.set()
        await gate.wait()
        at_work -= 1
        return {}

    store = await stores()
    async with serving(store, service, in_flight=3, backlog=5) as dispatcher:
        submits = [asyncio.create_task(dispatcher.submit(a_message(n))) for n in range(30)]
        await asyncio.wait_for(full.wait(), PATIENCE)
        assert not all(task.done() for task in submits)
        gate.set()
        accepted = await asyncio.gather(*submits)
        statuses = await asyncio.gather(*(dispatcher.wait(one.run_id) for one in accepted))
    assert most == 3
    assert set(statuses) == {RunStatus.DONE}


async def test_a_stop_hands_back_what_is_not_finished_and_the_next_start_takes_it_up(
    stores: Stores,
) -> None:
    started = asyncio.Event()

    async def endless(env: Envelope) -> dict[str, Any]:
        started.set()
        await asyncio.sleep(3600)
        return {}

    store = await stores()
    async with serving(store, endless, grace=0.01, in_flight=1) as dispatcher:
        runs = [(await dispatcher.submit(a_message(n))).run_id for n in range(3)]
        await started.wait()
    assert [(await store.run(run)).status for run in runs] == [RunStatus.QUEUED] * 3
    assert [(await store.run(run)).crashes for run in runs] == [0, 0, 0]
    with pytest.raises(StoreUnavailable):
        await dispatcher.submit(a_message(9))
    async with serving(await stores(), nothing) as dispatcher:
        assert {await dispatcher.wait(run) for run in runs} == {RunStatus.DONE}


async def test_a_stop_lets_a_run_come_to_rest_within_its_grace(stores: Stores) -> None:
    started = asyncio.Event()

    async def brief(env: Envelope) -> dict[str, Any]:
        started.set()
        await asyncio.sleep(0.05)
        return {}

    store = await stores()
    async with serving(store, brief, grace=5) as dispatcher:
        run_id = (await dispatcher.submit(a_message())).run_id
        await started.wait()
    assert (await store.run(run_id)).status is RunStatus.DONE


async def test_a_start_takes_up_more_unfinished_runs_than_the_backlog_holds_in_order(
    stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And more than are read at once."""
    monkeypatch.setattr(dispatcher_module, "PAGE", 100)
    seen: list[str] = []

    async def service(env: Envelope) -> dict[str, Any]:
        seen.append(env.run_id)
        return {}

    store = await stores()
    left = [
        (await store.accept(a_message(n, conversation="c"), flow="flow")).run_id for n in range(140)
    ]
    async with serving(store, service, backlog=50, sweep=1.0) as dispatcher:
        late = (await dispatcher.submit(a_message(9999, conversation="c"))).run_id
        await dispatcher.wait(late)
    assert seen == [*left, late]


async def test_a_second_process_is_turned_away_with_the_reason(stores: Stores) -> None:
    one, two = await stores(), await stores()
    async with serving(one, nothing, lease=1.5):
        with pytest.raises(AlreadyServed, match="served by process"):
            async with serving(two, nothing, lease=1.5):
                pass
    async with serving(two, nothing):
        pass


async def test_a_lease_that_its_killed_holder_cannot_renew_is_waited_for(stores: Stores) -> None:
    """As in a container, where the process before us had our number."""
    killed, store = await stores(), await stores()
    await killed.acquire(1.5)
    left = (await killed.accept(a_message(), flow="flow")).run_id
    async with serving(store, nothing, lease=1.5) as dispatcher:
        assert await dispatcher.wait(left) is RunStatus.DONE


async def test_whoever_loses_the_lease_stops_working(stores: Stores) -> None:
    one, two = await stores(), await stores()
    async with serving(one, nothing, lease=0.06) as dispatcher:
        await one.give_up()
        await two.acquire(60)
        with pytest.raises(Fenced):
            await asyncio.wait_for(asyncio.shield(dispatcher.lost), PATIENCE)
        with pytest.raises(StoreUnavailable):
            await dispatcher.submit(a_message())


async def test_a_run_that_keeps_killing_the_process_ends_as_dead_letter_and_can_be_requeued(
    stores: Stores,
) -> None:
    store = await stores()
    run_id = (await store.accept(a_message(), flow="flow")).run_id
    for _ in range(MAX_CRASHES):
        victim = await stores()
        await victim.claim(run_id, {"flow": "v1"})
        await (await stores()).recover()
    worked: list[str] = []

    async def service(env: Envelope) -> dict[str, Any]:
        worked.append(env.run_id)
        return {}

    async with serving(store, service) as dispatcher:
        assert await dispatcher.wait(run_id) is RunStatus.FAILED
        run = await store.run(run_id)
        assert run.error_code == "crashed_repeatedly"
        assert worked == []
        [review] = await store.find_reviews(ReviewFilter(run_id=run_id))
        assert "died 5 times" in review.reason
        await store.requeue(run_id, "operator")
        dispatcher.wake()
        assert await dispatcher.wait(run_id) is RunStatus.DONE
    assert worked == [run_id]


async def test_suspects_are_worked_one_at_a_time(stores: Stores) -> None:
    store = await stores()
    runs = [(await store.accept(a_message(n), flow="flow")).run_id for n in range(6)]
    for _ in range(3):
        victim = await stores()
        for run in runs:
            await victim.claim(run, {"flow": "v1"})
        await (await stores()).recover()
    at_work = most = 0

    async def service(env: Envelope) -> dict[str, Any]:
        nonlocal at_work, most
        at_work += 1
        most = max(most, at_work)
        await asyncio.sleep(0.002)
        at_work -= 1
        return {}

    async with serving(store, service) as dispatcher:
        assert {await dispatcher.wait(run) for run in runs} == {RunStatus.DONE}
    assert most == 1


async def test_one_bad_run_does_not_disturb_the_others(stores: Stores) -> None:
    async def service(env: Envelope) -> dict[str, Any]:
        if env.raw_input == "poison":
            return {"bad": object()}
        return {}

    store = await stores()
    async with serving(store, service) as dispatcher:
        good = [(await dispatcher.submit(a_message(n))).run_id for n in range(20)]
        bad = (await dispatcher.submit(a_message("x", body="poison"))).run_id
        statuses = [await dispatcher.wait(run) for run in good]
        assert await dispatcher.wait(bad) is RunStatus.NEEDS_REVIEW
    assert set(statuses) == {RunStatus.DONE}


async def test_waiting_for_a_run_that_is_at_rest_answers_at_once(stores: Stores) -> None:
    store = await stores()
    async with serving(store, nothing) as dispatcher:
        run_id = (await dispatcher.submit(a_message())).run_id
        assert await dispatcher.wait(run_id) is RunStatus.DONE
        with contextlib.suppress(asyncio.TimeoutError):
            assert await asyncio.wait_for(dispatcher.wait(run_id), PATIENCE) is RunStatus.DONE


async def test_whoever_waits_for_a_run_hears_that_it_was_cancelled(stores: Stores) -> None:
    gate = asyncio.Event()

    async def service(env: Envelope) -> dict[str, Any]:
        await gate.wait()
        return {}

    store = await stores()
    async with serving(store, service) as dispatcher:
        await dispatcher.submit(a_message(1, conversation="c"))
        second = (await dispatcher.submit(a_message(2, conversation="c"))).run_id
        waiting = asyncio.create_task(dispatcher.wait(second))
        await asyncio.sleep(0)
        await store.cancel(second, "eve")
        gate.set()
        assert await asyncio.wait_for(waiting, PATIENCE) is RunStatus.CANCELLED


async def test_duplicates_do_not_use_up_the_backlog(stores: Stores) -> None:
    store = await stores()
    async with serving(store, nothing, backlog=2) as dispatcher:
        first = (await dispatcher.submit(a_message(1))).run_id
        await dispatcher.wait(first)
        again = asyncio.gather(*(dispatcher.submit(a_message(1)) for _ in range(20)))
        assert {answer.run_id for answer in await asyncio.wait_for(again, PATIENCE)} == {first}


async def test_a_caller_who_gives_up_does_not_change_the_order(stores: Stores) -> None:
    seen: list[str] = []

    async def service(env: Envelope) -> dict[str, Any]:
        assert env.message is not None
        seen.append(env.message.id)
        return {}

    store = await stores()
    async with serving(store, service, sweep=60) as dispatcher:
        impatient = asyncio.create_task(dispatcher.submit(a_message(1, conversation="c")))
        await asyncio.sleep(0)
        impatient.cancel()
        second = (await dispatcher.submit(a_message(2, conversation="c"))).run_id
        await dispatcher.wait(second)
    assert seen in (["m1", "m2"], ["m2"])
    assert len(await store.runs()) == len(seen)


async def test_suspects_do_not_keep_others_from_work(stores: Stores) -> None:
    store = await stores()
    runs = [(await store.accept(a_message(n), flow="flow")).run_id for n in range(6)]
    for _ in range(3):
        victim = await stores()
        for run in runs:
            await victim.claim(run, {"flow": "v1"})
        await (await stores()).recover()
    gate = asyncio.Event()

    async def service(env: Envelope) -> dict[str, Any]:
        if env.raw_input != "fresh":
            await gate.wait()
        return {}

    async with serving(store, service, in_flight=2) as dispatcher:
        fresh = (await dispatcher.submit(a_message("x", body="fresh"))).run_id
        assert await asyncio.wait_for(dispatcher.wait(fresh), PATIENCE) is RunStatus.DONE
        gate.set()
        assert {await dispatcher.wait(run) for run in runs} == {RunStatus.DONE}
