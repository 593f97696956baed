"""Contacts and calendars."""

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from deskhand.ports import Calendar, Clock, Contacts
from deskhand.wiring.database_files import database_file
from deskhand.wiring.databases import (
    Database,
    DeskStore,
    open_database,
    scratch_database,
)
from deskhand.wiring.routing import message_language

if TYPE_CHECKING:
    from deskhand.config.desk import DeskSpec
    from deskhand.tools.office import Office


def open_contacts(database: Database, desk: str, now: Callable[[], float] = time.time) -> Contacts:
    """The people a desk knows."""
    from deskhand.adapters.stores.contacts import SqlContacts

    return SqlContacts(database, desk, message_language, now)


def open_calendar(
    spec: "DeskSpec",
    database: Database,
    now: Callable[[], float] = time.time,
    *,
    desk: str | None = None,
    sealed: bool = False,
) -> Calendar:
    """A desk's calendar, wherever it lies; `sealed` leaves out what lies on another machine.

    Times that conversations hold are always in the database, under the desk's name.
    """
    from deskhand.adapters.calendar.database_calendar import DatabaseCalendar

    calendar = spec.calendar
    held = DatabaseCalendar(database, desk or spec.name, now)
    if calendar.caldav is not None and not sealed:
        from deskhand.adapters.calendar.caldav_calendar import CalDavCalendar
        from deskhand.adapters.calendar.caldav_client import CalDavClient

        return CalDavCalendar(
            held, CalDavClient(calendar.caldav), ZoneInfo(calendar.zone), calendar.title
        )
    if calendar.ics:
        from deskhand.adapters.calendar.ics_calendar import IcsCalendar

        return IcsCalendar(held, calendar.ics, ZoneInfo(calendar.zone))
    return held


@asynccontextmanager
async def looking_at_calendar(spec: "DeskSpec", url: str) -> AsyncIterator[Calendar]:
    """A desk's calendar, to look at. Where there is no database yet, looking does not make one."""
    file = database_file(url)
    missing = file is not None and not file.is_file()
    async with scratch_database() if missing else open_database(url) as database:
        calendar = open_calendar(spec, database)
        try:
            yield calendar
        finally:
            await calendar.close()


async def check_calendar(spec: "DeskSpec") -> str:
    """What a desk's calendar says when it is tried; nothing is written.

    Raises what is wrong with it.
    """
    async with scratch_database() as database:
        calendar = open_calendar(spec, database)
        try:
            return await calendar.check()
        finally:
            await calendar.close()


def desk_office(
    spec: "DeskSpec", database: Database, store: DeskStore, clock: Clock, *, sealed: bool = False
) -> "Office":
    """What a desk's tools for people and times work with."""
    from deskhand.tools.office import Office

    contacts = open_contacts(database, store.desk, clock.now)
    calendar = open_calendar(spec, database, clock.now, desk=store.desk, sealed=sealed)
    return Office(contacts, calendar, spec.calendar, clock.now, store.message)
