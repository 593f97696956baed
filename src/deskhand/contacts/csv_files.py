"""Address books as tables: whatever a spreadsheet, a shop or a mail program writes."""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from deskhand.contacts.entries import BadEntry, entry_of
from deskhand.model.contact import Contact, ContactEntry
from deskhand.model.documents import iso_at

_NAMES = {
    "address": (
        "address",
        "email",
        "e-mail",
        "mail",
        "email address",
        "e-mail address",
        "e-mail 1 - value",
    ),
    "name": ("name", "full name", "display name", "contact", "contact name"),
    "given": ("first name", "given name", "firstname"),
    "family": ("last name", "family name", "surname", "lastname"),
    "language": ("language", "lang", "locale"),
    "company": ("company", "organization", "organisation", "company name"),
    "phone": ("phone", "telephone", "phone number", "mobile", "mobile phone"),
    "customer_id": ("customer_id", "customer id", "customer number", "customer no", "customer"),
    "tier": ("tier", "level"),
    "plan": ("plan", "subscription"),
    "tenure_months": ("tenure_months", "tenure", "months"),
    "seats": ("seats", "users", "licences", "licenses"),
    "region": ("region",),
    "tags": ("tags", "tag", "labels", "categories", "groups"),
    "notes": ("notes", "note", "comment", "comments", "remarks"),
}
_COLUMNS = {written: field for field, several in _NAMES.items() for written in several}
_WRITTEN = (
    "address",
    "name",
    "language",
    "company",
    "phone",
    "customer_id",
    "tier",
    "plan",
    "tenure_months",
    "seats",
    "region",
    "tags",
    "notes",
)
_FORMULA = ("=", "+", "-", "@", "\t")
"""What a spreadsheet takes for a formula: names in here come from strangers."""


class NoTable(ValueError):
    """The file has no column with addresses."""


@dataclass(frozen=True, slots=True)
class Table:
    columns: dict[int, str]
    """The fields of the columns that are understood, by position."""
    ignored: tuple[str, ...]
    rows: Iterable[ContactEntry | BadEntry]


def read_csv(raw: bytes) -> Table:
    """The rows of a table with a line of names above it; separated by commas, semicolons or
    tabs."""
    text = _decoded(raw)
    first = text.partition("\n")[0]
    delimiter = max(",;\t", key=first.count)
    lines = text.splitlines()
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    names = [name.strip() for name in next(reader, [])]
    columns: dict[int, str] = {}
    for position, name in enumerate(names):
        field = _COLUMNS.get(name.casefold().strip(" *:"))
        if field is not None and field not in columns.values():
            columns[position] = field
    if "address" not in columns.values():
        raise NoTable(
            f"none of the columns holds addresses: {', '.join(names[:10]) or 'there are none'}"
        )
    ignored = tuple(name for position, name in enumerate(names) if position not in columns and name)
    return Table(columns, ignored, _rows(reader, columns, lines))


class _Reader(Protocol):
    line_num: int

    def __next__(self) -> list[str]: ...


def _rows(
    reader: _Reader, columns: dict[int, str], lines: Sequence[str]
) -> Iterator[ContactEntry | BadEntry]:
    while True:
        line = reader.line_num + 1
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield BadEntry(
                line, f"not readable: {error}", "\n".join(lines[line - 1 : reader.line_num])
            )
            continue
        if not any(cell.strip() for cell in row):
            continue
        fields = {
            field: _unguarded(row[position])
            for position, field in columns.items()
            if position < len(row)
        }
        given = " ".join(
            part for key in ("given", "family") if (part := fields.pop(key, "").strip())
        )
        fields["name"] = fields.get("name", "").strip() or given
        yield entry_of(fields, line, "\n".join(lines[line - 1 : reader.line_num]))


def write_csv(contacts: Iterable[Contact]) -> Iterator[str]:
    """Lines that `read_csv` reads again; nothing in them is a formula to a spreadsheet."""
    yield _line([*_WRITTEN, "first_seen", "last_seen", "messages"])
    for contact in contacts:
        cells = [
            contact.address,
            contact.name,
            contact.language or "",
            contact.company,
            contact.phone,
            contact.customer_id or "",
            contact.tier or "",
            contact.plan or "",
            _counted(contact.tenure_months),
            _counted(contact.seats),
            contact.region or "",
            ",".join(contact.tags),
            "\n\n".join(note.text for note in contact.notes),
        ]
        seen = [_written_time(contact.first_seen), _written_time(contact.last_seen)]
        yield _line([*map(_guarded, cells), *seen, str(contact.messages)])


def _counted(number: int | None) -> str:
    return "" if number is None else str(number)


def _written_time(at: float | None) -> str:
    return "" if at is None else iso_at(at)


def _line(cells: Sequence[str]) -> str:
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\r\n").writerow(cells)
    return buffer.getvalue()


def _guarded(cell: str) -> str:
    return f"'{cell}" if cell.startswith(_FORMULA) else cell


def _unguarded(cell: str) -> str:
    return cell[1:] if cell.startswith("'") and cell[1:].startswith(_FORMULA) else cell


def _decoded(raw: bytes) -> str:
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        return raw.decode("utf-16", "replace")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return raw.decode("cp1252", "replace")
