"""`deskhand tickets mark`: what became of the things that a ticket asks for."""

from typing import TYPE_CHECKING, Annotated

import typer

from deskhand.cli import options
from deskhand.cli.databases import opened_desk
from deskhand.cli.terminal import console, print_json, run_async
from deskhand.cli.ticket_lines import ask_lines, ticket_document
from deskhand.model.ticket_state import AskStatus

if TYPE_CHECKING:
    from deskhand.model.ticket import Ticket


def mark(
    ticket: Annotated[
        str, typer.Argument(help="A ticket's id, as TKT-7Q2M4XK9.", metavar="TICKET")
    ],
    status: Annotated[AskStatus, typer.Argument(help="What became of it.")],
    ask: Annotated[
        list[str] | None,
        typer.Option("--ask", help="Its number in `tickets show`; repeatable. All that are open."),
    ] = None,
    why: Annotated[str, typer.Option("--why", help="The reason, for colleagues.")] = "",
    by: options.By = None,
    database: options.Database = None,
    desk: options.DeskName = None,
    as_json: options.Json = False,
) -> None:
    """Mark what a ticket asks for as answered, deferred or escalated."""
    name = by or options.login_name()
    changed = run_async(_marked(database, desk, ticket, status, ask, name, why))
    if as_json:
        print_json(ticket_document(changed, ()))
        return
    for line in ask_lines(changed):
        console().print(line, markup=False, soft_wrap=True)


async def _marked(
    database: str | None,
    desk: str | None,
    ticket: str,
    status: AskStatus,
    asks: list[str] | None,
    by: str,
    why: str,
) -> "Ticket":
    from deskhand.tickets.handling import mark_asks
    from deskhand.wiring import open_tickets

    async with (
        opened_desk(database, desk) as (opened, name),
        open_tickets(opened, name) as tickets,
    ):
        return await mark_asks(tickets, ticket, status, by, asks, why)
