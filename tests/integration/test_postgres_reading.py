"""Reading from PostgreSQL beside lines that are cut."""

import asyncio

import pytest
import sqlalchemy as sa

from deskhand.adapters.stores.postgres_database import PostgresDatabase
from deskhand.errors import StoreUnavailable
from tests.servers import new_database, postgres_programs

pytestmark = pytest.mark.skipif(
    postgres_programs() is None, reason="PostgreSQL's server is not installed"
)
CUT_THIS_LINE = sa.text("SELECT pg_terminate_backend(pg_backend_pid())")


async def _open() -> PostgresDatabase:
    return await PostgresDatabase.open(await asyncio.to_thread(new_database))


async def test_a_line_cut_while_reading_is_not_noticed() -> None:
    database = await _open()
    tries: list[int] = []

    def reading(core: sa.Connection) -> int:
        tries.append(len(tries))
        if len(tries) == 1:
            core.execute(CUT_THIS_LINE)
        return int(core.execute(sa.text("SELECT 7")).scalar_one())

    try:
        assert await database.read_core(reading) == 7
        assert len(tries) == 2
    finally:
        await database.close()


async def test_a_line_cut_every_time_is_told() -> None:
    database = await _open()
    try:
        with pytest.raises(StoreUnavailable):
            await database.read_core(lambda core: core.execute(CUT_THIS_LINE))
    finally:
        await database.close()
