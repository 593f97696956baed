"""`deskhand db`: databases as a whole."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from deskhand.cli import options
from deskhand.cli.audit import KeyFile, sealing_key
from deskhand.cli.terminal import console, moment, print_json, run_async
from deskhand.model.documents import iso_at

if TYPE_CHECKING:
    from deskhand.engine.retention import RetentionReport
    from deskhand.ports.database import Backup

app = typer.Typer(help="Databases as a whole.", no_args_is_help=True)


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


@app.command("prune")
def prune(
    desk: options.Desk,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say how much would be deleted.")
    ] = False,
    key_file: KeyFile = None,
    database: options.Database = None,
    as_json: options.Json = False,
) -> None:
    """Delete what is older than `retention:` in desk.yaml allows and not open any more; a seal
    closes each run's chain before its rows go."""
    report = run_async(_prune(desk, database, sealing_key(key_file), dry_run, quiet=as_json))
    if as_json:
        deleted = {str(kind): count for kind, count in report.deleted.items()}
        about = {"journal_rows": report.journal_rows, "damaged": report.damaged}
        print_json({"dry_run": dry_run, "deleted": deleted, **about})
    else:
        _print_pruned(report, dry_run)
    raise typer.Exit(1 if report.damaged else 0)


def _print_pruned(report: "RetentionReport", dry_run: bool) -> None:
    counted = ", ".join(f"{count:,} {kind}" for kind, count in report.deleted.items())
    would = "would be deleted" if dry_run else "deleted"
    console().print(f"{counted} {would}", markup=False)
    for run_id in report.damaged:
        words = f"{run_id} stays: its records were changed; see deskhand audit verify"
        console().print(words, style="red", markup=False)


async def _prune(
    desk: str, database: str | None, key: bytes | None, dry_run: bool, *, quiet: bool
) -> "RetentionReport":
    from deskhand.cli.databases import opened_database
    from deskhand.engine.retention import RetentionReport, count_by_age, prune_by_age
    from deskhand.errors import ConfigError
    from deskhand.tickets.handling import mend_all
    from deskhand.wiring import open_store, open_tickets, read_desk

    spec = read_desk(desk).spec
    ages = spec.retention.ages()
    if not ages:
        raise ConfigError(
            f"desk {spec.name} keeps everything for ever",
            fix="say in desk.yaml for how long, as `retention: {runs: 365d, calls: 90d}`",
        )
    async with opened_database(database) as opened:
        store = open_store(opened, spec.name)
        expected = await count_by_age(store, ages)
        if dry_run:
            return RetentionReport(expected)
        async with open_tickets(opened, spec.name) as tickets:
            with progress_bars(quiet=quiet) as progress:
                return await prune_by_age(
                    store,
                    ages,
                    key=key,
                    progress=lambda kind, count: progress(kind, count, max(count, expected[kind])),
                    forgotten=partial(mend_all, tickets),
                )


@app.command("backup")
def backup(
    target: Annotated[Path, typer.Argument(help="The new file to write.", metavar="FILE")],
    database: options.Database = None,
    as_json: options.Json = False,
) -> None:
    """Copy a SQLite database, and its desks' own tables, while it is served: one moment of it,
    checked, in a new file."""
    made = run_async(_backup(database or options.DEFAULT_DATABASE, target, quiet=as_json))
    newest = None if made.newest_run_at is None else iso_at(made.newest_run_at)
    if as_json:
        files = [str(file) for file in made.files]
        about = {"bytes": made.size, "runs": made.runs, "newest_run_at": newest}
        print_json({"files": files, **about, "verified": True})
        return
    listed = ", ".join(map(str, made.files))
    until = "no message yet" if newest is None else f"up to the message of {moment(newest)}"
    console().print(f"{listed}: {made.size:,} bytes, {made.runs:,} runs, {until}", markup=False)
    console().print("[green]✓[/] every page was read again and is sound")


async def _backup(url: str, target: Path, *, quiet: bool) -> "Backup":
    from deskhand.errors import ConfigError
    from deskhand.wiring import backup_database, database_file

    file = database_file(url)
    if file is not None and not file.is_file():
        raise ConfigError(
            f"there is no database {url}", fix="name it with --database or DESKHAND_DATABASE"
        )
    with progress_bars(quiet=quiet) as progress:
        return await backup_database(url, target, progress)


@contextmanager
def progress_bars(*, quiet: bool) -> Iterator[Callable[[str, int, int], None]]:
    """Bars on stderr, one for each thing that is told of: its name, how much is done, and all."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    words = (
        TextColumn("{task.description:15}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*words, console=Console(stderr=True), disable=quiet) as bars:
        tasks = {}

        def progress(name: str, done: int, total: int) -> None:
            if name not in tasks:
                tasks[name] = bars.add_task(name, total=total)
            bars.update(tasks[name], completed=done)

        yield progress


async def _copy(source: str, target: str, *, quiet: bool) -> dict[str, int]:
    from deskhand.cli.databases import opened_database
    from deskhand.wiring import copy_database, open_database

    with progress_bars(quiet=quiet) as progress:
        async with opened_database(source) as old, open_database(target) as new:
            return await copy_database(old, new, progress)
