"""How a customer feels, read from the words: no model is asked.

Six languages are read. Words of praise after a negation count for nothing; praise beside a
complaint may be sarcasm, and is told as unsure. A language that cannot be read is named.
"""

from collections.abc import Iterator, Sequence
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any

import re2

from deskhand.config.yaml import read_yaml
from deskhand.language.identify import identify
from deskhand.language.slots.folded_text import fold
from deskhand.model.frozen import Frozen

LONGEST = 20_000
LANGUAGES = ("en", "cs", "de", "es", "fr", "pl")
_PATTERNS = Path(__file__).with_name("sentiment.yaml")
_BETWEEN = r"(?:[^\s.!?]+ ){0,3}"
_EVERY = "any"
_NEGATION, _SARCASM = "negation", "sarcasm"
_SHOWN = 60
_BEFORE = 25
"""How far before praise a negation is looked for, in characters."""
_MOST_CAPITALS = 3
_SHORTEST_CAPITALS = 3


class Sentiment(StrEnum):
    POSITIVE = "positive"
    NEUTRAL = "neutral"
    CONFUSED = "confused"
    FRUSTRATED = "frustrated"
    ANGRY = "angry"
    URGENT = "urgent"


_ORDER = (Sentiment.ANGRY, Sentiment.URGENT, Sentiment.FRUSTRATED, Sentiment.CONFUSED)
"""Where several are found, the first counts."""


class SentimentReading(Frozen):
    """What was read, by which words, and whether a person should look."""

    sentiment: Sentiment = Sentiment.NEUTRAL
    language: str
    """As found or given, with `und` for one that nobody can tell."""
    is_sure: bool = True
    """False where it may be sarcasm, or where the language cannot be read."""
    why: str = ""
    evidence: tuple[str, ...] = ()
    """The words that show it, without accents and case."""

    @property
    def needs_person(self) -> bool:
        """Whether nobody but a person can say how the customer feels."""
        return self.language not in LANGUAGES


def read_sentiment(text: str, language: str | None = None) -> SentimentReading:
    """How the writer of a text feels; `language` is found out where it is not given."""
    read = text[:LONGEST]
    found = _language(read, language)
    if found not in LANGUAGES:
        why = f"the language {found!r} cannot be read for feelings; a person looks"
        return SentimentReading(language=found, is_sure=False, why=why)
    folded = " ".join(fold(read).split())
    hits = {kind: _hits(folded, found, kind) for kind in _ORDER}
    if _shouts(read):
        hits[Sentiment.ANGRY] = [*hits[Sentiment.ANGRY], "capitals"]
    praise = _praise(folded, found)
    complaint = next((kind for kind in _ORDER if hits[kind]), None)
    if complaint is not None:
        return _of_complaint(complaint, hits[complaint], folded, found)
    if praise:
        return SentimentReading(
            sentiment=Sentiment.POSITIVE, language=found, evidence=tuple(praise)
        )
    return _of_mockery(folded, found)


def _language(text: str, given: str | None) -> str:
    if given:
        return given.partition("-")[0].lower()
    return identify(text).code or "und"


def _of_complaint(
    kind: Sentiment, words: Sequence[str], folded: str, language: str
) -> SentimentReading:
    """A complaint; with praise beside it, perhaps in mockery."""
    mocking = _hits(folded, language, _SARCASM)
    why = f"“{mocking[0]}” beside a complaint may be sarcasm" if mocking else ""
    return SentimentReading(
        sentiment=kind, language=language, is_sure=not mocking, why=why, evidence=tuple(words)
    )


def _of_mockery(folded: str, language: str) -> SentimentReading:
    """A text without complaint or praise. A bravo before a question is hardly meant as one."""
    mocking = _hits(folded, language, _SARCASM)
    if not mocking or "?" not in folded:
        return SentimentReading(language=language)
    return SentimentReading(
        sentiment=Sentiment.FRUSTRATED,
        language=language,
        is_sure=False,
        why=f"“{mocking[0]}” before a question may be sarcasm",
        evidence=tuple(mocking),
    )


def _praise(folded: str, language: str) -> list[str]:
    """Words of praise that no negation stands before."""
    found: list[str] = []
    for pattern in _patterns(language, Sentiment.POSITIVE):
        for match in pattern.finditer(folded):
            before = folded[max(0, match.start() - _BEFORE) : match.start()]
            before = before.rpartition(".")[2].rpartition(",")[2]
            if not any(negation.search(before) for negation in _patterns(language, _NEGATION)):
                found.append(str(match[0]).strip()[:_SHOWN])
    return found


def _hits(folded: str, language: str, kind: str) -> list[str]:
    matches = (pattern.search(folded) for pattern in _patterns(language, kind))
    return [str(match[0]).strip()[:_SHOWN] for match in matches if match is not None]


def _shouts(text: str) -> bool:
    """Whether several words are in capitals that are no abbreviations."""
    words = [word.strip(".,!?:;()\"'") for word in text.split()]
    letters = [word for word in words if word.isalpha() and len(word) > _SHORTEST_CAPITALS]
    capitals = [word for word in letters if word.isupper()]
    return len(capitals) >= _MOST_CAPITALS and len(capitals) * 2 >= len(letters)


@cache
def _patterns(language: str, kind: str) -> tuple[Any, ...]:
    return tuple(_compiled(language, kind))


def _compiled(language: str, kind: str) -> Iterator[Any]:
    data = read_yaml(_PATTERNS).data
    for part in (_EVERY, language):
        for pattern in data[part].get(kind, ()):
            yield re2.compile(pattern.replace("~", _BETWEEN))
