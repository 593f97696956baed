"""What every Dispatcher promises while a model is away: runs wait in the store and hold nothing."""

import asyncio
import time
from typing import Any

from deskhand.errors import ModelAway
from deskhand.model.envelope import Envelope
from deskhand.model.queue import ReviewFilter
from deskhand.model.run import RunStatus
from tests.conformance import test_dispatcher
from tests.conformance.adapters import Stores
from tests.kit import a_message
from tests.waiting import until

MODEL = "house/m"
AN_HOUR = 3600.0


def away(*, until: float, asked: bool = True) -> ModelAway:
    return ModelAway("house/m answered 503", model=MODEL, until=until, asked=asked)


async def test_runs_wait_without_a_place_and_go_on_in_order_when_the_model_is_back(
    stores: Stores,
) -> None:
    is_away = True
    worked: list[str] = []

    async def service(env: Envelope) -> dict[str, Any]:
        assert env.message is not None
        if is_away and env.raw_input == "ask":
            raise away(until=time.time() + AN_HOUR)
        worked.append(env.message.id)
        return {}

    async def all_wait() -> bool:
        return len(await store.waiting(time.time())) == 4

    store = await stores()
    async with test_dispatcher.serving(store, service, in_flight=2) as dispatcher:
        first = [
            (await dispatcher.submit(a_message(n, conversation=f"c{n}", body="ask"))).run_id
            for n in range(4)
        ]
        behind = [
            (await dispatcher.submit(a_message(10 + n, conversation=f"c{n}"))).run_id
            for n in range(4)
        ]
        await until(all_wait)
        free = (await dispatcher.submit(a_message("free"))).run_id
        assert await dispatcher.wait(free) is RunStatus.DONE
        assert worked == ["mfree"]

        waiting = await store.run(first[0])
        assert (waiting.status, waiting.waits_for) == (RunStatus.QUEUED, MODEL)
        assert waiting.reason is not None
        assert "house/m, which is away: house/m answered 503" in waiting.reason
        [model] = await store.models_away()
        assert (model.model, model.runs) == (MODEL, 4)

        is_away = False
        assert await store.wake_waiting(MODEL, time.time()) == 4
        dispatcher.wake()
        assert {await dispatcher.wait(run) for run in (*first, *behind)} == {RunStatus.DONE}
    for n in range(4):
        assert worked.index(f"m{n}") < worked.index(f"m{10 + n}")
    assert len(worked) == len(set(worked)) == 9
    assert await store.models_away() == []
    assert await store.find_reviews(ReviewFilter()) == []


async def test_a_run_whose_time_has_come_is_tried_again_by_itself(stores: Stores) -> None:
    tries = 0

    async def service(env: Envelope) -> dict[str, Any]:
        nonlocal tries
        tries += 1
        if tries < 6:
            raise away(until=time.time() + 0.01, asked=tries % 2 == 1)
        return {}

    store = await stores()
    async with test_dispatcher.serving(store, service) as dispatcher:
        run_id = (await dispatcher.submit(a_message())).run_id
        assert await dispatcher.wait(run_id) is RunStatus.DONE
    assert tries == 6  # more than the three attempts that a stage has
    rows = await store.rows(run_id)
    assert [row.outcome for row in rows] == ["error", "error", "error", "success"]


async def test_a_wait_outlives_the_process(stores: Stores) -> None:
    async def never(env: Envelope) -> dict[str, Any]:
        raise away(until=time.time() + AN_HOUR)

    worked: list[str] = []

    async def service(env: Envelope) -> dict[str, Any]:
        assert env.message is not None
        worked.append(env.message.id)
        return {}

    async def waits() -> bool:
        return bool(await store.waiting(time.time()))

    store = await stores()
    async with test_dispatcher.serving(store, never) as dispatcher:
        first = (await dispatcher.submit(a_message(1, conversation="c"))).run_id
        second = (await dispatcher.submit(a_message(2, conversation="c"))).run_id
        await until(waits)
    heir = await stores()
    async with test_dispatcher.serving(heir, service) as dispatcher:
        other = (await dispatcher.submit(a_message(3))).run_id
        assert await dispatcher.wait(other) is RunStatus.DONE
        assert worked == ["m3"]
        await heir.wake_waiting(MODEL, time.time())
        dispatcher.wake()
        assert await dispatcher.wait(first) is RunStatus.DONE
        assert await dispatcher.wait(second) is RunStatus.DONE
    assert worked == ["m3", "m1", "m2"]
    assert (await heir.run(first)).crashes == 0


async def test_a_waiting_run_can_be_cancelled_and_lets_the_next_pass(stores: Stores) -> None:
    async def service(env: Envelope) -> dict[str, Any]:
        if env.raw_input == "ask":
            raise away(until=time.time() + AN_HOUR)
        return {}

    async def waits() -> bool:
        return bool(await store.waiting(time.time()))

    store = await stores()
    async with test_dispatcher.serving(store, service) as dispatcher:
        first = (await dispatcher.submit(a_message(1, conversation="c", body="ask"))).run_id
        second = (await dispatcher.submit(a_message(2, conversation="c"))).run_id
        await until(waits)
        await asyncio.sleep(0)
        await store.cancel(first, "eve")
        dispatcher.wake()
        assert await dispatcher.wait(second) is RunStatus.DONE
    assert (await store.run(first)).status is RunStatus.CANCELLED
    assert await store.models_away() == []
