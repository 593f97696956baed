"""The chance that a passage answers an ask, from everything that speaks for it.

Reading the ask together with the passage says most. Where the desk has written down which questions
its articles answer, how like the ask is to these says as much again. Nearness finds passages, but
says nothing beyond reading. The weights were fitted on asks of companies and writers that nothing
here had learned from, a good third of them without an answer:
docs/decisions/0063-chance-of-an-answer.md.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

_LEAST, _MOST = 0.02, 0.98
_SURE = 0.99
_STEEPEST = 50.0
_ALIKE, _DOUBTED, _READ, _START = 2.02, -4.34, 0.57, 1.22
"""For desks with questions of their own."""
_READ_ALONE, _START_ALONE = 0.82, -0.19
"""For those without: the slope is fitted, the start is lower than its fit, to be careful."""


class Likeness(NamedTuple):
    """What a desk's own questions say of one wording of an ask."""

    article: str
    """The one that answers questions like it, or sounds as if it did."""
    confidence: float
    is_answered: bool
    """Whether the article answers those questions."""


def by_questions(article: str, alike: Sequence[Likeness], reading: float) -> float:
    """The chance by the desk's own questions, over all wordings of the ask, and by the score of the
    ask read together with the article's passage."""
    by_likeness = 0.0
    for likeness in alike:
        supports = likeness.is_answered and likeness.article == article
        by_likeness += _ALIKE * _log_odds(likeness.confidence) if supports else _DOUBTED
    return _chance(by_likeness / len(alike) + _READ * reading + _START)


def by_reading(score: float) -> float:
    """The chance for a desk that has no questions of its own."""
    return _chance(_READ_ALONE * score + _START_ALONE)


def _log_odds(chance: float) -> float:
    bounded = max(_LEAST, min(_MOST, chance))
    return math.log(bounded / (1 - bounded))


def _chance(log_odds: float) -> float:
    return min(_SURE, 1 / (1 + math.exp(-max(-_STEEPEST, min(_STEEPEST, log_odds)))))
