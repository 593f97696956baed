"""What a message is about, wants and sounds like, read by a small model that was trained on it.

    reading = MessageReader().read("Nobody here can log in since eight.")
    reading.probability("fact", "outage")

The lower layers of the embedding model read the text, and upper layers that we trained say how
likely each label is and which words speak for it. A text may be read after another one: a turn of a
chat after the question that it follows, a message after the ticket that it may continue. There is
one set of upper layers for messages, one for pairs of a message and a ticket, one for tickets and
one for turns of chats: each knows all labels and was trained further on its own. How:
docs/decisions/0069-reading-messages.md.
"""

import math
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING, TypeVar

from deskhand.language.answerability import lower_states
from deskhand.language.clean_text import clean, has_words
from deskhand.language.embed import DIMENSIONS, default_threads, encoded, model_session

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Scores = NDArray[np.float32]

Piece = TypeVar("Piece")


class Graph(StrEnum):
    """Upper layers, by what they are best at."""

    MESSAGES = "reading.onnx"
    """What a person must see."""
    PAIRS = "reading-pairs.onnx"
    """Whether a message continues a ticket."""
    PAIRS_EARLIER = "reading-pairs-earlier.onnx"
    """The same by another training: what both say on average is right more often."""
    FACTS = "reading-facts.onnx"
    """A second opinion on what happened, by layers that have read all kinds of messages."""
    TICKETS = "reading-tickets.onnx"
    """What happened, whose matter it is, and how the writer feels."""
    TURNS = "reading-turns.onnx"
    """What a customer does in a chat after a question, and the values that he states."""


LABELS: dict[str, tuple[str, ...]] = {
    "concern": ("complaint", "legal", "medical", "cancellation", "machine"),
    "fact": (
        "outage",
        "outage_part",
        "data_loss",
        "security",
        "billing_error",
        "refund",
        "cancel",
        "legal",
        "regulator",
        "press",
    ),
    "type": ("billing", "technical", "general"),
    "sentiment": ("positive", "neutral", "confused", "frustrated", "angry", "urgent"),
    "turn": (
        "answer",
        "answers_several",
        "invalid",
        "correction",
        "aside",
        "other_matter",
        "cancel",
        "person",
        "why",
        "repeat",
    ),
    "continues": ("continues",),
}
"""Groups of labels, in the order of the graph's outputs."""
ONE_OF = frozenset({"type", "sentiment", "turn"})
"""Groups of which exactly one label is right. Of the others any number may be."""
VALUES = ("order", "amount", "reason", "address", "summary", "date", "email")
"""What a word of a chat's turn may belong to."""
MOST_TEXT = 160
"""Tokens of a text that are read at once: two thirds of them from its beginning."""
MOST_CONTEXT = 96
_KEPT = 64
_WORDS = 8
"""Tokens shown of the words that speak for a label."""
_PREFIX = len("query: ")


@dataclass(frozen=True, slots=True)
class FoundValue:
    """Words of a turn that state a value, and how surely."""

    text: str
    start: int
    end: int
    probability: float


@dataclass(frozen=True, slots=True)
class MessageReading:
    """How likely each label is, the words that speak for it, and values that are stated."""

    probabilities: dict[str, dict[str, float]]
    words: dict[str, dict[str, str]]
    values: dict[str, FoundValue]
    is_whole: bool = True
    """Whether nothing between beginning and end was left out for length."""

    def probability(self, group: str, label: str) -> float:
        return self.probabilities[group][label]

    def best(self, group: str) -> tuple[str, float]:
        """The likeliest label of a group and its probability."""
        labels = self.probabilities[group]
        best = max(labels, key=lambda label: labels[label])
        return best, labels[best]


class MessageReader:
    """Reads messages. Thread-safe; the model is loaded when first needed."""

    def __init__(self, graph: Graph = Graph.MESSAGES, *, threads: int | None = None) -> None:
        self._graph = graph
        self._threads = threads if threads is not None else default_threads()
        self._kept: OrderedDict[tuple[str, str | None], MessageReading] = OrderedDict()
        self._lock = Lock()

    def read(self, text: str, context: str | None = None) -> MessageReading:
        """How likely a text means what; nothing is likely of one without any word."""
        cleaned = clean(text)
        if not has_words(cleaned):
            return _nothing()
        key = (cleaned, context)
        with self._lock:
            kept = self._kept.get(key)
        if kept is not None:
            return kept
        reading = self._read(cleaned, context)
        with self._lock:
            self._kept[key] = reading
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return reading

    def _read(self, text: str, context: str | None) -> MessageReading:
        import numpy as np

        prefixed = f"query: {text}"
        encoding = encoded(prefixed)
        ids = _cut(encoding.ids, MOST_TEXT)
        places = _cut(encoding.offsets, MOST_TEXT)
        following = np.zeros((1, 0, DIMENSIONS), dtype=np.float32)
        if context is not None:
            given = encoded(f"passage: {clean(context)}").ids
            following = lower_states(_cut(given, MOST_CONTEXT), self._threads)
        states = lower_states(ids, self._threads)
        session, lock = model_session(self._graph, self._threads)
        with lock:
            labels, shares, words = session.run(None, {"text": states, "context": following})
        return MessageReading(
            _probabilities(labels[0]),
            _words_for(shares[0], prefixed, places),
            _values(words[0], prefixed, places),
            is_whole=len(encoding.ids) <= MOST_TEXT,
        )


@cache
def shared_message_reader(graph: Graph = Graph.MESSAGES) -> MessageReader:
    """The process's own: a message that several parts of a desk read is read once."""
    return MessageReader(graph)


def _cut(pieces: Sequence[Piece], most: int) -> list[Piece]:
    if len(pieces) <= most:
        return list(pieces)
    head = most * 2 // 3
    return [*pieces[:head], *pieces[head - most :]]


def _probabilities(scores: "Scores") -> dict[str, dict[str, float]]:
    probabilities: dict[str, dict[str, float]] = {}
    at = 0
    for group, labels in LABELS.items():
        own = [float(score) for score in scores[at : at + len(labels)]]
        at += len(labels)
        chances = _shares(own) if group in ONE_OF else list(map(_chance, own))
        probabilities[group] = dict(zip(labels, chances, strict=True))
    return probabilities


def _chance(score: float) -> float:
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, score))))


def _shares(scores: Sequence[float]) -> list[float]:
    highest = max(scores)
    powers = [math.exp(score - highest) for score in scores]
    return [power / sum(powers) for power in powers]


def _words_for(
    shares: "Scores", text: str, places: Sequence[tuple[int, int]]
) -> dict[str, dict[str, str]]:
    """For each label the words around the token that speaks loudest for it."""
    words: dict[str, dict[str, str]] = {}
    column = 0
    for group, labels in LABELS.items():
        words[group] = {}
        for label in labels:
            loudest = int(shares[:, column].argmax())
            words[group][label] = _around(loudest, text, places)
            column += 1
    return words


def _around(token: int, text: str, places: Sequence[tuple[int, int]]) -> str:
    first = max(0, token - _WORDS)
    last = min(len(places) - 1, token + _WORDS)
    start = max(_PREFIX, places[first][0])
    end = max(places[last][1], places[max(first, last - 1)][1])
    while start > _PREFIX and not text[start - 1].isspace():  # a token may be a part of a word
        start -= 1
    while end < len(text) and not text[end].isspace():
        end += 1
    return " ".join(text[start:end].split())


def _values(
    scores: "Scores", text: str, places: Sequence[tuple[int, int]]
) -> dict[str, FoundValue]:
    """The words of each value, from its first to its last likely token."""
    values: dict[str, FoundValue] = {}
    for column, name in enumerate(VALUES):
        likely = [row for row in range(len(places)) if scores[row, column] > 0]
        if not likely:
            continue
        start = max(_PREFIX, places[likely[0]][0])
        end = places[likely[-1]][1]
        stated = text[start:end].strip()
        if stated:
            highest = max(float(scores[row, column]) for row in likely)
            values[name] = FoundValue(stated, start - _PREFIX, end - _PREFIX, _chance(highest))
    return values


def _nothing() -> MessageReading:
    probabilities: dict[str, dict[str, float]] = {}
    words: dict[str, dict[str, str]] = {}
    for group, labels in LABELS.items():
        probabilities[group] = dict.fromkeys(labels, 0.0)
        words[group] = dict.fromkeys(labels, "")
    return MessageReading(probabilities, words, {})
