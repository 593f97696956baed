"""`deskhand contacts`: the people a desk knows."""

import sys
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deskhand.cli import options
from deskhand.cli.audit import erased_counts, erased_words
from deskhand.cli.databases import name_of, opened_database
from deskhand.cli.terminal import (
    complain,
    console,
    moment,
    print_json,
    print_table,
    run_async,
    shortened,
    when,
)

if TYPE_CHECKING:
    from deskhand.contacts.entries import BadEntry
    from deskhand.model.contact import Contact, ContactEntry
    from deskhand.ports import Contacts
    from deskhand.wiring import Database, Erased

app = typer.Typer(
    help="The people a desk knows: grown from its mail, imported, noted.", no_args_is_help=True
)

Address = Annotated[str, typer.Argument(help="The person's address.", metavar="ADDRESS")]
PORTION = 200
LARGEST = 50_000_000


@app.command("list")
def list_contacts(
    tag: Annotated[str | None, typer.Option("--tag", help="Only those with this tag.")] = None,
    tier: Annotated[str | None, typer.Option("--tier", help="Only those of this tier.")] = None,
    search: Annotated[
        str | None, typer.Option("--search", help="In address, name and company.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=1000, help="How many at most.")] = 100,
    after: Annotated[str, typer.Option("--after", help="Begin after this address.")] = "",
    database: options.Database = None,
    desk: options.DeskName = None,
    as_json: options.Json = False,
) -> None:
    """List people by address."""

    async def work() -> "Sequence[Contact]":
        async with _contacts(database, desk) as contacts:
            return await contacts.list(tag=tag, tier=tier, search=search, after=after, limit=limit)

    people = run_async(work())
    if as_json:
        print_json({"contacts": [_document(contact) for contact in people]})
        return
    if not people:
        console().print(
            "nobody; contacts grow from mail, or import a file with `deskhand contacts import FILE`"
        )
        return
    rows = [_row(contact) for contact in people]
    print_table(("address", "messages", "last seen", "language", "tier"), ("name", "tags"), rows)


@app.command("show")
def show(
    address: Address,
    database: options.Database = None,
    desk: options.DeskName = None,
    as_json: options.Json = False,
) -> None:
    """Show what is known about a person; exit 1 for a stranger."""

    async def work() -> "Contact | None":
        async with _contacts(database, desk) as contacts:
            return await contacts.find(address)

    contact = run_async(work())
    if contact is None:
        if as_json:
            print_json({"address": address, "known": False})
        else:
            console().print(f"{address} is not known", markup=False)
        raise typer.Exit(1)
    _tell(contact, as_json)


@app.command("note")
def note(
    address: Address,
    text: Annotated[
        str, typer.Argument(help="What to remember; no customer and no model ever reads it.")
    ],
    by: options.By = None,
    database: options.Database = None,
    desk: options.DeskName = None,
    as_json: options.Json = False,
) -> None:
    """Write a note about a person."""
    from deskhand.contacts.entries import note_text
    from deskhand.errors import ConfigError

    written = note_text(text)
    if not written:
        raise ConfigError("the note is empty", fix="write what to remember")

    async def work() -> "Contact":
        async with _contacts(database, desk) as contacts:
            return await contacts.note(address, written, by or options.login_name())

    _tell(run_async(work()), as_json)


@app.command("tag")
def tag(
    address: Address,
    tags: Annotated[
        list[str] | None, typer.Argument(help="Words to add.", metavar="[TAG]...")
    ] = None,
    remove: Annotated[
        list[str] | None, typer.Option("--remove", help="A tag to take away.")
    ] = None,
    tier: Annotated[
        str | None, typer.Option("--tier", help="The person's tier; empty for none.")
    ] = None,
    database: options.Database = None,
    desk: options.DeskName = None,
    as_json: options.Json = False,
) -> None:
    """Add and remove tags, or set the tier: policies know them as customer.tags and
    customer.tier."""
    from deskhand.errors import ConfigError

    for name in tags or ():
        if not name or any(mark in name for mark in " \t\n,;"):
            raise ConfigError(f"{name!r} is no tag", fix="a tag is one word, as `late-payer`")
    if not (tags or remove or tier is not None):
        raise ConfigError(
            "there is nothing to change", fix="name a tag, --remove TAG or --tier TIER"
        )

    async def work() -> "Contact":
        async with _contacts(database, desk) as contacts:
            changed = await contacts.tag(address, tags or (), remove or ())
            return changed if tier is None else await contacts.set_tier(address, tier or None)

    _tell(run_async(work()), as_json)


@app.command("import")
def import_file(
    file: Annotated[Path, typer.Argument(help="A .csv or .vcf file.", metavar="FILE")],
    by: options.By = None,
    database: options.Database = None,
    desk: options.DeskName = None,
    as_json: options.Json = False,
) -> None:
    """Take people from a CSV or vCard file; exit 1 when a row could not be taken. Again changes
    nothing."""
    entries, bad, ignored = _read(file)
    counts = run_async(_import(entries, by or options.login_name(), database, desk))
    if as_json:
        listed = [
            {"line": bad_row.line, "problem": bad_row.problem, "text": bad_row.text}
            for bad_row in bad
        ]
        print_json({"file": str(file), **counts, "bad": listed, "ignored_columns": ignored})
    else:
        words = ", ".join(f"{count} {what}" for what, count in counts.items())
        console().print(f"{file.name}: {words}, {len(bad)} not taken", markup=False)
        if ignored:
            console().print(
                f"columns nobody knows: {', '.join(ignored)}", markup=False, style="dim"
            )
        for bad_row in bad:
            complain(f"{file}:{bad_row.line}: {bad_row.problem}")
    raise typer.Exit(1 if bad else 0)


@app.command("export")
def export(
    file: Annotated[
        Path | None, typer.Argument(help="Where to; stdout by default.", metavar="[FILE]")
    ] = None,
    database: options.Database = None,
    desk: options.DeskName = None,
    as_json: options.Json = False,
) -> None:
    """Write everybody down as CSV, notes and all; `deskhand contacts import` reads it again."""
    from deskhand.contacts.csv_files import write_csv
    from deskhand.private_files import write_private_file

    people = run_async(_all(database, desk))
    if as_json:
        import json

        text = json.dumps(
            {"contacts": [_document(contact) for contact in people]}, ensure_ascii=False, indent=2
        )
        text += "\n"
    else:
        text = "".join(write_csv(people))
    if file is None:
        sys.stdout.write(text)
        return
    write_private_file(file, text.encode())
    console(to_stderr=True).print(f"{len(people)} contacts in {file}", markup=False)


@app.command("erase")
def erase(
    address: Address,
    yes: Annotated[bool, typer.Option("--yes", help="Really do it: it cannot be undone.")] = False,
    by: options.By = None,
    database: options.Database = None,
    desk: options.DeskName = None,
    as_json: options.Json = False,
) -> None:
    """Forget a person: the contact, and all that `deskhand erase` deletes."""
    from deskhand.errors import ConfigError

    if not yes:
        raise ConfigError(
            f"this deletes everything of {address} for good", fix="say --yes if you mean it"
        )

    async def work() -> tuple[bool, "Erased"]:
        from deskhand.wiring import erase_person, open_contacts

        async with opened_database(database) as opened:
            name = await _desk(opened, desk)
            is_contact = await open_contacts(opened, name).find(address) is not None
            return is_contact, await erase_person(opened, name, address, by or options.login_name())

    is_contact, erased = run_async(work())
    anything_erased = is_contact or erased.is_anything
    mentions = erased.mentions
    if as_json:
        counts = {"contact": is_contact, **erased_counts(erased)}
        print_json({"address": address, **counts, "still_in_database": mentions})
    else:
        words = f"{address} was not known"
        if anything_erased:
            words = f"{address} and {erased_words(erased)}"
        words += "".join(f"\nstill named in the database: {place}" for place in mentions)
        console().print(words, markup=False, soft_wrap=True)
    raise typer.Exit(0 if anything_erased else 1)


def _read(file: Path) -> "tuple[list[ContactEntry], list[BadEntry], list[str]]":
    from deskhand.contacts.csv_files import NoTable, read_csv
    from deskhand.contacts.entries import BadEntry
    from deskhand.contacts.vcards import read_vcards
    from deskhand.errors import ConfigError

    try:
        size = file.stat().st_size
        raw = file.read_bytes() if size <= LARGEST else b""
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror}", file=file) from None
    if size > LARGEST:
        raise ConfigError(
            f"the file has {size} bytes", file=file, fix=f"split it: at most {LARGEST} at once"
        )
    ignored: list[str] = []
    rows: Iterable[ContactEntry | BadEntry]
    is_card = raw[:64].lstrip(b"\xef\xbb\xbf \r\n").upper().startswith(b"BEGIN:VCARD")
    if file.suffix.lower() in (".vcf", ".vcard") or is_card:
        rows = read_vcards(raw)
    else:
        try:
            table = read_csv(raw)
        except NoTable as error:
            raise ConfigError(
                str(error), file=file, line=1, fix="name one column `email`"
            ) from None
        rows, ignored = table.rows, list(table.ignored)
    good: list[ContactEntry] = []
    bad: list[BadEntry] = []
    for row in rows:
        if isinstance(row, BadEntry):
            bad.append(row)
        else:
            good.append(row)
    return good, bad, ignored


async def _import(
    entries: "Sequence[ContactEntry]", by: str, database: str | None, desk: str | None
) -> "dict[str, int]":
    from deskhand.cli.terminal import ProgressBar

    counts = {"added": 0, "changed": 0, "unchanged": 0}
    async with _contacts(database, desk, create=True) as contacts:
        with ProgressBar("contacts", len(entries)) as bar:
            for at in range(0, len(entries), PORTION):
                portion = entries[at : at + PORTION]
                for change in await contacts.put(portion, by):
                    counts[change] += 1
                bar.advance(len(portion))
    return counts


async def _all(database: str | None, desk: str | None) -> "list[Contact]":
    people: list[Contact] = []
    async with _contacts(database, desk) as contacts:
        while portion := await contacts.list(
            after=people[-1].address if people else "", limit=1000
        ):
            people += portion
    return people


@asynccontextmanager
async def _contacts(
    database: str | None, desk: str | None, *, create: bool = False
) -> "AsyncIterator[Contacts]":
    from deskhand.wiring import open_contacts, open_database

    opening = (
        open_database(database or options.DEFAULT_DATABASE) if create else opened_database(database)
    )
    async with opening as opened:
        yield open_contacts(opened, await _desk(opened, desk))


async def _desk(database: "Database", desk: str | None) -> str:
    """People may be known to a desk that has had no message yet."""
    from deskhand.errors import ConfigError
    from deskhand.wiring import desks_in

    if desk is not None:
        return name_of(desk)
    desks = await desks_in(database)
    if len(desks) == 1:
        return desks[0]
    fix = f"name one with --desk: {', '.join(desks)}" if desks else "name the desk with --desk"
    raise ConfigError("it is not clear which desk is meant", fix=fix)


def _tell(contact: "Contact", as_json: bool) -> None:
    if as_json:
        print_json(_document(contact))
        return
    seen = f"{contact.messages} message{'s' * (contact.messages != 1)}"
    if contact.first_seen is not None:
        seen += f", first {moment(contact.first_seen)}, last {moment(contact.last_seen)}"
    lines: list[tuple[str, Any]] = [
        ("address", contact.address),
        ("name", contact.name),
        ("company", contact.company),
        ("phone", contact.phone),
        ("language", contact.language),
        ("customer", contact.customer_id),
        ("tier", contact.tier),
        ("plan", contact.plan_in_words),
        ("tags", " ".join(contact.tags)),
        ("mail", seen),
    ]
    for name, value in lines:
        if value:
            console().print(f"{name:<10}{shortened(str(value), 300)}", markup=False, soft_wrap=True)
    for written in contact.notes:
        heading = f"{'note':<10}{moment(written.at)} {shortened(written.by, 40)}"
        console().print(heading, markup=False, style="dim")
        for line in written.text.splitlines():
            console().print(f"{'':<10}{shortened(line, 500)}", markup=False, soft_wrap=True)


def _row(contact: "Contact") -> tuple[str, ...]:
    return (
        _cell(contact.address, 50),
        str(contact.messages),
        "" if contact.last_seen is None else when(contact.last_seen),
        contact.language or "",
        _cell(contact.tier or "", 20),
        _cell(contact.name, 40),
        _cell(" ".join(contact.tags), 60),
    )


def _cell(text: str, length: int) -> str:
    return shortened(text, length).replace("[", r"\[")


def _document(contact: "Contact") -> dict[str, Any]:
    from deskhand.model.documents import with_times

    fields = with_times(contact.model_dump(mode="json"))
    return fields | {"notes": [with_times(note) for note in fields["notes"]]}
