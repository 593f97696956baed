"""Going from a file to PostgreSQL: everything arrives, runs go on, a second copy is refused."""

import asyncio
import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from deskhand.adapters.stores.console_feed import SqlConsoleFeed
from deskhand.adapters.stores.database_copy import copy_database
from deskhand.adapters.stores.postgres import PostgresStore
from deskhand.adapters.stores.postgres_backend import PostgresBackend
from deskhand.adapters.stores.sqlite import SqliteStore
from deskhand.adapters.stores.sqlite_backend import SqliteBackend
from deskhand.engine.audit import seal_desk, verify_desk
from deskhand.engine.journal import make_row, seed
from deskhand.errors import Conflict
from deskhand.knowledge.search import KnowledgeBase
from deskhand.model.envelope import StageResult
from deskhand.model.message import Attachment
from deskhand.model.run import NewReview, ReviewKind, RunStatus
from deskhand.model.ticket_state import TicketFilter, TicketState
from deskhand.own_tables import OwnTables
from deskhand.ports import DeskDatabase
from deskhand.wiring import knowledge_store, own_database
from tests.forked import run_command
from tests.kit import a_message
from tests.knowledge_kit import HashingEmbedder, an_article
from tests.servers import new_database, postgres_programs
from tests.tickets_kit import accepted, mail, placing_of, tickets_of

pytestmark = pytest.mark.skipif(
    postgres_programs() is None, reason="PostgreSQL's server is not installed"
)


async def filled(path: Path, runs: int) -> SqliteBackend:
    database = await SqliteBackend.open(path)
    store = SqliteStore(database, "desk")

    async def one(number: int) -> None:
        file = Attachment(name="a", type="x/y", size=2, content=b"\x00\xff")
        message = a_message(number).changed(attachments=(file,))
        run_id = (await store.accept(message, flow="flow")).run_id
        taken = await store.claim(run_id, {"flow": "v1"})
        assert taken is not None
        head = seed(run_id, taken.message_digest)
        row = make_row(
            run_id,
            0,
            "step",
            StageResult(),
            attempt=1,
            flow_version="v1",
            started_at=1.0,
            latency_ms=1.0,
            previous=head,
        )
        await store.append(row)
        review = NewReview(ReviewKind.REPLY, "unsure", {"n": number})
        await store.finish(run_id, RunStatus.WAITING_REVIEW, review=review)

    await asyncio.gather(*(one(number) for number in range(runs)))
    await seal_desk(store, b"key")
    return database


async def test_everything_arrives_and_goes_on(tmp_path: Path) -> None:
    source = await filled(tmp_path / "d.db", 2500)
    target = await PostgresBackend.open(await asyncio.to_thread(new_database))
    told: list[tuple[str, int, int]] = []
    counts = await copy_database(source, target, lambda *progress: told.append(progress))
    old, new = SqliteStore(source, "desk"), PostgresStore(target, "desk")
    assert (counts["runs"], counts["steps"], counts["reviews"], counts["seals"]) == (
        2500,
        2500,
        2500,
        1,
    )
    assert ("runs", 2500, 2500) in told
    assert await new.runs(limit=5000) == await old.runs(limit=5000)
    payloads = [review.payload for review in await old.find_reviews(limit=5000)]
    assert [review.payload for review in await new.find_reviews(limit=5000)] == payloads
    report = await verify_desk(new, key=b"key")
    assert (report.ok, report.rows, report.seals) == (True, 2500, 1)
    assert (await new.accept(a_message(7), flow="flow")).duplicate
    fresh = await new.accept(a_message("new"), flow="flow")
    assert (await new.run(fresh.run_id)).position > 2500
    with pytest.raises(Conflict, match="not empty"):
        await copy_database(source, target, lambda *progress: None)
    await source.close()
    await target.close()


async def test_what_arrived_is_searched_there(tmp_path: Path) -> None:
    source = await filled(tmp_path / "d.db", 3)
    before = await SqlConsoleFeed(source).search(["desk"], ["parc"], 5)
    target = await PostgresBackend.open(await asyncio.to_thread(new_database))
    await copy_database(source, target, lambda *progress: None)
    feed = SqlConsoleFeed(target)
    assert await feed.not_searchable(["desk"], 100) == 3
    after = await feed.search(["desk"], ["parc"], 5)
    assert after == before
    assert len(after) == 3
    await source.close()
    await target.close()


async def test_a_database_at_work_is_not_copied(tmp_path: Path) -> None:
    source = await SqliteBackend.open(tmp_path / "d.db")
    store = SqliteStore(source, "desk")
    run_id = (await store.accept(a_message(), flow="flow")).run_id
    await store.claim(run_id, {"flow": "v1"})
    target = await PostgresBackend.open(await asyncio.to_thread(new_database))
    with pytest.raises(Conflict, match="at work"):
        await copy_database(source, target, lambda *progress: None)
    assert await PostgresStore(target, "desk").runs() == []
    await source.close()
    await target.close()


async def test_a_database_that_is_served_is_not_copied(tmp_path: Path) -> None:
    source = await SqliteBackend.open(tmp_path / "d.db")
    serving = SqliteStore(source, "desk")
    await serving.acquire(30)
    target = await PostgresBackend.open(await asyncio.to_thread(new_database))
    with pytest.raises(Conflict, match=rf"served by process {os.getpid()}.*stop that process"):
        await copy_database(source, target, lambda *progress: None)
    await serving.give_up()
    counts = await copy_database(source, target, lambda *progress: None)
    assert counts["runs"] == 0
    await source.close()
    await target.close()


async def test_the_command_copies_and_counts(tmp_path: Path) -> None:
    await (await filled(tmp_path / "d.db", 20)).close()
    url = await asyncio.to_thread(new_database)
    command = ("db", "copy", str(tmp_path / "d.db"), url, "--json")
    done = await asyncio.to_thread(run_command, *command)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["rows"]["runs"] == 20
    again = await asyncio.to_thread(run_command, *command)
    assert again.returncode != 0
    assert "not empty" in again.stderr


async def test_the_knowledge_base_is_found_in_the_copy(tmp_path: Path) -> None:
    source = await SqliteBackend.open(tmp_path / "d.db")
    target = await PostgresBackend.open(await asyncio.to_thread(new_database))
    article = an_article("refunds", "Money back in five days.", "Return the goods.")
    await knowledge_store(source, "desk").put([article], "m")
    await copy_database(source, target, lambda *progress: None)
    copied = knowledge_store(target, "desk")
    [first, second] = await KnowledgeBase(copied, HashingEmbedder).search("money back in five days")
    assert (first.text, second.text) == ("Money back in five days.", "Return the goods.")
    assert first.coverage > 0.5
    await copied.put([an_article("more", "Five more days.")], "m")
    assert len(await KnowledgeBase(copied, HashingEmbedder).search("five days")) == 3
    await source.close()
    await target.close()


OWN = sa.MetaData()
SHELVES = sa.Table(
    "shelves", OWN, sa.Column("name", sa.Text, primary_key=True), sa.Column("open", sa.Boolean)
)
ITEMS = sa.Table(
    "items",
    OWN,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("shelf", sa.Text, sa.ForeignKey("shelves.name"), nullable=False, index=True),
    sa.Column("packs", sa.BigInteger, nullable=False),
    sa.Column("weight", sa.Float),
    sa.Column("at", sa.DateTime),
    sa.Column("picture", sa.LargeBinary),
    sa.Column("more", sa.JSON),
)


def fill(connection: sa.Connection) -> None:
    OWN.create_all(connection)
    connection.execute(
        SHELVES.insert(), [{"name": "A", "open": True}, {"name": "B", "open": False}]
    )
    at = datetime(2026, 11, 15, 9, 30, tzinfo=UTC).replace(tzinfo=None)
    more = {"for": ["Ann"]}
    items = [
        {
            "shelf": "A",
            "packs": 2**40 + n,
            "weight": 0.5,
            "at": at,
            "picture": b"\x00\xff",
            "more": more,
        }
        for n in range(5)
    ]
    connection.execute(ITEMS.insert(), items)


async def test_tickets_arrive_and_go_on(tmp_path: Path) -> None:
    source = await SqliteBackend.open(tmp_path / "d.db")
    store = SqliteStore(source, "desk")
    before = tickets_of(store)
    placed = []
    for number, words in enumerate(("Order 48213 is late", "Reset my password", "Invoice 77120")):
        message = mail(number, words, subject=words)
        placed.append(await placing_of(before).place(await accepted(store, message), message))
    first, second, third = (one.ticket_id for one in placed)
    await before.note(first, "call her", "eve")
    await before.set_state(second, TicketState.SOLVED, "eve")
    await before.merge(third, first, "eve", "one matter")
    await before.store.save_view("Hot", "urgency=high", "eve")
    target = await PostgresBackend.open(await asyncio.to_thread(new_database))
    await copy_database(source, target, lambda *progress: None)

    copied = PostgresStore(target, "desk", None)
    after = tickets_of(copied)
    for ticket_id in (first, second, third):
        assert await after.store.ticket(ticket_id) == await before.store.ticket(ticket_id)
        assert await after.store.events(ticket_id) == await before.store.events(ticket_id)
    assert [view.name for view in await after.store.views()] == ["Hot"]
    found = await after.store.find(TicketFilter(search="password"))
    assert [ticket.id for ticket in found] == [second]
    assert (await after.rebuild()).mended == 0
    more = mail(9, "Any news about order 48213?")
    joined = await placing_of(after).place(await accepted(copied, more), more)
    assert joined.ticket_id == first
    assert (await after.undo(first, "eve")).messages == 2
    await source.close()
    await target.close()


async def test_a_desks_own_tables_arrive_and_are_written_on(tmp_path: Path) -> None:
    tables = OwnTables("shelves", fill, customers={"items": "shelf"})
    source = await filled(tmp_path / "d.db", 1)
    target = await PostgresBackend.open(await asyncio.to_thread(new_database))
    before = own_database(source, "shop")
    query = sa.select(ITEMS).order_by(ITEMS.c.id)

    def put(connection: sa.Connection) -> dict[str, int]:
        given = {"shelf": "B", "packs": 1}
        return {
            "id": int(
                connection.execute(
                    ITEMS.insert().values(**given).returning(ITEMS.c.id)
                ).scalar_one()
            )
        }

    assert await before.once(tables, "run.0.0", put) == {"id": 6}
    told: list[tuple[str, int, int]] = []
    counts = await copy_database(source, target, lambda *progress: told.append(progress))
    assert (counts["shop/shelves"], counts["shop/items"], counts["shop/deskhand_once"]) == (2, 6, 1)
    assert ("shop/items", 6, 6) in told
    after = own_database(target, "shop")
    assert await after.once(tables, "run.0.0", put) == {"id": 6}
    assert await after.once(tables, "run.0.1", put) == {"id": 7}

    async def read(own: DeskDatabase) -> list[tuple[Any, ...]]:
        return await own.read(tables, lambda db: [tuple(row) for row in db.execute(query)])

    assert (await read(after))[:6] == await read(before)
    with pytest.raises(Exception, match="foreign key"):
        await after.write(
            tables, lambda db: db.execute(ITEMS.insert().values(shelf="Z", packs=1)).rowcount
        )
    await source.close()
    await target.close()
