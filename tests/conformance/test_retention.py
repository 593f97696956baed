"""What only helps for a while is deleted after it, and nothing else; what a person left in a
desk's own tables goes."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from deskhand.adapters.stores import tables as t
from deskhand.engine.housekeeping import Housekeeper
from deskhand.errors import Conflict
from deskhand.model.message import Address
from deskhand.model.principal import Principal, PrincipalKind
from deskhand.model.run import EffectKey, RunStatus
from deskhand.model.totals import CALLS, CountedEffect, Scope, TotalKey
from deskhand.own_tables import OwnTables
from deskhand.wiring import (
    Database,
    erase_person,
    open_contacts,
    open_database,
    open_store,
    own_database,
)
from tests.kit import a_message
from tests.servers import new_database, postgres_programs

DAY = 24 * 3600.0
TODAY = 1_900_000_000.0
"""A day in 2030."""
METADATA = sa.MetaData()
ORDERS = sa.Table(
    "orders",
    METADATA,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("owner", sa.Text, nullable=False),
    sa.Column("note", sa.Text),
    sa.Column("packs", sa.Integer, nullable=False),
)
ROWS = [
    {"owner": "Ann@example.com", "note": "for Ann", "packs": 2},
    {"owner": "C-7", "note": "for Ann as well", "packs": 1},
    {"owner": "c-7", "note": "somebody else's", "packs": 4},
    {"owner": "bob@example.com", "note": "for Bob", "packs": 3},
]


def create(connection: sa.Connection) -> None:
    METADATA.create_all(connection)
    connection.execute(ORDERS.insert(), ROWS)


TABLES = OwnTables("orders", create, customers={"orders": ("owner", "note")})


@pytest.fixture(params=["sqlite", "postgres"])
async def database(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Database]:
    if request.param == "postgres" and postgres_programs() is None:
        pytest.skip("PostgreSQL's server is not installed")
    url = (
        str(tmp_path / "desk.db")
        if request.param == "sqlite"
        else await asyncio.to_thread(new_database)
    )
    async with open_database(url) as opened:
        yield opened


class Shop:
    """A desk whose clock the test sets."""

    def __init__(self, database: Database, desk: str = "shop") -> None:
        self.now = TODAY
        self.store = open_store(database, desk)
        self.store._now = lambda: self.now
        self._database = database

    async def sold(self, number: int, conversation: str, day: str) -> None:
        """A run with one effect that is counted for its conversation and its day."""
        accepted = await self.store.accept(
            a_message(number, conversation=conversation), flow="flow"
        )
        await self.store.claim(accepted.run_id, {"flow": "v1"})
        places: dict[Scope, TotalKey] = {"conversation": (conversation, ""), "day": ("", day)}
        counted = CountedEffect(places, {CALLS: 1}, ())
        await self.store.intend(EffectKey(accepted.run_id, 0), "sell", "hash", counted)
        await self.store.finish(accepted.run_id, RunStatus.DONE)

    async def totals(self) -> list[tuple[str, str]]:
        query = sa.select(t.totals.c.scope, t.totals.c.day).where(
            t.totals.c.desk == self.store.desk
        )
        return await self._database.read_core(
            lambda core: sorted((row[0], row[1]) for row in core.execute(query))
        )


async def test_old_answers_and_totals_go_and_new_ones_stay(database: Database) -> None:
    shop, other = Shop(database), Shop(database, "other")
    shop.now = other.now = TODAY - 100 * DAY
    await shop.sold(1, "long over", "2029-12-08")
    await shop.sold(2, "still going on", "2029-12-08")
    await other.sold(1, "long over", "2029-12-08")
    await shop.store.remember_response("old", "digest", b"1")
    shop.now = TODAY - DAY
    await shop.sold(3, "still going on", "2030-03-16")
    await shop.store.remember_response("new", "digest", b"2")
    shop.now = TODAY
    assert await shop.store.prune(30 * DAY, 90 * DAY) == (1, 2)
    assert await shop.totals() == [("conversation", ""), ("day", "2030-03-16")]
    assert len(await other.totals()) == 2
    assert await shop.store.remember_response("new", "digest", b"3") == b"2"
    assert await shop.store.remember_response("old", "another digest", b"4") is None
    assert await shop.store.prune(30 * DAY, 90 * DAY) == (0, 0)


async def test_whoever_serves_the_desk_tidies_up(database: Database) -> None:
    shop = Shop(database)
    shop.now = TODAY - 8 * DAY
    await shop.store.remember_response("old", "digest", b"1")
    shop.now = TODAY
    await Housekeeper(shop.store, responses_days=7, totals_days=7).tidy()
    assert await shop.store.remember_response("old", "digest", b"2") is None


# --- a desk's own tables


async def rows(database: Database) -> list[tuple[str, str | None, int]]:
    own = own_database(database, "shop")
    query = sa.select(ORDERS.c.owner, ORDERS.c.note, ORDERS.c.packs).order_by(ORDERS.c.id)
    found: list[Any] = await own.read(TABLES, lambda db: [tuple(row) for row in db.execute(query)])
    return found


async def wrote(database: Database, number: int, customer_id: str | None = "C-7") -> str:
    proven = Principal(
        kind=PrincipalKind.SENDER, address="ann@example.com", customer_id=customer_id
    )
    message = a_message(number).changed(sender=Address(address="ann@example.com"), principal=proven)
    store = open_store(database, "shop")
    run_id = (await store.accept(message, flow="flow")).run_id
    await store.claim(run_id, {"flow": "v1"})
    await store.finish(run_id, RunStatus.DONE)
    return run_id


async def test_a_persons_rows_name_nobody_any_more(database: Database) -> None:
    assert len(await rows(database)) == 4
    run_id = await wrote(database, 1)
    own = own_database(database, "shop")

    def for_a_run(connection: sa.Connection) -> dict[str, Any]:
        connection.execute(
            ORDERS.insert().values(owner=f"run:{run_id}", note="nobody's name", packs=5)
        )
        return {"for": "Ann"}

    await own.once(TABLES, f"{run_id}.0.0", for_a_run)
    erased = await erase_person(database, "shop", "Ann@Example.com", "eve")
    assert (erased.runs, erased.own_rows) == (1, 3)
    assert await rows(database) == [
        ("erased", "erased", 2),
        ("erased", "erased", 1),
        ("c-7", "somebody else's", 4),
        ("bob@example.com", "for Bob", 3),
        ("erased", "erased", 5),
    ]
    assert await own.once(TABLES, f"{run_id}.0.0", for_a_run) == {}
    assert (await erase_person(database, "shop", "ann@example.com", "eve")).own_rows == 0


async def test_whoever_writes_for_several_customers_is_none_of_them(database: Database) -> None:
    await rows(database)
    await wrote(database, 1)
    await wrote(database, 2, "C-8")
    assert (await erase_person(database, "shop", "ann@example.com", "eve")).own_rows == 1
    assert (await rows(database))[1] == ("C-7", "for Ann as well", 1)


async def test_a_contacts_customer_id_is_the_persons(database: Database) -> None:
    from deskhand.model.contact import ContactEntry

    await rows(database)
    await open_contacts(database, "shop").put(
        [ContactEntry(address="ann@example.com", customer_id="C-7")], "eve"
    )
    assert (await erase_person(database, "shop", "ann@example.com", "eve")).own_rows == 2


async def test_nothing_goes_while_a_run_is_at_work(database: Database) -> None:
    await rows(database)
    store = open_store(database, "shop")
    message = a_message(1).changed(sender=Address(address="ann@example.com"))
    await store.accept(message, flow="flow")
    with pytest.raises(Conflict, match="still at work"):
        await erase_person(database, "shop", "ann@example.com", "eve")
    assert (await rows(database))[0][0] == "Ann@example.com"


async def test_erasing_makes_no_tables_where_a_desk_has_none(
    database: Database, tmp_path: Path
) -> None:
    erased = await erase_person(database, "plain", "ann@example.com", "eve")
    assert (erased.is_anything, erased.mentions) == (False, [])
    assert not list(tmp_path.glob("desk.plain*"))


def test_a_table_without_a_customers_column_is_refused() -> None:
    with pytest.raises(ValueError, match="whose a row is"):
        OwnTables("orders", create, customers={"orders": ()})
