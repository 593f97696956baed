"""`deskhand doctor`: is everything here that a desk needs."""

import os
import socket
import sqlite3
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from deskhand.cli import options
from deskhand.cli.desk_checks import Check, called_models, desk_checks
from deskhand.cli.terminal import moment, print_json, print_line, printable, run_async

if TYPE_CHECKING:
    from deskhand.wiring import DeskState, Integrity

OLDEST_SQLITE = (3, 35, 0)
"""RETURNING, which the store uses, came with it."""
_WEEK = 7 * 86400.0
_SIGNS = {True: ("✓", "green"), False: ("✗", "red")}
_WARNING = ("!", "yellow")


def doctor(
    desk: Annotated[
        str | None, typer.Argument(help="A desk to check as well.", metavar="[DESK]")
    ] = None,
    database: options.Database = None,
    call: Annotated[
        bool,
        typer.Option("--call", help="Ask each model of the desk too (costs a little)."),
    ] = False,
    port: Annotated[int, typer.Option("--port", help="The port `serve` would use.")] = 8080,
    as_json: options.Json = False,
) -> None:
    """Check this machine, a desk, its keys and its database; exit 1 when something is missing."""
    checks = run_async(_checks(desk, database, call=call))
    checks.append(_port(port))
    fine = all(check.ok for check in checks)
    if as_json:
        print_json({"ok": fine, "checks": [check._asdict() for check in checks]})
    else:
        _print(checks)
    raise typer.Exit(0 if fine else 1)


async def _checks(desk: str | None, database: str | None, *, call: bool) -> list[Check]:
    checks = [_python(), _sqlite()]
    if desk is not None:
        checks += await desk_checks(desk, database or options.DEFAULT_DATABASE)
    if desk is not None and call:
        checks += await called_models(desk)
    return checks + await _database(database)


def _python() -> Check:
    fine = sys.version_info >= (3, 11)
    return Check(
        "Python", fine, sys.version.split()[0], None if fine else "install Python 3.11 or newer"
    )


def _sqlite() -> Check:
    fine = sqlite3.sqlite_version_info >= OLDEST_SQLITE
    wanted = ".".join(map(str, OLDEST_SQLITE))
    return Check(
        "SQLite",
        fine,
        sqlite3.sqlite_version,
        None if fine else f"use a Python with SQLite {wanted} or newer",
    )


async def _database(url: str | None) -> list[Check]:
    """The check brings the schema up to date and writes, so it shows what is wrong; a new file is
    not left behind."""
    from deskhand.errors import DeskhandError
    from deskhand.wiring import check_database, database_file

    chosen = url or options.DEFAULT_DATABASE
    try:
        file = database_file(chosen)
        if file is not None and not file.exists():
            return [_new_database(file)]
        state = await check_database(chosen, time.time() - _WEEK)
    except DeskhandError as error:
        problem, _, fix = str(error).partition("\n  fix: ")
        return [Check("database", False, problem, fix or None)]
    names = ", ".join(desk.name for desk in state.desks) or "no desk yet"
    checks = [
        Check("database", True, f"{options.shown(chosen)} is writable: {names}"),
        *_damage(state.integrity),
    ]
    for tell in (_stopped, _away, _untold, _screened):
        for desk in state.desks:
            checks += tell(desk)
    return checks


def _damage(integrity: "Integrity") -> Iterator[Check]:
    """Whether all that is stored can be read; a damaged page is seen before somebody needs it."""
    if not integrity.problems:
        yield Check("integrity", True, f"{integrity.looked_at}: no damage")
    for problem in integrity.problems:
        fix = "stop whoever serves it, keep the damaged files, and restore the newest backup"
        yield Check("integrity", False, f"damaged: {printable(problem)}", fix)


def _stopped(desk: "DeskState") -> Iterator[Check]:
    from deskhand.cli.stop import describe_stop

    if desk.stop is not None:
        words = f"{desk.name}: {describe_stop(desk.stop)}"
        yield Check("stopped", False, words, f"deskhand resume {desk.name}")


def _untold(desk: "DeskState") -> Iterator[Check]:
    """Word to reviewers that was given up within a week."""
    from deskhand.model.notice import DIGEST

    if desk.failed_notices:
        newest = desk.failed_notices[0]
        kind = "digest" if newest.id.startswith(DIGEST) else "webhook"
        problem = (
            f"{desk.name}: {len(desk.failed_notices)} given up within a week; the last, a {kind}"
            f" of {moment(newest.created_at)}: "
        )
        fix = "check `reviews.notify` in desk.yaml, or `deskhand webhooks list`"
        yield Check("reviewers", False, printable(problem + newest.error), fix)


def _away(desk: "DeskState") -> Iterator[Check]:
    """Models that messages wait for."""
    for away in desk.models_away:
        words = f"{desk.name}: {away}; tried again at {moment(away.next_at)}: {away.reason or ''}"
        yield Check("model", True, printable(words), warning=True)


def _screened(desk: "DeskState") -> Iterator[Check]:
    """How much mail was not answered within a week because a program wrote it."""
    if desk.screened:
        see = f"deskhand runs list --screened --desk {desk.name}"
        words = f"{desk.name}: {desk.screened} within a week not answered; see {see}"
        yield Check("screened", True, words)


def _new_database(path: Path) -> Check:
    folder = path.absolute().parent
    if folder.is_dir() and os.access(folder, os.W_OK):
        return Check("database", True, f"{path} will be created")
    problem = "may not be written" if folder.is_dir() else "does not exist"
    return Check(
        "database",
        False,
        f"the folder {folder} {problem}",
        "create it, or choose another with --database",
    )


def _port(port: int) -> Check:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except (OSError, OverflowError) as error:
            words = getattr(error, "strerror", None) or str(error)
            return Check(
                "port",
                False,
                f"{port}: {words}",
                "stop what listens there, or choose another with --port",
            )
    return Check("port", True, f"{port} is free")


def _print(checks: list[Check]) -> None:
    for check in checks:
        sign = _WARNING if check.warning else _SIGNS[check.ok]
        print_line(sign, (f" {check.name:<10}", "bold"), (check.found, ""))
        if check.fix and not check.ok:
            print_line((f"             fix: {check.fix}", "dim"))
