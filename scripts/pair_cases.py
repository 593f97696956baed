"""Messages beside the tickets of their customer, as the layers for pairs learn from them.

A message continues one of the tickets or none, so their scores compete: the network learns the
chance of each ticket and of none together, which add up to one.
"""

import hashlib
import json
import random
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from typed_text import hurried

_HELD_OUT = 8
"""One customer of so many is never learned from, as in `reading_corpus.py`."""
_WITHOUT_RIGHT, _WITHOUT_WRONG, _WITH_OTHER, _NEW_MATTER = 0.1, 0.1, 0.15, 0.1
"""How often a case is learned without the ticket that its message continues, without another one,
beside a ticket of somebody else, and with a ticket's first message as the new one."""
_WITH_SUBJECT = 0.5
_REPLY_MARK = "» "


@dataclass(frozen=True)
class Case:
    """A message, the tickets as texts, and the place of the one that it continues."""

    message: str
    tickets: tuple[str, ...]
    continues: int | None
    key: str = ""
    """Which line of the corpus it is."""


@dataclass(frozen=True)
class PairLine:
    """A line of `training/reading/pairs`."""

    written: dict[str, Any]
    file: str

    @property
    def is_held_out(self) -> bool:
        background = str(self.written["tickets"][0]["messages"])
        return hashlib.sha256(background.encode()).digest()[0] % _HELD_OUT == 0

    def is_of(self, prefixes: Collection[str]) -> bool:
        return any(self.file.startswith(prefix) for prefix in prefixes)

    def case(self) -> Case:
        ids = [ticket["id"] for ticket in self.written["tickets"]]
        continues = self.written["continues"]
        place = None if continues is None else ids.index(continues)
        texts = tuple(ticket_text(ticket) for ticket in self.written["tickets"])
        return Case(self.written["message"], texts, place, line_key(self.written))


def read_pair_lines(folder: Path) -> list[PairLine]:
    found: list[PairLine] = []
    for file in sorted((folder / "pairs").glob("*.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines():
            found.append(PairLine(json.loads(line), file.name))
    return found


def line_key(written: dict[str, Any]) -> str:
    """By which odds that were written down find their line again."""
    text = json.dumps([written["message"], written["tickets"]], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def ticket_text(ticket: dict[str, Any]) -> str:
    """A ticket as the model reads it, with our last reply: `deskhand/tickets/checkpoints.py` says
    it in the same words."""
    reply = ticket.get("reply") or ""
    answered = f"{_REPLY_MARK}{reply}" if reply else ""
    return "\n".join(
        part for part in (ticket["subject"], *ticket["messages"][-3:], answered) if part
    )


def of_a_pass(lines: Sequence[PairLine], chance: random.Random) -> Iterator[Case]:
    """The cases of one pass, some as they might have been, and some that nobody wrote: a ticket's
    first message beside its customer's other tickets opens a matter of its own."""
    tickets: dict[str, list[dict[str, Any]]] = {}
    for line in lines:
        tickets.setdefault(line.written["language"], []).extend(line.written["tickets"])
    for line in lines:
        yield _varied(line, tickets[line.written["language"]], chance)
        if len(line.written["tickets"]) > 1 and chance.random() < _NEW_MATTER:
            yield _new_matter(line, chance)


def _varied(line: PairLine, others: Sequence[dict[str, Any]], chance: random.Random) -> Case:
    tickets, continues = list(line.written["tickets"]), line.written["continues"]
    right = [ticket for ticket in tickets if ticket["id"] == continues]
    wrong = [ticket for ticket in tickets if ticket["id"] != continues]
    if right and wrong and chance.random() < _WITHOUT_RIGHT:
        tickets, continues = wrong, None
    elif len(tickets) > 1 and chance.random() < _WITHOUT_WRONG:
        tickets.remove(chance.choice(wrong))
    if chance.random() < _WITH_OTHER:
        tickets.append(chance.choice(others) | {"id": "another customer's"})
    message = hurried(line.written["message"], chance)
    written = {"message": message, "tickets": tickets, "continues": continues}
    return PairLine(written, line.file).case()


def _new_matter(line: PairLine, chance: random.Random) -> Case:
    tickets = list(line.written["tickets"])
    opened = tickets.pop(chance.randrange(len(tickets)))
    message = opened["messages"][0]
    if chance.random() < _WITH_SUBJECT:
        message = f"{opened['subject']}\n{message}"
    written = {"message": message, "tickets": tickets, "continues": None}
    return PairLine(written, line.file).case()
