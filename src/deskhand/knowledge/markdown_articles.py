"""Markdown and plain text to sections."""

import re
from collections.abc import Iterator
from pathlib import Path

from deskhand.knowledge.article_sections import ArticleSection, Outline, ParsedArticle, decoded
from deskhand.knowledge.front_matter import split_front_matter
from deskhand.knowledge.text_normalization import clean

_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))??(?:[ \t]+#+)?[ \t]*")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_MARKS = re.compile(r"[*_`]{1,3}")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")


def read_markdown(path: Path, raw: bytes) -> ParsedArticle:
    """Text by headings, with front matter; what is commented out is not part of the article."""
    front, body, _ = split_front_matter(path, clean(decoded(path, raw)))
    outline = Outline()
    first: str | None = None
    for level, text in _headed(list(_visible(body.split("\n")))):
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


def _visible(lines: list[str]) -> Iterator[tuple[bool, str]]:
    """Lines without what is commented out, and whether each is code, where `<!--` is part of the
    text."""
    fence, commented = "", False
    for line in lines:
        if fence:
            yield True, line
            closing = line.strip()
            if closing and set(closing) == {fence[0]} and len(closing) >= len(fence):
                fence = ""
            continue
        was_commented = commented
        shown, commented = _uncommented(line, commented)
        opening = _FENCE.match(shown)
        if opening:
            fence = opening[1]
            yield True, shown
        elif shown.strip() or not (was_commented or shown != line):
            yield False, shown


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


def _headed(lines: list[tuple[bool, str]]) -> Iterator[tuple[int, str]]:
    """(level, heading) or (0, line); headings are marked by `#` or by a line of `=` or `-` below
    them."""
    number = 0
    while number < len(lines):
        code, line = lines[number]
        number += 1
        if code:
            yield 0, line
            continue
        marked = _HEADING.fullmatch(line)
        if marked:
            yield len(marked[1]), _plain(marked[2] or "")
            continue
        below = "" if number >= len(lines) or lines[number][0] else lines[number][1]
        underline = _UNDERLINE.fullmatch(below)
        alone = number < 2 or lines[number - 2][0] or not lines[number - 2][1].strip()
        if (
            underline
            and alone
            and line.strip()
            and not line.startswith(("    ", "\t", "|", "- ", "* ", "> "))
        ):
            yield 1 if underline[1][0] == "=" else 2, _plain(line)
            number += 1
            continue
        yield 0, line.rstrip()


def _plain(heading: str) -> str:
    """A heading without its marks: it is cited, not rendered."""
    return " ".join(_MARKS.sub("", _LINK.sub(r"\1", heading)).split())
