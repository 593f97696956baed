"""What in a message a person must see, wherever it stands and whatever words say it.

    concerns_in("The chairs are lovely, thank you. From May on we will not need the rental.")

A trained model reads the message as a whole and in pieces (`message_reader.py`), so a sentence in a
friendly mail counts as much as a letter about nothing else. The usual words (`concerns.yaml`) make
a concern likelier.
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any

import re2

from deskhand.config.yaml import read_yaml
from deskhand.language.message_reader import MessageReader, MessageReading, shared_message_reader
from deskhand.language.slots.folded_text import fold

LONGEST = 12_000
"""Characters of a message that are looked at; of a longer one, its beginning and its end."""
PIECE = 240
"""Characters of a piece."""
_MOST_PIECES = 24
_SENTENCE = re.compile(r"[^.!?…\n]+(?:[.!?…]+|\n+|$)")


class Concern(StrEnum):
    """What a desk may name under `concerns:`. Rows hold these words: never rename one."""

    COMPLAINT = "complaint"
    LEGAL = "legal"
    MEDICAL = "medical"
    CANCELLATION = "cancellation"
    MACHINE = "machine"
    """Words meant for the software that reads the message."""


LIKELY = {
    Concern.COMPLAINT: 0.2,
    Concern.LEGAL: 0.2,
    Concern.MEDICAL: 0.2,
    Concern.CANCELLATION: 0.2,
    Concern.MACHINE: 0.4,
}
"""From which probability a concern counts, chosen so that a tenth of ordinary messages is called
so at most: docs/decisions/0069-reading-messages.md."""
SHORT = 12
"""Words of a turn in a chat that says little by itself."""
SURE = 0.95
"""From which probability a concern counts in so few words."""
ONLY_WHOLE = frozenset({Concern.MACHINE})
"""Concerns of which a piece alone says too little: "please forward this" may be for anybody."""
WORDS_COUNT = 30.0
"""How much the usual words for a concern raise its odds."""
GROUP = "concern"
_USUAL_WORDS = Path(__file__).with_name("concerns.yaml")
_SENSITIVE = Path(__file__).with_name("sensitive_matters.yaml")
_ENGLISH = "en"
_BETWEEN = r"(?:[^\s.!?]+ ){0,3}"


@dataclass(frozen=True, slots=True)
class FoundConcern:
    """A concern, how likely it is, and the words that show it."""

    concern: Concern
    probability: float
    words: str


def concerns_in(
    text: str,
    wanted: Collection[Concern] = tuple(Concern),
    reader: MessageReader | None = None,
    *,
    is_turn: bool = False,
) -> list[FoundConcern]:
    """The concerns of a message, the likeliest first; reading takes some milliseconds a piece.

    The model has read mails. A few words in a chat, which `is_turn` says, need the usual words for
    a concern, or that the model is sure.
    """
    reader = reader or shared_message_reader()
    whole = _bounded(text)
    is_short = is_turn and len(whole.split()) <= SHORT
    best = _likely(reader.read(whole), whole, wanted, is_short=is_short)
    in_pieces = [concern for concern in wanted if concern not in ONLY_WHOLE]
    for piece in pieces_of(whole):
        missing = [concern for concern in in_pieces if concern not in best]
        if not missing:
            break
        best |= _likely(reader.read(piece), piece, missing)
    return sorted(best.values(), key=lambda concern: -concern.probability)


def concern_of_all(text: str, concern: Concern, least: float) -> str | None:
    """The words that show a concern of which the message as a whole makes the model this sure; None
    where it does not. It takes one reading: no piece is looked at by itself."""
    whole = _bounded(text)
    likely = _likely(shared_message_reader().read(whole), whole, (concern,)).get(concern)
    return likely.words if likely is not None and likely.probability >= least else None


def _likely(
    reading: MessageReading,
    text: str,
    wanted: Collection[Concern],
    *,
    is_short: bool = False,
) -> dict[Concern, FoundConcern]:
    likely: dict[Concern, FoundConcern] = {}
    for concern in wanted:
        plain = reading.probability(GROUP, concern)
        probability = _with_words(plain, concern, text)
        least = LIKELY[concern]
        if is_short and probability == plain and concern not in ONLY_WHOLE:
            least = SURE
        if probability >= least:
            words = text if len(text) <= PIECE else reading.words[GROUP][concern]
            likely[concern] = FoundConcern(concern, probability, " ".join(words.split()))
    return likely


def _with_words(probability: float, concern: Concern, text: str) -> float:
    """The probability, higher where the usual words for the concern stand in the text."""
    folded = fold(text)
    if not any(pattern.search(folded) for pattern in _patterns().get(concern, ())):
        return probability
    raised = probability * WORDS_COUNT
    return raised / (raised + 1 - probability)


def sensitive_words(text: str, language: str | None = None) -> str | None:
    """The first words that tell of a death, harassment or violence, in the text's language, or in
    English where we have no words of that; None where none do. An article may answer what is asked
    beside it, and be the wrong letter all the same."""
    read = " ".join(fold(_bounded(text)).split())
    match = _sensitive(language or _ENGLISH).search(read)
    return None if match is None else str(match[0])


@cache
def _sensitive(language: str) -> Any:
    by_language: dict[str, list[str]] = read_yaml(_SENSITIVE).data
    patterns = by_language.get(language, by_language[_ENGLISH])
    return re2.compile("|".join(f"(?:{pattern})" for pattern in patterns))


@cache
def _patterns() -> dict[str, tuple[Any, ...]]:
    compiled: dict[str, tuple[Any, ...]] = {}
    for concern, patterns in read_yaml(_USUAL_WORDS).data.items():
        made = [re2.compile(pattern.replace("~", _BETWEEN)) for pattern in patterns]
        compiled[concern] = tuple(made)
    return compiled


def pieces_of(text: str) -> Iterator[str]:
    """Sentences, put together as long as they are short; none where the text is one piece."""
    if len(text) <= PIECE:
        return
    piece = ""
    count = 0
    for match in _SENTENCE.finditer(text):
        sentence = match.group().strip()
        if piece and len(piece) + len(sentence) > PIECE:
            yield piece
            count += 1
            piece = ""
        piece = f"{piece} {sentence}".strip()
        if count == _MOST_PIECES:
            return
    if piece:
        yield piece


def _bounded(text: str) -> str:
    if len(text) <= LONGEST:
        return text
    half = LONGEST // 2
    return f"{text[:half]}\n{text[-half:]}"
