"""The console on a large database: `python -m bench.console [--database URL]`.

Two desks work in the process that serves, which is set up as `deskhand serve` is: the scripted
sample desk and the inbox desk. Their runs are copied until the database holds the wanted number of
conversations and open reviews, all others answered, from many senders over three months. Then
people click through every screen while messages come in. Told are the server's time for each
screen, and the processor time of one request when nothing else happens.
"""

import argparse
import asyncio
import json
import re
import secrets
import statistics
import sys
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx
import sqlalchemy as sa

from bench.case import cpu_seconds
from deskhand.adapters.stores import tables as t
from deskhand.cli.serve import opened
from deskhand.cli.service_process import (
    answer_while_reading,
    keep_memory_compact,
    keep_what_was_started,
)
from deskhand.cli.web_server import web_server
from deskhand.model.access import Role
from deskhand.model.message import Address, Message
from deskhand.model.queue import ReviewFilter
from deskhand.model.run import ReviewState
from deskhand.wiring import Desk, open_database, read_desk, user_accounts
from deskhand.wiring.databases import search_index

SAMPLE, INBOX = "sample", "inbox"
TEMPLATES = 20
"""Messages of each desk that are really worked; all others are copies of their runs."""
CLICKERS, PAUSE = 10, 3.0
SAMPLE_EVERY, INBOX_EVERY = 0.2, 2.0
BATCH = 50
SPREAD = 90 * 86_400.0
"""Seconds over which the copied conversations came in."""
FIRST_LOAD = 250_000
"""Bytes that the first screen may load."""
ASKED = ("Where is my parcel?", "How long does delivery to Leeds take?", "Can I return a desk?")
KEYS = {"runs": "position", "messages": "run", "steps": "run", "reviews": "run", "effects": "run"}


def a_message(desk: str, number: int) -> Message:
    return Message(
        id=f"{desk}{number}",
        channel="api",
        conversation=f"{desk}-c{number}",
        sender=Address(address=f"ann{number}@example.com", name=f"Ann Number {number}"),
        subject=f"Question {number}",
        body=f"{ASKED[number % len(ASKED)]} My order is A-{10_000 + number}.",
        received_at=datetime.now(UTC),
    )


@asynccontextmanager
async def served(
    folder: Path, url: str
) -> AsyncIterator[tuple[list[Desk], Any, httpx.AsyncClient]]:
    """Both desks at work, and somebody who is logged in."""
    loaded = [read_desk(SAMPLE), read_desk(INBOX)]
    async with (
        open_database(url) as database,
        opened(loaded, database, folder / "outbox", workers=False) as desks,
    ):
        password = secrets.token_urlsafe(12)
        await user_accounts(database).add("ida", password, ["*"], role=Role.ADMIN)
        server = await web_server(desks, database)
        transport = httpx.ASGITransport(server.config.app)  # type: ignore[arg-type]
        origin = {"Origin": "http://desk.test"}
        client = httpx.AsyncClient(
            transport=transport, base_url="http://desk.test", headers=origin, timeout=600
        )
        await client.post("/login", data={"name": "ida", "password": password, "to": "/"})
        yield desks, database, client
        await client.aclose()


async def work_templates(desks: list[Desk]) -> None:
    for desk in desks:
        for number in range(TEMPLATES):
            accepted = await desk.dispatcher.submit(a_message(desk.spec.name, number))
            await desk.dispatcher.wait(accepted.run_id)


async def copy_runs(database: Any, conversations: int, reviews: int) -> None:
    """Copy the worked runs, with all they recorded, until there are so many."""

    def read(core: sa.Connection) -> tuple[int, int, int]:
        last = core.execute(sa.select(sa.func.max(t.runs.c.position))).scalar_one()
        count = core.execute(sa.select(sa.func.count()).select_from(t.runs)).scalar_one()
        is_open = t.reviews.c.state == ReviewState.OPEN
        opened_now = sa.select(sa.func.count()).select_from(t.reviews).where(is_open)
        return int(last), int(count), int(core.execute(opened_now).scalar_one())

    last, count, open_now = await database.read_core(read)
    copies = conversations // count
    keep_open = max(1, reviews // max(1, open_now))
    for first in range(1, copies + 1, BATCH):
        numbers = range(first, min(first + BATCH, copies + 1))
        values = [
            {
                "shift": number * last,
                "suffix": f"_{number}",
                "older": number * SPREAD / copies,
                "last": last,
                "closed": int(number > keep_open),
            }
            for number in numbers
        ]
        await database.write_core(lambda core, values=values: _copy(core, values))
    await database.write_core(_settle)


def _copy(core: sa.Connection, values: list[dict[str, Any]]) -> None:
    is_postgres = core.dialect.name == "postgresql"
    key = "message_key || convert_to(:suffix, 'UTF8')"
    if not is_postgres:
        key = "CAST(hex(message_key) || :suffix AS BLOB)"
    changes = {
        "runs": {
            "position": "position + :shift",
            "id": "id || :suffix",
            "conversation": "conversation || :suffix",
            "message_key": key,
            "created_at": "created_at - :older",
            "updated_at": "updated_at - :older",
            "status": "CASE WHEN :closed = 1 THEN 'sent' ELSE status END",
        },
        "messages": {"run": "run + :shift", "sender": "replace(sender, '@', :suffix || '@')"},
        "steps": {"run": "run + :shift"},
        "effects": {"run": "run + :shift"},
        "reviews": {
            "run": "run + :shift",
            "id": "id || :suffix",
            "conversation": "conversation || :suffix",
            "created_at": "created_at - :older",
            "state": "CASE WHEN :closed = 1 THEN 'decided' ELSE state END",
        },
    }
    for table, changed in changes.items():
        names = [column.name for column in t.metadata.tables[table].columns]
        quoted = ", ".join(f'"{name}"' for name in names)
        written = ", ".join(changed.get(name, f'"{name}"') for name in names)
        statement = f"INSERT INTO {table}({quoted}) SELECT {written} FROM {table}"
        core.execute(sa.text(f"{statement} WHERE {KEYS[table]} <= :last"), values)


def _settle(core: sa.Connection) -> None:
    """Go on numbering after the copies, and let the planner look."""
    if core.dialect.name == "postgresql":
        newest = sa.text(
            "SELECT setval(pg_get_serial_sequence('runs', 'position'), max(position)) FROM runs"
        )
        core.execute(newest)
    core.execute(sa.text("ANALYZE"))


async def index_copies(desks: list[Desk], database: Any) -> None:
    """Bring the copies into the search, as the process that serves does bit by bit."""
    for desk in desks:
        index = search_index(database, desk.spec)
        while await index.index_some():
            pass


async def screens_of(desks: list[Desk]) -> dict[str, str]:
    inbox = desks[1]
    waiting = await inbox.store.find_reviews(ReviewFilter(state=ReviewState.OPEN), limit=3)
    runs = await inbox.store.runs(limit=1)
    names = ("knowledge", "intents", "routing", "policies", "evals", "health", "stop")
    tabs = {f"desk {name}": f"/desk/inbox/{name}" for name in names}
    return {
        "approvals": "/approvals/",
        "approval": f"/approvals/inbox/{waiting[0].id}",
        "taken over": "/approvals/taken-over",
        "screened": "/approvals/screened",
        "messages": "/messages/",
        "conversation": f"/messages/inbox/{runs[0].id}",
        "tickets": "/tickets/",
        "runs": "/runs/",
        "runs by status": "/runs/?status=sent",
        "run": f"/runs/inbox/{runs[0].id}",
        "metrics": "/metrics/",
        "metrics, a quarter": "/metrics/?period=91&by=language",
        "metrics, a list": "/metrics/list?became=open",
        "search, a word": "/search/?q=parcel",
        "search, a beginning": "/search/?q=parc",
        "search, a number": "/search/?q=A-10007",
        "search, nothing": "/search/?q=nowhere+to+be+found",
        "users": "/desk/users",
        **tabs,
    }


async def cost_alone(client: httpx.AsyncClient, screens: Mapping[str, str]) -> dict[str, float]:
    """Milliseconds of processor time of each screen, alone: the median of three."""
    costs: dict[str, float] = {}
    for name, path in screens.items():
        found: list[float] = []
        for _ in range(3):
            begun = cpu_seconds()
            answer = await client.get(path)
            found.append(1000 * (cpu_seconds() - begun))
            assert answer.status_code == 200, (path, answer.status_code)
        costs[name] = statistics.median(found)
    return costs


async def feed(desk: Desk, every: float, until: float) -> int:
    number = 1_000_000
    while time.monotonic() < until:
        number += 1
        if not desk.dispatcher.full:
            await desk.dispatcher.submit(a_message(desk.spec.name, number))
        await asyncio.sleep(every)
    return number - 1_000_000


async def click(
    client: httpx.AsyncClient,
    screens: Mapping[str, str],
    start: int,
    until: float,
    took: dict[str, list[float]],
) -> None:
    names = list(screens)
    place = start
    while time.monotonic() < until:
        name = names[place % len(names)]
        begun = time.perf_counter()
        await client.get(screens[name])
        took[name].append(1000 * (time.perf_counter() - begun))
        place += 1
        await asyncio.sleep(PAUSE)


async def first_load(client: httpx.AsyncClient) -> int:
    """Bytes of the first screen with all that it loads."""
    page = (await client.get("/approvals/")).text
    files = set(re.findall(r'(?:src|href)="(/static/[^"#]+)', page))
    sizes = [len((await client.get(path)).content) for path in sorted(files)]
    return len(page.encode()) + sum(sizes)


def p95(values: list[float]) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]


async def bench(options: argparse.Namespace) -> dict[str, Any]:
    with TemporaryDirectory(prefix="deskhand-console-bench-") as name:
        folder = Path(name)
        url = options.database or str(folder / "deskhand.db")
        async with served(folder, url) as (desks, database, client):
            await work_templates(desks)
            begun = time.monotonic()
            await copy_runs(database, options.conversations, options.reviews)
            seeded = time.monotonic() - begun
            begun = time.monotonic()
            await index_copies(desks, database)
            indexed = time.monotonic() - begun
            screens = await screens_of(desks)
            alone = await cost_alone(client, screens)
            took: dict[str, list[float]] = {screen: [] for screen in screens}
            until = time.monotonic() + options.seconds
            await asyncio.gather(
                feed(desks[0], SAMPLE_EVERY, until),
                feed(desks[1], INBOX_EVERY, until),
                *(click(client, screens, 2 * number, until, took) for number in range(CLICKERS)),
            )
            shown: dict[str, Any] = {}
            for screen, found in took.items():
                shown[screen] = told(alone[screen], found)
            return {
                "conversations": options.conversations,
                "seeding_s": round(seeded, 1),
                "indexing_s": round(indexed, 1),
                "first_load_bytes": await first_load(client),
                "screens": shown,
            }


def told(alone: float, found: list[float]) -> dict[str, Any]:
    figures: dict[str, Any] = {"alone_cpu_ms": round(alone, 1), "clicks": len(found)}
    if found:
        figures["p50_ms"] = round(statistics.median(found), 1)
        figures["p95_ms"] = round(p95(found), 1)
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--database", help="a PostgreSQL address; a new SQLite file if not named")
    parser.add_argument("--conversations", type=int, default=100_000)
    parser.add_argument("--reviews", type=int, default=5_000)
    parser.add_argument("--seconds", type=float, default=120.0)
    options = parser.parse_args()
    keep_memory_compact()
    keep_what_was_started()
    answer_while_reading()
    json.dump(asyncio.run(bench(options)), sys.stdout, indent=1)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
