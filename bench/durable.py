"""Seven durable steps of 1 KB, 64 messages in flight, from accepting to done."""

import asyncio
import itertools
import sqlite3
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from bench.case import measuring, peak_rss_mb
from bench.desks import STAGES, chain, message, texts, working
from bench.harness import Floor, Report, Result, alternate, medians, spread
from deskhand.agents.parts import Parts
from deskhand.model.envelope import Envelope
from deskhand.ports import StageContext

STEP = 1000
LANGGRAPH_SETTINGS = ("as shipped", "tuned", "tuned, 4 connections", "tuned, DeltaChannel (beta)")
TUNING = (
    "PRAGMA page_size=8192",
    "PRAGMA journal_mode=WAL",
    "PRAGMA synchronous=FULL",
    "PRAGMA wal_autocheckpoint=10000",
    "PRAGMA cache_size=-64000",
    "PRAGMA mmap_size=268435456",
    "PRAGMA temp_store=MEMORY",
)


async def ours(folder: Path, n: int, in_flight: int) -> Result:
    outputs = itertools.cycle(texts(STEP))

    async def service(
        envelope: Envelope, ctx: StageContext, settings: Mapping[str, Any]
    ) -> dict[str, Any]:
        return {"out": next(outputs)}

    flow = chain("durable", STAGES, service="fill")
    async with working(
        folder, {"durable": flow}, lambda store: Parts(services={"fill": service}), in_flight=64
    ) as desk:

        async def one(number: int) -> None:
            await desk.one(message(number))

        result = await _drive(one, n, in_flight)
        result["bytes"] = await desk.stored_bytes() / (n + in_flight)
        result["writes_per_commit"] = desk.database.writes / desk.database.commits
    return result


async def langgraph(folder: Path, n: int, in_flight: int, setting: str) -> Result:
    import aiosqlite
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    path = folder / "langgraph.db"
    async with AsyncExitStack() as stack:
        savers = []
        for _ in range(4 if "connections" in setting else 1):
            connection = await stack.enter_async_context(aiosqlite.connect(path))
            for statement in TUNING if setting.startswith("tuned") else ():
                await connection.execute(statement)
            savers.append(AsyncSqliteSaver(connection))
            await savers[-1].setup()
        graphs = itertools.cycle(
            [_graph(saver, delta="DeltaChannel" in setting) for saver in savers]
        )
        empty = file_size(path)

        async def one(number: int) -> None:
            thread = {"configurable": {"thread_id": f"c{number}"}}
            await next(graphs).ainvoke({"message": message(number).body}, thread, durability="sync")

        result = await _drive(one, n, in_flight)
    result["bytes"] = (file_size(path) - empty) / (n + in_flight)
    return result


def _graph(saver: Any, *, delta: bool) -> Any:
    from typing import Annotated, TypedDict

    from langgraph.channels.delta import DeltaChannel
    from langgraph.graph import END, START, StateGraph

    outputs = itertools.cycle(texts(STEP))
    if delta:
        stored = Annotated[
            dict,
            DeltaChannel(
                lambda state, writes: {k: v for w in [state, *writes] for k, v in w.items()}
            ),
        ]
        fields: dict[str, Any] = {"message": str, "outputs": stored}
    else:
        fields = {"message": str, **dict.fromkeys(STAGES, dict)}
    graph = StateGraph(TypedDict("State", fields, total=False))  # type: ignore[operator]
    for before, stage in zip((START, *STAGES), STAGES, strict=False):

        async def node(state: Any, stage: str = stage) -> dict[str, Any]:
            made = {"out": next(outputs)}
            return {"outputs": {stage: made}} if delta else {stage: made}

        graph.add_node(f"do_{stage}", node)
        graph.add_edge(before if before == START else f"do_{before}", f"do_{stage}")
    graph.add_edge(f"do_{STAGES[-1]}", END)
    return graph.compile(checkpointer=saver)


def file_size(path: Path) -> int:
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    connection.close()
    return path.stat().st_size


async def _drive(one: Callable[[int], Awaitable[None]], n: int, in_flight: int) -> Result:
    numbers = itertools.count()

    async def lane() -> None:
        while (number := next(numbers)) < n:
            await one(number)

    await asyncio.gather(*(one(-number) for number in range(1, in_flight + 1)))  # warm up
    with measuring() as meter:
        await asyncio.gather(*(lane() for _ in range(in_flight)))
    return {"messages_s": n / meter.wall, "cpu_ms": meter.cpu / n * 1000, "rss_mb": peak_rss_mb()}


CASES = {"ours": ours, "langgraph": langgraph}


def bench(*, quick: bool) -> Report:
    report = Report(
        "durable",
        "seven durable steps of 1 KB, 64 in flight, accept to done, SQLite synchronous=FULL",
    )
    n, n_langgraph, rounds = (300, 100, 1) if quick else (2000, 400, 3)
    tries = {"n": 100 if quick else 200, "in_flight": 64}
    cases = {
        setting: ("durable.langgraph", {**tries, "setting": setting})
        for setting in LANGGRAPH_SETTINGS
    }
    tried_out = alternate(cases, rounds)
    trials = {setting: medians(results)["messages_s"] for setting, results in tried_out.items()}
    best = max(trials, key=lambda setting: trials[setting])
    tried = "; ".join(f"{setting}: {rate:.1f}/s" for setting, rate in trials.items())
    report.notes.append(f'LangGraph, durability="sync", was tried {tried}. Taken: {best}')
    report.runs = alternate(
        {
            "Deskhand": ("durable.ours", {"n": n, "in_flight": 64}),
            "LangGraph": (
                "durable.langgraph",
                {"n": n_langgraph, "in_flight": 64, "setting": best},
            ),
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
                "KB/message": result["bytes"] / 1000,
                "peak RSS MB": result["rss_mb"],
            }
        )
    us, them = found["Deskhand"], found["LangGraph"]
    report.notes.append(f"Deskhand committed {us['writes_per_commit']:.0f} writes at a time")
    report.floors = [
        Floor(
            "messages/s against LangGraph",
            us["messages_s"] / them["messages_s"],
            least=6,
            unit=" times",
        ),
        Floor("CPU a message", us["cpu_ms"], most=3, unit=" ms"),
        Floor("stored a message, all tables", us["bytes"] / 1000, most=12, unit=" KB"),
    ]
    return report
