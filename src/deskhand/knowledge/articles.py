"""Files to articles."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from deskhand.errors import ConfigError
from deskhand.knowledge.article_sections import ArticleSection, ParsedArticle
from deskhand.knowledge.chunks import cut
from deskhand.knowledge.html_articles import read_html
from deskhand.knowledge.markdown_articles import read_markdown, read_plain
from deskhand.knowledge.pdf_articles import read_pdf
from deskhand.language.identify import identify
from deskhand.model.knowledge import Article, ArticleChunk

LARGEST_FILE = 30_000_000
_READ_FOR_LANGUAGE = 5
"""Chunks; the identification looks at a page at most."""
_SURE_OF_LANGUAGE = 0.6
READERS: dict[str, Callable[[Path, bytes], ParsedArticle]] = {
    ".md": read_markdown,
    ".markdown": read_markdown,
    ".html": read_html,
    ".htm": read_html,
    ".pdf": read_pdf,
    ".txt": read_plain,
}


@dataclass(frozen=True, slots=True)
class ArticleFile:
    """A file that holds an article, or should."""

    path: Path
    source: str
    """The name of the file in the index."""
    default_id: str
    """For an article that gives no id of its own."""


@dataclass(frozen=True, slots=True)
class ReadArticle:
    article: Article
    chunks: tuple[ArticleChunk, ...]


def read_bytes(file: ArticleFile) -> bytes:
    """The file's bytes; ConfigError when it cannot be read or is too large."""
    try:
        with file.path.open("rb") as opened:
            raw = opened.read(LARGEST_FILE + 1)
    except OSError as error:
        problem = f"cannot be read: {error.strerror}"
        raise ConfigError(
            problem, file=file.path, fix="make it a readable file, or remove it"
        ) from None
    if len(raw) > LARGEST_FILE:
        raise ConfigError(
            f"the file is larger than {LARGEST_FILE / 1e6:g} MB", file=file.path, fix="split it"
        )
    return raw


def digest(raw: bytes) -> str:
    return sha256(raw).hexdigest()


def read_article(file: ArticleFile, raw: bytes) -> ReadArticle:
    """The article in these bytes; whatever is wrong with them is a ConfigError."""
    reader = READERS.get(file.path.suffix.lower())
    if reader is None:
        raise ConfigError(
            f"`{file.path.suffix}` files are not read",
            file=file.path,
            fix=f"use {', '.join(READERS)}",
        )
    draft = reader(file.path, raw)
    title = (
        draft.title or file.path.stem.replace("-", " ").replace("_", " ").strip() or file.path.name
    )
    chunks = cut([_below_title(section, title) for section in draft.sections])
    if not chunks:
        raise ConfigError(
            "the article has no text", file=file.path, fix="write some, or remove the file"
        )
    article = Article(
        draft.id or file.default_id,
        title,
        draft.category,
        draft.language or _written_in(title, chunks),
        draft.valid_until,
        file.source,
        digest(raw),
    )
    return ReadArticle(article, tuple(chunks))


def _written_in(title: str, chunks: Sequence[ArticleChunk]) -> str | None:
    """The language of an article that does not say; None where it is not clear."""
    language = identify("\n".join((title, *(chunk.text for chunk in chunks[:_READ_FOR_LANGUAGE]))))
    return language.code if language.confidence >= _SURE_OF_LANGUAGE else None


def _below_title(section: ArticleSection, title: str) -> ArticleSection:
    """A heading that repeats the title is not cited again."""
    path = section.heading_path
    return (
        ArticleSection(path[1:], section.text)
        if path and path[0].casefold() == title.casefold()
        else section
    )
