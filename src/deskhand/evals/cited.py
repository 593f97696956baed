"""Which articles the replies of a sandbox quote: its runs are in no desk's records, so they are
remembered here."""

from collections.abc import Sequence

from deskhand.model.knowledge import Hit
from deskhand.ports import SearchesKnowledge


class CitedHere:
    """A desk's articles, searched as ever; what a run used of them is kept for as long as the
    sandbox is open."""

    def __init__(self, knowledge: SearchesKnowledge) -> None:
        self._knowledge = knowledge
        self._used: dict[str, list[str]] = {}

    async def search(
        self,
        question: str,
        *,
        category: str | None = None,
        language: str | None = None,
        limit: int = 5,
    ) -> list[Hit]:
        return await self._knowledge.search(
            question, category=category, language=language, limit=limit
        )

    async def record_sources(self, run_id: str, hits: Sequence[Hit]) -> None:
        self._used.setdefault(run_id, []).extend(hit.text for hit in hits)

    async def texts(self, run_id: str) -> list[str]:
        """What a run's answer was drawn from."""
        return self._used.get(run_id, [])
