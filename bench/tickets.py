"""Tickets: a customer's among a million, matching long ones, and a whole ticket on one core."""

import asyncio
import json
import random
import shutil
import statistics
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import sqlalchemy as sa

from bench.harness import Floor, Report
from deskhand.adapters.stores import tables as t
from deskhand.adapters.stores.active_tickets import SqlActiveTickets
from deskhand.adapters.stores.postgres_database import PostgresDatabase
from deskhand.adapters.stores.redis_tickets import open_redis_tickets
from deskhand.adapters.stores.sqlite_database import SqliteDatabase
from deskhand.adapters.stores.tickets import SqlTickets
from deskhand.evals.lane import LaneClock
from deskhand.language.embed import shared_embedder
from deskhand.language.ticket_facts import continuations
from deskhand.mail.message_files import message_from
from deskhand.model.ticket import TicketCheckpoint, as_fields
from deskhand.model.ticket_state import TicketState
from deskhand.tickets.placing import TicketPlacing
from deskhand.tickets.service import Tickets
from deskhand.wiring import open_database, open_sandbox, read_desk
from tests.servers import PostgresServer, RedisServer, postgres_programs

FEW, MANY = 1_000, 1_000_000
QUICK_MANY = 20_000
OF_A_CUSTOMER = 5
PORTION = 5_000
ASKED = 200
MATCHED = 40
_SAID = (
    "How do I add a colleague to one project?",
    "Where can I download the invoice of last month?",
    "The export to Excel stops half way, what can I do?",
    "Wie ändere ich die Rechnungsadresse?",
    "Jak změním heslo?",
)


def ticket_rows(count: int, first: int = 0) -> Iterator[dict[str, Any]]:
    """Rows of tickets, five for each customer, every tenth active."""
    for number in range(first, first + count):
        state = TicketState.ACTIVE if number % 10 == 0 else TicketState.SOLVED
        yield {
            "desk": "bench",
            "id": f"TKT-{number:08d}",
            "customer": f"customer:C{number // OF_A_CUSTOMER}",
            "state": state,
            "subject": f"Matter {number}",
            "number": 2,
            "opened_at": float(number),
            "changed_at": float(number),
            "solved_at": None if state is TicketState.ACTIVE else float(number),
            "tags": "",
            "messages": 1,
            "search_text": f"matter {number}",
            "checkpoint": json.dumps(_checkpoint(number)).encode(),
        }


async def _fill(database: Any, count: int, first: int = 0) -> None:
    rows = ticket_rows(count, first)
    while portion := [row for row, _ in zip(rows, range(PORTION), strict=False)]:
        await database.write_core(
            lambda core, part=portion: core.execute(sa.insert(t.tickets), part).close()
        )


async def _median(asked: Callable[[int], Awaitable[object]], customers: int) -> float:
    """Milliseconds of one question about a customer; each time about another one."""
    chance = random.Random(3)
    times: list[float] = []
    for _ in range(ASKED):
        customer = chance.randrange(customers)
        begun = time.perf_counter()
        await asked(customer)
        times.append(1000 * (time.perf_counter() - begun))
    return statistics.median(times)


async def _in_sql(database: Any, many: int) -> tuple[float, float]:
    """A customer's tickets among few and among many, in milliseconds."""
    store = SqlTickets(database, "bench")
    measured: list[float] = []
    held = 0
    for count in (FEW, many):
        await _fill(database, count - held, held)
        held = count
        await _analysed(database)

        async def asked(customer: int) -> object:
            return await store.of_customer([f"customer:C{customer}"], conversation="none")

        await _median(asked, count // OF_A_CUSTOMER)  # what is read first is not yet in memory
        measured.append(await _median(asked, count // OF_A_CUSTOMER))
    return measured[0], measured[1]


async def _analysed(database: Any) -> None:
    await database.write_core(lambda core: core.execute(sa.text("ANALYZE tickets")).close())


async def _in_redis(url: str, many: int) -> tuple[float, float]:
    from redis.asyncio import Redis

    active = open_redis_tickets(url, "bench")
    await active.put_checkpoint("customer:C0", "TKT-00000000", _checkpoint(0))
    measured: list[float] = []
    held = 0
    async with Redis.from_url(url) as raw:
        for count in (FEW, many):
            await _fill_redis(raw, active, held, count)
            held = count

            async def asked(customer: int) -> object:
                return await active.checkpoints_of(f"customer:C{customer}")

            await _median(asked, count // OF_A_CUSTOMER)
            measured.append(await _median(asked, count // OF_A_CUSTOMER))
    await active.close()
    return measured[0], measured[1]


def _checkpoint(number: int) -> dict[str, Any]:
    held = TicketCheckpoint(
        ticket_id=f"TKT-{number:08d}",
        customer=f"customer:C{number // OF_A_CUSTOMER}",
        number=2,
        state=TicketState.ACTIVE,
        subject=f"Matter {number}",
    )
    return dict(as_fields(held))


async def _fill_redis(raw: Any, active: Any, first: int, count: int) -> None:
    """As `put_checkpoint` writes, many at once."""
    for begin in range(first, count, PORTION):
        async with raw.pipeline(transaction=False) as pipe:
            for number in range(begin, min(begin + PORTION, count)):
                customer = f"customer:C{number // OF_A_CUSTOMER}"
                ticket = f"TKT-{number:08d}"
                key = active._key(customer, ticket)
                pipe.set(key, json.dumps(_checkpoint(number)))
                pipe.sadd(active._set(customer), ticket)
            await pipe.execute()


async def matching_ratio() -> float:
    """How much longer it takes to bring a message to its ticket, from reading the customer's
    tickets to the written event, where a ticket has 500 messages than where it has five."""
    with TemporaryDirectory() as folder:
        async with open_database(str(Path(folder) / "bench.db")) as database:
            store = database.store("bench")
            tickets = Tickets(SqlTickets(database, "bench"), SqlActiveTickets(database, "bench"))
            placing = TicketPlacing(
                tickets, embedder=shared_embedder(), continuations=continuations
            )
            lengths = {"short": 5, "long": 500}
            for customer, length in lengths.items():
                for number in range(length):
                    await _placed(store, placing, customer, number, "The export stops half way.")
            times: dict[str, list[float]] = {name: [] for name in lengths}
            for number in range(1000, 1000 + MATCHED):
                for customer in lengths:
                    words = f"Where do I change the colour of card {customer[0]}{number}?"
                    times[customer].append(
                        await _placed(store, placing, customer, number, words, of_its_own=True)
                    )
            return statistics.median(times["long"]) / statistics.median(times["short"])


async def _placed(
    store: Any,
    placing: TicketPlacing,
    customer: str,
    number: int,
    words: str,
    *,
    of_its_own: bool = False,
) -> float:
    """Place a message; the seconds that took. A ticket that it opened is closed again, so each
    customer keeps one."""
    name = f"{customer}-{number}" if of_its_own else customer
    data = {"from": f"{customer}@example.com", "customer_id": customer, "body": words}
    data |= {"id": f"{customer}{number}", "conversation": name}
    message = message_from(data, vouched_by="the bench")
    run = (await store.accept(message, flow="flow")).run_id
    begun = time.perf_counter()
    placed = await placing.place(run, message)
    took = time.perf_counter() - begun
    if placed.is_new and of_its_own:
        await placing.tickets.set_state(placed.ticket_id, TicketState.CLOSED, "the bench")
    return took


async def whole_tickets(count: int) -> float:
    """The median milliseconds of a ticket through the shipped desk, one after the other."""
    loaded = read_desk("triage")
    spec = loaded.spec.model_copy(update={"mode": "auto"})
    times: list[float] = []
    async with open_sandbox(replace(loaded, spec=spec)) as sandbox:
        lane = sandbox.lane(LaneClock(1_800_000_000.0), lambda *call: None)
        for number in range(count + 5):
            data = {
                "from": f"c{number}@example.com",
                "customer_id": f"C{number}",
                "id": f"m{number}",
                "conversation": f"c{number}",
                "body": f"{_SAID[number % len(_SAID)]} ({number})",
            }
            begun = time.perf_counter()
            await lane.work(await lane.accept(message_from(data, vouched_by="the bench")))
            times.append(1000 * (time.perf_counter() - begun))
    return statistics.median(times[5:])


async def _customers(report: Report, many: int) -> None:
    with TemporaryDirectory() as folder:
        database = await SqliteDatabase.open(Path(folder) / "bench.db")
        _add(report, "SQLite", await _in_sql(database, many), many)
        await database.close()
    if postgres_programs() is not None:
        server = await asyncio.to_thread(PostgresServer)
        try:
            database_there = await PostgresDatabase.open(server.url())
            _add(report, "PostgreSQL", await _in_sql(database_there, many), many)
            await database_there.close()
        finally:
            await asyncio.to_thread(server.remove)
    if shutil.which("redis-server") is not None:
        redis = await asyncio.to_thread(RedisServer)
        try:
            _add(report, "Redis", await _in_redis(redis.url, many), many)
        finally:
            await asyncio.to_thread(redis.remove)


def _add(report: Report, where: str, found: tuple[float, float], many: int) -> None:
    few, lots = found
    report.table.append({"where": where, f"ms among {FEW}": few, f"ms among {many}": lots})
    what = f"a customer's tickets among {many:,} in {where}, times those among {FEW:,}"
    report.floors.append(Floor(what, lots / few, most=2.0))


def bench(*, quick: bool) -> Report:
    report = Report("tickets", "a customer's tickets among many, long tickets, whole tickets")
    many = QUICK_MANY if quick else MANY
    asyncio.run(_customers(report, many))
    ratio = asyncio.run(matching_ratio())
    what = "matching a ticket of 500 messages, times one of 5"
    report.floors.append(Floor(what, ratio, most=1.2))
    median = asyncio.run(whole_tickets(10 if quick else 60))
    report.floors.append(Floor("p50 of a ticket", median, most=500.0, unit="ms"))
    return report
