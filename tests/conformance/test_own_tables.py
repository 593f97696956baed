"""A desk's own tables: made once, one transaction a call, once a key, and apart from everybody
else's."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from deskhand.errors import ToolError
from deskhand.own_tables import OwnTables
from deskhand.ports import DeskDatabase
from deskhand.wiring import open_database, own_database
from tests.servers import new_database, postgres_programs

METADATA = sa.MetaData()
RUNS = sa.Table(  # a name the engine uses as well
    "runs",
    METADATA,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("count", sa.Integer, sa.CheckConstraint("count >= 0"), nullable=False),
)


def create(connection: sa.Connection) -> None:
    METADATA.create_all(connection)
    connection.execute(RUNS.insert(), [{"name": "pills", "count": 3}])


TABLES = OwnTables("stock", create)
Opened = Callable[..., Any]


@pytest.fixture(params=["sqlite", "postgres"])
async def opened(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Opened]:
    """`await opened(desk)`: a desk's own tables, as another process would open them."""
    if request.param == "postgres" and postgres_programs() is None:
        pytest.skip("PostgreSQL's server is not installed (Debian: apt-get install postgresql)")
    url = (
        str(tmp_path / "own.db")
        if request.param == "sqlite"
        else await asyncio.to_thread(new_database)
    )
    open_ones: list[Any] = []

    async def one(desk: str = "shop") -> DeskDatabase:
        context = open_database(url)
        database = await context.__aenter__()
        open_ones.append(context)
        return own_database(database, desk)

    try:
        yield one
    finally:
        for context in open_ones:
            await context.__aexit__(None, None, None)


def counted(connection: sa.Connection) -> int:
    return int(connection.execute(sa.select(RUNS.c.count)).scalar_one())


def take_one(connection: sa.Connection) -> dict[str, Any]:
    taken = connection.execute(
        RUNS.update().where(RUNS.c.count > 0).values(count=RUNS.c.count - 1)
    ).rowcount
    if not taken:
        raise ToolError("sold_out", "There is none left.")
    return {"left": counted(connection)}


async def test_tables_are_made_and_filled_once_by_whoever_comes_first(opened: Opened) -> None:
    processes = [await opened() for _ in range(4)]
    assert await asyncio.gather(*(own.read(TABLES, counted) for own in processes)) == [3, 3, 3, 3]
    await processes[0].write(TABLES, take_one)
    assert await (await opened()).read(TABLES, counted) == 2


async def test_a_step_that_is_added_later_is_done_on_tables_that_are_there(opened: Opened) -> None:
    await (await opened()).write(TABLES, take_one)

    def more(connection: sa.Connection) -> None:
        connection.execute(RUNS.update().values(count=RUNS.c.count + 10))

    grown = OwnTables("stock", create, more)
    assert await (await opened()).read(grown, counted) == 12
    assert await (await opened()).read(grown, counted) == 12


async def test_every_desk_has_its_own(opened: Opened) -> None:
    one, other = await opened("one"), await opened("other-desk")
    await one.write(TABLES, take_one)
    assert (await one.read(TABLES, counted), await other.read(TABLES, counted)) == (2, 3)


async def test_what_raises_changes_nothing(opened: Opened) -> None:
    own = await opened()

    def take_and_fail(connection: sa.Connection) -> None:
        take_one(connection)
        raise ToolError("no", "Not today.")

    with pytest.raises(ToolError, match="Not today"):
        await own.write(TABLES, take_and_fail)
    assert await own.read(TABLES, counted) == 3


async def test_a_key_is_done_once_also_at_the_same_time(opened: Opened) -> None:
    processes = [await opened() for _ in range(3)]
    keys = ["a", "b"] * 6
    results = await asyncio.gather(
        *(processes[number % 3].once(TABLES, key, take_one) for number, key in enumerate(keys))
    )
    assert await processes[0].read(TABLES, counted) == 1
    assert {result["left"] for result in results} == {1, 2}


async def test_a_key_whose_work_failed_may_try_again(opened: Opened) -> None:
    own = await opened()

    def fail(connection: sa.Connection) -> dict[str, Any]:
        raise ToolError("no", "Not today.")

    with pytest.raises(ToolError):
        await own.once(TABLES, "a", fail)
    assert await own.once(TABLES, "a", take_one) == {"left": 2}


async def test_a_rehearsal_shows_what_would_come_of_it_and_leaves_nothing(opened: Opened) -> None:
    own = await opened()
    rehearsal = own.rehearsal()
    assert await rehearsal.once(TABLES, "a", take_one) == {"left": 2}
    assert await rehearsal.once(TABLES, "a", take_one) == {"left": 2}
    assert await own.read(TABLES, counted) == 3
    assert await own.once(TABLES, "a", take_one) == {"left": 2}


async def test_many_at_once_never_take_more_than_there_is(opened: Opened) -> None:
    processes = [await opened() for _ in range(3)]
    made = await asyncio.gather(
        *(processes[number % 3].once(TABLES, str(number), take_one) for number in range(12)),
        return_exceptions=True,
    )
    assert sum(isinstance(one, dict) for one in made) == 3
    assert {type(one) for one in made if not isinstance(one, dict)} == {ToolError}
    assert await processes[0].read(TABLES, counted) == 0


async def test_the_engines_tables_are_out_of_sight(opened: Opened) -> None:
    own = await opened()
    await own.read(TABLES, counted)
    with pytest.raises(Exception, match="messages"):
        await own.read(
            TABLES, lambda connection: connection.execute(sa.text("SELECT * FROM messages")).all()
        )
