"""`deskhand demo`: two desks at work in one process, their mail coming in live, and the page on
which people decide."""

import asyncio
import secrets
import shlex
import time
from collections.abc import Mapping
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deskhand.cli import options
from deskhand.cli.demo_mail import (
    CHAT_DESK,
    DESKS,
    at_home,
    deliver,
    sample_mails,
    with_chat,
)
from deskhand.cli.terminal import (
    console,
    print_json,
    program,
    run_async,
    shortened,
    status_text,
)

if TYPE_CHECKING:
    from deskhand.model.run import Run
    from deskhand.wiring import Database, Desk


USER, PORT = "demo", 8080
UNDO_SECONDS = 10.0
_LOOK_EVERY = 0.3


def demo(
    folder: Annotated[
        Path | None,
        typer.Option(
            "--folder", help="Where everything goes; a new temporary folder if not named."
        ),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(
            "--port",
            min=0,
            max=65535,
            help="The page's port; 8080, or a free one where that is taken.",
        ),
    ] = None,
    pace: Annotated[float, typer.Option("--pace", min=0, help="Seconds between two mails.")] = 3.0,
    mails: Annotated[
        int | None,
        typer.Option("--mails", min=1, help="How many of the sample mails; all if not said."),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Watch two desks work their mail, and decide on a page what waits for you: no key, no network.

    With --json the sample mails are worked without a page or a pause, and what came of them is
    printed.
    """
    from deskhand.logs import set_up_logging
    from deskhand.private_files import make_private_folder

    set_up_logging()
    home = folder or Path(mkdtemp(prefix="deskhand-demo-"))
    make_private_folder(home)
    result = run_async(_demo(home, port, 0.0 if as_json else pace, mails, quiet=as_json))
    if as_json:
        print_json(result)


async def _demo(
    folder: Path, port: int | None, pace: float, mails: int | None, *, quiet: bool
) -> dict[str, Any]:
    from deskhand.cli.serve import listening, opened
    from deskhand.wiring import open_database, read_desk

    undo = 0.0 if quiet else UNDO_SECONDS
    loaded = [at_home(read_desk(shown.desk), shown, folder, undo) for shown in DESKS]
    if not quiet:
        loaded.append(with_chat(read_desk(CHAT_DESK)))
    database = folder / "deskhand.db"
    arriving_mails = sample_mails(loaded[: len(DESKS)])[:mails]
    show = _Show(len(arriving_mails), quiet=quiet)
    show.greet()
    with listening("127.0.0.1", _port(port)) as listener:
        async with (
            open_database(str(database)) as open_,
            opened(loaded, open_, folder / "outbox", workers=False) as desks,
        ):
            arriving = asyncio.create_task(deliver(arriving_mails, folder, pace))
            if quiet:
                await arriving
                await show.until_at_rest(desks)
                return await _summary(folder, database, desks)
            where = f"http://127.0.0.1:{listener.getsockname()[1]}/approvals/"
            show.invite(where, await _login(open_), folder)
            await _serve(desks, open_, listener, show, arriving)
    show.part(folder)
    return {}


async def _serve(
    desks: "list[Desk]",
    database: "Database",
    listener: Any,
    show: "_Show",
    arriving: "asyncio.Task[None]",
) -> None:
    from deskhand.cli.serve import until_stopped
    from deskhand.cli.web_server import web_server

    telling = asyncio.create_task(show.tell(desks, arriving))
    try:
        await until_stopped(await web_server(desks, database), desks, listener)
    finally:
        telling.cancel()
        arriving.cancel()
        await asyncio.gather(telling, arriving, return_exceptions=True)


def _port(wanted: int | None) -> int:
    """The usual one if nobody has it."""
    import socket

    if wanted is not None:
        return wanted
    try:
        socket.create_server(("127.0.0.1", PORT)).close()
    except OSError:
        return 0
    return PORT


async def _login(database: "Database") -> str:
    from deskhand.wiring import user_accounts

    accounts, password = user_accounts(database), secrets.token_urlsafe(9)
    if any(user.name == USER for user in await accounts.list()):
        await accounts.set_password(USER, password)
    else:
        await accounts.add(USER, password, ["*"])
    return password


async def _summary(folder: Path, database: Path, desks: "list[Desk]") -> dict[str, Any]:
    from deskhand.engine.audit import verify_desk
    from deskhand.engine.story import read_records, story_of

    stories: list[dict[str, Any]] = []
    for desk in desks:
        for run in reversed(await desk.store.runs(limit=1000)):
            stories.append(
                {"desk": desk.spec.name, **story_of(await read_records(desk.store, run.id))}
            )
    reports = [await verify_desk(desk.store) for desk in desks]
    audit: dict[str, Any] = {}
    audit["ok"] = all(report.ok for report in reports)
    audit["runs"] = sum(report.runs for report in reports)
    audit["rows"] = sum(report.rows for report in reports)
    return {
        "folder": str(folder),
        "database": str(database),
        "outbox": str(folder / "outbox"),
        "sent": sorted(map(str, (folder / "outbox").rglob("*.eml"))),
        "audit": audit,
        "runs": stories,
    }


# --- what is told of them


def _writer(message: Mapping[str, Any]) -> str:
    """The sender's name, or the customer's whose mail a trusted helpdesk passed on."""
    if (message.get("principal") or {}).get("kind") == "forwarded":
        return str((message.get("prepared") or {}).get("name") or message["principal"]["address"])
    return str(message.get("from") or "").partition(" <")[0]


def site_of(where: str) -> str:
    """The address of the site that a page is on."""
    scheme, _, rest = where.partition("://")
    return f"{scheme}://{rest.partition('/')[0]}"


class _Show:
    """Tells in a line whatever comes to rest; with `quiet`, nothing."""

    def __init__(self, mails: int, *, quiet: bool) -> None:
        self._mails, self._quiet, self._told = mails, quiet, dict[str, str]()

    def greet(self) -> None:
        if self._quiet:
            return
        console().print(
            "\n[bold]Deskhand demo[/]  desks in one process on SQLite, with the embedded brain"
        )
        for shown in DESKS:
            console().print(f"  [cyan]{shown.desk:<10}[/] {shown.about}")
        console().print(f"  [cyan]{CHAT_DESK:<10}[/] a shop's chat, on a page of its own")
        console().print(
            "[dim]  Reading articles and examples; the first time takes about a minute …[/]"
        )

    def invite(self, where: str, password: str, folder: Path) -> None:
        lines = (
            (
                "Console",
                f"[bold cyan]{where}[/]  log in as [bold]{USER}[/] with [bold]{password}[/]",
            ),
            ("Chat", f"{site_of(where)}/chat/{CHAT_DESK}/try  [dim]a shop's page with the chat[/]"),
            ("Outbox", f"{folder / 'outbox'}  [dim]what leaves lies here as .eml[/]"),
            (
                "Incoming",
                f"{folder / 'incoming'}  [dim]put an .eml of your own into a desk's folder[/]",
            ),
            ("Records", f"export DESKHAND_DATABASE={shlex.quote(str(folder / 'deskhand.db'))}"),
        )
        console().print()
        for name, what in lines:
            console().print(f"  {name:<10} {what}", soft_wrap=True, highlight=False)
        console().print(
            "\n[dim]  Approve a reply there and watch it leave here. Ctrl-C ends the demo.[/]\n"
        )

    async def tell(self, desks: "list[Desk]", arriving: "asyncio.Task[None]") -> None:
        said_so = False
        while True:
            at_work = await self._look(desks)
            if arriving.done() and len(self._told) >= self._mails and not at_work and not said_so:
                said_so = True
                await self._sum_up(desks)
            await asyncio.sleep(_LOOK_EVERY)

    async def until_at_rest(self, desks: "list[Desk]") -> None:
        """Every mail has its run, and none is at work."""
        while True:
            runs = [run for desk in desks for run in await desk.store.runs(limit=1000)]
            if len(runs) >= self._mails and not any(run.status.is_active for run in runs):
                return
            await asyncio.sleep(_LOOK_EVERY)

    def part(self, folder: Path) -> None:
        from rich.markup import escape

        console().print(
            f"\nWhat happened stays in [cyan]{escape(str(folder))}[/]. Try next:", soft_wrap=True
        )
        database = shlex.quote(str(folder / "deskhand.db"))
        names = " or ".join(shown.desk for shown in DESKS)
        lines = (
            (
                f"export DESKHAND_DATABASE={database} DESKHAND_DESK={DESKS[0].desk}",
                f"look around in this demo, at {names}",
            ),
            (f"{program()} runs list", "then `runs show RUN`: the trace of one"),
            (f"{program()} reviews list", "what waits for a person"),
            (f"{program()} init my-desk --from inbox", "a desk of your own"),
        )
        width = max(len(command) for command, _ in lines)
        for command, why in lines:
            console().print(f"  {escape(command):<{width}}  [dim]{why}[/]", soft_wrap=True)

    async def _look(self, desks: "list[Desk]") -> bool:
        """Tell what is new; whether something is at work."""
        active = False
        for desk in desks:
            for run in reversed(await desk.store.runs(limit=200)):
                active = active or run.status.is_active
                if not run.status.is_active and self._told.get(run.id) != run.status:
                    self._told[run.id] = run.status
                    await self._line(desk, run)
        return active

    async def _line(self, desk: "Desk", run: "Run") -> None:
        from rich.text import Text

        from deskhand.engine.story import read_records, story_of

        story = story_of(await read_records(desk.store, run.id))
        message, why = story["message"] or {}, story["reason"] or ""
        review, delivered = story["review"], (story["delivery"] or {}).get("delivered")
        if str(run.status) == "waiting_review" and review is not None:
            why = review["reason"]
        elif delivered:
            why = f"→ {Path(str(delivered)).name}"
        elif str(run.status) == "done" and not why:
            why = "nothing to send"
        sender = _writer(message)
        line = Text.assemble(
            (f"  {time.strftime('%H:%M:%S')} ", "dim"),
            (f"{desk.spec.name:<9}", "cyan"),
            Text.from_markup(status_text(str(run.status))),
            " " * (16 - len(run.status)),
            (f"{shortened(message.get('subject') or '', 38):<39}", "bold"),
            f"{shortened(sender, 20):<21}",
            (shortened(why, 70), "dim"),
        )
        console().print(line, soft_wrap=True)

    async def _sum_up(self, desks: "list[Desk]") -> None:
        counts: dict[str, int] = {}
        for desk in desks:
            for run in await desk.store.runs(limit=1000):
                counts[str(run.status)] = counts.get(str(run.status), 0) + 1
        waiting = counts.get("waiting_review", 0) + counts.get("needs_review", 0)
        left = counts.get("sent", 0) + counts.get("answered", 0)
        console().print(
            f"\n  [bold]All sample mail is in[/]: {left} answered, {waiting} waiting for you,"
            f" {sum(counts.values()) - left - waiting} with nothing to send or waiting for the"
            " customer.\n",
            highlight=False,
        )
