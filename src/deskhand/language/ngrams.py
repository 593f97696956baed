"""Texts to weighted word and character n-grams (tf-idf), without scikit-learn, which takes a
second to load."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from deskhand.language.clean_text import clean

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_LOOKED_AT = 4000
"""Characters of a text that are counted."""
_WORD = re.compile(r"\w+")
_CHARACTERS = range(2, 6)
_MOST_FEATURES = 60_000


@dataclass(frozen=True)
class Ngrams:
    """The n-grams a model knows, each with its weight; what occurred in one text alone is left
    out, words excepted."""

    places: dict[str, int]
    weights: "NDArray[np.float32]"

    @classmethod
    def learn(cls, texts: Sequence[str]) -> "Ngrams":
        import numpy as np

        frequency: Counter[str] = Counter()
        for text in texts:
            words, characters = _pieces(text)
            frequency.update({*words, *characters})
        pieces = sorted(
            piece for piece, count in frequency.items() if count > 1 or piece.startswith("\t")
        )
        if len(pieces) > _MOST_FEATURES:
            commonest_first = sorted(pieces, key=lambda piece: (-frequency[piece], piece))
            pieces = sorted(commonest_first[:_MOST_FEATURES])
        total = len(texts)
        weights = [math.log((1 + total) / (1 + frequency[piece])) + 1 for piece in pieces]
        places = {piece: place for place, piece in enumerate(pieces)}
        return cls(places, np.array(weights, dtype=np.float32))

    def vector(self, text: str) -> "tuple[NDArray[np.int64], NDArray[np.float32]]":
        """Places and values of a text's n-grams; words and characters are each of unit length."""
        import numpy as np

        counted = [_counted(self.places, part) for part in _pieces(text)]
        places = np.array([place for counts in counted for place in counts], dtype=np.int64)
        values = 1 + np.log(
            np.array([count for counts in counted for count in counts.values()], dtype=np.float32)
        )
        values *= self.weights[places]
        for part in (slice(len(counted[0])), slice(len(counted[0]), None)):
            length = math.sqrt(float(values[part] @ values[part]))
            if length > 0:
                values[part] /= length
        return places, values


def _counted(places: dict[str, int], pieces: list[str]) -> dict[int, int]:
    counts = Counter(map(places.get, pieces))
    return {place: count for place, count in counts.items() if place is not None}


def _pieces(text: str) -> tuple[list[str], list[str]]:
    """Words and pairs of words, marked by a tab; and 2 to 5 neighbouring characters of a word."""
    words = _WORD.findall(clean(text[: 2 * _LOOKED_AT])[:_LOOKED_AT].lower())
    whole = [f"\t{word}" for word in words]
    whole += [f"\t{first} {second}" for first, second in pairwise(words)]
    parts: list[str] = []
    for word in words:
        padded = f" {word[:60]} "
        for size in _CHARACTERS:
            last = len(padded) - size
            if last > 0:
                parts += [padded[start : start + size] for start in range(last + 1)]
            else:
                parts.append(padded)
    return whole, parts
