"""`deskhand audit` proves the records are what was written; `deskhand erase` forgets a person."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deskhand.cli import options
from deskhand.cli.databases import opened_desk, opened_store
from deskhand.cli.terminal import console, moment, print_json, run_async
from deskhand.model.documents import iso_at

if TYPE_CHECKING:
    from deskhand.engine.audit import AuditReport
    from deskhand.wiring import Erased

app = typer.Typer(help="Prove that the records are what was written.", no_args_is_help=True)

KEY_VARIABLE = "DESKHAND_SEAL_KEY"
_TEXTS = (".yaml", ".yml", ".json", ".eml", ".txt", ".md", ".csv", ".html", ".ics", ".vcf")

KeyFile = Annotated[
    Path | None,
    typer.Option(
        "--key-file", help=f"The file with the sealing key; else ${KEY_VARIABLE}.", metavar="FILE"
    ),
]


@app.command("verify")
def verify(
    key_file: KeyFile = None,
    seals: Annotated[
        Path | None,
        typer.Option(
            "--seals",
            help="Seals kept elsewhere (audit seal --to FILE), to compare with.",
            metavar="FILE",
        ),
    ] = None,
    database: options.Database = None,
    desk: options.DeskName = None,
    as_json: options.Json = False,
) -> None:
    """Check every message, row, record, chain and seal; exit 1 when something is not as it was
    written."""
    report = run_async(_verify(sealing_key(key_file), seals, database, desk))
    if as_json:
        print_json(_document(report))
    else:
        _print_report(report)
    raise typer.Exit(0 if report.ok else 1)


def _document(report: "AuditReport") -> dict[str, Any]:
    document = asdict(report) | {"ok": report.ok}
    for name in ("newest_row_at", "pruned_at", "stated_since"):
        if document[name] is not None:
            document[name] = iso_at(document[name])
    if report.newest_seal is not None:
        document["newest_seal"]["at"] = iso_at(report.newest_seal.at)
    return document


async def _verify(
    key: bytes | None, seals: Path | None, database: str | None, desk: str | None
) -> "AuditReport":
    from deskhand.cli.seal_copies import read_copies
    from deskhand.engine.audit import verify_desk

    async with opened_store(database, desk) as store:
        outside = None if seals is None else read_copies(seals, store.desk)
        return await verify_desk(store, key=key, outside=outside)


@app.command("seal")
def seal(
    key_file: KeyFile = None,
    to: Annotated[
        str | None,
        typer.Option(
            "--to", help="Also append it to this file, as a line; - prints it.", metavar="FILE"
        ),
    ] = None,
    webhook: Annotated[
        str | None, typer.Option("--webhook", help="Also post it there.", metavar="URL")
    ] = None,
    database: options.Database = None,
    desk: options.DeskName = None,
    as_json: options.Json = False,
) -> None:
    """Write down, under a key, how far every run has come: a run or row that goes missing later
    is seen."""
    from deskhand.cli.seal_copies import check_address
    from deskhand.errors import ConfigError

    key = sealing_key(key_file)
    if webhook is not None:
        check_address(webhook)
    if key is None:
        raise ConfigError(
            "sealing needs a key that whoever could change the records does not have",
            fix=(
                f"give --key-file FILE or set {KEY_VARIABLE}; `head -c 32 /dev/urandom | base64 >"
                " seal.key` makes one"
            ),
        )
    sealed = run_async(_seal(key, to, webhook, database, desk))
    if as_json:
        print_json(sealed)
        return
    if to == "-":
        return
    _print_seal(sealed)


def _print_seal(sealed: dict[str, Any]) -> None:
    console().print(
        f"seal {sealed['id']} covers {sealed['runs']} runs  [dim]{moment(sealed['at'])}[/]"
    )
    if sealed["copied_to"]:
        copies = f"[dim]kept elsewhere: {', '.join(sealed['copied_to'])}[/]"
        console().print(copies, soft_wrap=True)
        return
    console().print(
        f"[dim]write down elsewhere: seal {sealed['id']}, {sealed['mac']}; `deskhand audit verify`"
        " shows the newest seal, which must not be an older one[/]",
        soft_wrap=True,
    )


async def _seal(
    key: bytes, to: str | None, webhook: str | None, database: str | None, desk: str | None
) -> dict[str, Any]:
    from deskhand.cli.seal_copies import add_copies, line_of, post_copy
    from deskhand.engine.audit import seal_desk, sealed_runs

    async with opened_store(database, desk) as store:
        made = await seal_desk(store, key)
        copied: list[str] = []
        if to == "-":
            typer.echo(line_of(store.desk, made))
        elif to is not None:
            add_copies(Path(to), store.desk, await store.seals())
            copied.append(to)
        if webhook is not None:
            post_copy(webhook, store.desk, made)
            copied.append(webhook)
        document = {"id": made.id, "at": iso_at(made.at), "runs": sealed_runs(made)}
        return {**document, "mac": made.mac, "copied_to": copied}


def sealing_key(file: Path | None) -> bytes | None:
    """The key in a file, else the one that the environment gives, if any."""
    from deskhand.engine.audit import check_key, key_from_environment

    if file is None:
        return key_from_environment()
    return check_key(file.read_bytes().strip(), file)


def _print_report(report: "AuditReport") -> None:
    from rich.markup import escape

    to = console()
    erased = f", {report.erased} rows erased" if report.erased else ""
    to.print(
        f"{report.runs} runs, {report.rows} rows, {report.records} records,"
        f" {report.seals} seals{erased}"
    )
    for problem in report.problems:
        where = str(problem.run_id)
        if problem.seq is not None:
            where += f" step {problem.seq}"
        to.print(
            "  [red]✗[/] " + escape(f"{where.strip() or 'seals'}: {problem.what}"), soft_wrap=True
        )
    _print_pruned(report)
    if report.ok:
        to.print(
            "[green]✓[/] everything that is here is as it was written: messages, rows, statuses,"
            " reviews, effects, events, model calls, files, judgements, modes, stops, users and"
            " keys",
            soft_wrap=True,
        )
    _print_not_stated(report)
    _print_reach(report)
    if report.seals and not report.seals_checked:
        to.print(
            f"[dim]no key was given (--key-file, ${KEY_VARIABLE}): a forged seal would not be"
            " seen[/]"
        )


def _print_not_stated(report: "AuditReport") -> None:
    """Which records nothing was stated about: what is wrong with them would not be seen."""
    to = console()
    if report.at_work:
        to.print(
            f"{report.at_work} runs are at work: effects, model calls and events since they"
            " were last at rest are covered when they come to rest again",
            soft_wrap=True,
        )
    if report.unstated_runs:
        began = "" if report.stated_since is None else f" ({moment(iso_at(report.stated_since))})"
        to.print(
            f"{report.unstated_runs} runs are older than this check{began}: of them only messages"
            " and rows were verified, and nothing says whether a body that is gone was erased",
            style="yellow",
            soft_wrap=True,
        )
    to.print(
        "[dim]not verified: contacts, calendar, sessions, knowledge, and the deadlines and"
        " checkpoints of tickets[/]",
        soft_wrap=True,
    )


def _print_pruned(report: "AuditReport") -> None:
    if not report.pruned_runs:
        return
    unsigned = ""
    if report.unsigned_seals:
        unsigned = f"; {report.unsigned_seals} of these seals have no signature, for want of a key"
    console().print(
        f"pruned by age: {report.pruned_runs} runs with {report.pruned_rows} rows, the last on"
        f" {moment(report.pruned_at)}; a seal says where each chain ended{unsigned}",
        soft_wrap=True,
    )


def _print_reach(report: "AuditReport") -> None:
    """How far the seals reach: what is missing beyond them leaves no sign in the records."""
    to = console()
    seal = report.newest_seal
    if seal is None:
        to.print(
            "no seal yet: runs or last rows that are missing, as in an older copy, would not be"
            " seen; make one: deskhand audit seal --key-file KEY",
            style="yellow",
            soft_wrap=True,
        )
        return
    to.print(
        f"newest seal: {seal.id} of {moment(seal.at)}, over {seal.runs} runs, {seal.mac}",
        soft_wrap=True,
    )
    if report.unsealed_runs:
        to.print(
            f"no seal covers {report.unsealed_rows} rows of {report.unsealed_runs} runs since;"
            f" the newest row is of {moment(report.newest_row_at)}",
            style="yellow",
            soft_wrap=True,
        )
    if report.outside_seals is not None:
        to.print(f"compared with {report.outside_seals} seals kept elsewhere")
        return
    to.print(
        "[dim]an older copy of the database, or one without some runs and their seals, would verify"
        " as well: compare this seal with those kept elsewhere (deskhand audit seal --to FILE, then"
        " deskhand audit verify --seals FILE)[/]",
        soft_wrap=True,
    )


def erase(
    address: Annotated[
        str, typer.Argument(help="The person's address or customer number.", metavar="ADDRESS")
    ],
    yes: Annotated[bool, typer.Option("--yes", help="Really do it: it cannot be undone.")] = False,
    outbox: Annotated[
        Path | None,
        typer.Option("--outbox", help="Also look through these sent mails.", metavar="FOLDER"),
    ] = None,
    by: options.By = None,
    database: options.Database = None,
    desk: options.DeskName = None,
    as_json: options.Json = False,
) -> None:
    """Forget a person: what they wrote and what was made of it goes, digests stay and the audit
    still holds."""
    from deskhand.errors import ConfigError

    if not yes:
        raise ConfigError(
            f"this deletes everything of {address} for good", fix="say --yes if you mean it"
        )
    erased = run_async(_erase(address, by, database, desk))
    mentions = erased.mentions
    folder = _desk_folder(desk)
    standing: list[str] = []
    for place in (folder, outbox):
        standing += [] if place is None else _still_named(place, address)
    if as_json:
        looked = None if folder is None else str(folder)
        still = {"looked_through": looked, "still_in": standing, "still_in_database": mentions}
        print_json({"address": address, **erased_counts(erased), **still})
    else:
        words = f"nothing of {address} was found"
        if erased.is_anything:
            words = erased_words(erased)
        console().print(words, markup=False, soft_wrap=True)
        for mention in mentions:
            warning = f"still named in the database: {mention}"
            console().print(warning, style="yellow", markup=False, soft_wrap=True)
        _tell_where_they_stand(folder, standing)
    raise typer.Exit(0 if erased.is_anything else 1)


def erased_counts(erased: "Erased") -> dict[str, int]:
    """How much of a person was erased, for documents."""
    return {"runs": erased.runs, "tickets": erased.tickets, "own_rows": erased.own_rows}


def erased_words(erased: "Erased") -> str:
    """How much of a person was erased, as `2 runs and 1 ticket erased`."""
    words = _counted(erased.runs, "run")
    if erased.tickets:
        tickets = _counted(erased.tickets, "ticket")
        words = f"{words} and {tickets}" if erased.runs else tickets
    words += " erased"
    if erased.own_rows:
        words += f", {_counted(erased.own_rows, 'row')} of the desk's own tables as well"
    return words


def _counted(count: int, name: str) -> str:
    return f"{count} {name}" if count == 1 else f"{count} {name}s"


def _desk_folder(desk: str | None) -> Path | None:
    """The folder of a desk that was named by it."""
    folder = Path(desk) if desk else None
    return folder if folder is not None and (folder / "desk.yaml").is_file() else None


def _still_named(folder: Path, address: str) -> list[str]:
    """Files of the desk that name the person, such as golden cases, each with its lines.

    They are the author's: a case changed by us might no longer test what it was made for.
    """
    wanted = address.strip().lower()
    places: list[str] = []
    for file in sorted(folder.rglob("*")):
        if file.suffix.lower() not in _TEXTS or not file.is_file():
            continue
        lines = file.read_text(encoding="utf-8", errors="replace").lower().splitlines()
        numbers = [str(number) for number, line in enumerate(lines, 1) if wanted in line]
        if numbers:
            places.append(f"{file}:{','.join(numbers)}")
    return places


def _tell_where_they_stand(folder: Path | None, standing: list[str]) -> None:
    to = console()
    if folder is None:
        to.print(
            "golden cases were not looked through: name the desk by its folder (--desk FOLDER)",
            style="yellow",
        )
    for place in standing:
        to.print(f"still named in {place}: change or delete it", style="yellow", markup=False)
    to.print(
        "[dim]mail in the mailbox, files in the outbox folder (--outbox FOLDER names them) and"
        " backups are yours to delete; digests of message ids stay, so that a mail that comes again"
        " is not answered twice[/]",
        soft_wrap=True,
    )


async def _erase(address: str, by: str | None, database: str | None, desk: str | None) -> "Erased":
    from deskhand.wiring import erase_person

    async with opened_desk(database, desk) as (opened, name):
        return await erase_person(opened, name, address, by or options.login_name())
