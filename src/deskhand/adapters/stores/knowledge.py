"""A desk's knowledge in SQLAlchemy Core; `Words` and `Nearest` differ between databases."""

import json
import time
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from deskhand.adapters.stores import tables as t
from deskhand.adapters.stores.core_database import CoreDatabase
from deskhand.adapters.stores.knowledge_fulltext import Words
from deskhand.adapters.stores.knowledge_pgvector import Nearest
from deskhand.adapters.stores.knowledge_sources import (
    TEXTS_USED,
    answers_using,
    article_of,
    record_sources,
    used_sources,
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

if TYPE_CHECKING:
    from deskhand.adapters.stores.knowledge_index import KnowledgeIndex

_PORTION = 500
"""Ids in one statement: databases bound how many parameters it may have."""


class SqlKnowledgeStore:
    """Bound to one desk."""

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

    @cached_property
    def _searching(self) -> "KnowledgeIndex":
        """Imported with the first question: numpy takes a tenth of a second."""
        from deskhand.adapters.stores.knowledge_index import KnowledgeIndex

        return KnowledgeIndex(self.desk, self._words, self._nearest)

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
                StoredArticle(article_of(row), row.built_with, row.chunks, row.updated_at)
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
                return self._searching.hits(core, query)
            finally:
                self._words.end(core)

        return await self._database.read_in_transaction(op)

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


def _portions(items: Sequence[Any]) -> Iterable[Sequence[Any]]:
    for start in range(0, len(items), _PORTION):
        yield items[start : start + _PORTION]
