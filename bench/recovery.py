"""A worker is killed with runs in hand: when they are queued again, and when others have
finished the last of them."""

import asyncio
import time
from pathlib import Path

from bench.harness import Floor, Report, Result, alternate, medians, spread
from deskhand.model.run import RunStatus
from tests.servers import PostgresServer, postgres_programs

LEASES = (2.0, 10.0)
ALLOWANCE = 2.0
IN_HAND = 10


async def kill(folder: Path, lease: float) -> Result:
    from tests.chaos.worker import INTAKE, Settings, close_gate, member
    from tests.chaos.workers import Workers, hand_in, load

    server = await asyncio.to_thread(PostgresServer)
    try:
        with Workers(server.url(), folder, Settings(lease=lease, think=0.01)) as workers:
            victim = workers.start()
            name = await victim.up()
            async with member(server.url(), folder, INTAKE) as intake:
                store, gate = intake._store, close_gate(folder)
                await hand_in(intake, load(IN_HAND, IN_HAND))
                while len(await store.runs(status=RunStatus.RUNNING)) < IN_HAND:  # noqa: ASYNC110
                    await asyncio.sleep(0.02)
                for heir in [workers.start(), workers.start()]:
                    await heir.up()
                await asyncio.sleep(lease)  # the heirs have known it alive for a while
                victim.kill()
                killed = time.monotonic()
                gate.unlink()
                while any(run.owner == name for run in await store.runs()):  # noqa: ASYNC110
                    await asyncio.sleep(0.01)
                queued = time.monotonic() - killed
                while {run.status for run in await store.runs()} != {RunStatus.SENT}:  # noqa: ASYNC110
                    await asyncio.sleep(0.01)
                return {"queued_s": queued, "finished_s": time.monotonic() - killed}
    finally:
        await asyncio.to_thread(server.remove)


CASES = {"kill": kill}


def bench(*, quick: bool) -> Report:
    report = Report(
        "recovery",
        f"seconds from SIGKILL of a worker with {IN_HAND} runs in hand, two others at leisure",
    )
    if postgres_programs() is None:
        report.notes.append(
            "left out: PostgreSQL's server is not installed (Debian: apt-get install postgresql)"
        )
        return report
    cases = {f"lease {lease:g} s": ("recovery.kill", {"lease": lease}) for lease in LEASES}
    report.runs = alternate(cases, 1 if quick else 5)
    for (label, results), lease in zip(report.runs.items(), LEASES, strict=True):
        found, slowest = medians(results), max(result["finished_s"] for result in results)
        report.table.append(
            {
                "": label,
                "queued again": found["queued_s"],
                "last one finished": found["finished_s"],
                "(min to max)": spread(results, "finished_s"),
            }
        )
        report.floors.append(
            Floor(f"{label}, the slowest", slowest, most=lease + ALLOWANCE, unit=" s")
        )
    return report
