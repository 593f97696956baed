"""Address books as vCards, of all versions that programs write."""

import quopri
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from deskhand.charsets import codec_of
from deskhand.contacts.entries import BadEntry, entry_of
from deskhand.model.contact import ContactEntry

_ESCAPED = re.compile(r"\\(.)", re.S)


@dataclass(slots=True)
class _Card:
    line: int
    """Where it begins."""
    text: list[str] = field(default_factory=list[str])
    properties: list[tuple[str, dict[str, str], str]] = field(
        default_factory=list[tuple[str, dict[str, str], str]]
    )

    def all(self, name: str) -> list[str]:
        return [
            value
            for property_name, _, value in self.properties
            if property_name == name and value.strip()
        ]

    def first(self, name: str) -> str:
        return next(iter(self.all(name)), "")


def read_vcards(raw: bytes) -> Iterator[ContactEntry | BadEntry]:
    """One entry for every address of every card; a card without an address, or without an end,
    is a bad one."""
    card: _Card | None = None
    for line, written in _unfolded(raw.decode("utf-8-sig", "replace")):
        upper = written.strip().upper()
        if upper == "BEGIN:VCARD":
            yield from _unfinished(card)
            card = _Card(line)
        if card is None:
            if written.strip():
                yield BadEntry(line, "this belongs to no card", written)
            continue
        card.text.append(written)
        if upper == "END:VCARD":
            yield from _entries(card)
            card = None
        elif (read := _property(written)) is not None:
            card.properties.append(read)
    yield from _unfinished(card)


def _unfinished(card: _Card | None) -> Iterator[BadEntry]:
    if card is not None:
        yield BadEntry(card.line, "the card has no end", "\n".join(card.text))


def _entries(card: _Card) -> Iterator[ContactEntry | BadEntry]:
    tags = [_plain(part) for value in card.all("CATEGORIES") for part in _parts(value, ",")]
    notes = [_plain(value) for value in card.all("NOTE")]
    fields = {
        "name": _plain(card.first("FN")) or _name(card.first("N")),
        "company": _plain(_parts(card.first("ORG"))[0]),
        "phone": _plain(card.first("TEL")).removeprefix("tel:"),
        "language": _plain(card.first("LANG")),
        "tier": _plain(card.first("X-TIER")),
        "plan": _plain(card.first("X-PLAN")),
        "tenure_months": _plain(card.first("X-TENURE-MONTHS")),
        "seats": _plain(card.first("X-SEATS")),
        "region": _plain(card.first("X-REGION")),
        "customer_id": _plain(card.first("X-CUSTOMER-ID")),
        "tags": ",".join(tags),
        "notes": "\n\n".join(notes),
    }
    for address in card.all("EMAIL") or [""]:
        yield entry_of({**fields, "address": _plain(address)}, card.line, "\n".join(card.text))


def _name(written: str) -> str:
    """`Novák;Jan;;Ing.;` as it is said."""
    parts = [_plain(part) for part in _parts(written)]
    family, given, more, before, after = (*parts, "", "", "", "", "")[:5]
    return " ".join(part for part in (before, given, more, family, after) if part)


def _property(written: str) -> tuple[str, dict[str, str], str] | None:
    """`item1.EMAIL;TYPE=work:ann@example.com`; a value in quotes may hold colons."""
    head, colon, value = _split_outside_quotes(written)
    if not colon:
        return None
    name, *parameters = head.split(";")
    read: dict[str, str] = {}
    for parameter in parameters:
        key, _, setting = parameter.partition("=")
        read[key.upper()] = setting.strip('"')
    if read.get("ENCODING", "").upper() == "QUOTED-PRINTABLE" or "QUOTED-PRINTABLE" in read:
        codec = codec_of(read.get("CHARSET", "utf-8")) or "utf-8"
        value = quopri.decodestring(value.encode()).decode(codec, "replace")
    return name.rpartition(".")[2].strip().upper(), read, value


def _split_outside_quotes(written: str) -> tuple[str, str, str]:
    quoted = False
    for at, character in enumerate(written):
        if character == '"':
            quoted = not quoted
        elif character == ":" and not quoted:
            return written[:at], ":", written[at + 1 :]
    return written, "", ""


def _parts(written: str, between: str = ";") -> list[str]:
    """Split where the separator is not escaped."""
    return re.split(rf"(?<!\\){re.escape(between)}", written)


def _plain(written: str) -> str:
    return _ESCAPED.sub(lambda escaped: "\n" if escaped[1] in "nN" else escaped[1], written).strip()


def _unfolded(text: str) -> Iterator[tuple[int, str]]:
    """Lines with their continuations, each with the number of its first one."""
    start, kept = 0, ""
    for number, line in enumerate(text.splitlines(), 1):
        soft = kept.endswith("=") and "QUOTED-PRINTABLE" in kept.upper().partition(":")[0]
        if start and (line[:1] in (" ", "\t") or soft):
            kept = kept[:-1] + line if soft else kept + line[1:]
            continue
        if start:
            yield start, kept
        start, kept = number, line
    if start:
        yield start, kept
