"""`deskhand tickets`: what customers' matters are, and what people do with them."""

import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO, TypeVar

import typer

from deskhand.cli import options
from deskhand.cli.databases import opened_desk
from deskhand.cli.terminal import console, print_json, run_async
from deskhand.cli.ticket_asks import mark
from deskhand.cli.ticket_bulk import bulk, macro
from deskhand.cli.ticket_lines import export_lines, print_ticket, ticket_document
from deskhand.cli.ticket_opening import open_for_customer
from deskhand.cli.ticket_views import list_tickets, views
from deskhand.model.ticket_state import (
    AskStatus,
    TicketState,
    UrgencyLevel,
)

if TYPE_CHECKING:
    from deskhand.model.ticket import Ticket, TicketEvent, TicketMessage
    from deskhand.tickets.service import Tickets

app = typer.Typer(help="Tickets: one matter of one customer each.", no_args_is_help=True)
app.command("list")(list_tickets)
app.command("views")(views)
app.command("mark")(mark)
app.command("open")(open_for_customer)
app.command("bulk")(bulk)
app.command("macro")(macro)

TicketId = Annotated[str, typer.Argument(help="A ticket's id, as TKT-7Q2M4XK9.", metavar="TICKET")]
Why = Annotated[str, typer.Option("--why", help="The reason, for colleagues.")]
T = TypeVar("T")


@app.command("show")
def show(
    ticket: TicketId,
    database: options.Database = None,
    desk: options.DeskName = None,
    as_json: options.Json = False,
) -> None:
    """Show a ticket: its messages of all channels and our replies, its notes and what was done to
    it."""

    async def work(
        tickets: "Tickets",
    ) -> "tuple[Ticket, list[TicketMessage], list[TicketEvent]]":
        from deskhand.tickets.handling import messages_with_replies

        whole = await tickets.find(ticket)
        messages = await messages_with_replies(tickets, whole.id)
        return whole, messages, await tickets.store.events(whole.id)

    whole, messages, events = _run(database, desk, work)
    if as_json:
        print_json(ticket_document(whole, messages, events))
        return
    print_ticket(whole, messages, events)


@app.command("assign")
def assign(
    ticket: TicketId,
    to: Annotated[
        str | None, typer.Argument(help="Whose it is from now on.", metavar="[NAME]")
    ] = None,
    group: Annotated[
        str | None, typer.Option("--group", help="The queue it lies in; empty for none.")
    ] = None,
    nobody: Annotated[bool, typer.Option("--nobody", help="It is nobody's any more.")] = False,
    why: Why = "",
    by: options.By = None,
    database: options.Database = None,
    desk: options.DeskName = None,
    as_json: options.Json = False,
) -> None:
    """Give a ticket to a colleague, to a group, or back to all."""
    from deskhand.errors import ConfigError

    if to is None and group is None and not nobody:
        raise ConfigError("nobody is named", fix="name a colleague, --group GROUP or --nobody")
    whose = "" if nobody else to
    _tell(
        database,
        desk,
        lambda tickets: tickets.assign(ticket, _name(by), to=whose, group=group, why=why),
        as_json,
    )


@app.command("note")
def note(
    ticket: TicketId,
    text: Annotated[
        str, typer.Argument(help="What to remember; no customer and no model ever reads it.")
    ],
    by: options.By = None,
    database: options.Database = None,
    desk: options.DeskName = None,
    as_json: options.Json = False,
) -> None:
    """Write a note for colleagues."""
    _tell(database, desk, lambda tickets: tickets.note(ticket, text, _name(by)), as_json)


@app.command("tag")
def tag(
    ticket: TicketId,
    tags: Annotated[
        list[str] | None, typer.Argument(help="Words to add.", metavar="[TAG]...")
    ] = None,
    remove: Annotated[
        list[str] | None, typer.Option("--remove", help="A tag to take away.")
    ] = None,
    by: options.By = None,
    database: options.Database = None,
    desk: options.DeskName = None,
    as_json: options.Json = False,
) -> None:
    """Add and remove tags."""
    from deskhand.errors import ConfigError

    if not (tags or remove):
        raise ConfigError("there is nothing to change", fix="name a tag or --remove TAG")
    _tell(
        database,
        desk,
        lambda tickets: tickets.tag(ticket, _name(by), tags or (), remove or ()),
        as_json,
    )


@app.command("urgency")
def urgency(
    ticket: TicketId,
    level: Annotated[UrgencyLevel, typer.Argument(help="How urgent it is.")],
    why: Why = "",
    by: options.By = None,
    database: options.Database = None,
    desk: options.DeskName = None,
    as_json: options.Json = False,
) -> None:
    """Say how urgent a ticket is; its deadlines follow."""
    from deskhand.tickets.handling import set_urgency

    name = _name(by)
    _tell(database, desk, lambda opened: set_urgency(opened, ticket, level, name, why), as_json)


@app.command("merge")
def merge(
    ticket: TicketId,
    into: Annotated[str, typer.Argument(help="The ticket that it becomes part of.")],
    why: Why = "",
    by: options.By = None,
    database: options.Database = None,
    desk: options.DeskName = None,
    as_json: options.Json = False,
) -> None:
    """Make a ticket part of another one of the same customer; its id leads there from now on."""
    _tell(database, desk, lambda tickets: tickets.merge(ticket, into, _name(by), why), as_json)


@app.command("split")
def split(
    ticket: TicketId,
    runs: Annotated[
        list[str], typer.Argument(help="The runs of the messages to take out.", metavar="RUN...")
    ],
    subject: Annotated[
        str | None, typer.Option("--subject", help="What the new ticket is about.")
    ] = None,
    why: Why = "",
    by: options.By = None,
    database: options.Database = None,
    desk: options.DeskName = None,
    as_json: options.Json = False,
) -> None:
    """Make a new ticket of some messages of a ticket; prints the new one."""
    _tell(
        database,
        desk,
        lambda tickets: tickets.split(ticket, runs, _name(by), why, subject),
        as_json,
    )


@app.command("undo")
def undo(
    ticket: TicketId,
    why: Why = "",
    by: options.By = None,
    database: options.Database = None,
    desk: options.DeskName = None,
    as_json: options.Json = False,
) -> None:
    """Take the latest merge or split of a ticket back."""
    _tell(database, desk, lambda tickets: tickets.undo(ticket, _name(by), why), as_json)


@app.command("close")
def close(
    ticket: TicketId,
    solved: Annotated[
        bool, typer.Option("--solved", help="Only solved: a further message reopens it.")
    ] = False,
    rest: Annotated[
        AskStatus | None, typer.Option("--rest", help="What became of asks that are still open.")
    ] = None,
    why: Why = "",
    by: options.By = None,
    database: options.Database = None,
    desk: options.DeskName = None,
    as_json: options.Json = False,
) -> None:
    """Close a ticket: a further message of the customer opens another one."""
    state = TicketState.SOLVED if solved else TicketState.CLOSED
    _tell(
        database,
        desk,
        lambda tickets: tickets.set_state(ticket, state, _name(by), why, rest),
        as_json,
    )


@app.command("reopen")
def reopen(
    ticket: TicketId,
    to_person: Annotated[
        bool, typer.Option("--open", help="For a person to work on, not for the desk.")
    ] = False,
    why: Why = "",
    by: options.By = None,
    database: options.Database = None,
    desk: options.DeskName = None,
    as_json: options.Json = False,
) -> None:
    """Take a ticket up again."""
    state = TicketState.OPEN if to_person else TicketState.ACTIVE
    _tell(database, desk, lambda tickets: tickets.set_state(ticket, state, _name(by), why), as_json)


@app.command("export")
def export(
    file: Annotated[
        Path | None, typer.Argument(help="Where to; stdout by default.", metavar="[FILE]")
    ] = None,
    customer: Annotated[
        str | None, typer.Option("--customer", help="Only of this customer id or address.")
    ] = None,
    database: options.Database = None,
    desk: options.DeskName = None,
) -> None:
    """Write tickets down with messages, notes and events: one JSON document a line."""
    from deskhand.private_files import open_private_file

    async def work(tickets: "Tickets") -> int:
        written = 0
        with ExitStack() as opened:
            out: TextIO = sys.stdout
            if file is not None:
                out = opened.enter_context(open_private_file(file))
            async for line in export_lines(tickets, customer):
                out.write(f"{line}\n")
                written += 1
        return written

    count = _run(database, desk, work)
    if file is not None:
        console(to_stderr=True).print(f"{count} tickets in {file}", markup=False)


@app.command("rebuild")
def rebuild(
    database: options.Database = None,
    desk: options.DeskName = None,
    as_json: options.Json = False,
) -> None:
    """Make rows, archive and active store again from the events of the tickets and the messages
    of runs. Again changes nothing. Exit 1 where another program has a key of ours."""
    from dataclasses import asdict

    done = _run(database, desk, lambda tickets: tickets.rebuild())
    if as_json:
        print_json(asdict(done))
    else:
        console().print(
            f"{done.tickets} tickets: {done.active} active, {done.archived} archived;"
            f" {done.mended} mended, {done.cleared} strays cleared"
        )
        _print_foreign(done.foreign)
    raise typer.Exit(1 if done.foreign else 0)


def _print_foreign(keys: Sequence[str]) -> None:
    """Which keys of the active store are another program's, and what to do about them."""
    for key in keys:
        words = f"left alone: the key {key} belongs to another program"
        console().print(words, style="red", markup=False, soft_wrap=True)
    if keys:
        words = (
            "messages of these customers cannot be worked: delete these keys, or choose another"
            " prefix (redis://host:6379/0?prefix=deskhand), then rebuild again"
        )
        console().print(words, style="red", markup=False, soft_wrap=True)


@asynccontextmanager
async def _opened(database: str | None, desk: str | None) -> "AsyncIterator[Tickets]":
    from deskhand.wiring import open_tickets

    async with (
        opened_desk(database, desk) as (opened, name),
        open_tickets(opened, name) as tickets,
    ):
        yield tickets


def _run(database: str | None, desk: str | None, work: "Callable[[Tickets], Awaitable[T]]") -> T:
    async def opened() -> T:
        async with _opened(database, desk) as tickets:
            return await work(tickets)

    return run_async(opened())


def _tell(
    database: str | None,
    desk: str | None,
    work: "Callable[[Tickets], Awaitable[Ticket]]",
    as_json: bool,
) -> None:
    changed = _run(database, desk, work)
    if as_json:
        print_json(ticket_document(changed))
        return
    console().print(f"{changed.id} is {changed.state}", markup=False)


def _name(by: str | None) -> str:
    return by or options.login_name()
