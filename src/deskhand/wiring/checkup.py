"""What an operator should know about a database, found out in the quickest way there is."""

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from deskhand.adapters.stores.integrity import Integrity as Integrity
from deskhand.adapters.stores.integrity import check_files
from deskhand.model.notice import FailedNotice
from deskhand.model.totals import Stop
from deskhand.model.waiting import AwayModel
from deskhand.wiring.database_files import looked_into

if TYPE_CHECKING:  # whoever only looks does without SQLAlchemy
    from deskhand.adapters.stores.sqlite_lookup import LookedInto
    from deskhand.wiring.databases import Database


@dataclass(frozen=True, slots=True)
class DeskState:
    """What waits at one desk, or went wrong there."""

    name: str
    stop: Stop | None
    failed_notices: list[FailedNotice]
    models_away: list[AwayModel]
    screened: int
    """Messages that were not answered because a program wrote them."""


@dataclass(frozen=True, slots=True)
class DatabaseState:
    """A database that can be read and written."""

    desks: list[DeskState]
    integrity: Integrity


async def check_database(url: str, since: float) -> DatabaseState:
    """Read, write and look for damage; of what passes, tell what came after `since`.

    Brings an older schema up to date. Raises DeskhandError where the database cannot be used.
    """
    with looked_into(url) as looked:
        if looked is not None and looked.can_be_written():
            return await _looked_at(looked, since)
    from deskhand.wiring.databases import open_database

    async with open_database(url) as database:
        return await _opened(database, since)


async def _looked_at(looked: "LookedInto", since: float) -> DatabaseState:
    desks = []
    for name in looked.desks:
        records = looked.records(name)
        state = DeskState(
            name=name,
            stop=await records.stopped(),
            failed_notices=await records.failed_notices(since),
            models_away=await records.models_away(),
            screened=await records.count_screened(since),
        )
        desks.append(state)
    return DatabaseState(desks, await asyncio.to_thread(check_files, looked.path))


async def _opened(database: "Database", since: float) -> DatabaseState:
    from deskhand.wiring.databases import desks_in, notices_of, open_store

    await database.write_core(
        lambda core: core.exec_driver_sql("DELETE FROM leases WHERE 1=0").close()
    )
    desks = []
    for name in await desks_in(database):
        store = open_store(database, name)
        state = DeskState(
            name=name,
            stop=await store.stopped(),
            failed_notices=await notices_of(database, name).failed(since),
            models_away=await store.models_away(),
            screened=await store.count_screened(since),
        )
        desks.append(state)
    return DatabaseState(desks, await database.check_integrity())
