"""`deskhand db`: databases as a whole."""

from typing import Annotated

import typer

from deskhand.cli import options
from deskhand.cli.terminal import console, print_json, run_async

app = typer.Typer(help="Databases as a whole.", no_args_is_help=True)


@app.callback()
def databases() -> None:
    """A group, although it has one command yet."""


@app.command("copy")
def copy(
    source: Annotated[str, typer.Argument(help="The SQLite file to copy from.", metavar="FILE")],
    target: Annotated[
        str,
        typer.Argument(
            help="An empty PostgreSQL database: postgresql://user@host/name.", metavar="URL"
        ),
    ],
    as_json: options.Json = False,
) -> None:
    """Copy everything from a SQLite file into an empty PostgreSQL database: all of it, counted,
    or nothing."""
    counts = run_async(_copy(source, target, quiet=as_json))
    if as_json:
        print_json(
            {
                "source": source,
                "target": options.shown(target),
                "rows": counts,
                "total": sum(counts.values()),
            }
        )
        return
    console().print(
        f"{sum(counts.values()):,} rows in {len(counts)} tables arrived and were counted."
    )
    console().print(f"Serve from there: deskhand serve DESK --database {options.shown(target)}")


async def _copy(source: str, target: str, *, quiet: bool) -> dict[str, int]:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    from deskhand.cli.databases import opened_database
    from deskhand.wiring import copy_database, open_database

    words = (
        TextColumn("{task.description:15}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*words, console=Console(stderr=True), disable=quiet) as bars:
        tasks = {}

        def progress(table: str, done: int, total: int) -> None:
            if table not in tasks:
                tasks[table] = bars.add_task(table, total=total)
            bars.update(tasks[table], completed=done)

        async with opened_database(source) as old, open_database(target) as new:
            return await copy_database(old, new, progress)
