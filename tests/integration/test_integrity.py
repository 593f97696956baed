"""`deskhand doctor` reads all there is on PostgreSQL."""

import asyncio
from pathlib import Path

import pytest
import sqlalchemy as sa

from deskhand.wiring import open_database, open_store
from tests.kit import a_message
from tests.servers import PostgresServer, new_database, postgres_programs

pytestmark = pytest.mark.skipif(
    postgres_programs() is None,
    reason="PostgreSQL's server is not installed (Debian: apt-get install postgresql)",
)


async def test_a_sound_database_is_read_whole() -> None:
    async with open_database(await asyncio.to_thread(new_database)) as database:
        await open_store(database, "desk").accept(a_message(body="x" * 100_000), flow="flow")
        integrity = await database.check_integrity()
    assert integrity.problems == ()
    assert "every row" in integrity.looked_at


async def test_a_damaged_page_is_seen(tmp_path: Path) -> None:
    server = await asyncio.to_thread(PostgresServer)
    try:
        url = server.url()
        async with open_database(url) as database:
            await open_store(database, "desk").accept(a_message(), flow="flow")
            place = await database.read_core(
                lambda core: core.execute(
                    sa.text(
                        "SELECT current_setting('data_directory') || '/' ||"
                        " pg_relation_filepath('messages')"
                    )
                ).scalar_one()
            )
        await asyncio.to_thread(server.stop)
        with Path(place).open("r+b") as file:
            file.write(b"\xa5" * 8192)
        await asyncio.to_thread(server.start)
        async with open_database(url) as database:
            integrity = await database.check_integrity()
    finally:
        await asyncio.to_thread(server.remove)
    assert any("messages: invalid page" in problem for problem in integrity.problems)
