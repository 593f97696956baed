"""A model that is away for a while empties no queue onto people: runs wait, and go on by
themselves."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from deskhand.adapters.chat_models.circuit_breaker import BreakerPolicy, Circuits
from deskhand.model.causes import Cause
from deskhand.model.queue import ReviewFilter
from deskhand.model.run import RunStatus
from deskhand.wiring import Desk, join_workers, open_database, open_desk, read_desk
from deskhand.wiring import serving as serving_module
from tests.agent_desk import a_desk
from tests.fake_openai import FakeOpenAI, Reply, completion, failure, hang, regular, tool_call
from tests.kit import a_message
from tests.servers import new_database, postgres_programs
from tests.waiting import until

pytestmark = pytest.mark.real

DESK = """\
desk: shop
models: {{default: house/m}}
providers: {{house: {{base_url: '{url}', timeout: {timeout}}}}}
mode: auto
undo_seconds: 0
limits: {{max_in_flight: {in_flight}, replies_per_hour: 1000}}
{more}
flows:
  main:
    stages:
      draft: {{task: draft, next: dispatch}}
      dispatch: {{service: dispatch}}
"""


class House:
    """The model's server, which is away when it is told so."""

    def __init__(self) -> None:
        self.trouble: Reply | None = failure(503, "overloaded")

    def answer(self, request: dict[str, Any]) -> Reply:
        return self.trouble or regular(request)


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    def circuits(store: Any, clock: Any) -> Circuits:
        async def wake(model: str) -> None:
            await store.wake_waiting(model, clock.now())

        return Circuits(clock, wake, BreakerPolicy(first_pause=0.05, longest_pause=0.5))

    monkeypatch.setattr(serving_module, "model_circuits", circuits)


def written(
    folder: Path, url: str, *, timeout: float = 60, in_flight: int = 8, more: str = ""
) -> Path:
    text = DESK.format(url=url, timeout=timeout, in_flight=in_flight, more=more)
    (folder / "desk.yaml").write_text(text)
    return folder


@asynccontextmanager
async def at_work(
    folder: Path, database_url: str | None = None, *, live: bool = False
) -> AsyncIterator[Desk]:
    loaded = read_desk(str(folder))
    async with open_database(database_url or str(folder / "desk.db")) as database:
        process = None if database_url is None else join_workers(database, [loaded])
        async with open_desk(
            loaded, database, outbox=folder / "out", live=live, worker_process=process
        ) as desk:
            yield desk


@pytest.fixture(params=["sqlite", "postgres"])
async def database_url(request: pytest.FixtureRequest) -> str | None:
    """None for a file in the desk's folder, worked by one process; else many may work it."""
    if request.param == "sqlite":
        return None
    pytest.importorskip("dbos", reason="DBOS is not installed (pip install deskhand[scale])")
    if postgres_programs() is None:
        pytest.skip("PostgreSQL's server is not installed (Debian: apt-get install postgresql)")
    return await asyncio.to_thread(new_database)


async def handed_in(desk: Desk, count: int) -> list[str]:
    runs = []
    for number in range(count):
        message = a_message(number, conversation=f"c{number}")
        runs.append((await desk.dispatcher.submit(message)).run_id)
    return runs


async def waiting(desk: Desk) -> int:
    return sum(away.runs for away in await desk.store.models_away())


async def test_messages_that_come_during_an_outage_are_all_answered_after_it(
    tmp_path: Path, database_url: str | None
) -> None:
    house = House()
    async with FakeOpenAI(otherwise=house.answer) as server:
        folder = written(tmp_path, server.base_url)
        async with at_work(folder, database_url, live=True) as desk:
            runs = await handed_in(desk, 30)

            async def all_wait() -> bool:
                return await waiting(desk) == 30

            await until(all_wait)
            shown = await desk.store.run(runs[0])
            house.trouble = None
            rested = await asyncio.gather(*map(desk.dispatcher.wait, runs))
            reviews = await desk.store.find_reviews(ReviewFilter())
            effects = await desk.store.effects()
    assert (shown.status, shown.waits_for) == (RunStatus.QUEUED, "house/m")
    assert "which is away" in (shown.reason or "")
    assert set(rested) == {RunStatus.SENT}
    assert reviews == []
    assert len(effects) == len({effect.key.run_id for effect in effects}) == 30


async def test_a_wait_goes_on_in_the_process_that_comes_after(
    tmp_path: Path, database_url: str | None
) -> None:
    house = House()
    async with FakeOpenAI(otherwise=house.answer) as server:
        folder = written(tmp_path, server.base_url)
        async with at_work(folder, database_url) as desk:
            runs = await handed_in(desk, 3)

            async def all_wait() -> bool:
                return await waiting(desk) == 3

            await until(all_wait)
        house.trouble = None
        async with at_work(folder, database_url) as desk:
            rested = [await desk.dispatcher.wait(run) for run in runs]
    assert rested == [RunStatus.SENT] * 3


async def test_calls_that_hang_do_not_hold_every_place_for_long(tmp_path: Path) -> None:
    house = House()
    house.trouble = hang()
    async with FakeOpenAI(otherwise=house.answer) as server:
        folder = written(tmp_path, server.base_url, timeout=0.5, in_flight=4)
        async with at_work(folder) as desk:
            runs = await handed_in(desk, 40)

            async def all_wait() -> bool:
                return await waiting(desk) >= 39  # one may be trying

            await until(all_wait)
            asked = server.count
            house.trouble = None
            rested = await asyncio.gather(*map(desk.dispatcher.wait, runs))
    assert asked < 40  # most were never let at the model
    assert set(rested) == {RunStatus.SENT}


async def test_a_retry_after_is_honoured(tmp_path: Path) -> None:
    house = House()
    house.trouble = failure(429, "slow down", retry_after="300")
    async with FakeOpenAI(otherwise=house.answer) as server:
        folder = written(tmp_path, server.base_url)
        async with at_work(folder) as desk:
            before = time.time()
            [run] = await handed_in(desk, 1)

            async def waits() -> bool:
                return await waiting(desk) == 1

            await until(waits)
            due = (await desk.store.run(run)).due_at
    assert due is not None
    assert due >= before + 300
    assert server.count == 1


async def test_after_its_limit_a_person_gets_the_message(tmp_path: Path) -> None:
    house = House()
    async with FakeOpenAI(otherwise=house.answer) as server:
        more = "model_away: {wait: 1 second}"
        async with at_work(written(tmp_path, server.base_url, more=more)) as desk:
            [run] = await handed_in(desk, 1)
            assert await desk.dispatcher.wait(run) is RunStatus.NEEDS_REVIEW
            [review] = await desk.store.find_reviews(ReviewFilter(cause=Cause.MODEL_AWAY))
            house.trouble = None
            await desk.store.requeue(run, "eve")
            desk.dispatcher.wake()
            assert await desk.dispatcher.wait(run) is RunStatus.SENT
    assert "waited" in review.reason
    assert "answered 503" in review.reason


async def test_after_its_limit_the_embedded_brain_may_take_over(tmp_path: Path) -> None:
    house = House()
    async with FakeOpenAI(otherwise=house.answer) as server:
        more = "model_away: {wait: 0 seconds, then: embedded}"
        async with at_work(written(tmp_path, server.base_url, more=more)) as desk:
            [run] = await handed_in(desk, 1)
            await desk.dispatcher.wait(run)
            rows = await desk.store.rows(run)
    assert (rows[0].name, rows[0].outcome) == ("draft", "success")
    assert b'"held":"llm_unavailable"' in (rows[0].body or b"")


async def test_an_agent_goes_on_after_the_turns_and_calls_it_has_made(tmp_path: Path) -> None:
    first = completion(
        None,
        tool_calls=[tool_call("find_parcel", '{"number": "P-1001"}')],
        finish_reason="tool_calls",
    )
    script = [first, *[failure(503)] * 8, completion("It is on its way.")]
    async with FakeOpenAI(script) as server:
        more = f"providers: {{local: {{base_url: '{server.base_url}'}}}}"
        folder = a_desk(tmp_path, brain=more, model="local/small")
        async with at_work(folder) as desk:
            accepted = await desk.dispatcher.submit(a_message(1, body="Where is P-1001?"))
            assert await desk.dispatcher.wait(accepted.run_id) is RunStatus.SENT
            names = [row.name for row in await desk.store.rows(accepted.run_id)]
    assert names.count("agent/turn 1") == 1
    assert names.count("agent/1.1 find_parcel") == 1
    assert names.count("agent/turn 2") == 1
    assert server.count == 10
