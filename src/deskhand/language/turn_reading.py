"""What the reading model says of a turn: how likely each kind is, and the words of each value."""

import re
from collections.abc import Mapping
from typing import Any

from deskhand.language.message_reader import MessageReader, MessageReading
from deskhand.language.turn_kinds import OpenQuestion, TurnKind

Span = tuple[int, int]

_GAP = r"[\W_]*?\s[\W_]*?"
"""What may stand between two words in the text as it was written: the model reads one line."""


class TurnReading:
    """A turn as the model reads it after its question."""

    def __init__(self, text: str, reading: MessageReading) -> None:
        self._kinds = reading.probabilities["turn"]
        self.marked: dict[str, Span] = {}
        self.surety: dict[str, float] = {}
        for name, value in reading.values.items():
            place = _place_of(value.text, value.start, text)
            if place is not None:
                self.marked[name] = place
                self.surety[name] = value.probability

    def chance(self, kind: TurnKind) -> float:
        """How likely it is of this kind."""
        return self._kinds[kind]


def read_turn(reader: MessageReader, text: str, question: OpenQuestion) -> TurnReading:
    """Read the text after the question."""
    asked = question.asked[0] if question.asked else ""
    context = turn_context(question.matter, asked, question.prompt, question.known)
    return TurnReading(text, reader.read(text, context))


def turn_context(
    matter: str | None, asked: str, question: str, known_values: Mapping[str, Any] | None
) -> str:
    """What a turn follows, in the words that the model learned it in. `scripts/reading_corpus.py`
    says it in the same words."""
    said = "; ".join(
        f"{name}: {_written(value)}" for name, value in sorted((known_values or {}).items())
    )
    return f"{matter or ''} / {asked}. {question} [{said}]"


def _written(value: Any) -> str:
    """A value as a customer writes it: of money the number, of a share the part."""
    if not isinstance(value, Mapping):
        return str(value)
    return str(value.get("amount") or value.get("share") or value)


def _place_of(words: str, near: int, text: str) -> Span | None:
    """Where words of the cleaned text stand in the text as it was written."""
    if text[near : near + len(words)] == words:
        return near, near + len(words)
    pattern = _GAP.join(re.escape(word) for word in words.split())
    places = [match.span() for match in re.finditer(pattern, text)]
    return min(places, key=lambda place: abs(place[0] - near), default=None)
