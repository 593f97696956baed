"""`deskhand doctor`: is everything here that a desk needs."""

import os
import socket
import sqlite3
import sys
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from deskhand.cli import options
from deskhand.cli.terminal import console, moment, print_json, printable, run_async

if TYPE_CHECKING:
    from deskhand.wiring import Database, LoadedDesk

OLDEST_SQLITE = (3, 35, 0)
"""RETURNING, which the store uses, came with it."""
_WEEK = 7 * 86400.0
_SIGNS = {True: "[green]✓[/]", False: "[red]✗[/]"}


class Check(NamedTuple):
    name: str
    ok: bool
    found: str
    fix: str | None = None
    warning: bool = False
    """It works, but somebody should look."""


def doctor(
    desk: Annotated[
        str | None, typer.Argument(help="A desk to check as well.", metavar="[DESK]")
    ] = None,
    database: options.Database = None,
    port: Annotated[int, typer.Option("--port", help="The port `serve` would use.")] = 8080,
    as_json: options.Json = False,
) -> None:
    """Check this machine, a desk, its keys and its database; exit 1 when something is missing."""
    checks = [
        _python(),
        _sqlite(),
        *_desk_checks(desk),
        *run_async(_channels(desk)),
        *run_async(_database(database)),
    ]
    checks += [*run_async(_calendar(desk)), *run_async(_servers(desk))]
    checks.append(_port(port))
    fine = all(check.ok for check in checks)
    if as_json:
        print_json({"ok": fine, "checks": [check._asdict() for check in checks]})
    else:
        _print(checks)
    raise typer.Exit(0 if fine else 1)


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


def _desk_checks(desk: str | None) -> Iterator[Check]:
    if desk is None:
        return
    from deskhand.errors import ConfigError, ConfigErrors
    from deskhand.wiring import read_desk

    try:
        loaded = read_desk(desk)
    except ConfigError as error:
        problems = error.problems if isinstance(error, ConfigErrors) else [error]
        for problem in problems:
            where = ""
            if problem.line:
                where = f"{problem.file}:{problem.line}: "
            elif problem.file:
                where = f"{problem.file}: "
            yield Check("desk", False, where + problem.problem, problem.fix)
        return
    stages = sum(len(flow.stages) for flow in loaded.spec.flows.values())
    tools = len(loaded.code.tools)
    counted = f"{stages} stage{'s' * (stages != 1)}, {tools} tool{'s' * (tools != 1)}"
    yield Check("desk", True, f"{loaded.spec.name}: {counted}")
    yield from _tools(loaded)
    yield from _models(loaded)
    yield from _agents(loaded)


def _agents(loaded: "LoadedDesk") -> Iterator[Check]:
    """Every agent needs a model to ask, or a flow that does without."""
    from deskhand.wiring import without_models

    spec = loaded.spec
    unusable = without_models(spec)
    for name, profile in spec.profiles.items():
        tools = f"{len(profile.tools)} tools"
        if name not in unusable:
            yield Check(
                "agent",
                True,
                f"{name}: {profile.choose_model(None, None, spec.default_model)}, {tools}",
            )
        elif profile.without_model is not None:
            summary = f"{name}: {profile.without_model} works its messages ({unusable[name]})"
            yield Check("agent", True, summary, warning=True)
        else:
            fix = "mend that, or name a flow that does without under `without_model:`"
            yield Check("agent", False, f"{name} has no model to ask: {unusable[name]}", fix)


def _tools(loaded: "LoadedDesk") -> Iterator[Check]:
    """Parameters that give authority in plain text work, but nobody can check whose the thing
    is: worth a look."""
    from deskhand.tools.plain_authority import concerns
    from deskhand.wiring import server_tools

    every = (*loaded.code.tools, *server_tools(loaded))
    tool_concerns = [(tool, concern) for tool in every for concern in concerns(tool)]
    for tool, concern in tool_concerns:
        yield Check("tool", True, f"{tool.name} ({tool.place}): {concern}", warning=True)


def _models(loaded: "LoadedDesk") -> Iterator[Check]:
    """Every model a stage would ask must have an address and a key; nothing is called."""
    from deskhand.errors import DeskhandError
    from deskhand.wiring import check_model

    spec = loaded.spec
    if spec.brain.kind == "scripted":
        yield Check("brain", True, f"scripted, {Path(spec.brain.file or '').name}: no key needed")
        return
    if spec.brain.reads:
        yield Check(
            "brain", True, f"{spec.brain.kind}: the embedded brain needs no key and no network"
        )
        yield from _intents(loaded)
    if spec.brain.kind == "embedded":
        return
    for name in sorted({*spec.models.values()}):
        try:
            yield Check("model", True, f"{name} at {check_model(spec, name)}")
        except DeskhandError as error:
            problem, _, fix = str(error).partition("\n  fix: ")
            yield Check("model", False, problem, fix or None)


def _intents(loaded: "LoadedDesk") -> Iterator[Check]:
    """The embedded brain never finds a category without examples once others have some."""
    from deskhand.brain.embedded import OTHER
    from deskhand.errors import ConfigError
    from deskhand.language.intent_examples import load_intents

    try:
        intents = load_intents(loaded.spec.folder)
    except ConfigError as error:
        yield Check("intents", False, error.problem, error.fix)
        return
    stages = [stage for flow in loaded.spec.flows.values() for stage in flow.stages.values()]
    named = dict.fromkeys(
        choice for stage in stages if stage.task == "classify" for choice in stage.choices
    )
    missing = [name for name in named if name not in (OTHER, *intents.labels)]
    if intents and missing:
        yield Check(
            "intents",
            True,
            f"never found, for want of examples: {', '.join(missing)}",
            warning=True,
        )


async def _servers(desk: str | None) -> list[Check]:
    """Every MCP server is started and asked for its tools, which must be what was accepted."""
    from deskhand.errors import ConfigError
    from deskhand.wiring import described, pin_changes, read_desk

    if desk is None:
        return []
    checks: list[Check] = []
    try:
        spec = read_desk(desk).spec.mcp
        answers = await described(spec.servers)
    except ConfigError as error:
        extra_missing = "deskhand[mcp]" in str(error)
        return (
            [Check("mcp", False, error.problem, error.fix)] if extra_missing else []
        )  # the rest is told already
    for name, said in answers.items():
        own = [tool for tool in spec.tools if tool.server == name]
        if not isinstance(said, dict):
            problem = str(said).partition("\n")[0]
            checks.append(
                Check(
                    "mcp", False, f"{name}: {problem}", "check its `command` or `url`, and its key"
                )
            )
            continue
        changed = pin_changes({tool.tool: tool.pin for tool in own}, said)
        checks.append(Check("mcp", True, f"{name}: {len(own)} of {len(said)} tools offered"))
        for tool in own:
            told_of = f"{tool.name} ({name}.{tool.tool}): {tool.effect}, {tool.risk} risk"
            why = changed.get(tool.tool)
            if why is not None:
                fix = f"look at it, then: deskhand mcp accept {desk}"
                checks.append(Check("mcp", False, f"{told_of}: {why}", fix))
            else:
                checks.append(Check("mcp", True, told_of))
    return checks


async def _channels(desk: str | None) -> list[Check]:
    """Every channel is tried: connected to and logged in, no more."""
    from deskhand.errors import ConfigError
    from deskhand.wiring import check_channels, read_desk

    if desk is None:
        return []
    try:
        answers = await check_channels(read_desk(desk).spec)
    except ConfigError:
        return []  # told already
    checks: list[Check] = []
    for name, said in answers.items():
        problem, _, fix = str(said).partition("\n  fix: ")
        advice = (
            None
            if isinstance(said, str)
            else fix or "check host, port, security, user and secret in desk.yaml"
        )
        checks.append(Check("channel", isinstance(said, str), f"{name}: {problem}", advice))
    return checks


async def _calendar(desk: str | None) -> list[Check]:
    """A calendar that lies elsewhere is looked at, no more."""
    from deskhand.errors import ConfigError, DeskhandError
    from deskhand.wiring import check_calendar, read_desk

    if desk is None:
        return []
    try:
        spec = read_desk(desk).spec
    except ConfigError:
        return []  # told already
    if spec.calendar.caldav is None and not spec.calendar.ics:
        return []
    try:
        return [Check("calendar", True, await check_calendar(spec))]
    except DeskhandError as error:
        problem, _, fix = str(error).partition("\n  fix: ")
        return [
            Check(
                "calendar",
                False,
                problem,
                fix or "check url, user and secret under `calendar` in desk.yaml",
            )
        ]


async def _database(url: str | None) -> list[Check]:
    """Opening brings the schema up to date and writes, so it shows what is wrong; a new file is
    not left behind."""
    from deskhand.cli.stop import describe_stop
    from deskhand.errors import DeskhandError
    from deskhand.wiring import database_file, desks_in, open_database, open_store

    chosen = url or options.DEFAULT_DATABASE
    try:
        file = database_file(chosen)
        if file is not None and not file.exists():
            return [_new_database(file)]
        async with open_database(chosen) as database:
            await database.write_core(
                lambda core: core.exec_driver_sql("DELETE FROM leases WHERE 1=0").close()
            )
            desks = await desks_in(database)
            stops = [(name, await open_store(database, name).stopped()) for name in desks]
            untold = [check for name in desks async for check in _untold(database, name)]
            screened = [check for name in desks async for check in _screened(database, name)]
        held = [
            Check("stopped", False, f"{name}: {describe_stop(stop)}", f"deskhand resume {name}")
            for name, stop in stops
            if stop
        ]
        return [
            Check(
                "database",
                True,
                f"{options.shown(chosen)} is writable: {', '.join(desks) or 'no desk yet'}",
            ),
            *held,
            *untold,
            *screened,
        ]
    except DeskhandError as error:
        problem, _, fix = str(error).partition("\n  fix: ")
        return [Check("database", False, problem, fix or None)]


async def _untold(database: "Database", desk: str) -> AsyncIterator[Check]:
    """Word to reviewers that was given up within a week."""
    from deskhand.model.notice import DIGEST
    from deskhand.wiring import notices_of

    failed = await notices_of(database, desk).failed(time.time() - _WEEK)
    if failed:
        newest = failed[0]
        kind = "digest" if newest.id.startswith(DIGEST) else "webhook"
        problem = (
            f"{desk}: {len(failed)} given up within a week; the last, a {kind} of"
            f" {moment(newest.created_at)}: "
        )
        fix = "check `reviews.notify` in desk.yaml and the channel or address it names"
        yield Check("reviewers", False, printable(problem + newest.error), fix)


async def _screened(database: "Database", desk: str) -> AsyncIterator[Check]:
    """How much mail was not answered within a week because a program wrote it."""
    from deskhand.wiring import open_store

    count = await open_store(database, desk).count_screened(time.time() - _WEEK)
    if count:
        see = f"deskhand runs list --screened --desk {desk}"
        yield Check("screened", True, f"{desk}: {count} within a week not answered; see {see}")


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
    from rich.text import Text

    for check in checks:
        line = Text.from_markup(f"{'[yellow]![/]' if check.warning else _SIGNS[check.ok]} ").append(
            f"{check.name:<10}", style="bold"
        )
        console().print(line.append(check.found, style="not bold"), soft_wrap=True)
        if check.fix and not check.ok:
            console().print(Text(f"             fix: {check.fix}", style="dim"), soft_wrap=True)
