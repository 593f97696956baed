"""Which past answers used an article that is not the same any more."""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from deskhand.errors import ConfigError
from deskhand.knowledge.article_files import source_path
from deskhand.knowledge.articles import ArticleFile, digest, read_bytes
from deskhand.model.knowledge import AnswerSource, StoredArticle
from deskhand.ports import KnowledgeStore


class AnswerChange(StrEnum):
    CHANGED = "changed"
    REMOVED = "removed"
    EDITED = "edited"
    """The file is not what the index has: a rebuild is due."""


@dataclass(frozen=True, slots=True)
class ChangedAnswer:
    used: AnswerSource
    change: AnswerChange
    title: str | None


async def changed_answers(store: KnowledgeStore, home: Path) -> list[ChangedAnswer]:
    """Every recorded use of an article that was edited or removed since, by the index and by the
    files themselves."""
    indexed = {stored.article.id: stored for stored in await store.articles()}
    used = await store.used()
    on_disk = await asyncio.to_thread(
        _hashes, [indexed[article] for article, _ in used if article in indexed], home
    )
    changed: list[ChangedAnswer] = []
    for article, content_hash in used:
        change = _change(content_hash, indexed.get(article), on_disk)
        if change is not None:
            title = indexed[article].article.title if article in indexed else None
            changed += [
                ChangedAnswer(use, change, title)
                for use in await store.answers_using(article, content_hash)
            ]
    return sorted(
        changed, key=lambda answer: (answer.used.at, answer.used.run_id, answer.used.article)
    )


def _change(
    used: str, indexed: StoredArticle | None, on_disk: Mapping[str, str | None]
) -> AnswerChange | None:
    if indexed is None:
        return AnswerChange.REMOVED
    article = indexed.article
    if article.content_hash != used:
        return AnswerChange.CHANGED
    return AnswerChange.EDITED if on_disk.get(article.id, used) != used else None


def _hashes(articles: Iterable[StoredArticle], home: Path) -> dict[str, str | None]:
    """What the files hold now; None for one that is gone. A folder that is not on this machine
    says nothing."""
    hashes: dict[str, str | None] = {}
    for stored in articles:
        path = source_path(stored.article.source, home)
        if not path.parent.is_dir():
            continue
        try:
            hashes[stored.article.id] = digest(read_bytes(ArticleFile(path, "", "")))
        except ConfigError:
            hashes[stored.article.id] = None
    return hashes
