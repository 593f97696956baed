"""The ids by which a desk's own files may name its articles."""

from pathlib import Path

from deskhand.errors import ConfigError
from deskhand.knowledge.article_files import FOLDER, find_articles
from deskhand.knowledge.articles import READERS, ArticleFile, read_bytes
from deskhand.knowledge.front_matter import split_front_matter
from deskhand.knowledge.text_normalization import clean

_FRONT_MATTER_ALONE = (".md", ".markdown", ".txt")
"""Files whose text need not be parsed to know what they say about themselves."""
_NAMED_BY_FILE = (".pdf",)


def article_ids(desk: Path) -> frozenset[str] | None:
    """Returns the ids of a desk's articles, a translation under that of its original.

    None where the desk has no folder `knowledge`: its articles are then known to the index alone.
    An article that cannot be read counts under the name of its file; whoever indexes it says why.
    """
    folder = desk / FOLDER
    if not folder.is_dir():
        return None
    files, _ = find_articles([folder], desk)
    return frozenset(map(_original_id, files))


def _original_id(file: ArticleFile) -> str:
    suffix = file.path.suffix.lower()
    if suffix in _NAMED_BY_FILE:
        return file.default_id
    try:
        raw = read_bytes(file)
        if suffix in _FRONT_MATTER_ALONE:
            front, _, _ = split_front_matter(file.path, clean(raw.decode("utf-8", "replace")))
            written, language = front.id, front.language
        else:
            draft = READERS[suffix](file.path, raw)
            written, language = draft.id, draft.language
    except ConfigError:
        return file.default_id
    name = written or file.default_id
    return name.removesuffix(f".{language}") if language else name
