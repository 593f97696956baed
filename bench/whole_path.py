"""Messages through the whole path of a served desk: HTTP, the stages, the check of the reply, the
outbox. A burst shows what others wait for meanwhile."""

import asyncio
import itertools
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from bench.harness import ROOT, Floor, Report, Result, alternate, medians, spread
from tests.waiting import until

SAMPLE = ROOT / "src" / "deskhand" / "desks" / "sample"
DESKHAND = str(Path(sys.executable).with_name("deskhand"))
SENDERS = 16
TICKS = 100
"""Of a second, as /proc counts CPU time."""
LOOK_SECONDS = 0.1
BODIES = (
    "Hello,\n\nmy parcel P-1001 should have been here on Monday. Where is it?\n\nAnn",
    "Hi, could you tell me when P-1002 arrives? I am away from Friday on. Regards, Ben",
    "Good morning,\n\nthe tracking page of P-1003 has said the same for a week. What is"
    " going on?\n\nBest wishes\nCarla",
)


@dataclass
class ServedDesk:
    """A serving process, and a client that may write messages and read runs."""

    process: subprocess.Popen[bytes]
    client: httpx.AsyncClient

    @property
    def cpu(self) -> float:
        """Seconds of CPU that the process has used, all its threads included."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    async def post(self, number: int) -> None:
        message = {
            "id": f"m{number}",
            "conversation": f"c{number}",
            "from": f"customer{number}@example.com",
            "subject": f"A parcel ({number})",
            "body": BODIES[number % len(BODIES)],
        }
        answer = await self.client.post("/api/messages", json=message)
        answer.raise_for_status()

    async def post_all(self, n: int) -> None:
        numbers = itertools.count()

        async def send() -> None:
            while (number := next(numbers)) < n:
                await self.post(number)

        await asyncio.gather(*(send() for _ in range(SENDERS)))

    async def finished(self, n: int, outbox: Path) -> None:
        """Until all replies have left. Looks at the folder, which costs the process nothing, and
        not too often: who waits for an answer here meanwhile would wait for the look as well."""

        async def have_left() -> bool:
            await asyncio.sleep(LOOK_SECONDS)
            return _mails_in(outbox) >= n

        await until(have_left)


def _mails_in(outbox: Path) -> int:
    if not outbox.exists():
        return 0
    with os.scandir(outbox) as files:
        return sum(file.name.endswith(".eml") for file in files)


@asynccontextmanager
async def served(folder: Path) -> AsyncIterator[ServedDesk]:
    """The sample desk with its mode at `auto`, served on SQLite."""
    desk = folder / "sample"
    shutil.copytree(SAMPLE, desk)
    settings = desk / "desk.yaml"
    many = "limits: {replies_per_day: {in_all: 1000000, to_unproven: 1000000}}\nmode: auto"
    settings.write_text(re.sub(r"(?m)^mode: draft", many, settings.read_text()))
    database = ("--database", str(folder / "desk.db"))
    scopes = ("--scope", "messages:write", "--scope", "runs:read")
    log = folder / "log"
    with log.open("w") as words:
        process = subprocess.Popen(
            (DESKHAND, "serve", str(desk), "--port", "0", *database, "--outbox", f"{folder}/out"),
            stderr=words,
            stdout=words,
        )
    try:
        url = await _url(log)
        made = subprocess.check_output(
            (DESKHAND, "keys", "add", "bench", "--desk", "sample", *scopes, "--json", *database)
        )
        secret = json.loads(made)["secret"]
        headers = {"Authorization": f"Bearer {secret}"}
        async with httpx.AsyncClient(base_url=url, headers=headers, timeout=60) as client:
            yield ServedDesk(process, client)
    finally:
        process.terminate()
        process.wait()


async def _url(log: Path) -> str:
    def addresses() -> list[str]:
        return re.findall(r"http://[^\s/]+", log.read_text())

    await until(lambda: bool(addresses()))
    return addresses()[0]


async def steady(folder: Path, *, n: int) -> Result:
    """CPU of the serving process for each message."""
    async with served(folder) as desk:
        await desk.post(1_000_000)
        await desk.finished(1, folder / "out")
        cpu, begun = desk.cpu, time.perf_counter()
        await desk.post_all(n)
        await desk.finished(n + 1, folder / "out")
        wall = time.perf_counter() - begun
        return {"cpu_ms": (desk.cpu - cpu) / n * 1000, "messages_s": n / wall}


async def burst(folder: Path, *, n: int) -> Result:
    """How long the health check and the console's first page take while messages rush in."""
    async with served(folder) as desk:
        page = await _log_in(desk, folder)
        home = (await page.get("/", follow_redirects=True)).url
        waits: dict[str, list[float]] = {"healthz": [], "page": []}
        looking = [
            asyncio.create_task(_look(lambda: desk.client.get("/healthz"), waits["healthz"])),
            asyncio.create_task(_look(lambda: page.get(home), waits["page"])),
        ]
        await desk.post_all(n)
        await desk.finished(n, folder / "out")
        for task in looking:
            task.cancel()
        await page.aclose()
    return {f"{name}_p95_ms": statistics.quantiles(all_, n=20)[18] for name, all_ in waits.items()}


async def _log_in(desk: ServedDesk, folder: Path) -> httpx.AsyncClient:
    database = ("--database", str(folder / "desk.db"))
    made = subprocess.check_output(
        (DESKHAND, "users", "add", "ida", "--desk", "*", "--generate", "--json", *database)
    )
    url = str(desk.client.base_url)
    page = httpx.AsyncClient(base_url=url, headers={"Origin": url.rstrip("/")}, timeout=60)
    form = {"name": "ida", "password": json.loads(made)["password"], "to": "/"}
    answer = await page.post("/login", data=form)
    assert answer.status_code == httpx.codes.SEE_OTHER, answer.text
    return page


async def _look(get: Callable[[], Awaitable[httpx.Response]], waits: list[float]) -> Any:
    while True:
        begun = time.perf_counter()
        answer = await get()
        assert answer.status_code == httpx.codes.OK, answer.text
        waits.append((time.perf_counter() - begun) * 1000)
        await asyncio.sleep(0.05)


CASES = {"steady": steady, "burst": burst}


def bench(*, quick: bool) -> Report:
    report = Report(
        "whole_path", "the sample desk, served on SQLite, every reply leaving, messages over HTTP"
    )
    n, rush, rounds = (200, 300, 1) if quick else (2000, 2000, 3)
    report.runs = alternate(
        {
            "steady": ("whole_path.steady", {"n": n}),
            "burst": ("whole_path.burst", {"n": rush}),
        },
        rounds,
    )
    steadily, rushed = medians(report.runs["steady"]), medians(report.runs["burst"])
    report.table = [
        {
            "messages": n,
            "CPU ms/message": steadily["cpu_ms"],
            "(min to max)": spread(report.runs["steady"], "cpu_ms"),
            "messages/s": steadily["messages_s"],
            "burst": rush,
            "/healthz p95 ms": rushed["healthz_p95_ms"],
            "page p95 ms": rushed["page_p95_ms"],
        }
    ]
    report.floors = [
        Floor("CPU of a message", steadily["cpu_ms"], most=7, unit=" ms"),
        Floor("/healthz in a burst, p95", rushed["healthz_p95_ms"], most=50, unit=" ms"),
        Floor("page in a burst, p95", rushed["page_p95_ms"], most=300, unit=" ms"),
    ]
    return report
