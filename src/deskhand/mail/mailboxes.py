"""People as mail programs write them into text: `Ann Lee <ann@example.com>; bob@example.com`."""

import re
from dataclasses import dataclass

from deskhand.mail.mail_phrases import unmarked

_ADDRESS = r"[^\s<>\[\]()@,;:\"]{1,100}@[^\s<>\[\]()@,;:\"]{1,200}"
_BARE = re.compile(rf"^[<\[(\"']*\s*({_ADDRESS})\s*[>\])\"']*$")
_BRACKETED = re.compile(rf"[<\[(]\s*({_ADDRESS})\s*[>\])]")
_REPEATED = re.compile(rf"({_ADDRESS})\s*[<\[]mailto:[^<>\[\]]{{1,300}}[>\]]")
_BESIDE = re.compile(r"[<\[]mailto:[^<>\[\]]{1,300}[>\]](?=\s*<)")
_MAILTO = re.compile(r"[<\[]mailto:([^<>\[\]]{1,300})[>\]]")
LONGEST = 20_000


@dataclass(frozen=True, slots=True)
class Mailbox:
    """Somebody who wrote or was written to, as far as the text says."""

    address: str | None
    name: str | None = None


def mailboxes(text: str) -> tuple[Mailbox, ...]:
    """Everybody named in a quoted header, whatever brackets, commas and `mailto:` stand in it."""
    text = _MAILTO.sub(r"<\1>", _BESIDE.sub("", _REPEATED.sub(r"\1", text[:LONGEST])))
    people: list[Mailbox] = []
    end = 0
    for match in _BRACKETED.finditer(text):
        pieces = _pieces(text[end : match.start()])
        while len(pieces) > 1 and (bare := _BARE.match(pieces[0])):
            people.append(Mailbox(bare[1]))
            del pieces[0]
        people.append(_mailbox(match[1], ", ".join(pieces)))
        end = match.end()
    people += [Mailbox(bare[1]) for piece in _pieces(text[end:]) if (bare := _BARE.match(piece))]
    if people:
        return tuple(people)
    names = filter(None, map(unmarked, text.split(";")))
    return tuple(Mailbox(None, name) for name in names)


def _pieces(text: str) -> list[str]:
    return [piece.strip() for piece in re.split(r"[,;]", text) if piece.strip()]


def _mailbox(address: str, name: str) -> Mailbox:
    """Some programs repeat the address where a name belongs."""
    shown = unmarked(name)
    return Mailbox(address, shown if shown and shown.casefold() != address.casefold() else None)
