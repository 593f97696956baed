"""A desk's knowledge as it is searched: by words and by meaning, with both put together."""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import sqlalchemy as sa

from deskhand.adapters.stores import tables as t
from deskhand.adapters.stores.knowledge_fulltext import Scored, Words
from deskhand.adapters.stores.knowledge_pgvector import Nearest
from deskhand.adapters.stores.knowledge_sources import article_of
from deskhand.knowledge.ranking import CANDIDATES, Fused, fuse, most_common, weigh
from deskhand.knowledge.snapshot import (
    EMPTY,
    Mask,
    NewChunks,
    Snapshot,
    Vectors,
    best,
    refreshed,
    vectors_of,
)
from deskhand.model.knowledge import Hit, KnowledgeQuery

_REMEMBERED_TERMS = 20_000


class KnowledgeIndex:
    """Keeps the desk's snapshot in memory and renews it when the index has a newer version."""

    def __init__(self, desk: str, words: Words, nearest: Nearest | None) -> None:
        self.desk = desk
        self._words = words
        self._nearest = nearest
        self._snapshot = EMPTY
        self._counts: tuple[int, dict[str, int]] = (0, {})

    def hits(self, core: sa.Connection, query: KnowledgeQuery) -> list[Hit]:
        """What answers the question, best first."""
        snapshot = self._current(core)
        allowed = snapshot.allowed(query.category, query.language, query.now)
        if not allowed.any():
            return []
        by_meaning = self._by_meaning(core, snapshot, allowed, query.vector)
        by_words = self._by_words(core, snapshot, allowed, query.terms)
        fused = fuse([position for position, _ in by_meaning], by_words, query.limit)
        return self._hits(core, snapshot, fused, dict(by_meaning), query.vector)

    def _by_meaning(
        self, core: sa.Connection, snapshot: Snapshot, allowed: Mask, vector: Vectors | None
    ) -> Scored:
        if vector is None:
            return []
        every = bool(allowed.all())
        if snapshot.vectors is not None:
            return snapshot.nearest(
                vector, None if every else snapshot.chunks_of(allowed), CANDIDATES
            )
        assert self._nearest is not None
        articles = None
        if not every:
            articles = [int(key) for key in snapshot.keys[allowed]]
        # A few more than wanted, compared again here: the order is ours to the last digit, as
        # without the extension.
        candidates = self._nearest.candidates(core, self.desk, articles, vector, CANDIDATES + 30)
        rows = self._rows(core, candidates, t.kb_chunks.c.vector)
        positions = np.array(sorted(rows), dtype=np.int64)
        if not len(positions):
            return []
        return best(
            positions,
            vectors_of([rows[int(position)][0] for position in positions]) @ vector,
            CANDIDATES,
        )

    def _by_words(
        self, core: sa.Connection, snapshot: Snapshot, allowed: Mask, terms: Sequence[str]
    ) -> Scored:
        if not terms:
            return []
        weighed = weigh(self._count(core, snapshot, terms), snapshot.size)
        if not weighed.weights:
            return []
        matches = self._words.find(core, self.desk, dict(weighed.weights))
        rows = snapshot.row_of(np.array([position for position, _ in matches], dtype=np.int64))
        in_snapshot = [
            (match, row) for match, row in zip(matches, rows.tolist(), strict=True) if row >= 0
        ]
        keep = snapshot.chunks_of(allowed)
        ours = [match for match, row in in_snapshot if keep[row]][:CANDIDATES]
        return [(position, weighed.coverage(score)) for position, score in ours]

    def _count(
        self, core: sa.Connection, snapshot: Snapshot, terms: Sequence[str]
    ) -> dict[str, int]:
        version, counts = self._counts
        if version != snapshot.version or len(counts) > _REMEMBERED_TERMS:
            counts = {}
            self._counts = (snapshot.version, counts)
        most = most_common(snapshot.size) + 1
        for term in terms:
            if term not in counts:
                counts[term] = self._words.count(core, self.desk, term, most)
        return {term: counts[term] for term in terms}

    def _hits(
        self,
        core: sa.Connection,
        snapshot: Snapshot,
        fused: Sequence[Fused],
        cosines: dict[int, float],
        vector: Vectors | None,
    ) -> list[Hit]:
        wanted = [candidate.position for candidate in fused]
        rows = self._rows(
            core, wanted, t.kb_chunks.c.heading_path, t.kb_chunks.c.text, t.kb_chunks.c.vector
        )
        places = snapshot.row_of(np.array(wanted, dtype=np.int64))
        hits: list[Hit] = []
        for candidate, place in zip(fused, places.tolist(), strict=True):
            article, (path, text, blob) = snapshot.article_of(place), rows[candidate.position]
            cosine = cosines.get(candidate.position)
            if cosine is None:
                cosine = float((vectors_of([blob]) @ vector)[0]) if vector is not None else 0.0
            hits.append(
                Hit(
                    article.id,
                    article.title,
                    tuple(json.loads(path)),
                    text,
                    round(candidate.score, 6),
                    round(cosine, 6),
                    round(candidate.coverage, 6),
                    article.category,
                    article.language,
                    article.content_hash,
                    article.source,
                )
            )
        return hits

    def _rows(
        self, core: sa.Connection, positions: Sequence[int], *columns: Any
    ) -> dict[int, tuple[Any, ...]]:
        query = sa.select(t.kb_chunks.c.position, *columns).where(
            t.kb_chunks.c.position.in_(positions)
        )
        return {row[0]: tuple(row[1:]) for row in core.execute(query)}

    # --- the snapshot

    def _current(self, core: sa.Connection) -> Snapshot:
        """The snapshot of the version that this transaction sees."""
        held = self._snapshot
        query = sa.select(t.kb_versions.c.version).where(t.kb_versions.c.desk == self.desk)
        version = core.execute(query).scalar() or 0
        if held.version == version:
            return held
        fresh = self._renewed(core, held, version)
        if fresh.version > self._snapshot.version:
            self._snapshot = fresh
        return fresh

    def _renewed(self, core: sa.Connection, held: Snapshot, version: int) -> Snapshot:
        compared_there = self._nearest is not None and self._nearest.ready(core)
        if held.version > version or (held.vectors is None) != compared_there:
            held = EMPTY
        newest = (
            int(held.keys[-1]) if len(held.keys) else 0
        )  # positions only grow: what is new lies above
        ours = t.kb_articles.c.desk == self.desk
        left = core.execute(
            sa.select(t.kb_articles.c.position).where(ours, t.kb_articles.c.position <= newest)
        )
        articles = {position: held.articles[position] for position in left.scalars()}
        for row in core.execute(
            sa.select(t.kb_articles).where(ours, t.kb_articles.c.position > newest)
        ):
            articles[row.position] = article_of(row)
        columns = [t.kb_chunks.c.position, t.kb_chunks.c.article]
        if not compared_there:
            columns.append(t.kb_chunks.c.vector)
        new = core.execute(
            sa.select(*columns)
            .where(t.kb_chunks.c.desk == self.desk, t.kb_chunks.c.article > newest)
            .order_by(t.kb_chunks.c.position)
        ).all()
        positions = np.array([row[0] for row in new], dtype=np.int64)
        articles_of = np.array([row[1] for row in new], dtype=np.int64)
        vectors = None
        if not compared_there:
            vectors = vectors_of([row[2] for row in new])
        fresh = NewChunks(positions, articles_of, vectors)
        return refreshed(held, version, articles, fresh)
