"""The chance that a passage answers an ask, from everything that speaks for it.

Reading the ask together with the passage says most. Where the desk has written down which questions
its articles answer, how like the ask is to these says as much again. Nearness finds passages, but
says nothing beyond reading. The weights were fitted on asks of companies and writers that nothing
here had learned from, a good third of them without an answer:
docs/decisions/0063-chance-of-an-answer.md.
"""

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from deskhand.language.question_examples import UNANSWERED

_LEAST, _MOST = 0.02, 0.98
_SURE = 0.99
_STEEPEST = 50.0
_ALIKE, _DOUBTED, _READ, _START = 2.02, -4.34, 0.57, 1.22
"""For desks with questions of their own."""
_READ_ALONE, _START_ALONE = 0.82, -0.19
"""For those without: the slope is fitted, the start is lower than its fit, to be careful."""
_DENIED = -2.15
_LEAST_SHARE = 0.005


class _Weights(NamedTuple):
    """What speaks for an answer to a later ask, and how much."""

    own: float
    after_opening: float
    in_context: float
    after_previous: float
    sounds: float
    reading: float
    reading_alone: float
    is_previous: float
    start: float


_LATER = _Weights(0.42, 0.12, 0.47, 0.45, -0.53, 0.22, 0.38, 0.56, -1.69)


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


class LaterAsk(NamedTuple):
    """What a desk's own questions say of an ask after others, in four wordings."""

    own: Likeness
    """How near the ask is by itself."""
    in_context: Likeness
    """After the last words before it."""
    after_previous: Likeness
    """After the ask before it, which may name what "it" is."""
    after_opening: Likeness
    """After what the message says before its first ask."""
    previous: str | None
    """The article that answers the ask before it best."""


def by_questions(article: str, alike: Sequence[Likeness], reading: float) -> float:
    """The chance by the desk's own questions, over all wordings of the ask, and by the score of the
    ask read together with the article's passage."""
    by_likeness = 0.0
    for likeness in alike:
        supports = likeness.is_answered and likeness.article == article
        by_likeness += _ALIKE * _log_odds(likeness.confidence) if supports else _DOUBTED
    return _chance(by_likeness / len(alike) + _READ * reading + _START)


def of_later_ask(article: str, ask: LaterAsk, reading: float, reading_alone: float) -> float:
    """The chance that a passage of the article answers an ask after others.

    Any of its wordings may show what it is about, and what it only sounds like counts against it.
    It is read with the passage in its context and by itself. The article that answers the ask
    before it is likelier than another.
    """
    weighed = _LATER.own * _support(ask.own, article)
    weighed += _LATER.after_opening * _support(ask.after_opening, article)
    weighed += _LATER.in_context * _share(ask.in_context, article)
    weighed += _LATER.after_previous * _share(ask.after_previous, article)
    weighed += _LATER.sounds * _share(ask.own, f"{UNANSWERED}{article}")
    weighed += _LATER.reading * reading + _LATER.reading_alone * reading_alone
    if article == ask.previous:
        weighed += _LATER.is_previous
    return _chance(weighed + _LATER.start)


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
