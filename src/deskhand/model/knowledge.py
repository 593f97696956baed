"""What the knowledge base is made of: articles, the chunks they are searched by, and what a
search finds."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Article:
    """An article's head: what its front matter (or its file) says about it."""

    id: str
    title: str
    category: str | None
    language: str | None
    """The primary tag, in small letters: `en`, `cs`; as the file says, else as its text reads."""
    valid_until: float | None
    """Seconds since the epoch; from then on no search finds it."""
    source: str
    """Its file: relative to the desk's `knowledge/` folder, or absolute when it lies elsewhere."""
    content_hash: str
    """SHA-256 of the file's bytes."""


class CitedText(NamedTuple):
    """A piece of an article that a run was given."""

    article: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class ArticleChunk:
    """A piece of an article that is small enough to be found and quoted on its own."""

    heading_path: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class IndexedChunk:
    """A chunk with what it is found by."""

    chunk: ArticleChunk
    words: str
    """Its words and those of its headings, folded, one space between them."""
    vector: bytes
    """float16, little endian."""


@dataclass(frozen=True, slots=True)
class StoredArticle:
    article: Article
    built_with: str
    """Which chunker and which embedding model made its chunks; others must make them anew."""
    chunks: int
    updated_at: float


@dataclass(frozen=True, slots=True)
class KnowledgeQuery:
    """A question, ready to be looked up."""

    terms: tuple[str, ...]
    vector: "NDArray[np.float32] | None"
    """Of unit length; None for a question without a word in it."""
    now: float
    category: str | None = None
    language: str | None = None
    limit: int = 5


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk that a search found, with everything needed to quote and to cite it."""

    article: str
    title: str
    heading_path: tuple[str, ...]
    text: str
    score: float
    """0 to 1, by which hits are ordered: 1 is first both by words and by meaning, with every
    word found."""
    similarity: float
    """The cosine of question and chunk, less what any question has in common with it: good for
    comparing hits."""
    coverage: float
    """0 to 1: how much of the question's words the chunk has, rare words counting more."""
    category: str | None
    language: str | None
    content_hash: str
    source: str

    @property
    def original(self) -> str:
        """The article of which this is a translation, else the article itself: `platby.en` is
        `platby` in English."""
        return self.article.removesuffix(f".{self.language}") if self.language else self.article

    @property
    def citation(self) -> str:
        """Where it stands, for colleagues: with the article's id."""
        return f"{self.place} [{self.article}]"

    @property
    def place(self) -> str:
        """Where it stands, for customers: "Returns › How"."""
        return " › ".join((self.title, *self.heading_path))


@dataclass(frozen=True, slots=True)
class AnswerSource:
    """A run's answer used this article as it was then."""

    run_id: str
    article: str
    content_hash: str
    at: float
