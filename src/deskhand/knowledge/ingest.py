"""Bringing files into the index: only what changed is cut and embedded again, and no error loses
anything."""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from deskhand.errors import ConfigError, ConfigErrors
from deskhand.knowledge.article_files import find_articles, source_path
from deskhand.knowledge.articles import ArticleFile, ReadArticle, digest, read_article, read_bytes
from deskhand.knowledge.chunks import CHUNKER, heads, passage
from deskhand.knowledge.text_normalization import words
from deskhand.model.knowledge import Article, ArticleChunk, IndexedChunk, StoredArticle
from deskhand.ports import Embeds, KnowledgeStore

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Progress = Callable[[int, int], None]
"""Told how many of how many chunks are in the index."""

BATCH = 64
"""Chunks that are embedded and committed together."""


@dataclass(slots=True)
class Report:
    """What became of the files, by id; `problems` are files whose articles stay as they were
    before."""

    added: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    problems: list[ConfigError] = field(default_factory=list)
    chunks: int = 0
    """Embedded now."""


@dataclass(slots=True)
class IngestPlan:
    build: list[ReadArticle] = field(default_factory=list)
    unchanged: list[StoredArticle] = field(default_factory=list)
    renamed: list[str] = field(default_factory=list)
    """Ids that their files have given up."""
    problems: list[ConfigError] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Indexer:
    """Brings files into one desk's index."""

    store: KnowledgeStore
    home: Path
    """The desk's own folder of articles; it need not exist."""
    embedder: Embeds
    built_with: str
    """Tells vectors of one embedding model from those of another."""
    progress: Progress | None = None

    async def add(self, paths: Sequence[Path]) -> Report:
        """Index these files and folders; what else is in the index stays."""
        files, problems = await asyncio.to_thread(find_articles, paths, self.home)
        return await self._index(files, problems, gone=[])

    async def rebuild(self, *, everything: bool = False) -> Report:
        """Bring the index up to date with the folder and all files ever added; articles without
        a file are removed."""
        indexed = await self.store.articles()
        places, gone = await asyncio.to_thread(_look, indexed, self.home)
        files, problems = await asyncio.to_thread(find_articles, places, self.home)
        return await self._index(files, problems, gone, everything=everything)

    async def _index(
        self,
        files: Sequence[ArticleFile],
        problems: Sequence[ConfigError],
        gone: Sequence[str],
        *,
        everything: bool = False,
    ) -> Report:
        maker = f"{self.built_with} {CHUNKER}"
        indexed = {stored.article.id: stored for stored in await self.store.articles()}
        plan = await asyncio.to_thread(
            make_plan, files, indexed, "" if everything else maker, self.home
        )
        report = Report(
            problems=[*problems, *plan.problems],
            unchanged=[read.article.id for read in plan.unchanged],
        )
        total = sum(len(read.chunks) for read in plan.build)
        for batch in _batches(plan.build):
            await self._put(batch, maker)
            for read in batch:
                report.chunks += len(read.chunks)
                into = report.changed if read.article.id in indexed else report.added
                into.append(read.article.id)
            if self.progress is not None:
                self.progress(report.chunks, total)
        built = {read.article.id for read in plan.build}
        report.removed = sorted({*gone, *plan.renamed} - built - {*report.unchanged})
        await self.store.remove(report.removed)
        return report

    async def _put(self, batch: Sequence[ReadArticle], maker: str) -> None:
        from deskhand.knowledge.snapshot import stored

        pieces = [(read.article.title, chunk) for read in batch for chunk in read.chunks]
        vectors = iter(stored(await asyncio.to_thread(embed_chunks, self.embedder, pieces)))
        articles: list[tuple[Article, list[IndexedChunk]]] = []
        for read in batch:
            chunks: list[IndexedChunk] = []
            for chunk in read.chunks:
                text = " ".join(words(passage(read.article.title, chunk)))
                chunks.append(IndexedChunk(chunk, text, next(vectors)))
            articles.append((read.article, chunks))
        await self.store.put(articles, maker)


def embed_chunks(
    embedder: Embeds, pieces: Sequence[tuple[str, ArticleChunk]]
) -> "NDArray[np.float32]":
    """One vector a chunk: half from its headings, half from its text.

    Embedded as one text, the headings drown: of 60 questions in other languages 45 found their
    article among the first three, this way 57 (bench/knowledge.py measures it).
    """
    import numpy as np

    texts = embedder.embed([chunk.text for _, chunk in pieces], "passage", keep=True)
    headings = [heads(title, chunk) for title, chunk in pieces]
    vectors = texts + embedder.embed(headings, "passage", keep=True)
    lengths = np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), np.float32(1e-9))
    unit: NDArray[np.float32] = (vectors / lengths).astype(np.float32)
    return unit


def _look(indexed: Sequence[StoredArticle], home: Path) -> tuple[list[Path], list[str]]:
    """Where a rebuild looks for articles, and which indexed ones have lost their file."""
    sources = {stored.article.id: stored.article.source for stored in indexed}
    if not home.is_dir() and not all(Path(source).is_absolute() for source in sources.values()):
        fix = "create it, empty if its articles are to be removed"
        raise ConfigError(
            "there is no such folder, and the index has articles from it", file=home, fix=fix
        )
    places = [home] if home.is_dir() else []
    for path in map(Path, sources.values()):
        if path.is_absolute() and path.exists():
            places.append(path)
    lost = [
        article for article, source in sources.items() if not source_path(source, home).exists()
    ]
    return places, lost


def make_plan(
    files: Sequence[ArticleFile], indexed: Mapping[str, StoredArticle], maker: str, home: Path
) -> IngestPlan:
    """Read the files and decide which articles must be built; nothing is written."""
    plan = IngestPlan()
    by_source = {stored.article.source: stored for stored in indexed.values()}
    read: list[ReadArticle] = []
    for file in files:
        before = by_source.get(file.source)
        try:
            raw = read_bytes(file)
            if before is not None and _is_current(before, raw, maker):
                plan.unchanged.append(before)
                continue
            read.append(read_article(file, raw))
        except ConfigErrors as errors:
            plan.problems += errors.problems
        except ConfigError as error:
            plan.problems.append(error)
    given = {file.source for file in files}
    owners = {stored.article.id: stored.article.source for stored in plan.unchanged}
    # a file outside of this call keeps its id as long as it is there
    for stored in indexed.values():
        source = stored.article.source
        if source not in given and source_path(source, home).exists():
            owners.setdefault(stored.article.id, source)
    _settle_ids(plan, read, owners, by_source)
    return plan


def _is_current(stored: StoredArticle, raw: bytes, maker: str) -> bool:
    return stored.article.content_hash == digest(raw) and stored.built_with == maker


def _settle_ids(
    plan: IngestPlan,
    read: Iterable[ReadArticle],
    owners: dict[str, str],
    by_source: Mapping[str, StoredArticle],
) -> None:
    for candidate in read:
        article = candidate.article
        owner = owners.setdefault(article.id, article.source)
        if owner != article.source:
            problem = f"the id `{article.id}` is taken by {owner}"
            plan.problems.append(
                ConfigError(
                    problem, file=article.source, line=1, fix="give one of the two another id"
                )
            )
            continue
        before = by_source.get(article.source)
        if before is not None and before.article.id != article.id:
            plan.renamed.append(before.article.id)
        plan.build.append(candidate)


def _batches(articles: Sequence[ReadArticle]) -> Iterator[list[ReadArticle]]:
    batch: list[ReadArticle] = []
    for article in articles:
        batch.append(article)
        if sum(len(each.chunks) for each in batch) >= BATCH:
            yield batch
            batch = []
    if batch:
        yield batch
