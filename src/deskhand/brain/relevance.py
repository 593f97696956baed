"""Whether an article answers a question, or is only the nearest of those that do not.

Cosines of the embedding model lie close together, and some texts are near to everything: without a
correction one article attracts all stray questions. So each cosine is seen against how near the
question is to passages about nothing here, and the passage to questions about nothing here
(cross-domain similarity local scaling). The figures are in docs/decisions/0013-brains.md, measured
by `python -m bench.quoting`.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

from deskhand.knowledge.background_questions import BACKGROUND_QUESTIONS
from deskhand.model.knowledge import Hit
from deskhand.ports import Embeds

_SURE = 0.99
_DISTANCE, _MARGIN, _START = 97.8, 29.7, -5.34
_WIDEST_MARGIN = 0.03
_BACKGROUND_PASSAGES = (
    "The castle was built in the thirteenth century. It is open to visitors from April to October.",
    "Boil the rice for twelve minutes and add the vegetables at the end.",
    "The orchestra plays works by Dvořák and Brahms. Tickets are sold at the door.",
    "Cats sleep up to sixteen hours a day. They hunt at dawn and dusk.",
    "Tomorrow it will be cloudy with some rain in the evening.",
    "The company was founded in 1990 and employs two hundred people.",
    "The train to the airport leaves every twenty minutes from platform four.",
    "Water the plant once a week and keep it away from direct sun.",
    "The team won the match by two goals to one.",
    "The museum shows paintings of the nineteenth century.",
)


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
    strange_questions = embedder.embed(BACKGROUND_QUESTIONS, "query", keep=True)
    strange_passages = embedder.embed(_BACKGROUND_PASSAGES, "passage", keep=True)
    from_strangers = (passages @ strange_questions.T).mean(axis=1)
    to_strangers = float((strange_passages @ asked).mean())
    left = passages @ asked - (from_strangers + to_strangers) / 2
    order = sorted(range(len(hits)), key=lambda index: -float(left[index]))
    nearness = [0.0] * len(hits)
    if asked.any():
        nearness = [float(left[index]) for index in order]
    best_first = [hits[index] for index in order]
    return with_confidence(list(zip(best_first, nearness, strict=True)))


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
