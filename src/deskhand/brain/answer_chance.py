"""The chance that a passage answers an ask, from everything that speaks for it.

Reading the ask together with the passage says most. Where the desk has written down which questions
its articles answer, how like the ask is to these says as much again. Nearness finds passages, but
says nothing beyond reading. The weights were fitted on asks of companies and writers that nothing
here had learned from, a good third of them without an answer:
docs/decisions/0063-chance-of-an-answer.md.
"""

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from deskhand.language.question_examples import UNANSWERED

_LEAST, _MOST = 0.02, 0.98
_SURE = 0.99
_STEEPEST = 50.0
_READ_ALONE, _START_ALONE = 0.82, -0.19
"""For desks without questions: the slope is fitted, the start is lower than its fit, to be
careful."""
_DENIED = -2.15
_LEAST_SHARE = 0.005


class Weights(NamedTuple):
    """What speaks for an answer, and how much."""

    own: float
    in_context: float
    after_previous: float
    after_opening: float
    after_subject: float
    after_subject_and_opening: float
    after_subject_and_previous: float
    sounds: float
    like_own: float
    like_after_opening: float
    reading: float
    reading_alone: float
    start: float


_WEIGHTS = Weights(
    own=0.23,
    in_context=0.25,
    after_previous=0.10,
    after_opening=0.15,
    after_subject=0.28,
    after_subject_and_opening=0.13,
    after_subject_and_previous=0.28,
    sounds=-0.36,
    like_own=0.30,
    like_after_opening=0.23,
    reading=0.25,
    reading_alone=0.29,
    start=0.53,
)
"""For desks with questions of their own: `scripts/build_answer_weights.py` fits them."""


class Likeness(NamedTuple):
    """What a desk's own questions say of one wording of an ask."""

    article: str
    """The one that answers questions like it, or sounds as if it did."""
    confidence: float
    is_answered: bool
    """Whether the article answers those questions."""
    shares: Mapping[str, float] = MappingProxyType({})
    """How much each article has of what speaks for any; with UNANSWERED before those that the
    question only sounds like."""


class AskLikeness(NamedTuple):
    """What a desk's own questions say of an ask, in each of its wordings."""

    own: Likeness
    """How near the ask is by itself."""
    in_context: Likeness
    """After the last words before it."""
    after_previous: Likeness
    """After the ask before it, which may name what "it" is."""
    after_opening: Likeness
    """After what the message says before its first ask."""
    after_subject: Likeness
    """After the subject, which often names the matter of every ask."""
    after_subject_and_opening: Likeness
    after_subject_and_previous: Likeness


def likeliest(alike: AskLikeness, most: int) -> list[str]:
    """The articles that the desk's own questions speak for, the likeliest first."""
    labels = {label for likeness in alike for label in likeness.shares}
    labels |= {likeness.article for likeness in alike}
    articles = {label.removeprefix(UNANSWERED) for label in labels} - {""}
    weighed = {article: _weighed(of_likeness(article, alike)) for article in articles}
    return sorted(articles, key=lambda article: (-weighed[article], article))[:most]


def by_questions(article: str, alike: AskLikeness, reading: float, reading_alone: float) -> float:
    """The chance that a passage of the article answers an ask, by the desk's own questions and by
    the scores of the ask read together with the passage, in its context and by itself."""
    evidence = (*of_likeness(article, alike), reading, reading_alone)
    return _chance(_weighed(evidence) + _WEIGHTS.start)


def of_likeness(article: str, alike: AskLikeness) -> tuple[float, ...]:
    """What the desk's own questions say for an article, in the order of the weights.

    Any wording may show what the ask is about: a message names its matter in its subject, in its
    first sentence or in the ask before. What an ask only sounds like counts against it.
    """
    return (
        *(_share(likeness, article) for likeness in alike),
        _share(alike.own, f"{UNANSWERED}{article}"),
        _support(alike.own, article),
        _support(alike.after_opening, article),
    )


def _weighed(evidence: tuple[float, ...]) -> float:
    return sum(weight * value for weight, value in zip(_WEIGHTS, evidence, strict=False))


def _support(likeness: Likeness, article: str) -> float:
    supports = likeness.is_answered and likeness.article == article
    return _log_odds(likeness.confidence) if supports else _DENIED


def _share(likeness: Likeness, label: str) -> float:
    share = max(_LEAST_SHARE, min(1 - _LEAST_SHARE, likeness.shares.get(label, 0.0)))
    return math.log(share / (1 - share))


def by_reading(score: float) -> float:
    """The chance for a desk that has no questions of its own."""
    return _chance(_READ_ALONE * score + _START_ALONE)


def _log_odds(chance: float) -> float:
    bounded = max(_LEAST, min(_MOST, chance))
    return math.log(bounded / (1 - bounded))


def _chance(log_odds: float) -> float:
    return min(_SURE, 1 / (1 + math.exp(-max(-_STEEPEST, min(_STEEPEST, log_odds)))))
