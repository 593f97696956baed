"""What telling telemetry adds to a message: CPU time of the teller with a sink of rows in the
desk's own database.

`python -m bench.telemetry [--messages 1000]`
"""

import argparse
import asyncio
import gc
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.harness import Floor, Report, show
from deskhand.adapters.stores.sqlite_backend import SqliteBackend
from deskhand.adapters.stores.telemetry_sink import SqlSink
from deskhand.model.envelope import Delta, StageResult
from deskhand.model.message import DELIVER
from tests.conformance.test_telemetry import a_run, a_teller, finished_run

OBJECTS_BETWEEN_COLLECTIONS = 50_000
"""As `deskhand serve` has it."""


async def a_planned_run(store: Any, number: int) -> str:
    """A message that goes through all eight stages, once each."""
    eligible = {"eligible": ["refund", "order_status", "cancel_order"]}
    steps = [{"type": "respond"}, {"type": "tool_call"}, {"type": "respond"}]
    said = {"when": "pre", "text": "One moment, I look that up."}
    call = {"tool": "order_status", "verdict": "allow", "ok": True, "arguments": {"order": "A-1"}}
    reply = {"tool": DELIVER, "verdict": "allow", "ok": True, "arguments": {"text": "Tomorrow."}}
    category = Delta(outputs={"classify": {"category": "order_status", "confidence": 0.97}})
    results = (
        ("classify", StageResult(delta=category, answered=eligible, next="decide")),
        ("decide", StageResult(delta=Delta(outputs={"plan": {"steps": steps}}), next="act")),
        ("act/respond 0", StageResult(delta=Delta(append={"act.said": [said]}))),
        ("act/call 1", StageResult(call=call)),
        ("reply/deliver", StageResult(call=reply)),
    )
    return await finished_run(store, number, results)


async def telling(messages: int, make: Callable[[Any, int], Awaitable[str]]) -> tuple[int, float]:
    """How many events these messages tell, and the milliseconds of CPU that telling them takes."""
    with TemporaryDirectory(prefix="deskhand-bench-") as folder:
        database = await SqliteBackend.open(Path(folder) / "desk.db")
        try:
            store = database.store("shop")
            for number in range(1, messages + 1):
                await make(store, number)
            teller = a_teller(store, sql=SqlSink(database, "shop"))
            begun = time.process_time()
            events = await teller.catch_up("sql")
            return events, 1000 * (time.process_time() - begun)
        finally:
            await database.close()


async def measure(messages: int) -> Report:
    report = Report("telemetry", "the CPU time that telling a message's events takes")
    for name, make in (("three", a_run), ("eight", a_planned_run)):
        events, used = await telling(messages, make)
        row = {"messages": messages, "events": events, "CPU ms": round(used, 1)}
        report.table.append(row)
        what = f"CPU a message of {name} events"
        report.floors.append(Floor(what, used / messages, most=0.5, unit="ms"))
    return report


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.telemetry", description=__doc__)
    parser.add_argument("--messages", type=int, default=1000)
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS, 20, 50)
    report = asyncio.run(measure(parser.parse_args(arguments).messages))
    show(report)
    return int(not all(floor.passed for floor in report.floors))


if __name__ == "__main__":
    sys.exit(main())
