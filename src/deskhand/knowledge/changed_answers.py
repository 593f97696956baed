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


class Change(StrEnum):
    CHANGED = "changed"
    REMOVED = "removed"
    EDITED = "edited"
    """The file is not what the index has: a rebuild is due."""


@dataclass(frozen=True, slots=True)
class ChangedAnswer:
    used: AnswerSource
    change: Change
    title: str | None


async def changed_answers(store: KnowledgeStore, home: Path) -> list[ChangedAnswer]:
    """Every recorded use of an article that was edited or removed since, by the index and by the
    files themselves."""
    known = {stored.article.id: stored for stored in await store.articles()}
    used = await store.used()
    on_disk = await asyncio.to_thread(
        _hashes, [known[article] for article, _ in used if article in known], home
    )
    found: list[ChangedAnswer] = []
    for article, content_hash in used:
        change = _change(content_hash, known.get(article), on_disk)
        if change is not None:
            title = known[article].article.title if article in known else None
            found += [
                ChangedAnswer(use, change, title)
                for use in await store.answers_using(article, content_hash)
            ]
    return sorted(found, key=lambda one: (one.used.at, one.used.run_id, one.used.article))


def _change(
    used: str, known: StoredArticle | None, on_disk: Mapping[str, str | None]
) -> Change | None:
    if known is None:
        return Change.REMOVED
    article = known.article
    if article.content_hash != used:
        return Change.CHANGED
    return Change.EDITED if on_disk.get(article.id, used) != used else None


def _hashes(articles: Iterable[StoredArticle], home: Path) -> dict[str, str | None]:
    """What the files hold now; None for one that is gone. A folder that is not on this machine
    says nothing."""
    found: dict[str, str | None] = {}
    for stored in articles:
        path = source_path(stored.article.source, home)
        if not path.parent.is_dir():
            continue
        try:
            found[stored.article.id] = digest(read_bytes(ArticleFile(path, "", "")))
        except ConfigError:
            found[stored.article.id] = None
    return found
