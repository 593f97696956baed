"""After an approval exactly one message leaves: when many click at once, and whenever the
process dies."""

import asyncio
import shutil
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import httpx
import pytest

from deskhand import crashpoints
from deskhand.adapters.stores.sqlite import SqliteStore
from deskhand.adapters.stores.sqlite_database import SqliteDatabase
from deskhand.agents.parts import Parts
from deskhand.agents.replying.sending import Sending
from deskhand.agents.replying.services import dispatch_through, review_through
from deskhand.crashpoints import Crash
from deskhand.engine.clock import SystemClock
from deskhand.engine.descriptions import DECIDED
from deskhand.engine.dispatcher import DispatchLimits, InProcessDispatcher
from deskhand.engine.manual_reply import manual_reply_flow
from deskhand.engine.worker import Worker
from deskhand.errors import Conflict, PermanentError
from deskhand.model.envelope import Envelope
from deskhand.model.message import Reply
from deskhand.model.queue import ReviewFilter
from deskhand.model.run import Decision, ReviewState, RunStatus, Verdict
from deskhand.tools.delivery import delivery_tool
from deskhand.tools.gate import Gate
from deskhand.tools.registry import ToolRegistry
from tests.api_kit import Client, Served, served
from tests.crash_scenario import ForgetfulMail, World
from tests.kit import a_flow, a_message, chain_of
from tests.servers import new_database, postgres_programs
from tests.waiting import PATIENCE, until

AT_ONCE = 64
LONG = 600
WORST = (
    "dispatch.after_claim",
    "dispatch.before_finish",
    "dispatch.after_finish",
    "loop.before_work",
    "loop.after_work",
    "loop.after_row",
    "journal.before_commit",
    "journal.after_commit",
    "effect.before_intend",
    "effect.after_intend",
    "effect.after_perform",
    "effect.after_settle",
)
"""Points that a run passes between the click and the end."""


# --- many clicks


async def waiting(shop: Served, count: int) -> list[dict[str, Any]]:
    """So many reviews, open."""
    desk = shop.desks["shop"]
    handed_in = await asyncio.gather(
        *(desk.dispatcher.submit(a_message(number, body="unsure")) for number in range(count))
    )
    async with asyncio.timeout(LONG):
        statuses = [await desk.dispatcher.wait(accepted.run_id) for accepted in handed_in]
    assert set(statuses) == {RunStatus.WAITING_REVIEW}
    reviews = await desk.store.find_reviews(ReviewFilter(state=ReviewState.OPEN), limit=2 * count)
    return [
        {"id": one.id, "run": one.run_id, "version": one.version, "hash": one.payload_hash}
        for one in reviews
    ]


async def clicks(client: Client, reviews: list[dict[str, Any]]) -> list[httpx.Response]:
    gate = asyncio.Semaphore(AT_ONCE)

    async def click(review: dict[str, Any]) -> httpx.Response:
        body = {"decision": "approve", "version": review["version"], "payload_hash": review["hash"]}
        async with gate:
            return await client.post(
                f"/api/reviews/{review['id']}/decision", json=body, timeout=LONG
            )

    return await asyncio.gather(*map(click, reviews))


@pytest.mark.parametrize(
    ("kind", "count"),
    [
        ("sqlite", 40),
        ("postgres", 40),
        pytest.param("sqlite", 500, marks=pytest.mark.chaos),
        pytest.param("postgres", 500, marks=pytest.mark.chaos),
    ],
)
@pytest.mark.slow
async def test_every_reply_that_two_reviewers_approve_at_once_leaves_once(
    tmp_path: Path, kind: str, count: int
) -> None:
    if kind == "postgres" and postgres_programs() is None:
        pytest.skip("PostgreSQL's server is not installed")
    url = await asyncio.to_thread(new_database) if kind == "postgres" else None
    async with served(tmp_path, backlog=2 * count, url=url) as shop:
        reviews = await waiting(shop, count)
        ida, otto = await shop.client(name="Ida"), await shop.client(name="Otto")
        answers = await asyncio.gather(clicks(ida, reviews), clicks(otto, list(reversed(reviews))))
        every = [answer for each in answers for answer in each]
        told = Counter(answer.status_code for answer in every)
        assert told == {200: count, 409: count}, told
        for late in (answer for answer in every if not answer.is_success):
            assert "was already decided: approved by" in late.json()["detail"]
        assert len({answer.json()["review"] for answer in every if answer.is_success}) == count
        desk = shop.desks["shop"]
        async with asyncio.timeout(LONG):
            ended = [await desk.dispatcher.wait(review["run"]) for review in reviews]
        assert set(ended) == {RunStatus.SENT}
        assert len(list((tmp_path / "outbox").glob("**/*.eml"))) == count


# --- the worst moments


@dataclass
class Life:
    """One process with a desk whose replies wait for a person, then for a moment in which they
    can be stopped."""

    store: SqliteStore
    dispatcher: InProcessDispatcher
    database: SqliteDatabase


async def begin(folder: Path) -> Life:
    database = await SqliteDatabase.open(folder / "desk.db")
    store, clock = SqliteStore(database, "desk"), SystemClock()
    gate = Gate(ToolRegistry((delivery_tool(ForgetfulMail(World(folder))),)), store, desk="desk")

    async def reply(env: Envelope, ctx: Any, settings: Any) -> dict[str, Any]:
        assert env.message is not None
        if "broken" in env.raw_input:
            raise PermanentError("this cannot be answered")
        return Reply.to_message(env.message, "It is on its way.").model_dump(mode="json")

    sending = Sending(undo_for=lambda message: 0.05)
    services = {
        "reply": reply,
        "review": review_through(gate),
        "dispatch": dispatch_through(gate, sending),
    }
    flow = a_flow(chain_of(["reply", "review", "dispatch"]), Parts(tools=gate, services=services))
    answering = manual_reply_flow(gate, sending, Parts(tools=gate))
    worker = Worker(store, {"flow": flow}, clock, manual_reply=answering)
    limits = DispatchLimits(in_flight=2, sweep=0.02, lease=1.0)
    return Life(
        store,
        InProcessDispatcher(store, worker.work, lambda message: "flow", clock, limits),
        database,
    )


async def abandon(life: Life) -> None:
    """What a killed process does: nothing more."""
    await life.dispatcher._sweeping.stop()
    for task in life.dispatcher._tasks:
        task.cancel()
    await asyncio.gather(
        *life.dispatcher._tasks, life.dispatcher._sweeping.stop(), return_exceptions=True
    )
    life.dispatcher.lost.cancel()
    await life.database.close()


@asynccontextmanager
async def living(folder: Path) -> AsyncIterator[Life]:
    life = await begin(folder)
    await life.database.write_core(lambda core: core.exec_driver_sql("DELETE FROM leases").close())
    await life.dispatcher.start()
    try:
        yield life
    finally:
        await life.dispatcher.stop(grace=5)
        await life.database.close()


@pytest.fixture(autouse=True)
def _disarmed() -> Iterator[None]:
    yield
    crashpoints.disarm()


@pytest.fixture(scope="session")
def parked(tmp_path_factory: pytest.TempPathFactory) -> dict[Decision, Path]:
    """Files to copy, by what a person is to decide: one has a reply that waits, one a message
    without a reply."""
    folders = {
        decision: tmp_path_factory.mktemp("parked")
        for decision in (Decision.APPROVE, Decision.ANSWER)
    }

    async def make(decision: Decision, folder: Path) -> None:
        async with living(folder) as life:
            body = "Where is it?" if decision is Decision.APPROVE else "broken"
            accepted = await life.dispatcher.submit(a_message(body=body))
            status = await asyncio.wait_for(life.dispatcher.wait(accepted.run_id), PATIENCE)
            assert status is (
                RunStatus.WAITING_REVIEW if decision is Decision.APPROVE else RunStatus.NEEDS_REVIEW
            )

    for decision, folder in folders.items():
        asyncio.run(make(decision, folder))
    return {decision: folder / "desk.db" for decision, folder in folders.items()}


async def decide(life: Life, decision: Decision, by: str = "ida") -> str:
    [review, *_] = await life.store.find_reviews()
    edit = {"text": "It is lost."} if decision is Decision.ANSWER else None
    await life.store.decide(review.id, Verdict(decision, by, 1, review.payload_hash, edit=edit))
    life.dispatcher.wake()
    return review.run_id


@pytest.mark.parametrize("decision", [Decision.APPROVE, Decision.ANSWER])
@pytest.mark.parametrize(
    ("point", "passage"),
    [
        *((point, 1) for point in WORST),
        ("journal.before_commit", 2),
        ("journal.after_commit", 3),
        ("loop.after_row", 2),
    ],
)
async def test_a_reply_that_a_person_lets_go_leaves_once_whenever_the_process_dies(
    tmp_path: Path, parked: dict[Decision, Path], decision: Decision, point: str, passage: int
) -> None:
    shutil.copy(parked[decision], tmp_path / "desk.db")
    life, crashed = await begin(tmp_path), asyncio.Event()
    loop = asyncio.get_running_loop()

    def die() -> NoReturn:
        loop.call_soon_threadsafe(crashed.set)
        raise Crash(point)

    await life.database.write_core(lambda core: core.exec_driver_sql("DELETE FROM leases").close())
    await life.dispatcher.start()
    crashpoints.arm(point, die, passage)
    clicked = asyncio.create_task(decide(life, decision))

    async def until_over() -> None:
        while not crashed.is_set():
            runs = await life.store.runs(status=RunStatus.SENT)
            if runs:
                return
            await asyncio.sleep(0.01)

    await asyncio.wait(
        {asyncio.create_task(until_over()), asyncio.create_task(crashed.wait())},
        timeout=PATIENCE,
        return_when=asyncio.FIRST_COMPLETED,
    )
    crashpoints.disarm()
    clicked.cancel()
    await asyncio.gather(clicked, return_exceptions=True)
    await abandon(life)

    async with living(tmp_path) as heir:
        [first, *_] = await heir.store.find_reviews()
        if (
            first.state is ReviewState.OPEN
        ):  # the click itself was lost: the reviewer, who saw no answer, clicks again
            await decide(heir, decision)
        else:
            with pytest.raises(Conflict, match=f"already decided: {DECIDED[decision]} by ida"):
                await decide(heir, decision, by="otto")

        async def sent() -> bool:
            return (await heir.store.run(first.run_id)).status is RunStatus.SENT

        await until(sent)
    assert [kind for kind, _, _ in World(tmp_path).happened()] == ["mail"]
