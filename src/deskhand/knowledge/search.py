"""Asking a desk's knowledge base."""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from deskhand.knowledge.background_questions import BACKGROUND_QUESTIONS
from deskhand.knowledge.text_normalization import primary_language, question_text, terms
from deskhand.model.knowledge import Hit, KnowledgeQuery
from deskhand.ports import Embeds, KnowledgeStore, SearchesKnowledge

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_HITS = 50


class KnowledgeBase:
    """One desk's articles, to be searched. The embedder is made when first needed."""

    def __init__(
        self,
        store: KnowledgeStore,
        embedder: Callable[[], Embeds],
        now: Callable[[], float] = time.time,
    ) -> None:
        self.store = store
        self._make_embedder, self._now = embedder, now
        self._embedder: Embeds | None = None

    async def search(
        self,
        question: str,
        *,
        category: str | None = None,
        language: str | None = None,
        limit: int = 5,
    ) -> list[Hit]:
        """The chunks that fit best, best first; nothing for a question without a word in it.

        Without `language` articles in every language are found, by meaning.
        """
        text = question_text(question)
        if not text or limit < 1 or await self.store.is_empty():
            return []
        return await self.store.search(
            KnowledgeQuery(
                terms(text),
                await self._vector(text),
                self._now(),
                category,
                None if language is None else primary_language(language),
                min(limit, MOST_HITS),
            )
        )

    async def record_sources(self, run_id: str, hits: Sequence[Hit]) -> None:
        """Remember that a run's answer used these articles as they are now."""
        await self.store.record_sources(run_id, hits)

    async def _vector(self, text: str) -> "NDArray[np.float32] | None":
        return await asyncio.to_thread(self._aimed, text)

    def _aimed(self, text: str) -> "NDArray[np.float32] | None":
        """The question's vector without half of what all questions have in common: some passages
        are near to any."""
        import numpy as np

        if self._embedder is None:
            self._embedder = self._make_embedder()
        vector = self._embedder.embed([text], "query")[0]
        if not vector.any():
            return None
        background = self._embedder.embed(BACKGROUND_QUESTIONS, "query", keep=True)
        aimed = vector - background.mean(axis=0) / 2
        unit: NDArray[np.float32] = (aimed / max(float(np.linalg.norm(aimed)), 1e-9)).astype(
            np.float32
        )
        return unit


@dataclass(frozen=True, slots=True)
class KnowledgeInCategories:
    """A knowledge base of which only some categories are looked at, by a stage with
    `knowledge: {category: ...}`."""

    inner: SearchesKnowledge
    categories: tuple[str, ...]

    async def search(
        self,
        question: str,
        *,
        category: str | None = None,
        language: str | None = None,
        limit: int = 5,
    ) -> list[Hit]:
        """The passages of these categories that fit best; another category has none."""
        hits: list[Hit] = []
        for own in self.categories:
            if category in (None, own):
                hits += await self.inner.search(
                    question, category=own, language=language, limit=limit
                )
        if len(self.categories) > 1:
            hits.sort(key=lambda hit: -hit.score)
        return hits[:limit]

    async def record_sources(self, run_id: str, hits: Sequence[Hit]) -> None:
        await self.inner.record_sources(run_id, hits)


def in_category(
    knowledge: SearchesKnowledge, category: str | None, also: Sequence[str] = ()
) -> SearchesKnowledge:
    """The knowledge base itself where no category is named."""
    if category is None:
        return knowledge
    return KnowledgeInCategories(knowledge, tuple(dict.fromkeys((category, *also))))
