"""`deskhand mail`: what lies in a desk's mailboxes."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from deskhand.cli import options
from deskhand.cli.terminal import console, print_json, print_table, printable, run_async, shortened

if TYPE_CHECKING:
    from deskhand.wiring import Database, LoadedDesk, MailChannel

app = typer.Typer(help="Look into a desk's mailboxes.", no_args_is_help=True)


@app.command("backlog")
def backlog(
    desk: Annotated[
        str, typer.Argument(help="A desk's folder, or the name of a shipped desk.", metavar="DESK")
    ],
    channel: Annotated[
        str | None, typer.Option("--channel", help="One channel only.", metavar="NAME")
    ] = None,
    limit: Annotated[
        int, typer.Option("--limit", min=1, max=1000, help="At most so many, newest first.")
    ] = 100,
    look: Annotated[
        bool, typer.Option("--dry-run", help="List the mails and hand in none.")
    ] = False,
    database: options.Database = None,
    as_json: options.Json = False,
) -> None:
    """Hand in unread mail from before the first connect; a person looks at every answer before
    it leaves."""
    mails = run_async(_backlog(desk, channel, limit, look, database or options.DEFAULT_DATABASE))
    if as_json:
        print_json({"desk": desk, "handed_in": not look, "mails": mails})
        return
    if not mails:
        console().print("no older unread mail")
        return
    rows = [
        (
            mail["channel"],
            printable(mail["from"]),
            printable(shortened(mail["subject"], 50)),
            mail["run"] or "",
        )
        for mail in mails
    ]
    print_table(("channel", "from"), ("subject", "run"), rows)
    if not look:
        console().print(f"{len(mails)} handed in; the serving process works them (deskhand serve)")


async def _backlog(
    desk: str, channel: str | None, limit: int, look: bool, url: str
) -> list[dict[str, Any]]:
    from deskhand.wiring import open_database, read_desk

    loaded = read_desk(desk)
    async with open_database(url) as database:
        mails: list[dict[str, Any]] = []
        for mailbox in _mailboxes(loaded, database, channel):
            try:
                mails += await _of_mailbox(loaded, database, mailbox, limit, look)
            finally:
                await mailbox.close()
        return mails


def _mailboxes(
    loaded: "LoadedDesk", database: "Database", wanted: str | None
) -> "list[MailChannel]":
    from deskhand.errors import ConfigError
    from deskhand.wiring import mailboxes

    desk_mailboxes = mailboxes(loaded.spec, database)
    chosen = [mailbox for mailbox in desk_mailboxes if wanted in (None, mailbox.name)]
    if not chosen:
        names = ", ".join(mailbox.name for mailbox in desk_mailboxes) or "none"
        problem = (
            f"the desk has no mailbox {wanted!r}" if wanted else "the desk has no IMAP mailbox"
        )
        raise ConfigError(problem, fix=f"mailboxes of {loaded.spec.name}: {names}")
    return chosen


async def _of_mailbox(
    loaded: "LoadedDesk", database: "Database", mailbox: "MailChannel", limit: int, look: bool
) -> list[dict[str, Any]]:
    from deskhand.wiring import hand_in

    mails: list[dict[str, Any]] = []
    for place, message in await mailbox.older_unread(limit):
        run_id = None
        if not look:
            run_id = (await hand_in(loaded, database, message)).run_id
            await mailbox.remember(place, run_id)
        mails.append(
            {
                "channel": mailbox.name,
                "from": str(message.sender),
                "subject": message.subject,
                "received_at": message.received_at.isoformat(),
                "run": run_id,
            }
        )
    return mails
