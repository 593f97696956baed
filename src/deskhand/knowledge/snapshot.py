"""A desk's chunks in memory: one matrix of vectors, and for each row its article."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deskhand.model.knowledge import Article

Positions = NDArray[np.int64]
Vectors = NDArray[np.float32]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class NewChunks:
    """Chunks that a snapshot does not have yet, in ascending order of position."""

    positions: Positions
    articles: Positions
    """The position of each chunk's article."""
    vectors: Vectors | None
    """None where the database compares vectors itself."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What the index held at one version; never changed, only replaced.

    Rows of articles and chunks are never changed either: an edited article gets new ones. So a
    later version is this one without the articles that are gone and with the chunks of those that
    came.
    """

    version: int
    articles: Mapping[int, Article]
    """The articles by their position."""
    positions: Positions
    """Of chunks, ascending."""
    rows: NDArray[np.int64]
    """For each chunk the row of its article in the arrays below."""
    keys: Positions
    """Articles' positions, ascending."""
    categories: NDArray[np.str_]
    languages: NDArray[np.str_]
    ends: NDArray[np.float64]
    vectors: Vectors | None

    @property
    def size(self) -> int:
        return len(self.positions)

    def allowed(self, category: str | None, language: str | None, now: float) -> Mask:
        """Which articles a question may find: still valid, and of the category and language
        asked for."""
        mask: Mask = self.ends > now
        if category is not None:
            mask &= self.categories == category.strip().casefold()
        if language is not None:
            mask &= self.languages == language
        return mask

    def chunks_of(self, allowed: Mask) -> Mask:
        return allowed[self.rows]

    def row_of(self, positions: Positions) -> NDArray[np.int64]:
        """The rows of these chunks; -1 for one that is not here."""
        if not self.size:
            return np.full(len(positions), -1, dtype=np.int64)
        rows = np.minimum(np.searchsorted(self.positions, positions), self.size - 1)
        return np.where(self.positions[rows] == positions, rows, -1).astype(np.int64)

    def article_of(self, row: int) -> Article:
        return self.articles[int(self.keys[self.rows[row]])]

    def nearest(self, vector: Vectors, chunks: Mask | None, count: int) -> list[tuple[int, float]]:
        """The positions of the nearest chunks with their cosines, exactly; the older one first
        among equals."""
        assert self.vectors is not None
        if not self.size:
            return []
        cosines = self.vectors @ vector
        if chunks is not None:
            cosines[~chunks] = -np.inf
        return best(self.positions, cosines, count)


def best(positions: Positions, scores: NDArray[np.floating], count: int) -> list[tuple[int, float]]:
    """The highest scores, ties by position; what is minus infinity is nobody's."""
    if len(scores) > 4 * count:
        bound = scores[np.argpartition(-scores, count - 1)[count - 1]]
        chosen = np.flatnonzero(scores >= bound)
    else:
        chosen = np.arange(len(scores))
    order = chosen[np.lexsort((positions[chosen], -scores[chosen]))][:count]
    return [(int(positions[row]), float(scores[row])) for row in order if np.isfinite(scores[row])]


def vectors_of(blobs: Sequence[bytes]) -> Vectors:
    """Stored vectors, as they are computed with."""
    if not blobs:
        return np.zeros((0, 0), dtype=np.float32)
    return np.frombuffer(b"".join(blobs), dtype="<f2").reshape(len(blobs), -1).astype(np.float32)


def stored(vectors: Vectors) -> list[bytes]:
    """Vectors as they are stored."""
    return [row.tobytes() for row in vectors.astype("<f2")]


EMPTY = Snapshot(
    0,
    {},
    np.zeros(0, dtype=np.int64),
    np.zeros(0, dtype=np.int64),
    np.zeros(0, dtype=np.int64),
    np.zeros(0, dtype=np.str_),
    np.zeros(0, dtype=np.str_),
    np.zeros(0, dtype=np.float64),
    np.zeros((0, 0), dtype=np.float32),
)


def refreshed(
    old: Snapshot, version: int, articles: Mapping[int, Article], fresh: NewChunks
) -> Snapshot:
    """The next version: `articles` are all there are now, `fresh` the chunks of those that `old`
    did not have."""
    keys = np.array(sorted(articles), dtype=np.int64)
    kept = np.isin(old.keys, keys)[old.rows] if old.size else np.zeros(0, dtype=np.bool_)
    old_owners = old.keys[old.rows[kept]] if old.size else np.zeros(0, dtype=np.int64)
    owners = np.concatenate([old_owners, fresh.articles])
    in_order = [articles[key] for key in keys.tolist()]
    categories = [(article.category or "").casefold() for article in in_order]
    languages = [article.language or "" for article in in_order]
    ends = [_end(article) for article in in_order]
    return Snapshot(
        version,
        articles,
        np.concatenate([old.positions[kept], fresh.positions]),
        np.searchsorted(keys, owners),
        keys,
        np.array(categories, dtype=np.str_),
        np.array(languages, dtype=np.str_),
        np.array(ends, dtype=np.float64),
        _joined(old, kept, fresh.vectors),
    )


def _end(article: Article) -> float:
    return np.inf if article.valid_until is None else article.valid_until


def _joined(old: Snapshot, kept: Mask, fresh: Vectors | None) -> Vectors | None:
    if fresh is None or old.vectors is None:
        return None
    if not kept.any():
        return fresh
    if kept.all() and not len(fresh):
        return old.vectors
    joined = np.empty((int(kept.sum()) + len(fresh), old.vectors.shape[1]), dtype=np.float32)
    np.compress(kept, old.vectors, axis=0, out=joined[: len(joined) - len(fresh)])
    if len(fresh):
        joined[-len(fresh) :] = fresh
    return joined
