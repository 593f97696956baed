"""`deskhand stop` and `deskhand resume`: the switch that holds everything a desk would do."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from deskhand.cli import options
from deskhand.cli.databases import name_of, noted, opened_database
from deskhand.cli.terminal import console, moment, print_json, run_async
from deskhand.model.documents import document

if TYPE_CHECKING:
    from deskhand.model.totals import Stop
    from deskhand.wiring import Database, DeskStore

Name = Annotated[str, typer.Argument(help="A desk's name or folder.", metavar="DESK")]


def stop(
    desk: Name,
    reason: Annotated[
        str, typer.Option("--reason", help="Why; shown wherever something is held.")
    ] = "",
    by: options.By = None,
    database: options.Database = None,
    as_json: options.Json = False,
) -> None:
    """Hold every effect and every reply of a desk at once, in all processes; nothing is lost."""
    stopped = run_async(_stop(desk, reason, by or options.login_name(), database))
    if as_json:
        print_json({"desk": name_of(desk), "stopped": document(stopped)})
        return
    console().print(
        f"{name_of(desk)} is stopped: {describe_stop(stopped)}", markup=False, soft_wrap=True
    )
    console().print(
        f"messages are still taken in and worked; let it act again: deskhand resume {desk}",
        markup=False,
    )


def resume(
    desk: Name,
    by: options.By = None,
    database: options.Database = None,
    as_json: options.Json = False,
) -> None:
    """Let a stopped desk act again; what was held because of the stop goes on by itself."""
    was, released = run_async(_resume(desk, by or options.login_name(), database))
    if as_json:
        print_json({"desk": name_of(desk), "resumed": was is not None, "released": released})
    elif was is None:
        console().print(f"{name_of(desk)} was not stopped", markup=False)
    else:
        console().print(f"{name_of(desk)} acts again; {released} run(s) go on", markup=False)
    raise typer.Exit(0 if was is not None else 1)


def describe_stop(stopped: "Stop") -> str:
    return f"by {stopped.by} since {moment(stopped.at)}" + (
        f", {stopped.reason}" if stopped.reason else ""
    )


async def _stop(desk: str, reason: str, by: str, database: str | None) -> "Stop":
    async with (
        _store(desk, database) as (opened, store),
        noted(opened, f"stop {store.desk}", by),
    ):
        return await store.stop(by, reason)


async def _resume(desk: str, by: str, database: str | None) -> "tuple[Stop | None, int]":
    async with (
        _store(desk, database) as (opened, store),
        noted(opened, f"resume {store.desk}", by),
    ):
        return await store.stopped(), await store.resume(by)


@asynccontextmanager
async def _store(desk: str, database: str | None) -> "AsyncIterator[tuple[Database, DeskStore]]":
    """Open the store of a desk, also of one that has not taken a message yet; a name that nobody
    knows is a slip."""
    from deskhand.errors import ConfigError
    from deskhand.wiring import desks_in, find_desk, open_store

    async with opened_database(database) as opened:
        desks = await desks_in(opened)
        name = desk if desk in desks else name_of(desk)
        if name not in desks:
            try:
                find_desk(desk)
            except ConfigError:
                listed = ", ".join(desks) or "none"
                raise ConfigError(
                    f"there is no desk {desk!r}", fix=f"desks in this database: {listed}"
                ) from None
        yield opened, open_store(opened, name)
