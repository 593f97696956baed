"""Whether an article answers a question, or is only the nearest of those that do not.

Cosines of the embedding model lie close together, and some texts are near to everything: without a
correction one article attracts all stray questions. So each cosine is seen against how near the
question is to passages about nothing here, and the passage to questions about nothing here
(cross-domain similarity local scaling). The figures are in docs/decisions/0013-brains.md, measured
by `python -m bench.quoting`.
"""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from deskhand.brain.background_texts import ENGLISH, PASSAGES, QUESTIONS
from deskhand.knowledge.background_questions import BACKGROUND_QUESTIONS
from deskhand.language.identify import identify
from deskhand.model.knowledge import Hit
from deskhand.ports import Embeds

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

_SURE = 0.99
_DISTANCE, _MARGIN, _START = 97.8, 29.7, -5.34
_WIDEST_MARGIN = 0.03


class Ranked(NamedTuple):
    hit: Hit
    nearness: float
    """The cosine above what strangers have."""
    confidence: float
    """The chance that the passage answers the question; meaningful for the first."""


def ranked(embedder: Embeds, question: str, hits: Sequence[Hit]) -> list[Ranked]:
    """The hits by what is left of their cosines, best first."""
    if not hits:
        return []
    asked = embedder.embed([question], "query")[0]
    texts = [f"{hit.title}. {hit.text}" for hit in hits]
    passages = embedder.embed(texts, "passage", keep=True)
    strangers = _from_strangers(embedder, question, passages) + _to_strangers(embedder, asked, hits)
    left = passages @ asked - strangers / 2
    order = sorted(range(len(hits)), key=lambda index: -float(left[index]))
    nearness = [0.0] * len(hits)
    if asked.any():
        nearness = [float(left[index]) for index in order]
    best_first = [hits[index] for index in order]
    return with_confidence(list(zip(best_first, nearness, strict=True)))


def _from_strangers(embedder: Embeds, question: str, passages: "Vectors") -> "Vectors":
    """How near unrelated questions are to each passage, as far as they are in the question's
    language."""
    strange = embedder.embed(BACKGROUND_QUESTIONS, "query", keep=True)
    mean: Vectors = (passages @ strange.T).mean(axis=1)
    language = _language(identify(question).code)
    if language == ENGLISH:
        return mean
    spoken, english = (
        (passages @ embedder.embed(QUESTIONS[code], "query", keep=True).T).mean(axis=1)
        for code in (language, ENGLISH)
    )
    corrected: Vectors = mean + spoken - english
    return corrected


def _to_strangers(embedder: Embeds, asked: "Vectors", hits: Sequence[Hit]) -> "Vectors":
    """How near the question is to unrelated passages in the language of each hit."""
    import numpy as np

    languages = [_language(hit.language) for hit in hits]
    near: dict[str, float] = {}
    for language in {*languages}:
        strange = embedder.embed(PASSAGES[language], "passage", keep=True)
        near[language] = float((strange @ asked).mean())
    return np.array([near[language] for language in languages], dtype=np.float32)


def _language(code: str | None) -> str:
    """The language whose unrelated texts stand for it; English for those without any."""
    primary = (code or "").partition("-")[0].lower()
    return primary if primary in PASSAGES else ENGLISH


def with_confidence(passages: Sequence[tuple[Hit, float]]) -> list[Ranked]:
    """Best first; a margin over the next other article speaks for a passage."""
    made: list[Ranked] = []
    for place, (hit, nearness) in enumerate(passages):
        others = [near for other, near in passages[place + 1 :] if other.article != hit.article]
        margin = nearness - others[0] if others else _WIDEST_MARGIN / 2
        score = _DISTANCE * nearness + _MARGIN * max(0.0, min(margin, _WIDEST_MARGIN)) + _START
        chance = 1 / (1 + math.exp(-max(-50.0, min(50.0, score))))
        made.append(Ranked(hit, nearness, min(_SURE, chance)))
    return made
