"""Seven durable steps of 1 KB on PostgreSQL: both dispatchers, LangGraph with its saver, and
plain DBOS steps."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from bench.case import measuring
from bench.desks import STAGES, chain, message, texts
from bench.durable import STEP, _drive, _graph
from bench.harness import Floor, Report, Result, alternate, medians, run_case, spread
from deskhand.agents.agent import Agent
from deskhand.agents.parts import Parts
from deskhand.engine.clock import SystemClock
from deskhand.engine.dispatcher import DispatchLimits, InProcessDispatcher
from deskhand.engine.loop import Flow
from deskhand.engine.worker import Worker
from deskhand.model.envelope import Envelope
from deskhand.model.ids import new_id
from deskhand.model.run import RunStatus
from deskhand.ports import StageContext
from tests.servers import PostgresServer, postgres_programs

IN_FLIGHT = 64
LANGGRAPH_SETTINGS = ("one connection", "pool of 10", "pool of 20")


@asynccontextmanager
async def _server() -> AsyncIterator[PostgresServer]:
    """With every commit on disk, as it must be."""
    server = await asyncio.to_thread(lambda: PostgresServer(durable=True))
    try:
        yield server
    finally:
        await asyncio.to_thread(server.remove)


async def in_process(folder: Path, n: int, in_flight: int) -> Result:
    async with _server() as server:
        return await _ours(server.url(), n, in_flight, workers=False)


async def workers(folder: Path, n: int, in_flight: int) -> Result:
    async with _server() as server:
        return await _ours(server.url(), n, in_flight, workers=True)


async def _ours(url: str, n: int, in_flight: int, *, workers: bool) -> Result:
    from deskhand.adapters.stores.postgres import PostgresStore
    from deskhand.adapters.stores.postgres_database import PostgresDatabase

    outputs = itertools.cycle(texts(STEP))

    async def service(
        envelope: Envelope, ctx: StageContext, settings: Mapping[str, Any]
    ) -> dict[str, Any]:
        return {"out": next(outputs)}

    spec, parts = chain("durable", STAGES, service="fill"), Parts(services={"fill": service})
    flow = Flow(spec, {stage: Agent(agent, parts).process for stage, agent in spec.stages.items()})
    database = await PostgresDatabase.open(url)
    store, clock = PostgresStore(database, "bench", new_id("own")), SystemClock()
    work = Worker(store, {"durable": flow}, clock).work
    dispatcher: Any
    if workers:
        from deskhand.adapters.dispatch.dbos_dispatcher import DbosDispatcher
        from deskhand.adapters.dispatch.worker_process import WorkerLimits, WorkerProcess

        worker_process = WorkerProcess(
            database, store.owner, ["bench"], WorkerLimits(in_flight=IN_FLIGHT)
        )
        dispatcher = DbosDispatcher(
            worker_process, store, work, lambda message: "durable", {"durable": spec.version}
        )
    else:
        dispatcher = InProcessDispatcher(
            store, work, lambda message: "durable", clock, DispatchLimits(in_flight=IN_FLIGHT)
        )
    await dispatcher.start()

    async def one(number: int) -> None:
        accepted = await dispatcher.submit(message(number))
        assert await dispatcher.wait(accepted.run_id) is RunStatus.DONE

    result = await _drive(one, n, in_flight)
    result["alone_ms"] = await _alone(one, n)
    await dispatcher.stop()
    await database.close()
    return result


async def langgraph(folder: Path, n: int, in_flight: int, setting: str) -> Result:
    from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
    from psycopg.rows import dict_row
    from psycopg_pool import AsyncConnectionPool

    size = {"one connection": 1, "pool of 10": 10, "pool of 20": 20}[setting]
    async with _server() as server:
        kwargs = {"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}
        async with AsyncConnectionPool(
            server.url(), min_size=size, max_size=size, kwargs=kwargs
        ) as pool:
            saver = AsyncPostgresSaver(pool)
            await saver.setup()
            graph = _graph(saver, delta=False)

            async def one(number: int) -> None:
                thread = {"configurable": {"thread_id": f"c{number}"}}
                await graph.ainvoke({"message": message(number).body}, thread, durability="sync")

            result = await _drive(one, n, in_flight)
            result["alone_ms"] = await _alone(one, n)
            return result


async def dbos_steps(folder: Path, n: int, in_flight: int) -> Result:
    from dbos import DBOS, SetWorkflowID

    outputs = itertools.cycle(texts(STEP))
    async with _server() as server:
        url = server.url().replace("postgresql://", "postgresql+psycopg://")
        DBOS(
            config={
                "name": "bench",
                "system_database_url": url,
                "sys_db_pool_size": 20,
                "application_version": "1",
                "log_level": "ERROR",
            }
        )

        @DBOS.step()
        async def step(stage: str, state: dict[str, Any]) -> dict[str, Any]:
            return {"out": next(outputs)}

        @DBOS.workflow()
        async def flow(body: str) -> None:
            state: dict[str, Any] = {"message": body}
            for stage in STAGES:
                state[stage] = await step(stage, {})

        DBOS.launch()

        async def one(number: int) -> None:
            with SetWorkflowID(f"m{number}"):
                handle = await DBOS.start_workflow_async(flow, message(number).body)
            await handle.get_result()

        result = await _drive(one, n, in_flight)
        result["alone_ms"] = await _alone(one, n)
        await asyncio.to_thread(DBOS.destroy)
        asyncio.get_running_loop().set_default_executor(
            ThreadPoolExecutor()
        )  # DBOS took ours with it
        return result


async def _alone(one: Callable[[int], Awaitable[None]], n: int) -> float:
    """What a single message takes when nothing else is going on."""
    with measuring() as meter:
        for number in range(10):
            await one(10_000_000 + n + number)
    return meter.wall / 10 * 1000


CASES = {
    "in_process": in_process,
    "workers": workers,
    "langgraph": langgraph,
    "dbos_steps": dbos_steps,
}


def bench(*, quick: bool) -> Report:
    report = Report(
        "scale", "seven durable steps of 1 KB, 64 in flight, accept to done, PostgreSQL with fsync"
    )
    if postgres_programs() is None:
        report.notes.append(
            "left out: PostgreSQL's server is not installed (Debian: apt-get install postgresql)"
        )
        return report
    n, slow, rounds = (300, 100, 1) if quick else (2000, 400, 3)
    trials = {
        setting: run_case("scale.langgraph", n=slow // 2, in_flight=IN_FLIGHT, setting=setting)
        for setting in LANGGRAPH_SETTINGS
    }
    best = max(trials, key=lambda setting: trials[setting]["messages_s"])
    tried = ", ".join(
        f"{setting}: {trial['messages_s']:.1f}/s" for setting, trial in trials.items()
    )
    report.notes.append(f'LangGraph, durability="sync", tried with {tried}; taken: {best}')
    report.runs = alternate(
        {
            "Deskhand, in process": ("scale.in_process", {"n": n, "in_flight": IN_FLIGHT}),
            "Deskhand, workers on DBOS": ("scale.workers", {"n": n // 2, "in_flight": IN_FLIGHT}),
            "LangGraph": ("scale.langgraph", {"n": slow, "in_flight": IN_FLIGHT, "setting": best}),
            "plain DBOS steps": ("scale.dbos_steps", {"n": slow, "in_flight": IN_FLIGHT}),
        },
        rounds,
    )
    found = {label: medians(results) for label, results in report.runs.items()}
    for label, result in found.items():
        report.table.append(
            {
                "engine": label,
                "messages/s": result["messages_s"],
                "(min to max)": spread(report.runs[label], "messages_s"),
                "CPU ms/message": result["cpu_ms"],
                "one alone ms": result["alone_ms"],
                "peak MB": result["rss_mb"],
            }
        )
    ours, workers_on_dbos, theirs = (found[label] for label in list(found)[:3])
    report.floors = [
        Floor(
            "in process to LangGraph", ours["messages_s"] / theirs["messages_s"], least=10, unit="x"
        ),
        Floor("in process, CPU a message", ours["cpu_ms"], most=3, unit=" ms"),
        Floor(
            "workers on DBOS to LangGraph",
            workers_on_dbos["messages_s"] / theirs["messages_s"],
            least=2.5,
            unit="x",
        ),
        Floor("workers on DBOS, CPU a message", workers_on_dbos["cpu_ms"], most=10, unit=" ms"),
    ]
    report.notes.append("CPU is that of the engine's process; PostgreSQL's own is not in it")
    return report
