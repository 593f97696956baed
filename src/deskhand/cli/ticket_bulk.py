"""`deskhand tickets bulk` and `deskhand tickets macro`: the same change of many tickets."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated

import typer

from deskhand.cli import options
from deskhand.cli.databases import opened_database, opened_desk
from deskhand.cli.terminal import console, print_json, run_async
from deskhand.errors import ConfigError
from deskhand.model.ticket_state import AskStatus, TicketState, UrgencyLevel

if TYPE_CHECKING:
    from deskhand.model.ticket import Ticket
    from deskhand.tickets.handling import BulkResult
    from deskhand.tickets.service import Tickets

TicketIds = Annotated[
    list[str], typer.Argument(help="Ids of tickets, as TKT-7Q2M4XK9.", metavar="TICKET...")
]


def bulk(
    tickets: TicketIds,
    to: Annotated[
        str | None, typer.Option("--assign", help="Whose they are; empty for nobody's.")
    ] = None,
    group: Annotated[
        str | None, typer.Option("--group", help="The queue they lie in; empty for none.")
    ] = None,
    urgency: Annotated[
        UrgencyLevel | None, typer.Option("--urgency", help="How urgent they are.")
    ] = None,
    tag: Annotated[list[str] | None, typer.Option("--tag", help="A tag to add.")] = None,
    solve: Annotated[bool, typer.Option("--solve", help="Solve them.")] = False,
    close: Annotated[bool, typer.Option("--close", help="Close them for good.")] = False,
    merge: Annotated[
        bool, typer.Option("--merge", help="Make them part of the one that was opened first.")
    ] = False,
    rest: Annotated[
        AskStatus | None, typer.Option("--rest", help="What became of asks that are still open.")
    ] = None,
    why: Annotated[str, typer.Option("--why", help="The reason, for colleagues.")] = "",
    by: options.By = None,
    database: options.Database = None,
    desk: options.DeskName = None,
    as_json: options.Json = False,
) -> None:
    """Change many tickets at once; those that cannot be changed keep none of the others back."""
    name = by or options.login_name()
    steps = _steps(name, why, to, group, urgency, tag or [], _state(solve, close), rest)
    if not steps and not merge:
        raise ConfigError(
            "there is nothing to change", fix="say what, as --assign NAME, --solve or --merge"
        )
    if steps and merge:
        raise ConfigError("--merge stands alone", fix="change them first, then merge them")

    async def work(opened: "Tickets") -> "BulkResult":
        from deskhand.tickets.handling import in_bulk, merge_all

        if merge:
            return await merge_all(opened, tickets, name, why)

        async def change(ticket_id: str) -> "Ticket":
            changed = await opened.find(ticket_id)
            for step in steps:
                changed = await step(opened, ticket_id)
            return changed

        return await in_bulk(tickets, change)

    async def run() -> "BulkResult":
        from deskhand.wiring import open_tickets

        async with (
            opened_desk(database, desk) as (opened, desk_name),
            open_tickets(opened, desk_name) as service,
        ):
            return await work(service)

    _tell(run_async(run()), as_json)


def macro(
    name: Annotated[str, typer.Argument(help="The name of a macro in desk.yaml.")],
    tickets: TicketIds,
    desk: Annotated[
        str,
        typer.Option(
            "--desk", envvar="DESKHAND_DESK", help="The desk's folder, or a shipped desk's name."
        ),
    ],
    by: options.By = None,
    database: options.Database = None,
    as_json: options.Json = False,
) -> None:
    """Do with tickets what a macro of desk.yaml says, step by step."""
    from deskhand.wiring import read_desk

    spec = read_desk(desk).spec
    steps = spec.tickets.macros.get(name)
    if steps is None:
        names = ", ".join(sorted(spec.tickets.macros)) or "none"
        raise ConfigError(f"desk {spec.name} has no macro {name!r}", fix=f"its macros: {names}")
    who = by or options.login_name()

    async def run() -> "BulkResult":
        from deskhand.tickets.handling import in_bulk, use_macro
        from deskhand.wiring import open_tickets

        async with (
            opened_database(database) as opened,
            open_tickets(opened, spec.name, spec=spec) as service,
        ):
            return await in_bulk(
                tickets, lambda ticket_id: use_macro(service, ticket_id, name, steps, who)
            )

    _tell(run_async(run()), as_json)


_Step = Callable[["Tickets", str], Awaitable["Ticket"]]


def _state(solve: bool, close: bool) -> TicketState | None:
    if solve and close:
        raise ConfigError("solved or closed?", fix="write --solve or --close")
    if solve:
        return TicketState.SOLVED
    return TicketState.CLOSED if close else None


def _steps(
    by: str,
    why: str,
    to: str | None,
    group: str | None,
    urgency: UrgencyLevel | None,
    tags: list[str],
    state: TicketState | None,
    rest: AskStatus | None,
) -> list[_Step]:
    """What is done with each ticket, in this order."""
    from deskhand.tickets.handling import set_urgency

    steps: list[_Step] = []
    if to is not None or group is not None:
        steps.append(
            lambda tickets, ticket_id: tickets.assign(ticket_id, by, to=to, group=group, why=why)
        )
    if urgency is not None:
        steps.append(lambda tickets, ticket_id: set_urgency(tickets, ticket_id, urgency, by, why))
    if tags:
        steps.append(lambda tickets, ticket_id: tickets.tag(ticket_id, by, tags))
    if state is not None:
        steps.append(lambda tickets, ticket_id: tickets.set_state(ticket_id, state, by, why, rest))
    return steps


def _tell(done: "BulkResult", as_json: bool) -> None:
    if as_json:
        changed = [ticket.id for ticket in done.changed]
        print_json({"changed": changed, "failed": dict(done.failed)})
    else:
        for ticket in done.changed:
            console().print(f"{ticket.id} is {ticket.state}", markup=False)
        for ticket_id, problem in done.failed.items():
            console(to_stderr=True).print(f"{ticket_id}: {problem}", markup=False)
    if done.failed:
        raise typer.Exit(1)
