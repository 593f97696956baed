"""`deskhand conversations`: let the desk answer again where a person had taken over."""

from typing import Annotated

import typer

from deskhand.cli import options
from deskhand.cli.databases import opened_store
from deskhand.cli.terminal import console, print_json, run_async

app = typer.Typer(help="Conversations that people took over.", no_args_is_help=True)


@app.callback()
def conversations() -> None:
    """Conversations that people took over."""


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
