"""`deskhand run`: work one message, or one conversation, and tell its story."""

import os
import shlex
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deskhand.cli import options
from deskhand.cli.terminal import console, print_json, program, run_async

if TYPE_CHECKING:
    from deskhand.cli.run_follower import StageWatch
    from deskhand.ports import Store
    from deskhand.wiring import Desk, LoadedDesk

TROUBLE = ("needs_review", "failed")


def _a_message(file: Path) -> Path:
    """Refuses a desk in the place of a message, before anything else is found missing."""
    from deskhand.mail.message_files import require_message_file

    require_message_file(file)
    return file


def run(
    file: Annotated[
        Path,
        typer.Argument(
            help="An .eml, or JSON of a message or of a conversation's turns.", callback=_a_message
        ),
    ],
    desk: Annotated[
        str,
        typer.Option(
            "--desk", envvar="DESKHAND_DESK", help="A desk's folder, or the name of a shipped desk."
        ),
    ],
    live: Annotated[
        bool, typer.Option("--live", help="Carry effects out; without it they are captured.")
    ] = False,
    database: Annotated[
        str | None,
        typer.Option(
            "--database",
            help="Where the records go; a throw-away file unless --live.",
            metavar="URL",
        ),
    ] = None,
    outbox: options.Outbox = None,
    as_json: options.Json = False,
) -> None:
    """Work one message and tell its story.

    Nothing leaves this machine unless you say --live: effects are judged and recorded, not carried
    out, and the records go into a throw-away database unless you name one.
    """
    stories, is_conversation = run_async(_run(file, desk, live, database, outbox, as_json))
    if as_json:
        print_json({"turns": stories} if is_conversation else stories[0])
    raise typer.Exit(int(any(story["status"] in TROUBLE for story in stories)))


async def _run(
    file: Path, name: str, live: bool, database: str | None, outbox: Path | None, quiet: bool
) -> tuple[list[dict[str, Any]], bool]:
    from deskhand.cli.run_follower import StageWatch, work_message
    from deskhand.cli.run_printer import RunPrinter
    from deskhand.mail.message_files import read_messages
    from deskhand.wiring import read_desk

    loaded = read_desk(name)
    limit, trust = loaded.spec.limits.max_message_bytes, loaded.spec.mail_trust
    messages, is_conversation = read_messages(file, max_bytes=limit, trust=trust)
    with ExitStack() as stack:
        spinner = None
        if not quiet and console().is_terminal:
            spinner = stack.enter_context(console().status("[dim]opening the desk …[/]"))
        watch = StageWatch(spinner)
        printer = None if quiet else RunPrinter(console())
        stories: list[dict[str, Any]] = []
        async with opened_desk(loaded, live, database, outbox, watch) as desk:
            for number, message in enumerate(messages, 1):
                title = f"{number}/{len(messages)}" if is_conversation else ""
                stories.append(await work_message(desk, message, watch, printer, title))
        if live and not quiet:
            _say_how_to_decide(stories[-1], loaded.spec.name, database)
    return stories, is_conversation


def _say_how_to_decide(story: dict[str, Any], desk: str, database: str | None) -> None:
    from rich.markup import escape

    review = story["review"]
    if review is not None and review["state"] == "open":
        where = f" --database {shlex.quote(options.shown(database))}" if database else ""
        command = f"{program()} reviews show {review['id']} --desk {desk}{where}"
        console().print(
            f"  [dim]decide it with[/] {escape(command)}", highlight=False, soft_wrap=True
        )


@asynccontextmanager
async def opened_desk(
    loaded: "LoadedDesk", live: bool, database: str | None, outbox: Path | None, watch: "StageWatch"
) -> "AsyncIterator[Desk]":
    from deskhand.wiring import open_database, open_desk, open_store

    with TemporaryDirectory(prefix="deskhand-") as scratch:
        usual = os.environ.get("DESKHAND_DATABASE") or options.DEFAULT_DATABASE
        url = database or (usual if live else str(Path(scratch) / "run.db"))
        async with open_database(url) as opened:
            if not live:
                await _refuse_other_work(open_store(opened, loaded.spec.name), url)
            folder = outbox or options.DEFAULT_OUTBOX
            async with open_desk(
                loaded, opened, outbox=folder, live=live, events=watch, waits_for_models=False
            ) as desk:
                yield desk


async def _refuse_other_work(store: "Store", url: str) -> None:
    """A desk that opens takes up what is unfinished; what customers wait for must not be worked
    without effects."""
    from deskhand.errors import Conflict
    from deskhand.model.run import RunStatus

    for status in RunStatus:
        if not status.is_final and (waiting := await store.runs(status=status, limit=1)):
            raise Conflict(
                f"{options.shown(url)} has a run that is {status} ({waiting[0].id}); a message"
                " without --live must not touch it: name another database, or say --live"
            )
