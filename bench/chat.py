"""Many chats with the orders desk in one process with the embedded brain: how long a visitor waits
for an answer, what a turn costs, and what streams cost in which nothing happens.

`python -m bench.chat [--chats 200] [--every 40] [--seconds 120] [--streams 500]` starts
`deskhand serve` and talks to it over HTTP.
"""

import argparse
import asyncio
import os
import random
import secrets
import shutil
import signal
import statistics
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx

from bench.harness import Floor, Report, show
from deskhand.wiring import SHIPPED
from tests.chat_kit import SECRET, token
from tests.servers import free_port

CHAT = """channels: {web: {chat: {login_secret_env: SHOP_LOGIN, turns_per_hour: 10000,
  turns_per_network: 10000, turns_per_desk: 10000, chats_per_network: 10000, chats_per_desk: 10000,
  replies_per_hour: 10000}}}
"""
TALKS = (
    ("where is my parcel?", "O-10018", "thanks a lot"),
    ("Kde je moje objednávka O-10018?", "a kdy přijde?", "díky"),
    ("I want my money back", "why do you need that?", "O-10025", "the bottle leaks", "thank you"),
    ("Wo ist O-10018?", "do you ship to Norway?", "no", "danke"),
    ("Please cancel O-10011", "never mind", "can I talk to somebody?"),
)
"""What visitors say, turn by turn, over and over."""
WAITS_AT_MOST = 120.0


class Served:
    """The desk's process, its CPU time among them."""

    def __init__(self, process: asyncio.subprocess.Process, client: httpx.AsyncClient) -> None:
        self.client = client
        self._process = process

    def cpu(self) -> float:
        """Seconds of CPU that it and its children have used."""
        ticks = os.sysconf("SC_CLK_TCK")
        total = 0
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = stat.read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if self._process.pid in (int(stat.parent.name), int(fields[1])):
                total += int(fields[11]) + int(fields[12])
        return total / ticks


@asynccontextmanager
async def serving() -> AsyncIterator[Served]:
    with TemporaryDirectory(prefix="deskhand-bench-") as folder:
        desk = Path(folder) / "orders"
        shutil.copytree(SHIPPED / "orders", desk)
        yaml = (desk / "desk.yaml").read_text().replace("mode: draft ", "mode: auto ")
        (desk / "desk.yaml").write_text(yaml + CHAT)
        port = free_port()
        command = ("serve", str(desk), "--port", str(port), "--database", f"{folder}/desk.db")
        with (Path(folder) / "serve.log").open("wb") as log:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "deskhand.cli", *command),
                env={**os.environ, "SHOP_LOGIN": SECRET},
                stdout=log,
                stderr=log,
            )
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
        address = f"http://127.0.0.1:{port}"
        async with httpx.AsyncClient(base_url=address, limits=limits, timeout=60) as client:
            try:
                await _ready(client)
                yield Served(process, client)
            finally:
                process.send_signal(signal.SIGTERM)
                await process.wait()


async def _ready(client: httpx.AsyncClient) -> None:
    begun = time.monotonic()
    while time.monotonic() < begun + WAITS_AT_MOST:
        try:
            if (await client.get("/healthz")).is_success:
                return
        except httpx.TransportError:
            pass
        await asyncio.sleep(0.2)
    raise SystemExit("the desk does not come up")


class Visitor:
    """Says a turn every so often, and notes how long each answer took."""

    def __init__(self, served: Served, number: int, every: float) -> None:
        self._served = served
        self._every = every
        self._turns = TALKS[number % len(TALKS)]
        self._opens = secrets.token_urlsafe(32)
        self._said = 0
        self.took: list[float] = []

    async def talk(self, until: float) -> None:
        await asyncio.sleep(random.uniform(0, self._every))
        while time.monotonic() < until:
            begun = time.monotonic()
            await self.say()
            self.took.append(time.monotonic() - begun)
            await asyncio.sleep(max(0.0, self._every - (time.monotonic() - begun)))

    async def say(self) -> None:
        """One turn, until the desk rests."""
        body = {"id": str(self._said), "text": self._turns[self._said % len(self._turns)]}
        body |= {"login": token(sub="C-2003")}
        body |= {"chat": self._opens} if self._said else {"opens": self._opens}
        self._said += 1
        headers = {"Accept": "text/event-stream"}
        answer = await self._served.client.post("/api/chat", json=body, headers=headers)
        answer.raise_for_status()

    async def follow(self, stack: AsyncExitStack) -> None:
        """Open the chat's stream and leave it open."""
        headers = {"Authorization": f"Bearer {self._opens}"}
        stream = self._served.client.stream("GET", "/api/chat/events", headers=headers)
        response = await stack.enter_async_context(stream)
        response.raise_for_status()


async def chats(served: Served, count: int, every: float, seconds: float) -> dict[str, float]:
    """What turns took and cost."""
    warm = [Visitor(served, number, every) for number in range(len(TALKS))]
    for visitor in warm:
        for _ in range(3):
            await visitor.say()
    visitors = [Visitor(served, number, every) for number in range(count)]
    until = time.monotonic() + seconds
    before = served.cpu()
    await asyncio.gather(*(visitor.talk(until) for visitor in visitors))
    used = served.cpu() - before
    took = sorted(second for visitor in visitors for second in visitor.took)
    return {
        "turns": len(took),
        "turns a second": round(len(took) / seconds, 1),
        "median ms": round(1000 * statistics.median(took)),
        "p95 ms": round(1000 * took[int(0.95 * len(took))]),
        "CPU ms a turn": round(1000 * used / len(took), 1),
    }


async def idle_streams(served: Served, count: int, seconds: float) -> float:
    """The share of a core that open streams take while nothing is said."""
    async with AsyncExitStack() as stack:
        for number in range(count):
            visitor = Visitor(served, number, 1)
            await visitor.say()
            await visitor.follow(stack)
        await asyncio.sleep(3)
        before = served.cpu()
        begun = time.monotonic()
        await asyncio.sleep(seconds)
        return (served.cpu() - before) / (time.monotonic() - begun)


async def measure(options: argparse.Namespace) -> Report:
    report = Report("chat", "chats with one process and the embedded brain")
    async with serving() as served:
        row = await chats(served, options.chats, options.every, options.seconds)
        report.table.append(
            {"case": f"{options.chats} chats, a turn every {options.every} s"} | row
        )
        share = await idle_streams(served, options.streams, options.idle)
        report.table.append({"case": f"{options.streams} idle streams", "core": f"{share:.1%}"})
    report.floors += [
        Floor("p95 of an answer", row["p95 ms"], most=500, unit="ms"),
        Floor("CPU a turn", row["CPU ms a turn"], most=100, unit="ms"),
        Floor("idle streams", 100 * share, most=5, unit="% of a core"),
    ]
    return report


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.chat", description=__doc__)
    parser.add_argument("--chats", type=int, default=200)
    parser.add_argument("--every", type=float, default=40.0, help="seconds between turns")
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--streams", type=int, default=500)
    parser.add_argument("--idle", type=float, default=20.0, help="seconds that streams are watched")
    report = asyncio.run(measure(parser.parse_args(arguments)))
    show(report)
    return int(not all(floor.passed for floor in report.floors))


if __name__ == "__main__":
    sys.exit(main())
