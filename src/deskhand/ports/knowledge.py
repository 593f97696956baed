"""What a desk knows: articles, answered messages, and how they are searched."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal, Protocol

from deskhand.model.exchanges import Exchange, ExchangeQuery, FoundExchange, LearnedExchange
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
    import numpy as np
    from numpy.typing import NDArray


class Embeds(Protocol):
    def embed(
        self,
        texts: Sequence[str],
        kind: Literal["query", "passage"] = "query",
        *,
        keep: bool = False,
    ) -> "NDArray[np.float32]":
        """One row of unit length a text; zeros for a text without a word.

        `keep` allows the vectors to lie on disk between processes: for the desk's own texts, never
        for what customers wrote.
        """
        ...


class SearchesKnowledge(Protocol):
    async def search(
        self,
        question: str,
        *,
        category: str | None = None,
        language: str | None = None,
        limit: int = 5,
    ) -> list[Hit]:
        """The passages that fit best, best first."""
        ...

    async def record_sources(self, run_id: str, hits: Sequence[Hit]) -> None:
        """Remember that a run's answer used these articles as they are now."""
        ...


class KnowledgeStore(Protocol):
    """One desk's index of articles. Every change of it is noticed by the next search, in
    whatever process."""

    desk: str

    async def put(
        self, articles: Sequence[tuple[Article, Sequence[IndexedChunk]]], built_with: str
    ) -> None:
        """Write these articles, each in place of the one with its id: all of them or, on an
        error, none."""
        ...

    async def remove(self, ids: Iterable[str]) -> int: ...

    async def articles(self) -> list[StoredArticle]:
        """All of them, by id; expired ones, too."""
        ...

    async def is_empty(self) -> bool: ...

    async def search(self, query: KnowledgeQuery) -> list[Hit]:
        """Best first, all from one state of the index."""
        ...

    async def record_sources(self, run_id: str, hits: Sequence[Hit]) -> None:
        """Note which articles, as they were, a run's answer used; NotFound for a run that is not
        this desk's."""
        ...

    async def texts_used(self, run_id: str) -> list[CitedText]:
        """What a run's answer was drawn from, as far as the articles still say it."""
        ...

    async def used(self) -> list[tuple[str, str]]:
        """Ids and content hashes of all articles that answers have used."""
        ...

    async def answers_using(self, article: str, content_hash: str) -> list[AnswerSource]: ...


class Exchanges(Protocol):
    """A desk's answered messages and what their replies said."""

    desk: str

    async def unlearned(self, *, after: int = 0, limit: int = 50) -> list[tuple[int, str]]:
        """Positions and ids of runs that sent a reply nobody has learned from yet, oldest first."""
        ...

    async def keep(self, learned: LearnedExchange) -> bool:
        """Once; False when it is known already, or its run was erased meanwhile."""
        ...

    async def similar(self, query: ExchangeQuery) -> list[FoundExchange]:
        """The likest exchanges that a person let go, of other people than the one who asks."""
        ...

    async def of_owner(self, owner: str, limit: int = 5) -> list[Exchange]:
        """Those of somebody who was proven to be himself, newest first."""
        ...

    async def of_runs(self, run_ids: Sequence[str]) -> dict[str, Exchange]: ...

    async def told_to(self, sentences: Iterable[str]) -> dict[str, int]:
        """How many different people were told each sentence, by its digest; nobody counts who was
        not proven to be himself."""
        ...
