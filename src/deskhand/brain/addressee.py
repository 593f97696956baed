"""Whom a reply greets: the person who signed, rather than the company whose mailbox it was."""

import re
from itertools import pairwise

from deskhand.mail.mail_phrases import mail_phrases

_PERSON = re.compile(r"(?:[^\W\d_][\w.'’-]*)(?:\s+[^\W\d_][\w.'’-]*){1,2}")
_LAST_LINES = 12
_NO_NAMES = frozenset(
    (
        *("team", "support", "office", "sales", "info", "care", "service", "customer", "ltd"),
        *("inc", "llc", "gmbh", "ag", "kg", "sro", "as", "sl", "sa", "kundendienst", "tým"),
        *("podpora", "oddělení", "equipo", "departamento", "reception", "recepce", "regards"),
        *("grüßen", "thanks", "danke", "děkuji", "gracias", "phone", "iphone"),
    )
)
"""Words that stand below closing words, or in a mailbox's name, and are nobody's name."""


def addressee(sender: str, text: str) -> str:
    """Returns the name to greet; `sender` is the mailbox's proven name, empty where nobody proved
    it, and then nobody is greeted by name.

    Whoever signs with another name than the mailbox has is the person who wrote.
    """
    signed = _signed_name(text)
    if not sender or signed is None:
        return sender
    own = {word.casefold() for word in sender.split()}
    shared = own & {word.casefold() for word in signed.split()}
    return sender if shared else signed


def _signed_name(text: str) -> str | None:
    """The full name below the closing words."""
    lines = [line.strip() for line in text.splitlines() if line.strip()][-_LAST_LINES:]
    closing = mail_phrases().greeting
    for line, below in pairwise(lines):
        if closing.match(line):
            return _person(below)
    return None


def _person(line: str) -> str | None:
    name = line.split(",")[0].strip()
    if not _PERSON.fullmatch(name):
        return None
    words = name.split()
    capitalised = all(word[0].isupper() for word in words)
    plain = {word.casefold().strip(".") for word in words}
    return name if capitalised and not plain & _NO_NAMES else None
