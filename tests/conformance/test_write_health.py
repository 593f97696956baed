"""What every Store tells about its writes: `/readyz` asks it."""

from collections.abc import Callable
from typing import Any

import pytest
import sqlalchemy as sa

from deskhand.errors import StoreUnavailable
from tests.conformance.adapters import Stores
from tests.kit import a_message


async def make_read_only(store: Any, read_only: bool) -> None:
    """Refuse or allow writes, as an operator or a failing disk would."""
    database = store._database
    if hasattr(database, "path"):
        if read_only:
            database.writing = await database.write(lambda tx: tx.raw, single=True)
        database.writing.execute(f"PRAGMA query_only={int(read_only)}").close()
        return
    setting = "on" if read_only else "off"

    def change(core: sa.Connection) -> None:
        name = core.execute(sa.text("SELECT current_database()")).scalar()
        core.execute(sa.text("SET default_transaction_read_only = off"))
        core.execute(
            sa.text(f'ALTER DATABASE "{name}" SET default_transaction_read_only = {setting}')
        )

    async with database._engine.execution_options(isolation_level="AUTOCOMMIT").connect() as open_:
        await open_.run_sync(change)
    await database._engine.dispose()


def at_time(store: Any) -> Callable[[float], None]:
    """Set the clock of the store's memory of writes."""
    clock = [1000.0]
    store._database._health._now = lambda: clock[0]

    def pass_time(seconds: float) -> None:
        clock[0] += seconds

    return pass_time


async def test_a_database_that_became_read_only_is_noticed_without_a_message(
    stores: Stores,
) -> None:
    store = await stores()
    pass_time = at_time(store)
    await store.check_writes()
    await make_read_only(store, True)
    pass_time(10)
    with pytest.raises(StoreUnavailable, match=r"read-?only"):
        await store.check_writes()
    await make_read_only(store, False)
    pass_time(10)
    await store.check_writes()
    await store.accept(a_message(), flow="flow")


async def test_a_write_that_failed_is_told_of_until_one_succeeds(stores: Stores) -> None:
    store = await stores()
    at_time(store)
    store._database._health.failed(StoreUnavailable("locked"))
    with pytest.raises(StoreUnavailable, match="locked"):
        await store.check_writes()
    await store.stop("ida")
    await store.check_writes()


async def test_a_full_disk_is_told_of_for_a_while_although_small_writes_fit(
    stores: Stores,
) -> None:
    store = await stores()
    pass_time = at_time(store)
    store._database._health.failed(StoreUnavailable("database or disk is full"))
    await store.stop("ida")
    for seconds in (1, 10, 10):
        pass_time(seconds)
        with pytest.raises(StoreUnavailable, match="full"):
            await store.check_writes()
    pass_time(10)
    await store.check_writes()
