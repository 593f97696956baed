"""How a customer feels: read by the trained model of `message_reader.py`, no LLM is asked.

Six languages are read. Words that often mock, and a feeling that is hardly likelier than the next,
are told as unsure. A language that cannot be read is named.
"""

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any

import re2

from deskhand.config.yaml import read_yaml
from deskhand.language.identify import identify
from deskhand.language.message_reader import Graph, MessageReader, shared_message_reader
from deskhand.language.slots.folded_text import fold
from deskhand.model.frozen import Frozen

LONGEST = 6_000
LANGUAGES = ("en", "cs", "de", "es", "fr", "pl")
SURE = 0.35
"""A feeling below this probability is told as unsure."""
WORDS_COUNT = 600.0
"""How much likelier a feeling is whose own words stand in the text."""
_PRAISE = 0.8
"""From this probability a text full of praise means it."""
_COMPLAINT = 0.3
"""Praise that reads so much like a complaint may be mockery."""
_NEGATION, _SARCASM, _NEGATED, _NO_HASTE = "negation", "sarcasm", "negated", "no haste"
_TROUBLE, _MENDED, _EXCLAIMED = "trouble", "mended", "exclaimed"
_NEEDS_SIGNS = ("frustrated", "urgent")
_HARDLY_UPSET = 0.12
"""By how much such a feeling must be likelier than calm, where no word of its own stands there."""
_PLAINLY_CONFUSED = 0.97
"""From this probability somebody is confused of whom no word says so: most only ask."""
_DENIED = 200.0
"""How much less likely praise or haste is that is not meant."""
_BEFORE = 25
"""How far before praise or haste a negation is looked for, in characters."""
_MOST_CAPITALS = 3
_SHORTEST_CAPITALS = 3
_PATTERNS = Path(__file__).with_name("sentiment.yaml")
_BETWEEN = r"(?:[^\s.!?]+ ){0,3}"
_EVERY = "any"
_SHOWN = 60


class Sentiment(StrEnum):
    POSITIVE = "positive"
    NEUTRAL = "neutral"
    CONFUSED = "confused"
    FRUSTRATED = "frustrated"
    ANGRY = "angry"
    URGENT = "urgent"


_NEGATIVE = (Sentiment.ANGRY, Sentiment.URGENT, Sentiment.FRUSTRATED, Sentiment.CONFUSED)


class SentimentReading(Frozen):
    """What was read, by which words, and whether a person should look."""

    sentiment: Sentiment = Sentiment.NEUTRAL
    language: str
    """As found or given, with `und` for one that nobody can tell."""
    is_sure: bool = True
    """False where it may be sarcasm, or where the language cannot be read."""
    why: str = ""
    evidence: tuple[str, ...] = ()
    """The words that show it."""

    @property
    def needs_person(self) -> bool:
        """Whether nobody but a person can say how the customer feels."""
        return self.language not in LANGUAGES


def read_sentiment(
    text: str, language: str | None = None, reader: MessageReader | None = None
) -> SentimentReading:
    """How the writer of a text feels; `language` is found out where it is not given."""
    read = text[:LONGEST]
    spoken = _language(read, language)
    if spoken not in LANGUAGES:
        why = f"the language {spoken!r} cannot be read for feelings; a person looks"
        return SentimentReading(language=spoken, is_sure=False, why=why)
    reading = (reader or shared_message_reader(Graph.TICKETS)).read(read)
    hits = _words_of_feeling(read, spoken)
    folded = " ".join(fold(read).split())
    mocking = _hits(folded, spoken, _SARCASM)
    mocked = _praise_of_trouble(folded, spoken)
    denied = [Sentiment.POSITIVE] if mocked or _is_denied(hits, mocking) else []
    if hits.get(_NO_HASTE):
        denied.append(Sentiment.URGENT)
    chances = _weighed(reading.probabilities["sentiment"], hits, denied)
    if chances is None:
        return SentimentReading(language=spoken)
    feeling = _likeliest(chances, hits)
    complaint = reading.probabilities["concern"]["complaint"]
    why = _mockery(mocked) or _doubt(feeling, chances[feeling], mocking, complaint)
    return SentimentReading(
        sentiment=Sentiment(feeling),
        language=spoken,
        is_sure=not why,
        why=why,
        evidence=tuple(hits.get(feeling) or [reading.words["sentiment"][feeling]]),
    )


def _words_of_feeling(text: str, language: str) -> dict[str, list[str]]:
    """Words that are known to show a feeling, by feeling."""
    folded = " ".join(fold(text).split())
    hits = {kind.value: _hits(folded, language, kind) for kind in _NEGATIVE}
    hits[Sentiment.POSITIVE] = _meant(folded, language, Sentiment.POSITIVE)
    in_haste = hits[Sentiment.URGENT]
    hits[Sentiment.URGENT] = _meant(folded, language, Sentiment.URGENT)
    if in_haste and not hits[Sentiment.URGENT]:
        hits[_NO_HASTE] = in_haste
    if not hits[Sentiment.POSITIVE]:
        hits[_NEGATED] = _hits(folded, language, Sentiment.POSITIVE)
    if _shouts(text):
        hits[Sentiment.ANGRY] = [*hits[Sentiment.ANGRY], "capitals"]
    return hits


def _weighed(
    chances: Mapping[str, float], hits: Mapping[str, Sequence[str]], denied: Sequence[str]
) -> dict[str, float] | None:
    """The model's chances, those of feelings raised whose own words stand in the text, and those
    of feelings lowered that are not meant; None for a text that says nothing."""
    if not any(chances.values()):
        return None
    raised: dict[str, float] = {}
    for name, chance in chances.items():
        raised[name] = chance * (WORDS_COUNT if hits.get(name) else 1.0)
    for name in denied:
        raised[name] /= _DENIED
    whole = sum(raised.values())
    return {name: chance / whole for name, chance in raised.items()}


def _likeliest(chances: Mapping[str, float], hits: Mapping[str, Sequence[str]]) -> str:
    """The feeling; calm where a writer of whom no word shows otherwise is nearly as likely calm."""
    feeling = max(chances, key=lambda name: chances[name])
    if feeling == Sentiment.CONFUSED and not hits.get(feeling):
        return feeling if chances[feeling] >= _PLAINLY_CONFUSED else _next_to(feeling, chances)
    is_doubted = chances[feeling] - chances[Sentiment.NEUTRAL] < _HARDLY_UPSET
    if feeling in _NEEDS_SIGNS and is_doubted and not hits.get(feeling):
        return Sentiment.NEUTRAL
    return feeling


def _next_to(feeling: str, chances: Mapping[str, float]) -> str:
    """Calm, or what is likelier than calm beside a feeling that does not count."""
    others = [name for name in chances if name != feeling]
    return max(others, key=lambda name: chances[name] + (name == Sentiment.NEUTRAL) * _HARDLY_UPSET)


def _is_denied(hits: Mapping[str, Sequence[str]], mocking: Sequence[str]) -> bool:
    """Whether praise is not meant: it follows a negation, or stands beside a complaint."""
    if hits.get(_NEGATED):
        return True
    return bool(mocking) and any(hits[kind] for kind in _NEGATIVE)


def _praise_of_trouble(folded: str, language: str) -> list[str]:
    """Words of praise beside something that is broken or lost and that nobody mended: “great,
    another outage”. That is hardly meant, however much praise there is."""
    if not _hits(folded, language, _TROUBLE) or _hits(folded, language, _MENDED):
        return []
    return [*_hits(folded, language, _SARCASM), *_hits(folded, language, _EXCLAIMED)]


def _mockery(words: Sequence[str]) -> str:
    return f"“{words[0]}” may be sarcasm" if words else ""


def _doubt(feeling: str, chance: float, mocking: Sequence[str], complaint: float) -> str:
    """Why a person should not trust the feeling; empty where nothing speaks against it."""
    if feeling == Sentiment.POSITIVE and complaint >= _COMPLAINT:
        return "the praise may be sarcasm: it reads like a complaint"
    is_praise = feeling == Sentiment.POSITIVE and chance >= _PRAISE
    if mocking and not is_praise:
        return _mockery(mocking)
    if chance < SURE:
        return f"{feeling} is hardly likelier than other feelings"
    return ""


def _language(text: str, given: str | None) -> str:
    if given:
        return given.partition("-")[0].lower()
    return identify(text).code or "und"


def _meant(folded: str, language: str, kind: str) -> list[str]:
    """Words of a feeling that no negation stands before."""
    meant: list[str] = []
    for pattern in _patterns(language, kind):
        for match in pattern.finditer(folded):
            before = folded[max(0, match.start() - _BEFORE) : match.start()]
            before = before.rpartition(".")[2].rpartition(",")[2]
            if not any(negation.search(before) for negation in _patterns(language, _NEGATION)):
                meant.append(str(match[0]).strip()[:_SHOWN])
    return meant


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
