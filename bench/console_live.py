"""What people wait for in open consoles: `python -m bench.console_live [--only decisions|idle]`.

Decisions: in Chromium, the key that approves a reply of the sample desk is pressed again and again.
Told are the milliseconds from the key to the next review on the screen, and until a second console,
which shows the same queue, has lost the review. Idle: the processor time of the serving process
with many open streams while nothing happens, less what it takes without any.
"""

import argparse
import asyncio
import json
import secrets
import socket
import statistics
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx

from bench.case import cpu_seconds
from bench.console import SAMPLE, a_message, p95
from deskhand.cli.serve import begin_to_stop, opened
from deskhand.cli.web_server import web_server
from deskhand.model.access import Role
from deskhand.model.message import Message
from deskhand.model.run import RunStatus
from deskhand.wiring import Desk, open_database, read_desk, user_accounts
from tests.browser import Page, browser

ALLOWED_MS, SEEN_MS, IDLE_SHARE = 150, 1000, 0.05
WATCH_NEXT = """
window.decided = [];
addEventListener("keydown", (event) => {
  if (event.key !== "a") return;
  const begun = performance.now();
  const at = Date.now();
  const before = document.querySelector("article.case").dataset.review;
  const look = () => {
    const now = document.querySelector("article.case")?.dataset.review;
    if (now === before) return requestAnimationFrame(look);
    requestAnimationFrame(() => {
      window.decided.push({ review: before, at, took: performance.now() - begun });
    });
  };
  requestAnimationFrame(look);
}, true);
"""
WATCH_QUEUE = """
window.gone = {};
const rows = () => [...document.querySelectorAll(".queue .item")];
const listed = () => new Set(rows().map((row) => row.dataset.review));
let before = listed();
setInterval(() => {
  const now = listed();
  before.forEach((review) => now.has(review) || (window.gone[review] ??= Date.now()));
  before = now;
}, 10);
"""


@asynccontextmanager
async def site(folder: Path) -> AsyncIterator[tuple[Desk, str, str]]:
    """The sample desk behind a real socket, and the password of ida and otto."""
    password = secrets.token_urlsafe(12)
    async with (
        open_database(str(folder / "deskhand.db")) as database,
        opened([read_desk(SAMPLE)], database, folder / "outbox", workers=False) as desks,
    ):
        for name in ("ida", "otto"):
            await user_accounts(database).add(name, password, ["*"], role=Role.ADMIN)
        with socket.create_server(("127.0.0.1", 0)) as listener:
            server = await web_server(desks, database)
            serving = asyncio.create_task(server.serve(sockets=[listener]))
            yield desks[0], f"http://127.0.0.1:{listener.getsockname()[1]}", password
            begin_to_stop(server)
            await serving


async def log_in(page: Page, base: str, name: str, password: str) -> None:
    await page.look(width=1440, height=900)
    await page.open(f"{base}/login")
    await page.fill("[name=name]", name)
    await page.fill("[name=password]", password)
    await page.press("Enter")
    await page.until("document.querySelector('.queue .item') !== null")
    await page.until("document.querySelector('[data-live-word]').innerText === 'live'")


def a_parcel_message(number: int) -> Message:
    """A message that the sample desk drafts a whole reply to: it names a parcel that there is."""
    body = f"Where is my parcel P-100{number % 2 + 1}?"
    return a_message(SAMPLE, number).model_copy(update={"body": body})


async def decisions(count: int) -> dict[str, Any]:
    with TemporaryDirectory(prefix="deskhand-console-live-") as name:
        async with site(Path(name)) as (desk, base, password), browser() as ida, browser() as otto:
            for number in range(count + 2):
                accepted = await desk.dispatcher.submit(a_parcel_message(number))
                status = await desk.dispatcher.wait(accepted.run_id)
                assert status is RunStatus.WAITING_REVIEW, status
            await log_in(ida, base, "ida", password)
            await log_in(otto, base, "otto", password)
            await otto.run(WATCH_QUEUE)
            await ida.run("document.querySelector('.queue .item').click()")
            await ida.until("document.querySelector('[data-approve]') !== null")
            await ida.run(WATCH_NEXT)
            for number in range(count):
                await asyncio.sleep(1.0)  # somebody reads it; the next one comes meanwhile
                twice = await ida.run("'twice' in document.querySelector('[data-approve]').dataset")
                for _ in range(2 if twice else 1):
                    await ida.press("a")
                await ida.until(f"window.decided.length > {number}")
            await asyncio.sleep(2.0)
            decided = await ida.run("window.decided")
            gone = await otto.run("window.gone")
    took = [one["took"] for one in decided]
    seen = [gone[one["review"]] - one["at"] for one in decided if one["review"] in gone]
    return {
        "next_review_ms": _spread(took, ALLOWED_MS),
        "seen_elsewhere_ms": _spread(seen, SEEN_MS),
    }


async def idle(windows: int, seconds: float) -> dict[str, Any]:
    with TemporaryDirectory(prefix="deskhand-console-live-") as name:
        async with site(Path(name)) as (_, base, password):
            without = await _share(seconds)
            limits = httpx.Limits(max_connections=windows + 5)
            async with httpx.AsyncClient(base_url=base, limits=limits, timeout=None) as client:
                form = {"name": "ida", "password": password, "to": "/"}
                await client.post("/login", data=form, headers={"Origin": base})
                ready = asyncio.Semaphore(0)
                open_streams = [asyncio.create_task(_listen(client, ready)) for _ in range(windows)]
                for _ in range(windows):
                    await ready.acquire()
                with_them = await _share(seconds)
                for stream in open_streams:
                    stream.cancel()
                await asyncio.gather(*open_streams, return_exceptions=True)
    return {
        "windows": windows,
        "without": round(without, 4),
        "with": round(with_them, 4),
        "their_share_of_a_core": round(with_them - without, 4),
        "allowed": IDLE_SHARE,
    }


async def _listen(client: httpx.AsyncClient, ready: asyncio.Semaphore) -> None:
    async with client.stream("GET", "/events") as answer:
        ready.release()
        async for _ in answer.aiter_raw():
            pass


async def _share(seconds: float) -> float:
    """How much of a core this process takes, which also holds the other ends of the streams."""
    await asyncio.sleep(2.0)
    begun = cpu_seconds()
    await asyncio.sleep(seconds)
    return (cpu_seconds() - begun) / seconds


def _spread(values: list[float], allowed: float) -> dict[str, Any]:
    return {
        "count": len(values),
        "p50": round(statistics.median(values), 1),
        "p95": round(p95(values), 1),
        "most": round(max(values), 1),
        "allowed": allowed,
    }


async def bench(options: argparse.Namespace) -> dict[str, Any]:
    figures: dict[str, Any] = {}
    if options.only != "idle":
        figures["decisions"] = await decisions(options.count)
    if options.only != "decisions":
        figures["idle"] = await idle(options.windows, options.seconds)
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=("decisions", "idle"))
    parser.add_argument("--count", type=int, default=30)
    parser.add_argument("--windows", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=30.0)
    json.dump(asyncio.run(bench(parser.parse_args())), sys.stdout, indent=1)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
