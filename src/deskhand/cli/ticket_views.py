"""`deskhand tickets views`: the choices of tickets that people keep in the console."""

from typing import TYPE_CHECKING, Annotated

import typer

from deskhand.cli import options
from deskhand.cli.databases import opened_desk
from deskhand.cli.terminal import print_json, print_table, run_async, shortened
from deskhand.model.documents import document

if TYPE_CHECKING:
    from deskhand.model.ticket import TicketView


def views(
    remove: Annotated[str | None, typer.Option("--remove", help="Forget this view.")] = None,
    database: options.Database = None,
    desk: options.DeskName = None,
    as_json: options.Json = False,
) -> None:
    """List the views that people keep in the console."""
    found = run_async(_views(database, desk, remove))
    if as_json:
        print_json({"views": [document(view) for view in found]})
        return
    rows = [(_cell(view.name), _cell(view.made_by), _cell(view.query)) for view in found]
    print_table(("name", "made by"), ("filters",), rows)


async def _views(database: str | None, desk: str | None, remove: str | None) -> "list[TicketView]":
    from deskhand.wiring import open_tickets

    async with (
        opened_desk(database, desk) as (opened, name),
        open_tickets(opened, name) as tickets,
    ):
        if remove is not None:
            await tickets.store.remove_view(remove)
        return await tickets.store.views()


def _cell(text: str) -> str:
    return shortened(text, 100).replace("[", r"\[")
