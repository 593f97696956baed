"""The knowledge base: which passages of which articles speak to a question."""

from typing import Annotated, Self

from fastapi import APIRouter, Depends, Query
from pydantic import BaseModel

from deskhand.model.access import Scope
from deskhand.model.knowledge import Hit
from deskhand.web.api.access import Caller, may
from deskhand.web.api.problems import FieldProblem, invalid

router = APIRouter(prefix="/api/kb", tags=["knowledge"])

Reader = Annotated[Caller, Depends(may(Scope.KB_READ))]

_LONGEST = 10_000


class HitView(BaseModel):
    """A passage with what is needed to quote and to cite it. Fields may be added, never renamed."""

    article: str
    title: str
    heading_path: list[str]
    citation: str
    text: str
    score: float
    similarity: float
    coverage: float
    category: str | None
    language: str | None
    content_hash: str

    @classmethod
    def of(cls, hit: Hit) -> Self:
        return cls(
            article=hit.article,
            title=hit.title,
            heading_path=list(hit.heading_path),
            citation=hit.citation,
            text=hit.text,
            score=hit.score,
            similarity=hit.similarity,
            coverage=hit.coverage,
            category=hit.category,
            language=hit.language,
            content_hash=hit.content_hash,
        )


class Found(BaseModel):
    items: list[HitView]


@router.get("/search")
async def search(
    caller: Reader,
    q: Annotated[str, Query(max_length=_LONGEST, description="A question or a few words.")],
    desk: str | None = None,
    category: Annotated[str | None, Query(max_length=500)] = None,
    language: Annotated[
        str | None, Query(max_length=35, description="Leave out to search across languages.")
    ] = None,
    limit: Annotated[int, Query(ge=1, le=50)] = 5,
) -> Found:
    """Best first, by words and by meaning; articles that are no longer valid are not found."""
    knowledge = caller.desk(desk).knowledge
    if not q.strip():
        raise invalid(FieldProblem("q", "it is empty; write a question or a few words"))
    hits = await knowledge.search(
        q, category=category or None, language=language or None, limit=limit
    )
    return Found(items=[HitView.of(hit) for hit in hits])
