"""`deskhand chat`: talk with a desk in the terminal, as a customer would in its chat."""

import asyncio
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Literal
from uuid import uuid4

import typer

from deskhand.cli import options
from deskhand.cli.run import opened_desk
from deskhand.cli.terminal import console, print_json, run_async

if TYPE_CHECKING:
    from rich.status import Status

PROMPT = "you   "
_STATES = {
    "waiting_review": "a person would decide on this",
    "needs_review": "a person would take over here",
    "failed": "this failed",
}
"""What a customer does not see: where a run rests that has not answered by itself."""


def chat(
    desk: Annotated[str, typer.Argument(help="A desk's folder, or the name of a shipped desk.")],
    customer: Annotated[
        str | None,
        typer.Option(
            "--as", help="Talk as this customer, logged in; else as a stranger.", metavar="ID"
        ),
    ] = None,
    trace: Annotated[
        bool, typer.Option("--trace", help="Show every step between what you and the desk say.")
    ] = False,
    mode: Annotated[
        Literal["auto", "draft", "shadow"],
        typer.Option("--mode", help="How the desk answers, whatever its file says."),
    ] = "auto",
    database: Annotated[
        str | None,
        typer.Option(
            "--database", help="Where the records go; a throw-away file by default.", metavar="URL"
        ),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Talk with a desk, as a customer would in its chat. An empty line ends it.

    Nothing leaves this machine: effects are judged and recorded, not carried out. Lines may be
    piped in.
    """
    stories = run_async(_chat(desk, customer, trace and not as_json, mode, database, as_json))
    if as_json:
        print_json({"turns": stories})


async def _chat(
    name: str, customer: str | None, trace: bool, mode: str, database: str | None, quiet: bool
) -> list[dict[str, Any]]:
    from deskhand.cli.run_follower import StageWatch, work_message
    from deskhand.cli.run_printer import RunPrinter
    from deskhand.model.chats import Chat, chat_message
    from deskhand.wiring import read_desk

    loaded = read_desk(name)
    loaded = replace(loaded, spec=loaded.spec.model_copy(update={"mode": mode, "modes": {}}))
    chat = Chat(id=f"chat-{uuid4().hex[:12]}", customer=customer)
    printer = RunPrinter(console()) if trace else None
    stories: list[dict[str, Any]] = []
    with ExitStack() as stack:
        spinner = None
        if not quiet and console().is_terminal:
            spinner = stack.enter_context(console().status("[dim]opening the desk …[/]"))
        watch = StageWatch(spinner)
        async with opened_desk(loaded, False, database, None, watch) as desk:
            if spinner is not None:
                spinner.stop()
            async for line in _lines(quiet=quiet):
                message = chat_message(chat, str(len(stories) + 1), line, "named at the terminal")
                with _shown_while_working(spinner):
                    story = await work_message(desk, message, watch, printer)
                stories.append(story)
                if not quiet:
                    _say(story, traced=trace)
    return stories


@contextmanager
def _shown_while_working(spinner: "Status | None") -> Iterator[None]:
    """What an agent writes meanwhile is a draft: it goes when the desk has answered."""
    if spinner is None:
        yield
        return
    spinner.update("[dim]…[/]")
    spinner.start()
    try:
        yield
    finally:
        spinner.stop()


async def _lines(*, quiet: bool) -> AsyncIterator[str]:
    """What is typed or piped in, line by line, until an empty line or the end."""
    is_typed = sys.stdin.isatty()
    while True:
        if is_typed and not quiet:
            console().print(f"[bold cyan]{PROMPT}[/]", end="")
        line = (await asyncio.to_thread(sys.stdin.readline)).strip()
        if not line:
            return
        if not is_typed and not quiet:
            console().print(f"[bold cyan]{PROMPT}[/]", end="")
            console().print(line, markup=False, highlight=False, soft_wrap=True)
        yield line


def _say(story: dict[str, Any], *, traced: bool) -> None:
    """What the customer reads, and what only the engineer does."""
    from rich.text import Text

    from deskhand.cli.terminal import printable

    words = _words(story)
    if words and not traced:
        console().print(
            Text("desk  ", style="bold green").append(printable(words), style="not bold")
        )
    state = _STATES.get(story["status"])
    if state is not None:
        why = f": {story['reason']}" if story["reason"] else ""
        console().print(Text(f"      {state}{printable(why)}", style="dim"), soft_wrap=True)


def _words(story: dict[str, Any]) -> str:
    question, reply = story["question"], story["reply"]
    if question is not None:
        return str(question["text"] if isinstance(question, dict) else question)
    return str(reply["text"]) if reply is not None else ""
