"""Which answers used which article, as it was then."""

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from deskhand.adapters.stores import tables as t
from deskhand.errors import NotFound
from deskhand.model.knowledge import AnswerSource, Article

_USED, _ARTICLES, _CHUNKS = t.answer_sources.c, t.kb_articles.c, t.kb_chunks.c
TEXTS_USED = (
    sa.select(_ARTICLES.id, _ARTICLES.title, _CHUNKS.text)
    .select_from(t.answer_sources)
    .join(t.runs, t.runs.c.position == _USED.run)
    .join(
        t.kb_articles,
        sa.and_(
            _ARTICLES.desk == _USED.desk,
            _ARTICLES.id == _USED.article,
            _ARTICLES.content_hash == _USED.content_hash,
        ),
    )
    .join(t.kb_chunks, _CHUNKS.article == _ARTICLES.position)
    .where(t.runs.c.id == sa.bindparam("run_id"), _USED.desk == sa.bindparam("desk"))
    .order_by(_CHUNKS.position)
)
"""What a run's answer was drawn from, as far as the articles still say it."""


def article_of(row: Any) -> Article:
    """An article as its row holds it."""
    return Article(
        row.id, row.title, row.category, row.language, row.valid_until, row.source, row.content_hash
    )


def record_sources(
    core: sa.Connection, desk: str, run_id: str, used: Mapping[str, str], now: float
) -> None:
    """A run that answers again is noted with what it used last."""
    run = core.execute(
        sa.select(t.runs.c.position).where(t.runs.c.id == run_id, t.runs.c.desk == desk)
    ).scalar()
    if run is None:
        raise NotFound(f"there is no run {run_id} on desk {desk}")
    for article, content_hash in sorted(used.items()):
        core.execute(
            sa.text(
                "INSERT INTO answer_sources(run, article, desk, content_hash, at) VALUES (:run,"
                " :article, :desk, :hash, :at) ON CONFLICT (run, article) DO UPDATE SET"
                " content_hash = excluded.content_hash, at = excluded.at"
            ),
            {"run": run, "article": article, "desk": desk, "hash": content_hash, "at": now},
        )


def used_sources(core: sa.Connection, desk: str) -> list[tuple[str, str]]:
    columns = (t.answer_sources.c.article, t.answer_sources.c.content_hash)
    query = sa.select(*columns).where(t.answer_sources.c.desk == desk).distinct().order_by(*columns)
    return [(row.article, row.content_hash) for row in core.execute(query)]


def answers_using(
    core: sa.Connection, desk: str, article: str, content_hash: str
) -> list[AnswerSource]:
    here = t.answer_sources.c
    query = (
        sa.select(t.runs.c.id, here.at)
        .join(t.runs, t.runs.c.position == here.run)
        .where(here.desk == desk, here.article == article, here.content_hash == content_hash)
        .order_by(here.at, here.run)
    )
    return [AnswerSource(row.id, article, content_hash, row.at) for row in core.execute(query)]
