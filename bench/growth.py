"""One conversation of 300 turns: what it stores, and what a turn costs late in it."""

import itertools
import statistics
import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from bench.case import cpu_seconds
from bench.desks import STAGES, chain, message, texts, working
from bench.durable import TUNING, file_size
from bench.harness import Floor, Report, Result, alternate, medians
from deskhand.agents.parts import Parts
from deskhand.model.envelope import Envelope
from deskhand.ports import StageContext

POINTS = (10, 100, 300)
WINDOW = 10
SPOKEN, SCRATCH = 500, 1000
"""Characters of a message or a reply, and of what each of the six stages before the reply notes."""
REMEMBERED = 20
"""Turns of the conversation that a desk reads back at the beginning of each run."""


async def ours(folder: Path) -> Result:
    spoken, scratch = itertools.cycle(texts(SPOKEN)), itertools.cycle(texts(SCRATCH))
    flow = chain("growth", STAGES, service="turn")
    history: list[Any] = []

    def parts(store: Any) -> Parts:
        async def turn(
            envelope: Envelope, ctx: StageContext, settings: Mapping[str, Any]
        ) -> dict[str, Any]:
            if envelope.hops == 1:
                history[:] = await store.conversation("c", before=2**62, limit=REMEMBERED)
            return {"out": next(spoken if envelope.hops == len(STAGES) else scratch)}

        return Parts(services={"turn": turn})

    async with working(folder, {"growth": flow}, parts, in_flight=4) as desk:

        async def one(number: int) -> None:
            await desk.one(message(number, conversation="c", body=next(spoken)))

        return await _drive(one, desk.stored_bytes)


async def langgraph(folder: Path, delta: bool) -> Result:
    from typing import Annotated, TypedDict

    import aiosqlite
    from langchain_core.messages import AIMessage, HumanMessage
    from langgraph.channels.delta import DeltaChannel
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
    from langgraph.graph import END, START, StateGraph
    from langgraph.graph.message import add_messages

    def fold(state: Any, writes: Any) -> Any:
        for written in writes:
            state = add_messages(state, written)
        return state

    spoken, scratch = itertools.cycle(texts(SPOKEN)), itertools.cycle(texts(SCRATCH))
    messages = Annotated[list, DeltaChannel(fold) if delta else add_messages]
    fields: dict[str, Any] = {"messages": messages, **dict.fromkeys(STAGES[:-1], str)}
    graph = StateGraph(TypedDict("State", fields, total=False))  # type: ignore[operator]
    for before, stage in zip((START, *STAGES), STAGES, strict=False):

        async def node(state: Any, stage: str = stage) -> dict[str, Any]:
            return (
                {"messages": [AIMessage(next(spoken))]}
                if stage == STAGES[-1]
                else {stage: next(scratch)}
            )

        graph.add_node(f"do_{stage}", node)
        graph.add_edge(before if before == START else f"do_{before}", f"do_{stage}")
    graph.add_edge(f"do_{STAGES[-1]}", END)

    path = folder / "langgraph.db"
    async with aiosqlite.connect(path) as connection:
        for statement in TUNING:
            await connection.execute(statement)
        saver = AsyncSqliteSaver(connection)
        await saver.setup()
        empty, compiled = file_size(path), graph.compile(checkpointer=saver)
        thread = {"configurable": {"thread_id": "c"}}

        async def one(number: int) -> None:
            await compiled.ainvoke(
                {"messages": [HumanMessage(next(spoken))]}, thread, durability="sync"
            )

        async def size() -> int:
            return file_size(path) - empty

        return await _drive(one, size)


async def _drive(
    one: Callable[[int], Awaitable[None]], size: Callable[[], Awaitable[int]]
) -> Result:
    result: Result = {}
    walls: list[float] = []
    cpus: list[float] = []
    for turn in range(1, POINTS[-1] + 1):
        wall, cpu = time.perf_counter(), cpu_seconds()
        await one(turn)
        walls.append(time.perf_counter() - wall)
        cpus.append(cpu_seconds() - cpu)
        if turn in POINTS:
            result[f"kb_{turn}"] = await size() / 1000
            result[f"ms_{turn}"] = statistics.median(walls[-WINDOW:]) * 1000
            result[f"cpu_ms_{turn}"] = statistics.median(cpus[-WINDOW:]) * 1000
    return result


CASES = {"ours": ours, "langgraph": langgraph}


def bench(*, quick: bool) -> Report:
    report = Report(
        "growth", "one conversation of 300 turns, seven stages a turn, one turn after the other"
    )
    report.runs = alternate(
        {
            "Deskhand": ("growth.ours", {}),
            "LangGraph": ("growth.langgraph", {"delta": False}),
            "LangGraph, DeltaChannel (beta)": ("growth.langgraph", {"delta": True}),
        },
        1 if quick else 3,
    )
    for label, results in report.runs.items():
        found = medians(results)
        row = {"engine": label}
        row |= {f"KB at {turn}": found[f"kb_{turn}"] for turn in POINTS[1:]}
        row["300 / 100"] = found["kb_300"] / found["kb_100"]
        row |= {f"ms a turn at {turn}": found[f"ms_{turn}"] for turn in POINTS}
        row |= {f"CPU ms at {turn}": found[f"cpu_ms_{turn}"] for turn in POINTS[1:]}
        report.table.append(row)
    report.notes.append(
        f"times are medians of the last {WINDOW} turns; each of our turns reads {REMEMBERED} turns"
        " back"
    )
    report.floors = [
        Floor(
            "stored at 300 turns against 100", report.table[0]["300 / 100"], most=3.2, unit=" times"
        )
    ]
    return report
