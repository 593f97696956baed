"""What all address books have in common: an entry that is checked, or a complaint with its line."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from deskhand.model.contact import ContactEntry
from deskhand.model.message import written_address

_ADDRESS = re.compile(r"[^@\s<>,;]+@[^@\s<>,;]+\.[^@\s<>,;.]{2,}")
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8})*")
_BETWEEN_TAGS = re.compile(r"[,;|\n]+")
_BETWEEN_NOTES = re.compile(r"\n[ \t]*\n\s*")


@dataclass(frozen=True, slots=True)
class BadEntry:
    """What could not be taken, with all of it, so that nothing is lost."""

    line: int
    problem: str
    text: str


def entry_of(fields: Mapping[str, str], line: int, text: str) -> ContactEntry | BadEntry:
    """An entry from its fields as written; `fields` has the names of ContactEntry."""
    said = {
        name: " ".join(value.split())
        for name, value in fields.items()
        if name not in ("tags", "notes")
    }
    written = said.get("address", "")
    read = written_address(written)
    if read is None or not _ADDRESS.fullmatch(read.address):
        problem = f"`{written[:80]}` is no mail address" if written else "there is no mail address"
        return BadEntry(line, problem, text)
    language = said.get("language", "")
    if language and not _LANGUAGE.fullmatch(language):
        return BadEntry(line, f"`{language[:40]}` is no language; write a code such as `en`", text)
    values: dict[str, Any] = {key: value for key, value in said.items() if value}
    values |= {key: values[key].lower() for key in ("plan",) if key in values}
    values |= {"address": read.address, "name": said.get("name") or read.name}
    if language:
        values["language"] = language.replace("_", "-").lower().partition("-")[0]
    tags = [tag.strip().replace(" ", "-") for tag in _BETWEEN_TAGS.split(fields.get("tags", ""))]
    notes = [note_text(part) for part in _BETWEEN_NOTES.split(fields.get("notes", ""))]
    values["tags"] = tuple(dict.fromkeys(tag for tag in tags if tag))
    values["notes"] = tuple(dict.fromkeys(note for note in notes if note))
    try:
        return ContactEntry.model_validate(values)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = str(first["loc"][0]) if first["loc"] else "entry"
        return BadEntry(line, f"{where}: {first['msg'].lower()}", text)


def note_text(written: str) -> str:
    """A note as it is kept: without empty lines, which stand between notes in a file."""
    lines = (
        line.rstrip() for line in written.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    )
    return "\n".join(line for line in lines if line.strip()).strip()
