"""`deskhand mail`: what lies in a desk's mailboxes."""

from typing import TYPE_CHECKING, Annotated, Any, Protocol, TypeVar

import typer

from deskhand.cli import options
from deskhand.cli.terminal import console, print_json, print_table, printable, run_async, shortened

if TYPE_CHECKING:
    from deskhand.wiring import Database, LoadedDesk, MailChannel


class _Named(Protocol):
    @property
    def name(self) -> str: ...


T = TypeVar("T", bound=_Named)
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


@app.command("claim")
def claim(
    desk: Annotated[
        str, typer.Argument(help="A desk's folder, or the name of a shipped desk.", metavar="DESK")
    ],
    take_over: Annotated[
        bool,
        typer.Option(
            "--take-over", help="Make the mailboxes this database's; stop the other one first."
        ),
    ] = False,
    channel: Annotated[
        str | None, typer.Option("--channel", help="One channel only.", metavar="NAME")
    ] = None,
    database: options.Database = None,
    as_json: options.Json = False,
) -> None:
    """Show which other installation works a desk's mailboxes, or take them over."""
    claims = run_async(_claim(desk, channel, take_over, database or options.DEFAULT_DATABASE))
    if as_json:
        print_json({"desk": desk, "taken_over": take_over, "mailboxes": claims})
        return
    for name, others in claims.items():
        whose = "; ".join(claim["words"] for claim in others)
        if take_over:
            words = f"taken over from {whose}" if others else "claimed; nobody else had it"
        else:
            words = whose or "no other installation has it"
        console().print(printable(f"{name}: {words}"), markup=False, soft_wrap=True)
    if take_over and any(claims.values()):
        console().print("the other one notices within a minute; mail is read after that")


async def _claim(
    desk: str, channel: str | None, take_over: bool, url: str
) -> dict[str, list[dict[str, Any]]]:
    from deskhand.wiring import claimed_mailboxes, open_database, read_desk

    loaded = read_desk(desk)
    claims: dict[str, list[dict[str, Any]]] = {}
    async with open_database(url) as database:
        for mailbox in _chosen(claimed_mailboxes(loaded.spec, database), loaded, channel):
            claim = mailbox.claim
            try:
                others = await (claim.take_over() if take_over else claim.others())
            finally:
                await mailbox.close()
            claims[mailbox.name] = [{**other._asdict(), "words": str(other)} for other in others]
    return claims


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
    from deskhand.wiring import mailboxes

    return _chosen(mailboxes(loaded.spec, database), loaded, wanted)


def _chosen(desk_mailboxes: "list[T]", loaded: "LoadedDesk", wanted: str | None) -> "list[T]":
    """The mailbox that is wanted, or all; ConfigError where there is none."""
    from deskhand.errors import ConfigError

    chosen = [mailbox for mailbox in desk_mailboxes if wanted in (None, mailbox.name)]
    if not chosen:
        names = ", ".join(mailbox.name for mailbox in desk_mailboxes) or "none"
        problem = (
            f"the desk has no mailbox {wanted!r}" if wanted else "the desk has no such mailbox"
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
