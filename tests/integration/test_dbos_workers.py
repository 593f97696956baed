"""Workers on one database: whatever becomes of one of them, the others finish its work, once and
in order."""

import asyncio
import signal
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import asyncpg
import pytest
import sqlalchemy as sa

from deskhand.adapters.dispatch.worker_registry import SilenceWatch, WorkerRegistry
from deskhand.adapters.stores.postgres import PostgresStore
from deskhand.adapters.stores.postgres_database import PostgresDatabase
from deskhand.errors import AlreadyServed, StoreUnavailable
from deskhand.model.run import RunStatus
from deskhand.wiring import join_workers, open_database, read_desk
from tests.chaos.worker import DESK, INTAKE, LOST, SharedWorld, close_gate, member
from tests.chaos.workers import WorkerProcess, Workers, all_well, at_rest, hand_in, load, report
from tests.kit import a_message
from tests.servers import PostgresServer, new_database, postgres_programs
from tests.waiting import PATIENCE

pytest.importorskip("dbos", reason="DBOS is not installed (pip install deskhand[scale])")
pytestmark = pytest.mark.skipif(
    postgres_programs() is None,
    reason="PostgreSQL's server is not installed (Debian: apt-get install postgresql)",
)


NEVER_SILENT = 600.0
"""A lease under which nobody is taken for dead, however slow the machine."""


@pytest.fixture
def url() -> str:
    return new_database()


@pytest.fixture
def workers(url: str, tmp_path: Path) -> Iterator[Workers]:
    with Workers(url, tmp_path) as started:
        yield started


@pytest.fixture
async def store(url: str) -> AsyncIterator[PostgresStore]:
    database = await PostgresDatabase.open(url)
    yield PostgresStore(database, DESK)
    await database.close()


async def up(*processes: WorkerProcess) -> list[str]:
    return [await process.up() for process in processes]


async def running(store: PostgresStore, owner: str, at_least: int = 1) -> list[str]:
    """Wait until this worker has runs in hand."""
    async with asyncio.timeout(PATIENCE):
        while True:
            found = [
                run.id for run in await store.runs(status=RunStatus.RUNNING) if run.owner == owner
            ]
            if len(found) >= at_least:
                return found
            await asyncio.sleep(0.02)


async def test_a_killed_workers_runs_are_finished_by_another(
    url: str, workers: Workers, store: PostgresStore, tmp_path: Path
) -> None:
    lanes, gate = load(60, 20), close_gate(tmp_path)
    async with member(url, tmp_path, INTAKE) as intake:
        victim = workers.start()
        [name] = await up(victim)
        await hand_in(intake, lanes)
        await running(store, name, 5)
        victim.kill()
        await up(workers.start())
        gate.unlink()
        await at_rest(store)
    assert await report(store, tmp_path, lanes) == all_well(60)
    assert max(run.crashes for run in await store.runs()) == 1


async def test_a_worker_that_was_stopped_and_woken_is_fenced_and_leaves(
    url: str, workers: Workers, store: PostgresStore, tmp_path: Path
) -> None:
    lanes, gate = load(40, 20), close_gate(tmp_path)
    async with member(url, tmp_path, INTAKE) as intake:
        zombie = workers.start()
        [name] = await up(zombie)
        await hand_in(intake, lanes)
        await running(store, name, 5)
        zombie.signal(signal.SIGSTOP)
        await up(workers.start())
        gate.unlink()
        await at_rest(store)
        zombie.signal(signal.SIGCONT)
        assert await zombie.ended() == LOST
    assert await report(store, tmp_path, lanes) == all_well(40)


async def test_a_stopping_worker_hands_back_what_it_cannot_finish(
    url: str, workers: Workers, store: PostgresStore, tmp_path: Path
) -> None:
    lanes, gate = load(20, 20), close_gate(tmp_path)
    async with member(url, tmp_path, INTAKE) as intake:
        slow = workers.start(lease=NEVER_SILENT)
        [name] = await up(slow)
        await hand_in(intake, lanes)
        await running(store, name, 5)
        await up(workers.start(lease=NEVER_SILENT))
        slow.signal(signal.SIGTERM)
        assert await slow.ended() == 0
        gate.unlink()
        await at_rest(store)
    assert await report(store, tmp_path, lanes) == all_well(20)
    assert max(run.crashes for run in await store.runs()) == 0


async def test_a_restarted_database_and_cut_connections_lose_nothing(tmp_path: Path) -> None:
    server, lanes = await asyncio.to_thread(PostgresServer), load(150, 50)
    try:
        with Workers(server.url(), tmp_path) as workers:
            await up(workers.start(), workers.start())
            async with member(server.url(), tmp_path, INTAKE) as intake:
                handing_in = asyncio.create_task(hand_in(intake, lanes, pause=0.3))
                await asyncio.sleep(0.5)
                await _cut_connections(server.url())
                await asyncio.to_thread(server.stop)
                with pytest.raises(StoreUnavailable):
                    await intake.submit(a_message("while it is away"))
                await asyncio.to_thread(server.start)
                await asyncio.sleep(0.5)
                await _cut_connections(server.url())
                await handing_in
                await at_rest(intake._store)
                assert await report(intake._store, tmp_path, lanes) == all_well(150)
    finally:
        await asyncio.to_thread(server.remove)


async def _cut_connections(url: str) -> None:
    connection = await asyncpg.connect(url)
    try:
        await connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
        )
    finally:
        await connection.close()


async def test_workers_with_an_old_and_a_new_flow_version_share_the_work(
    url: str, workers: Workers, store: PostgresStore, tmp_path: Path
) -> None:
    lanes, gate = load(60, 20), close_gate(tmp_path)
    async with member(url, tmp_path, INTAKE) as intake:
        new = workers.start(version="v2", in_flight=4)
        [new_name] = await up(new)
        await hand_in(intake, lanes)
        await running(store, new_name, 3)
        [old_name] = await up(workers.start(version="v1"))
        await running(store, old_name, 3)
        new.kill()
        gate.unlink()
        await at_rest(store)
    assert await report(store, tmp_path, lanes) == all_well(60)


async def test_no_more_run_at_once_than_may_everywhere(
    url: str, workers: Workers, store: PostgresStore, tmp_path: Path
) -> None:
    lanes, gate = load(40, 20), close_gate(tmp_path)
    both = [workers.start(in_flight=3, everywhere=4, lease=NEVER_SILENT) for _ in range(2)]
    names = await up(*both)
    async with member(url, tmp_path, INTAKE) as intake:
        await hand_in(intake, lanes)
        async with asyncio.timeout(PATIENCE):
            while len(owners := await owners_at_work(store)) < 4:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        assert set(owners) == set(names)
        await asyncio.sleep(1)  # many looks at the queue, of both
        gate.unlink()
        await at_rest(store)
    assert await report(store, tmp_path, lanes) == all_well(40)
    assert most_at_once(tmp_path) == 4


async def owners_at_work(store: PostgresStore) -> list[str | None]:
    return [run.owner for run in await store.runs(status=RunStatus.RUNNING)]


def most_at_once(folder: Path) -> int:
    thinking = most = 0
    for kind, _, _ in SharedWorld(folder).happened():
        thinking += {"thinks": 1, "thought": -1}.get(kind, 0)
        most = max(most, thinking)
    return most


async def test_a_bound_over_all_workers_bounds_each(url: str) -> None:
    loaded = [read_desk("sample")]
    async with open_database(url) as database:
        assert join_workers(database, loaded, in_flight=8, everywhere=3).limits.in_flight == 3
        assert join_workers(database, loaded, in_flight=2, everywhere=3).limits.in_flight == 2


async def test_a_worker_suspended_in_a_transaction_does_not_keep_the_others_from_beating(
    url: str, store: PostgresStore
) -> None:
    alive = WorkerRegistry(store._postgres, store._postgres.name)
    await alive.sign_on("own_a", [DESK], {}, 10)
    suspended = await PostgresDatabase.open(url)
    async with suspended._engine.connect() as connection:
        await connection.execute(sa.text("UPDATE leases SET pid = 1"))  # and never goes on
        await alive.beat("own_a", [DESK], 0, 10)
        await connection.invalidate()
    await suspended.close()


async def test_two_reapers_at_once_count_one_crash(store: PostgresStore) -> None:
    database = store._postgres
    registry, dead = WorkerRegistry(database, database.name), PostgresStore(database, DESK)
    await registry.sign_on(dead.owner, [DESK], {}, 10)
    beats = await registry.beat(dead.owner, [DESK], 0, 10)
    runs = [(await store.accept(a_message(n), flow="flow")).run_id for n in range(5)]
    for run in runs:
        await dead.claim(run, {"flow": "v1"})
    struck = await asyncio.gather(*(registry.strike_off(beats) for _ in range(4)))
    assert sorted(map(len, struck)) == [0, 0, 0, 1]
    assert sum(await asyncio.gather(*(registry.recover([DESK]) for _ in range(4)))) == 5
    assert {(await store.run(run)).crashes for run in runs} == {1}


async def test_a_worker_that_beats_again_is_not_struck_off(store: PostgresStore) -> None:
    database = store._postgres
    registry = WorkerRegistry(database, database.name)
    await registry.sign_on("own_a", [DESK], {}, 10)
    before = await registry.beat("own_a", [DESK], 0, 10)
    await registry.beat("own_a", [DESK], 0, 10)
    assert await registry.strike_off(before) == []


def test_silence_is_judged_by_looks_and_not_by_clocks() -> None:
    watch = SilenceWatch(looks=3)
    assert [watch.look({"a": 1.0, "b": float(n)}) for n in range(3)] == [{}, {}, {}]
    assert watch.look({"a": 1.0, "b": 2.0}) == {"a": 1.0}
    assert watch.look({"a": 0.5, "b": 9e9}) == {}


async def test_a_process_that_serves_alone_and_workers_turn_each_other_away(
    store: PostgresStore,
) -> None:
    database = store._postgres
    registry = WorkerRegistry(database, database.name)
    await store.acquire(60)
    with pytest.raises(AlreadyServed):
        await registry.sign_on("own_a", [DESK], {}, 10)
    await store.give_up()
    await registry.sign_on("own_a", [DESK], {}, 60)
    await registry.sign_on("own_b", [DESK], {}, 60)
    with pytest.raises(AlreadyServed, match="workers list"):
        await store.acquire(60)
    await registry.sign_off("own_a", [DESK])
    with pytest.raises(AlreadyServed):
        await store.acquire(60)
    await registry.sign_off("own_b", [DESK])
    await store.acquire(60)
