"""`deskhand tickets list` and `deskhand tickets views`: choices of tickets, and those that people
keep."""

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from deskhand.cli import options
from deskhand.cli.databases import opened_desk
from deskhand.cli.terminal import console, print_json, print_table, run_async, shortened, when
from deskhand.cli.ticket_lines import ticket_document
from deskhand.model.documents import document
from deskhand.model.ticket_state import TicketFilter, TicketOrder, TicketState, UrgencyLevel

if TYPE_CHECKING:
    from deskhand.model.ticket import Ticket, TicketView
    from deskhand.ports.tickets import TicketStore

_LONGEST_NAME = 60


def list_tickets(
    view: Annotated[
        str | None,
        typer.Option(
            "--view",
            help="A view that people keep, or open, mine, nobody, late, forgotten, waiting, over.",
        ),
    ] = None,
    state: Annotated[
        list[TicketState] | None, typer.Option("--state", help="Only in this state; repeatable.")
    ] = None,
    customer: Annotated[
        str | None, typer.Option("--customer", help="Only of this customer id or address.")
    ] = None,
    assignee: Annotated[
        str | None, typer.Option("--assignee", help="Only whose these are; empty for nobody's.")
    ] = None,
    group: Annotated[
        str | None, typer.Option("--group", help="Only in this group's queue; empty for none.")
    ] = None,
    tag: Annotated[str | None, typer.Option("--tag", help="Only those with this tag.")] = None,
    search: Annotated[
        str | None, typer.Option("--search", help="Words in id, subject, messages or numbers.")
    ] = None,
    urgency: Annotated[
        UrgencyLevel | None, typer.Option("--urgency", help="Only those this urgent.")
    ] = None,
    category: Annotated[
        str | None, typer.Option("--category", help="Only those about this.")
    ] = None,
    late: Annotated[bool, typer.Option("--late", help="Only those past a deadline.")] = False,
    order: Annotated[
        TicketOrder | None,
        typer.Option(
            "--order", help="What stands first; the view's order, else the latest changed."
        ),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=1000, help="How many at most.")] = 50,
    database: options.Database = None,
    desk: options.DeskName = None,
    as_json: options.Json = False,
) -> None:
    """List tickets, the latest changed first, or by deadline."""
    due_before = time.time() if late else None
    wanted = TicketFilter(tuple(state or ()), customer, assignee, group, tag, search)
    wanted = replace(wanted, urgency=urgency, category=category, due_before=due_before)
    tickets, total = run_async(_find_tickets(database, desk, view, wanted, order, limit))
    if as_json:
        print_json({"tickets": [ticket_document(ticket) for ticket in tickets], "total": total})
        return
    if not tickets:
        console().print("no such ticket; the stage `service: match_ticket` of a flow opens tickets")
        return
    print_table(
        ("ticket", "state", "urgency", "messages", "changed", "due", "customer"),
        ("assignee", "tags", "subject"),
        [_row(ticket) for ticket in tickets],
    )
    if total > len(tickets):
        console().print(f"{len(tickets)} of {total}; more with --limit", style="dim")


async def _find_tickets(
    database: str | None,
    desk: str | None,
    view: str | None,
    wanted: TicketFilter,
    order: TicketOrder | None,
    limit: int,
) -> "tuple[list[Ticket], int]":
    from deskhand.wiring import open_tickets

    async with (
        opened_desk(database, desk) as (opened, name),
        open_tickets(opened, name) as tickets,
    ):
        usual = TicketOrder.CHANGED
        if view is not None:
            of_view, usual = await _of_view(tickets.store, view, desk)
            from deskhand.tickets.choices import narrowed_by

            wanted = narrowed_by(of_view, wanted)
        shown = await tickets.store.find(wanted, limit=limit, order=order or usual)
        return shown, await tickets.store.count(wanted)


async def _of_view(
    store: "TicketStore", view: str, desk: str | None
) -> tuple[TicketFilter, TicketOrder]:
    from deskhand.config.sections.tickets import TicketsSection
    from deskhand.tickets.choices import view_named
    from deskhand.wiring import read_desk

    section = TicketsSection()
    if desk is not None and (Path(desk) / "desk.yaml").is_file():
        section = read_desk(desk).spec.tickets
    me, now = options.login_name(), time.time()
    return await view_named(store, view, me, now, section.forgotten_seconds)


def _row(ticket: "Ticket") -> Sequence[str]:
    return (
        ticket.id,
        ticket.state,
        ticket.urgency or "",
        str(ticket.messages),
        when(ticket.changed_at),
        "" if ticket.due_at is None else when(ticket.due_at),
        _cell(ticket.customer_id, 40),
        _cell(ticket.assignee or "", 20),
        _cell(" ".join(ticket.tags), 30),
        _cell(ticket.subject, 60),
    )


def views(
    save: Annotated[
        str | None,
        typer.Option("--save", help="Keep the filters of --query under this name."),
    ] = None,
    query: Annotated[
        str | None,
        typer.Option("--query", help="Filters, as `urgency=high&group=billing&view=late`."),
    ] = None,
    remove: Annotated[str | None, typer.Option("--remove", help="Forget this view.")] = None,
    by: options.By = None,
    database: options.Database = None,
    desk: options.DeskName = None,
    as_json: options.Json = False,
) -> None:
    """List the views that people keep, here and in the console; keep one, or forget one."""
    if save is not None:
        _check(save, query)
    kept = (save, query or "", by or options.login_name())
    kept_views = run_async(_views(database, desk, kept, remove))
    if as_json:
        print_json({"views": [document(view) for view in kept_views]})
        return
    rows = [(_cell(view.name), _cell(view.made_by), _cell(view.query)) for view in kept_views]
    print_table(("name", "made by"), ("filters",), rows)


def _check(name: str, query: str | None) -> None:
    """ConfigError for a view that would show nothing, or something else than it says."""
    from deskhand.errors import ConfigError
    from deskhand.tickets.choices import choice_problems

    if not name.strip() or len(name) > _LONGEST_NAME:
        raise ConfigError(
            f"a view's name has 1 to {_LONGEST_NAME} signs", fix="--save 'Late bills'"
        )
    problem = next(choice_problems(query or ""), None)
    if problem is not None:
        raise ConfigError(problem, fix="--query 'urgency=high&group=billing'")


async def _views(
    database: str | None, desk: str | None, kept: tuple[str | None, str, str], remove: str | None
) -> "list[TicketView]":
    from deskhand.wiring import open_tickets

    name, query, by = kept
    async with (
        opened_desk(database, desk) as (opened, desk_name),
        open_tickets(opened, desk_name) as tickets,
    ):
        if name is not None:
            await tickets.store.save_view(name.strip(), query.removeprefix("?"), by)
        if remove is not None:
            await tickets.store.remove_view(remove)
        return await tickets.store.views()


def _cell(text: str, length: int = 100) -> str:
    return shortened(text, length).replace("[", r"\[")
