"""`deskhand conversations`: let the desk answer again where a person had taken over."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from deskhand.cli import options
from deskhand.cli.databases import opened_store
from deskhand.cli.terminal import (
    console,
    print_json,
    print_table,
    run_async,
    shortened,
    when,
)
from deskhand.model.documents import iso_at

if TYPE_CHECKING:
    from deskhand.model.queue import TakenOver

app = typer.Typer(help="Conversations that people took over.", no_args_is_help=True)


@app.callback()
def conversations() -> None:
    """Conversations that people took over."""


@app.command("list")
def list_taken_over(
    database: options.Database = None,
    desk: options.DeskName = None,
    as_json: options.Json = False,
) -> None:
    """List the conversations that people took over, the latest first."""
    from rich.markup import escape

    taken = run_async(_taken_over(database, desk))
    if as_json:
        print_json({"conversations": [_document(one) for one in taken]})
        return
    if not taken:
        console().print("nobody has taken a conversation over")
        return
    rows = [
        (
            escape(one.conversation),
            escape(shortened(one.by, 40)),
            when(one.at),
            escape(shortened(_about(one), 80)),
        )
        for one in taken
    ]
    print_table(("conversation", "taken over by", "since"), ("about",), rows)
    console().print(
        "let the desk answer again: deskhand conversations give-back CONVERSATION", style="dim"
    )


def _about(taken: "TakenOver") -> str:
    return f"{taken.subject}  from {taken.sender}" if taken.turn is not None else ""


def _document(taken: "TakenOver") -> dict[str, Any]:
    """The same fields as over the API."""
    return {
        "conversation": taken.conversation,
        "taken_over_by": taken.by,
        "taken_over_at": iso_at(taken.at),
        "run": taken.run_id,
        "sender": taken.sender,
        "subject": taken.subject,
    }


async def _taken_over(database: str | None, desk: str | None) -> "list[TakenOver]":
    async with opened_store(database, desk) as store:
        return await store.taken_over()


@app.command("give-back")
def give_back(
    conversation: Annotated[
        str, typer.Argument(help="The conversation's id.", metavar="CONVERSATION")
    ],
    by: options.By = None,
    database: options.Database = None,
    desk: options.DeskName = None,
    as_json: options.Json = False,
) -> None:
    """Let the desk answer again in a conversation that a person had taken over."""
    given = run_async(_give_back(conversation, by, database, desk))
    if as_json:
        print_json({"conversation": conversation, "given_back": given})
    else:
        console().print(
            "the desk answers again" if given else "nobody has taken this conversation over",
            soft_wrap=True,
        )
    raise typer.Exit(0 if given else 1)


async def _give_back(
    conversation: str, by: str | None, database: str | None, desk: str | None
) -> bool:
    async with opened_store(database, desk) as store:
        return await store.give_back(conversation, by or options.login_name())
