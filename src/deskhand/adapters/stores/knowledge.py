"""A desk's knowledge in SQLAlchemy Core; `Words` and `Nearest` differ between databases."""

import json
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import sqlalchemy as sa

from deskhand.adapters.stores import tables as t
from deskhand.adapters.stores.core_database import CoreDatabase
from deskhand.adapters.stores.knowledge_fulltext import Scored, Words
from deskhand.adapters.stores.knowledge_pgvector import Nearest
from deskhand.adapters.stores.knowledge_sources import (
    TEXTS_USED,
    answers_using,
    record_sources,
    used_sources,
)
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
from deskhand.model.knowledge import (
    AnswerSource,
    Article,
    CitedText,
    Hit,
    IndexedChunk,
    KnowledgeQuery,
    StoredArticle,
)

_PORTION = 500
"""Ids in one statement: databases bound how many parameters it may have."""
_REMEMBERED_TERMS = 20_000


class SqlKnowledgeStore:
    """Bound to one desk. Keeps the desk's snapshot in memory and renews it when the index has a
    newer version."""

    def __init__(
        self,
        database: CoreDatabase,
        desk: str,
        words: Words,
        nearest: Nearest | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.desk = desk
        self._database, self._words, self._nearest, self._now = database, words, nearest, now
        self._snapshot = EMPTY
        self._counts: tuple[int, dict[str, int]] = (0, {})

    # --- writing

    async def put(
        self, articles: Sequence[tuple[Article, Sequence[IndexedChunk]]], built_with: str
    ) -> None:
        def op(core: sa.Connection) -> None:
            self._next_version(
                core
            )  # first: it keeps other writers of this desk out until we commit
            compared_there = self._nearest is not None and self._nearest.prepare(core)
            for article, chunks in articles:
                self._delete(core, [article.id])
                positions = self._insert(core, article, chunks, built_with)
                if compared_there and self._nearest is not None:
                    vectors = list(
                        zip(positions[1:], (indexed.vector for indexed in chunks), strict=True)
                    )
                    self._nearest.add(core, self.desk, positions[0], vectors)

        await self._database.write_core(op)

    async def remove(self, ids: Iterable[str]) -> int:
        wanted = list(ids)
        if not wanted:
            return 0

        def op(core: sa.Connection) -> int:
            self._next_version(core)
            return self._delete(core, wanted)

        return await self._database.write_core(op)

    def _next_version(self, core: sa.Connection) -> None:
        core.execute(
            sa.text(
                "INSERT INTO kb_versions(desk, version) VALUES (:desk, 1)"
                " ON CONFLICT (desk) DO UPDATE SET version = kb_versions.version + 1"
            ),
            {"desk": self.desk},
        )

    def _delete(self, core: sa.Connection, ids: Sequence[str]) -> int:
        positions: list[int] = []
        for some in _portions(ids):
            query = sa.select(t.kb_articles.c.position).where(
                t.kb_articles.c.desk == self.desk, t.kb_articles.c.id.in_(some)
            )
            positions += core.execute(query).scalars()
        for those in _portions(positions):
            core.execute(t.kb_chunks.delete().where(t.kb_chunks.c.article.in_(those)))
            core.execute(t.kb_articles.delete().where(t.kb_articles.c.position.in_(those)))
        return len(positions)

    def _insert(
        self, core: sa.Connection, article: Article, chunks: Sequence[IndexedChunk], built_with: str
    ) -> list[int]:
        """The article's position, then its chunks'."""
        made = core.execute(
            t.kb_articles.insert()
            .values(
                desk=self.desk,
                id=article.id,
                title=article.title,
                category=article.category,
                language=article.language,
                valid_until=article.valid_until,
                source=article.source,
                content_hash=article.content_hash,
                built_with=built_with,
                chunks=len(chunks),
                updated_at=self._now(),
            )
            .returning(t.kb_articles.c.position)
        ).scalar_one()
        rows = [
            {
                "desk": self.desk,
                "article": made,
                "heading_path": json.dumps(indexed.chunk.heading_path, ensure_ascii=False),
                "text": indexed.chunk.text,
                "words": indexed.words,
                "vector": indexed.vector,
            }
            for indexed in chunks
        ]
        if rows:
            core.execute(t.kb_chunks.insert(), rows)
        query = (
            sa.select(t.kb_chunks.c.position)
            .where(t.kb_chunks.c.article == made)
            .order_by(t.kb_chunks.c.position)
        )
        return [made, *core.execute(query).scalars()]

    # --- reading

    async def articles(self) -> list[StoredArticle]:
        query = (
            sa.select(t.kb_articles)
            .where(t.kb_articles.c.desk == self.desk)
            .order_by(t.kb_articles.c.id)
        )
        return await self._database.read_core(
            lambda core: [
                StoredArticle(_article(row), row.built_with, row.chunks, row.updated_at)
                for row in core.execute(query)
            ]
        )

    async def is_empty(self) -> bool:
        query = (
            sa.select(t.kb_articles.c.position).where(t.kb_articles.c.desk == self.desk).limit(1)
        )
        return await self._database.read_core(lambda core: core.execute(query).first() is None)

    async def search(self, query: KnowledgeQuery) -> list[Hit]:
        def op(core: sa.Connection) -> list[Hit]:
            self._words.begin(core)
            try:
                return self._search(core, query)
            finally:
                self._words.end(core)

        return await self._database.read_in_transaction(op)

    def _search(self, core: sa.Connection, query: KnowledgeQuery) -> list[Hit]:
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
            articles[row.position] = _article(row)
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

    # --- which answers used what

    async def record_sources(self, run_id: str, hits: Sequence[Hit]) -> None:
        used = {hit.article: hit.content_hash for hit in hits}
        await self._database.write_core(
            lambda core: record_sources(core, self.desk, run_id, used, self._now())
        )

    async def texts_used(self, run_id: str) -> list[CitedText]:
        rows = await self._database.look_up(TEXTS_USED, {"desk": self.desk, "run_id": run_id})
        return [CitedText(*row) for row in rows]

    async def used(self) -> list[tuple[str, str]]:
        return await self._database.read_core(lambda core: used_sources(core, self.desk))

    async def answers_using(self, article: str, content_hash: str) -> list[AnswerSource]:
        return await self._database.read_core(
            lambda core: answers_using(core, self.desk, article, content_hash)
        )


def _article(row: Any) -> Article:
    return Article(
        row.id, row.title, row.category, row.language, row.valid_until, row.source, row.content_hash
    )


def _portions(items: Sequence[Any]) -> Iterable[Sequence[Any]]:
    for start in range(0, len(items), _PORTION):
        yield items[start : start + _PORTION]
