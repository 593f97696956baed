"""The corpus that the reading model learns from: messages, tickets, turns of chats, and pairs."""

import hashlib
import json
import random
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml
from pair_cases import ticket_text
from reading_network import LABELS, VALUES
from typed_text import without_accents

TRIAGE = Path(__file__).parents[1] / "src" / "deskhand" / "desks" / "triage"
HELD_OUT = 8
"""One line of so many is never learned from: those say how good the model is."""
PIECE = 240
"""Characters of a piece."""
_SENTENCE = re.compile(r"[^.!?…\n]+(?:[.!?…]+|\n+|$)")
_JOINED, _PLAIN, _LOWER = 0.35, 0.08, 0.08
"""How often a message is learned beside an ordinary one, without accents, in small letters."""
_RENUMBERED = 0.4
"""How often a turn is learned with other digits in its order number."""


@dataclass(frozen=True)
class Item:
    """A text, what it follows, and what is true of it, by group of labels."""

    text: str
    language: str
    source: str
    context: str | None = None
    wanted: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    values: Mapping[str, str] | None = None
    key: str = ""
    """Items of one key are held out together."""
    file: str = ""
    """The name of the file that it stands in, where it stands in the corpus."""

    @property
    def is_held_out(self) -> bool:
        digest = hashlib.sha256((self.key or self.text).encode()).digest()
        return digest[0] % HELD_OUT == 0

    def targets(self) -> dict[str, list[float]]:
        made: dict[str, list[float]] = {}
        for group, labels in self.wanted.items():
            made[group] = [float(label in labels) for label in LABELS[group]]
        return made


def read_corpus(folder: Path, ordinary: Path) -> list[Item]:
    """All lines below `folder`; as messages of no concern the mails of `inbox` beside it and the
    asks of `ordinary`; as calm tickets the questions that the triage desk's articles answer."""
    items: list[Item] = []
    readers = {"concerns": _concern, "tickets": _ticket, "turns": _turn, "pairs": _pairs}
    for part, reader in readers.items():
        for file in sorted((folder / part).glob("*.jsonl")):
            for line in _lines(file):
                items.extend(replace(item, file=file.stem) for item in reader(line))
    for file in sorted(folder.parent.glob("inbox/*.jsonl")):
        for line in _lines(file):
            mail = f"{line['subject']}\n\n{line['body']}"
            items.extend(_concern({"text": mail, "language": line["language"], "concerns": []}))
    items.extend(_asked_of_triage())
    for file in sorted(ordinary.glob("*/asks.jsonl")):
        for line in _lines(file):
            items.append(_ordinary(line))
    return items


def _concern(line: dict[str, Any]) -> Iterator[Item]:
    """A message; one of no concern has none in its pieces either."""
    text, language, concerns = line["text"], line["language"], tuple(line["concerns"])
    yield Item(text, language, "concerns", wanted={"concern": concerns}, key=text)
    if not concerns:
        for piece in _pieces(text):
            yield Item(piece, language, "pieces", wanted={"concern": ()}, key=text)


def _pieces(text: str) -> Iterator[str]:
    """Sentences, put together as long as they are short, as `deskhand/language/concerns.py` reads
    them; none where the text is one piece."""
    if len(text) <= PIECE:
        return
    piece = ""
    for sentence in filter(None, map(str.strip, _SENTENCE.findall(text))):
        if piece and len(piece) + len(sentence) > PIECE:
            yield piece
            piece = ""
        piece = f"{piece} {sentence}".strip()
    if piece:
        yield piece


def _ticket(line: dict[str, Any]) -> Iterator[Item]:
    """A ticket; in the pieces of one where nothing has happened, nothing has happened either."""
    facts = tuple(fact for fact in line["facts"] if fact in LABELS["fact"])
    wanted = {"fact": facts, "type": (line["type"],), "sentiment": (line["sentiment"],)}
    yield Item(line["text"], line["language"], "tickets", wanted=wanted)
    if not facts:
        for piece in _pieces(line["text"]):
            key = line["text"]
            yield Item(piece, line["language"], "tickets", wanted={"fact": ()}, key=key)


def _asked_of_triage() -> Iterator[Item]:
    """What customers ask calmly: the department is that of the article that answers it. What has
    happened to them is not said of it: "You took the money twice!" is among these too."""
    departments: dict[str, str] = {}
    for article in TRIAGE.glob("knowledge/*.md"):
        front = yaml.safe_load(article.read_text(encoding="utf-8").split("---")[1])
        departments[front["id"].partition(".")[0]] = front["category"]
    for file in sorted(TRIAGE.glob("questions/*.yaml")):
        answered = yaml.safe_load(file.read_text(encoding="utf-8"))["answers"]
        for article, questions in answered.items():
            for question in questions:
                wanted = {"type": (departments[article],), "sentiment": ("neutral",)}
                yield Item(question, file.stem, "tickets", wanted=wanted)


def _turn(line: dict[str, Any]) -> Iterator[Item]:
    values: dict[str, str] = {}
    for name, value in (line.get("values") or {}).items():
        if name in VALUES and str(value) in line["text"]:
            values[name] = str(value)
    context = turn_context(line.get("matter"), line["asked"], line["question"], line.get("known"))
    wanted = {"turn": (line["kind"],)}
    yield Item(line["text"], line["language"], "turns", context, wanted, values)


def turn_context(
    matter: str | None, asked: str, question: str, known: Mapping[str, Any] | None
) -> str:
    """What a turn follows, as the model reads it. `deskhand/language/turn_reading.py` says it in
    the same words."""
    said = "; ".join(f"{name}: {value}" for name, value in sorted((known or {}).items()))
    return f"{matter or ''} / {asked}. {question} [{said}]"


def _pairs(line: dict[str, Any]) -> Iterator[Item]:
    background = str(line["tickets"][0]["messages"])
    for ticket in line["tickets"]:
        continues = ("continues",) if line["continues"] == ticket["id"] else ()
        yield Item(
            line["message"],
            line["language"],
            "pairs",
            ticket_text(ticket),
            {"continues": continues},
            key=background,
        )


def _ordinary(line: dict[str, Any]) -> Item:
    return Item(line["ask"], line["language"], "ordinary", wanted={"concern": ()})


def _lines(file: Path) -> list[dict[str, Any]]:
    lines = file.read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines if line.strip()]


class Variations:
    """Messages as others might have written them."""

    def __init__(self, items: list[Item], chance: random.Random) -> None:
        self._chance = chance
        self._ordinary: dict[str, list[str]] = {}
        for item in items:
            if item.source == "ordinary" or item.wanted.get("concern") == ():
                self._ordinary.setdefault(item.language, []).append(item.text)

    def of(self, item: Item) -> Item:
        if item.values is not None:
            return self._turn(item, item.values)
        text = item.text
        if item.source in ("concerns", "older") and self._chance.random() < _JOINED:
            text = self._beside(text, item.language)
        drawn = self._chance.random()
        if drawn < _PLAIN:
            text = without_accents(text)
        elif drawn < _PLAIN + _LOWER:
            text = text.lower()
        if text == item.text:
            return item
        return Item(text, item.language, item.source, item.context, item.wanted)

    def _turn(self, item: Item, stated: Mapping[str, str]) -> Item:
        """A turn whose values still stand in it word for word."""
        text, values = item.text, dict(stated)
        order = values.get("order", "")
        if text.count(order) == 1 and self._chance.random() < _RENUMBERED:
            other = re.sub(r"\d", lambda _: str(self._chance.randrange(10)), order)
            text = text.replace(order, other)
            values = {name: value.replace(order, other) for name, value in values.items()}
        drawn = self._chance.random()
        write: Callable[[str], str] = str
        if drawn < _PLAIN + _LOWER:
            write = without_accents if drawn < _PLAIN else str.lower
        values = {name: write(value) for name, value in values.items()}
        return Item(write(text), item.language, item.source, item.context, item.wanted, values)

    def _beside(self, text: str, language: str) -> str:
        others = self._ordinary.get(language)
        if not others:
            return text
        other = self._chance.choice(others)
        first, second = (text, other) if self._chance.random() < 0.5 else (other, text)
        return f"{first}{self._chance.choice((' ', chr(10), chr(10) * 2))}{second}"
