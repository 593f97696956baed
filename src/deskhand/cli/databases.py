"""Opening databases and stores for commands that look and decide but do not serve."""

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from deskhand.cli.options import DEFAULT_DATABASE, login_name, shown
from deskhand.errors import ConfigError, Conflict

if TYPE_CHECKING:
    from deskhand.ports.lists import Lists
    from deskhand.wiring import Database, DeskStore


@asynccontextmanager
async def opened_database(url: str | None) -> "AsyncIterator[Database]":
    """A database that exists; looking must not create one, and needs no right to write."""
    from deskhand.wiring import open_database

    async with open_database(existing_database(url), or_read=True) as database:
        yield database


@asynccontextmanager
async def noted(database: "Database", doing: str, by: str | None = None) -> "AsyncIterator[None]":
    """What is done inside stands in the console's log, with who did it and on which machine; also
    when it was refused."""
    from deskhand.wiring import console_actions

    actions = console_actions(database)
    who = f"{login_name()} (command line)"
    if by not in (None, login_name()):
        who = f"{who}, as {by}"
    where = f"command line on {socket.gethostname()}"
    try:
        yield
    except Conflict:
        await actions.record(who, where, "CLI", doing, 409)
        raise
    await actions.record(who, where, "CLI", doing, 200)


def existing_database(url: str | None) -> str:
    """The database that is meant; ConfigError for a SQLite file that does not exist."""
    from deskhand.wiring import database_file

    chosen = url or DEFAULT_DATABASE
    file = database_file(chosen)
    if file is not None and not file.is_file():
        raise ConfigError(
            f"there is no database {chosen}",
            fix=(
                "name it with --database or DESKHAND_DATABASE; `deskhand serve` and `deskhand run"
                " --live` create one"
            ),
        )
    return chosen


@asynccontextmanager
async def opened_lists(url: str | None, desk: str | None) -> "AsyncIterator[Lists]":
    """The runs and reviews of a desk, to list them: opened in the quickest way there is."""
    from deskhand.wiring import looked_into

    chosen = existing_database(url)
    with looked_into(chosen) as looked:
        if looked is not None:
            yield looked.records(_chosen(desk, looked.desks, shown(chosen)))
            return
    async with opened_store(url, desk) as store:
        yield store


@asynccontextmanager
async def opened_store(url: str | None, desk: str | None) -> "AsyncIterator[DeskStore]":
    from deskhand.wiring import open_store

    async with opened_desk(url, desk) as (database, name):
        yield open_store(database, name)


@asynccontextmanager
async def opened_desk(url: str | None, desk: str | None) -> "AsyncIterator[tuple[Database, str]]":
    """The database and the name of the desk that is meant."""
    from deskhand.wiring import desks_in

    async with opened_database(url) as database:
        yield database, _chosen(desk, await desks_in(database), shown(url or DEFAULT_DATABASE))


def _chosen(desk: str | None, desks: list[str], database: str) -> str:
    listed = ", ".join(desks) or "none"
    if desk is not None:
        if desk in desks:
            return desk  # a folder of that name does not hide it: that is ./NAME
        name = name_of(desk)
        if name in desks:
            return name
        raise ConfigError(
            f"{database} holds nothing of a desk {name!r}", fix=f"desks in this database: {listed}"
        )
    if len(desks) == 1:
        return desks[0]
    if not desks:
        raise ConfigError(
            f"{database} holds no messages yet",
            fix="name the desk with --desk, or hand a message in",
        )
    raise ConfigError(f"{database} holds several desks", fix=f"name one with --desk: {listed}")


def name_of(desk: str) -> str:
    """The name a folder's desk.yaml gives, or the argument itself; ConfigError for a file."""
    from deskhand.config.yaml import read_yaml
    from deskhand.wiring import SHIPPED_PREFIX, require_folder

    require_folder(Path(desk))
    file = Path(desk) / "desk.yaml"
    named = read_yaml(file).data.get("desk") if file.is_file() else None
    return named if isinstance(named, str) else desk.removeprefix(SHIPPED_PREFIX)
