"""What tests of the knowledge base share: an embedder that needs no model, and articles without
files."""

from collections.abc import Sequence
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from deskhand.knowledge.chunks import passage
from deskhand.knowledge.snapshot import stored
from deskhand.knowledge.text_normalization import words
from deskhand.model.knowledge import Article, ArticleChunk, IndexedChunk

DIMENSIONS = 384


class HashingEmbedder:
    """Texts with the same words are near each other; counts what it was asked to embed."""

    def __init__(self) -> None:
        self.embedded: list[str] = []

    def embed(
        self,
        texts: Sequence[str],
        kind: Literal["query", "passage"] = "query",
        *,
        keep: bool = False,
    ) -> NDArray[np.float32]:
        self.embedded += texts
        return np.stack([_vector(text) for text in texts])


def _vector(text: str) -> NDArray[np.float32]:
    total = np.zeros(DIMENSIONS, dtype=np.float32)
    for word in words(text):
        total += _direction(word)
    length = float(np.linalg.norm(total))
    return total / np.float32(length) if length else total


@lru_cache(maxsize=50_000)
def _direction(word: str) -> NDArray[np.float32]:
    seed = int.from_bytes(sha256(word.encode()).digest()[:8], "big")
    return np.random.default_rng(seed).standard_normal(DIMENSIONS).astype(np.float32)


def an_article(
    article_id: str,
    *texts: str,
    title: str = "",
    category: str | None = None,
    language: str | None = "en",
    valid_until: float | None = None,
) -> tuple[Article, list[IndexedChunk]]:
    """An article whose chunks are these texts, each under its own heading."""
    made = sha256(" ".join((title, *texts)).encode()).hexdigest()
    article = Article(
        article_id, title or article_id, category, language, valid_until, f"{article_id}.md", made
    )
    chunks = [ArticleChunk((f"Part {number}",), text) for number, text in enumerate(texts, 1)]
    passages = [passage(article.title, chunk) for chunk in chunks]
    vectors = stored(HashingEmbedder().embed(passages, "passage"))
    indexed = [
        IndexedChunk(chunk, " ".join(words(text)), vector)
        for chunk, text, vector in zip(chunks, passages, vectors, strict=True)
    ]
    return article, indexed


def write(folder: Path, name: str, text: str | bytes) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path
