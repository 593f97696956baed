"""Two lists of candidates to one: by words and by meaning, fused by reciprocal rank."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

CANDIDATES = 50
"""How far down each list is looked."""
COMMON_SHARE = 0.05
"""A word in more than this share of the chunks finds too much to be worth its time."""
COMMON_LEAST = 20
"""... but no word in so few chunks is common: a small base has no words to spare."""
_RANK_OFFSET = 60
"""The usual constant of reciprocal rank fusion: how little the first places differ."""
_MOST_TERMS = 16
_POSTINGS_SHARE = 0.03
_POSTINGS_LEAST = 2000
"""What the words together may find: each chunk found takes microseconds to weigh, and the rarest
words say most."""


@dataclass(frozen=True, slots=True)
class Fused:
    position: int
    score: float
    coverage: float


@dataclass(frozen=True, slots=True)
class WeightedTerms:
    """The words of a question that are looked up, and how much each says."""

    weights: Mapping[str, float]
    total: float
    """The weight of all words of the question: also of those that are nowhere or everywhere."""

    def coverage(self, score: float) -> float:
        return min(1.0, score / self.total) if self.total > 0 else 0.0


def most_common(chunks: int) -> int:
    """How many chunks may hold a word that is still looked up."""
    return max(COMMON_LEAST, int(COMMON_SHARE * chunks))


def weigh(counts: Mapping[str, int], chunks: int) -> WeightedTerms:
    """Choose the rarest words; `counts` says in how many chunks each is, more than `most_common`
    meaning too many."""
    total = sum(_weight(count, chunks) for count in counts.values())
    chosen: dict[str, float] = {}
    postings, budget = 0, max(_POSTINGS_LEAST, int(_POSTINGS_SHARE * chunks))
    for term, count in sorted(counts.items(), key=lambda item: item[1]):
        if not 0 < count <= most_common(chunks):
            continue
        postings += count
        if len(chosen) >= _MOST_TERMS or (chosen and postings > budget):
            break
        chosen[term] = _weight(count, chunks)
    return WeightedTerms(chosen, total)


def _weight(count: int, chunks: int) -> float:
    """As BM25 weighs words: rare ones much, those in half of the chunks nothing."""
    return max(1e-6, math.log((max(chunks, count) - count + 0.5) / (count + 0.5)))


def fuse(
    by_meaning: Sequence[int], by_words: Sequence[tuple[int, float]], limit: int
) -> list[Fused]:
    """Positions, best first; `by_words` comes with coverage.

    A place in the list of words counts by how much of the question's words was found, squared: a
    question in another language shares a stray word with some chunk, and that must not weigh like
    an answer.
    """
    scores: dict[int, float] = {}
    coverage = dict(by_words)
    for rank, position in enumerate(by_meaning, 1):
        scores[position] = 1 / (_RANK_OFFSET + rank)
    for rank, (position, covered) in enumerate(by_words, 1):
        scores[position] = scores.get(position, 0.0) + covered**2 / (_RANK_OFFSET + rank)
    best = 2 / (_RANK_OFFSET + 1)
    order = sorted(scores, key=lambda position: (-scores[position], position))[:limit]
    return [
        Fused(position, scores[position] / best, coverage.get(position, 0.0)) for position in order
    ]
