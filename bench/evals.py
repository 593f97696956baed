"""A thousand golden cases, a thousand recorded runs replayed: what each costs, from reading the
desk to the report."""

import asyncio
import os
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from bench.case import measuring, peak_rss_mb
from bench.harness import Floor, Report, Result, alternate, medians, spread
from deskhand.evals.case_runner import Settings, run_cases
from deskhand.evals.recorded_chat import RecordedChat
from deskhand.evals.recorded_runs import RunRange, read_conversations
from deskhand.evals.replay import replay_conversations
from deskhand.evals.report import report_of
from deskhand.evals.sealed import sealed
from deskhand.model.message import Address, Message
from deskhand.model.queue import ReviewFilter
from deskhand.model.run import Decision, ReviewState, Verdict
from deskhand.wiring import (
    desk_cases,
    find_desk,
    open_database,
    open_desk,
    open_sandbox,
    open_store,
    read_desk,
)

MESSAGES = {
    "Where is my parcel P-1001? It should have been here on Monday.": "sent",
    "Has order P-1003 left the depot?": "sent",
    "My order P-1004 has not arrived.": "sent",
    "The lamp from P-1002 is broken, I want my money back.": "waiting_review",
    "Do you sell gift cards?": "waiting_review",
    "You have won the lottery! Send us your card number.": "done",
}


def _desk(folder: Path, cases: int = 0) -> Path:
    """The sample desk as it sends by itself, with cases of ours in place of its own."""
    os.environ["SAMPLE_RETURNS"] = str(folder / "returns")
    desk = folder / "desk"
    shutil.copytree(find_desk("sample"), desk, ignore=shutil.ignore_patterns("evals"))
    text = (desk / "desk.yaml").read_text(encoding="utf-8")
    (desk / "desk.yaml").write_text(text.replace("mode: draft", "mode: auto"), encoding="utf-8")
    told = list(MESSAGES.items())
    listed: list[dict[str, Any]] = [
        {
            "id": f"case-{number}",
            "message": {"body": body},
            "expect": {"status": status, "language": "en"},
        }
        for number in range(cases)
        for body, status in [told[number % len(told)]]
    ]
    for case in listed:
        if case["expect"]["status"] == "done":
            del case["expect"]["language"]
    if cases:
        YAML(typ="safe").dump({"cases": listed}, desk / "evals.yaml")
    return desk


async def cases(folder: Path, n: int) -> Result:
    desk = _desk(folder, n)
    with measuring() as meter:
        loaded = read_desk(str(desk))
        found, scorers = desk_cases(loaded)
        async with open_sandbox(loaded) as sandbox:
            with sealed():
                results = await run_cases(found, sandbox, Settings(scorers))
        report = report_of(results, desk="sample", brain="scripted", repeat=1)
    assert (report["total"], report["passed"]) == (n, n), (report["total"], report["passed"])
    return {
        "cpu_s": meter.cpu,
        "wall_s": meter.wall,
        "cpu_ms": meter.cpu / n * 1000,
        "rss_mb": peak_rss_mb(),
    }


async def replay(folder: Path, n: int) -> Result:
    desk, database = _desk(folder), str(folder / "desk.db")
    await _record(desk, database, folder / "outbox", n)
    with measuring() as meter:
        loaded, chat = read_desk(str(desk)), RecordedChat()
        async with open_database(database) as opened:
            conversations = await read_conversations(open_store(opened, "sample"), RunRange())
        async with open_sandbox(loaded, chat=lambda own: chat.before(None), rest=0.0) as sandbox:
            found = await replay_conversations(conversations, sandbox, chat)
    verdicts = [run["verdict"] for run in found.runs]
    assert (len(verdicts), verdicts.count("identical")) == (n, n), (
        len(verdicts),
        verdicts.count("identical"),
    )
    return {
        "cpu_s": meter.cpu,
        "wall_s": meter.wall,
        "cpu_ms": meter.cpu / n * 1000,
        "rss_mb": peak_rss_mb(),
    }


async def _record(desk: Path, database: str, outbox: Path, n: int) -> None:
    """Messages of all kinds; every draft that waits is approved."""
    bodies = list(MESSAGES)
    async with (
        open_database(database) as opened,
        open_desk(read_desk(str(desk)), opened, outbox=outbox) as working,
    ):

        async def one(number: int) -> None:
            message = Message(
                id=f"m{number}",
                conversation=f"c{number}",
                sender=Address(address=f"customer{number}@example.com"),
                subject="My parcel",
                body=bodies[number % len(bodies)],
                received_at=datetime.now(UTC),
            )
            run = (await working.dispatcher.submit(message)).run_id
            await working.dispatcher.wait(run)
            for review in await working.store.find_reviews(ReviewFilter(run_id=run)):
                if review.state is ReviewState.OPEN:
                    await working.store.decide(
                        review.id, Verdict(Decision.APPROVE, "eve", review.version)
                    )
                    working.dispatcher.wake()
                    await working.dispatcher.wait(run)

        for start in range(0, n, 50):
            await asyncio.gather(*(one(number) for number in range(start, min(start + 50, n))))


CASES = {"cases": cases, "replay": replay}


def bench(*, quick: bool) -> Report:
    n, rounds = (120, 1) if quick else (1000, 3)
    report = Report(
        "evals",
        f"{n:,} single-turn cases and {n:,} recorded runs replayed, sample desk, scripted brain",
    )
    report.runs = alternate(
        {"cases": ("evals.cases", {"n": n}), "replay": ("evals.replay", {"n": n})}, rounds
    )
    for name, runs in report.runs.items():
        found = medians(runs)
        report.table.append(
            {
                "what": name,
                "CPU s": found["cpu_s"],
                "(min to max)": spread(runs, "cpu_s"),
                "CPU ms each": found["cpu_ms"],
                "wall s": found["wall_s"],
                "peak RSS MB": found["rss_mb"],
            }
        )
        report.floors.append(
            Floor(f"CPU of {n:,} {name}", found["cpu_s"], most=30 * n / 1000, unit=" s")
        )
    return report
