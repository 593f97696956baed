"""`deskhand tickets open`: a ticket for what a customer said elsewhere."""

from typing import TYPE_CHECKING, Annotated

import typer

from deskhand.cli import options
from deskhand.cli.databases import opened_desk
from deskhand.cli.terminal import console, print_json, run_async
from deskhand.cli.ticket_lines import ticket_document
from deskhand.model.ticket_state import UrgencyLevel

if TYPE_CHECKING:
    from deskhand.model.ticket import Ticket


def open_for_customer(
    customer: Annotated[str, typer.Argument(help="A mail address or a customer number.")],
    subject: Annotated[str, typer.Argument(help="What it is about, in a few words.")],
    note: Annotated[
        str, typer.Option("--note", help="What colleagues should know; no customer reads it.")
    ] = "",
    urgency: Annotated[
        UrgencyLevel | None, typer.Option("--urgency", help="How urgent it is.")
    ] = None,
    by: options.By = None,
    database: options.Database = None,
    desk: options.DeskName = None,
    as_json: options.Json = False,
) -> None:
    """Open a ticket for a customer who called, for example; it is yours."""
    name = by or options.login_name()
    ticket = run_async(_opened(database, desk, customer, subject, name, urgency, note))
    if as_json:
        print_json(ticket_document(ticket))
        return
    console().print(f"{ticket.id} is {ticket.state}", markup=False)


async def _opened(
    database: str | None,
    desk: str | None,
    customer: str,
    subject: str,
    by: str,
    urgency: UrgencyLevel | None,
    note: str,
) -> "Ticket":
    from deskhand.tickets.handling import open_ticket
    from deskhand.wiring import open_tickets

    async with (
        opened_desk(database, desk) as (opened, name),
        open_tickets(opened, name) as tickets,
    ):
        return await open_ticket(tickets, customer, subject, by, urgency=urgency, note=note)
