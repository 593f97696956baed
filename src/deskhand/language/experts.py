"""Three ways to guess an intent, each weak where another is strong; their shares are averaged.

- a logistic regression on standardised embeddings: what is meant, in any language;
- the nearest examples: small intents and odd wordings;
- a linear support vector machine on n-grams: the very words, in the examples' languages only. (A
  logistic regression
  there is no better once averaged and takes six times as long to train.)
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from deskhand.language.ngrams import Ngrams

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Ints = NDArray[np.int64]

_NEIGHBOURS = 10
_NEAREST = 5
_SHARPNESS = 8.0
_LOGISTIC_STEPS = 60
_VECTOR_C = 0.3
_USUAL_DEVIATION = 0.02
"""Of one dimension of an embedding; a handful of examples cannot tell."""
_USUAL_COUNT = 20
_AT_ONCE = 1024
_FEW = 4


@dataclass(frozen=True)
class Matrix:
    """N-grams of many texts: sparse rows of places and values."""

    rows: "Sequence[tuple[Ints, Floats]]"
    width: int

    @classmethod
    def of(cls, ngrams: Ngrams, texts: Sequence[str]) -> "Matrix":
        return cls([ngrams.vector(text) for text in texts], max(1, len(ngrams.places)))

    def only(self, indices: "Ints") -> "Matrix":
        return Matrix([self.rows[index] for index in indices.tolist()], self.width)


class Shares(NamedTuple):
    """What the experts give each label, row by row, and how near the nearest examples are."""

    meaning: "Floats"
    """From embeddings alone: logistic regression and neighbours."""
    words: "Floats"
    """From n-grams alone, as margins."""
    nearness: "Floats"
    """Mean similarity of the five nearest examples."""


@dataclass(frozen=True)
class Experts:
    """What was learned: plain arrays, so that predicting needs numpy alone."""

    mean: "Floats"
    deviation: "Floats"
    logistic: "Floats"
    logistic_start: "Floats"
    examples: "Floats"
    """Centred embeddings of all examples, unit length."""
    labels: "Ints"
    vector: "Floats"
    """One row a n-gram, one column a label."""
    vector_start: "Floats"

    @classmethod
    def learn(cls, embeddings: "Floats", labels: "Ints", count: int, grams: Matrix) -> "Experts":
        import numpy as np

        mean = embeddings.mean(axis=0)
        spread = ((embeddings - mean) ** 2).sum(axis=0) + _USUAL_COUNT * _USUAL_DEVIATION**2
        deviation = np.sqrt(spread / (len(embeddings) + _USUAL_COUNT)).astype(np.float32)
        weights, start = _logistic((embeddings - mean) / deviation, labels, count)
        margins, margins_start = _vector_machine(grams, labels, count)
        return cls(
            mean,
            deviation,
            weights,
            start,
            _unit(embeddings - mean),
            labels,
            margins,
            margins_start,
        )

    def ask(self, embeddings: "Floats", grams: Matrix) -> Shares:
        import numpy as np

        parts = [
            self._meaning(embeddings[start : start + _AT_ONCE])
            for start in range(0, len(embeddings), _AT_ONCE)
        ]
        meaning, nearness = (np.concatenate(part) for part in zip(*parts, strict=True))
        return Shares(meaning, self._words(grams), nearness)

    def _meaning(self, embeddings: "Floats") -> "tuple[Floats, Floats]":
        import numpy as np

        standard = ((embeddings - self.mean) / self.deviation).astype(np.float32)
        logistic = softmax(standard @ self.logistic + self.logistic_start)
        similarity = self._similarity(_unit(embeddings - self.mean))
        size = min(_NEIGHBOURS, similarity.shape[1])
        rows = np.arange(len(embeddings))[:, None]
        nearest = np.argpartition(-similarity, size - 1, axis=1)[:, :size]
        similarities = -np.sort(-similarity[rows, nearest], axis=1)
        votes = np.zeros_like(logistic)
        np.add.at(
            votes, (rows, self.labels[nearest]), np.exp(_SHARPNESS * similarity[rows, nearest])
        )
        votes = votes / votes.sum(axis=1, keepdims=True)
        return (logistic + votes) / 2, similarities[:, :_NEAREST].mean(axis=1)

    def _similarity(self, vectors: "Floats") -> "Floats":
        import numpy as np

        if len(vectors) > _FEW:
            return vectors @ self.examples.T
        # einsum starts no threads that wait for each other
        similarity: Floats = np.einsum("ij,kj->ik", vectors, self.examples)
        return similarity

    def _words(self, grams: Matrix) -> "Floats":
        import numpy as np

        rows = [values @ self.vector[places] + self.vector_start for places, values in grams.rows]
        return np.array(rows, dtype=np.float32).reshape(len(grams.rows), len(self.vector_start))


def softmax(values: "NDArray[np.floating[Any]]") -> "Floats":
    import numpy as np

    raised = np.exp(values - values.max(axis=1, keepdims=True))
    shares: Floats = (raised / raised.sum(axis=1, keepdims=True)).astype(np.float32)
    return shares


def together(shares: Shares, sharpness: float) -> "Floats":
    """All three experts; `sharpness` turns margins into shares."""
    words = softmax(sharpness * shares.words)
    words += 2 * shares.meaning
    words /= 3
    return words


def _unit(vectors: "Floats") -> "Floats":
    import numpy as np

    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Floats = (vectors / np.maximum(length, 1e-9)).astype(np.float32)
    return unit


def _logistic(inputs: "Floats", labels: "Ints", count: int) -> "tuple[Floats, Floats]":
    import numpy as np
    from sklearn.linear_model import LogisticRegression
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]  # comes with scikit-learn

    present = np.unique(labels)
    if len(present) < 2:
        return _spread(
            np.zeros((len(present), inputs.shape[1])), np.zeros(len(present)), present, count
        )
    strength = min(1.0, max(0.1, 1000 / len(inputs)))  # fewer examples, each counts for more
    learner = LogisticRegression(C=strength, max_iter=_LOGISTIC_STEPS)
    with warnings.catch_warnings(), threadpool_limits(1):  # threads that wait for each other spin
        warnings.simplefilter("ignore")  # stopping early is meant
        learner.fit(inputs.astype(np.float32), labels)
    weights, start = learner.coef_, learner.intercept_
    if len(present) == 2:
        weights, start = (
            np.concatenate([-weights / 2, weights / 2]),
            np.concatenate([-start / 2, start / 2]),
        )
    return _spread(weights, start, present, count)


def _vector_machine(grams: Matrix, labels: "Ints", count: int) -> "tuple[Floats, Floats]":
    import numpy as np
    from scipy.sparse import csr_matrix
    from sklearn.svm import LinearSVC

    present = np.unique(labels)
    if len(present) < 2:
        return _spread(
            np.zeros((len(present), grams.width)), np.zeros(len(present)), present, count
        )
    ends = np.cumsum([0, *(len(places) for places, _ in grams.rows)])
    values = np.concatenate([values for _, values in grams.rows])
    places = np.concatenate([places for places, _ in grams.rows])
    inputs = csr_matrix((values, places, ends), shape=(len(grams.rows), grams.width))
    learner = LinearSVC(C=_VECTOR_C, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        learner.fit(inputs, labels)
    weights, start = learner.coef_, learner.intercept_
    if len(present) == 2:
        weights, start = np.concatenate([-weights, weights]), np.concatenate([-start, start])
    return _spread(weights, start, present, count)


def _spread(
    weights: "NDArray[np.float64]", start: "NDArray[np.float64]", present: "Ints", count: int
) -> "tuple[Floats, Floats]":
    """Weights by label, where labels that had no example get a very small share."""
    import numpy as np

    whole = np.zeros((weights.shape[1], count), dtype=np.float32)
    whole_start = np.full(count, -20.0, dtype=np.float32)
    whole[:, present] = weights.T
    whole_start[present] = start
    return whole, whole_start
