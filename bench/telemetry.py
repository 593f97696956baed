"""What telling telemetry adds to a message: CPU time of the teller with a sink of rows in the
desk's own database.

`python -m bench.telemetry [--messages 1000]`
"""

import argparse
import asyncio
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.harness import Floor, Report, show
from deskhand.adapters.stores.sqlite_backend import SqliteBackend
from deskhand.adapters.stores.telemetry_sink import SqlSink
from tests.conformance.test_telemetry import a_run, a_teller

STAGES = 8
"""A message tells at most so many events; the runs here tell three each."""


async def measure(messages: int) -> Report:
    report = Report("telemetry", "the CPU time that telling a message's events takes")
    with TemporaryDirectory(prefix="deskhand-bench-") as folder:
        database = await SqliteBackend.open(Path(folder) / "desk.db")
        try:
            store = database.store("shop")
            for number in range(1, messages + 1):
                await a_run(store, number)
            teller = a_teller(store, sql=SqlSink(database, "shop"))
            begun = time.process_time()
            events = await teller.catch_up("sql")
            used = 1000 * (time.process_time() - begun)
        finally:
            await database.close()
    an_event = used / events
    report.table.append({"messages": messages, "events": events, "CPU ms": round(used, 1)})
    report.floors += [
        Floor("CPU a message of three events", used / messages, most=0.5, unit="ms"),
        Floor("CPU a message of eight, by events", STAGES * an_event, most=0.5, unit="ms"),
    ]
    return report


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.telemetry", description=__doc__)
    parser.add_argument("--messages", type=int, default=1000)
    report = asyncio.run(measure(parser.parse_args(arguments).messages))
    show(report)
    return int(not all(floor.passed for floor in report.floors))


if __name__ == "__main__":
    sys.exit(main())
