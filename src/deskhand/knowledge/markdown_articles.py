"""Markdown and plain text to sections."""

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from deskhand.knowledge.article_sections import ArticleSection, Outline, ParsedArticle, decoded
from deskhand.knowledge.front_matter import split_front_matter
from deskhand.knowledge.text_normalization import clean

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_CODE = ("fence", "code_block")


def read_markdown(path: Path, raw: bytes) -> ParsedArticle:
    """Text by headings, with front matter; what is commented out is not part of the article."""
    front, body, _ = split_front_matter(path, clean(decoded(path, raw)))
    outline = Outline()
    first: str | None = None
    for level, text in _headed(_without_comments(body)):
        if not level:
            outline.line(text)
            continue
        if first is None and level == 1:
            first = text
        outline.heading(level, text)
    title = front.title or first
    sections = [_below_title(section, first) for section in outline.sections()]
    return ParsedArticle(
        sections, title, front.id, front.category, front.language, front.valid_until
    )


def read_plain(path: Path, raw: bytes) -> ParsedArticle:
    """Plain text is one section; it may have front matter, too."""
    front, body, _ = split_front_matter(path, clean(decoded(path, raw)))
    outline = Outline()
    for line in body.split("\n"):
        outline.line(line.rstrip())
    return ParsedArticle(
        outline.sections(), front.title, front.id, front.category, front.language, front.valid_until
    )


def _below_title(section: ArticleSection, title: str | None) -> ArticleSection:
    """A citation names the title anyway."""
    path = section.heading_path
    return (
        ArticleSection(path[1:], section.text)
        if title is not None and path[:1] == (title,)
        else section
    )


def _without_comments(body: str) -> str:
    """The text without what is commented out, except in code, where `<!--` is part of the text."""
    code: set[int] = set()
    for token in _parser().parse(body):
        if token.type in _CODE and token.map is not None:
            code.update(range(*token.map))
    kept: list[str] = []
    commented = False
    for number, line in enumerate(body.split("\n")):
        if number in code and not commented:
            kept.append(line)
            continue
        was_commented = commented
        shown, commented = _uncommented(line, commented)
        if shown.strip() or not (was_commented or shown != line):
            kept.append(shown)
    return "\n".join(kept)


def _uncommented(line: str, commented: bool) -> tuple[str, bool]:
    shown = ""
    while line:
        mark = "-->" if commented else "<!--"
        before, mark_here, line = line.partition(mark)
        if not commented:
            shown += before
        if mark_here:
            commented = not commented
    return shown, commented


def _headed(text: str) -> Iterator[tuple[int, str]]:
    """(level, heading) or (0, line), for each heading of the article itself: one in a quotation
    or a list is part of the text."""
    lines = text.split("\n")
    tokens = _parser().parse(text)
    done = 0
    for place, token in enumerate(tokens):
        if token.type != "heading_open" or token.level or token.map is None:
            continue
        start, end = token.map
        for line in lines[done:start]:
            yield 0, line.rstrip()
        yield int(token.tag[1:]), _plain(tokens[place + 1].children or [])
        done = end
    for line in lines[done:]:
        yield 0, line.rstrip()


def _plain(heading: Sequence["Token"]) -> str:
    """A heading without its marks: it is cited, not rendered."""
    words: list[str] = []
    for token in heading:
        words.append(" " if token.type in ("softbreak", "hardbreak") else token.content)
    return " ".join("".join(words).split())


@cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt  # takes a while, and only articles need it

    return MarkdownIt("commonmark")
