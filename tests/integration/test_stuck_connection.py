"""A connection that was cut in the middle of something is dropped; what comes next has a new
one."""

import asyncio
from typing import Any

import asyncpg
import pytest

from deskhand.adapters.stores.postgres_backend import PostgresBackend
from deskhand.errors import StoreUnavailable
from deskhand.wiring import open_store
from tests.kit import a_message
from tests.servers import new_database, postgres_programs

pytestmark = pytest.mark.skipif(
    postgres_programs() is None, reason="PostgreSQL's server is not installed"
)


class Stuck:
    """In the middle of an operation that nobody ends."""

    dropped = False

    def is_closed(self) -> bool:
        return False

    def transaction(self) -> Any:
        raise asyncpg.InternalClientError(
            "cannot switch to state 15; another operation (2) is in progress"
        )

    def terminate(self) -> None:
        self.dropped = True


async def test_writing_goes_on_with_a_new_connection() -> None:
    database, stuck = await PostgresBackend.open(await asyncio.to_thread(new_database)), Stuck()
    try:
        store, healthy = open_store(database, "desk"), database._connection
        database._connection = stuck
        with pytest.raises(StoreUnavailable, match="another operation"):
            await store.accept(a_message(1), flow="flow")
        assert stuck.dropped
        assert (await store.accept(a_message(1), flow="flow")).duplicate is False
        await healthy.close()
    finally:
        await database.close()
