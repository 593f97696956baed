"""Sections to chunks: small enough for one vector, cut where a reader would pause."""

import re
from collections.abc import Iterator, Sequence

from deskhand.knowledge.article_sections import ArticleSection
from deskhand.model.knowledge import ArticleChunk

LONGEST = 900
"""Characters of a chunk: with its headings about 250 tokens of European text, what the embedding
model reads."""
OVERLAP = 120
"""Characters that a chunk repeats of the one before it in a long section, in whole sentences."""
CHUNKER = f"chunks-1/{LONGEST}/{OVERLAP}"

_PARAGRAPH = re.compile(r"\n[ \t]*\n+")
_SENTENCE = re.compile(r"(?<=[.!?…。！？])[\"')\]»”]*\s+|\n")


def cut(sections: Sequence[ArticleSection]) -> list[ArticleChunk]:
    """Chunks of at most LONGEST characters; every word of every section is in one of them."""
    return [
        ArticleChunk(section.heading_path, text)
        for section in sections
        for text in _pieces(section.text)
        if text.strip()
    ]


def heads(title: str, chunk: ArticleChunk) -> str:
    """What a chunk is about, in its author's words."""
    return ". ".join(dict.fromkeys((title, *chunk.heading_path)))


def passage(title: str, chunk: ArticleChunk) -> str:
    """What is indexed of a chunk: its text, under its headings."""
    return f"{heads(title, chunk)}. {chunk.text}"


def _pieces(text: str) -> Iterator[str]:
    if len(text) <= LONGEST:
        yield text
        return
    held = ""
    fresh = False
    for part, glue in _parts(text):
        joined = f"{held}{glue}{part}" if held else part
        if len(joined) <= LONGEST:
            held, fresh = joined, True
            continue
        if fresh:
            yield held
        again = _ending(held, min(OVERLAP, LONGEST - len(part) - len(glue)))
        held, fresh = (f"{again}{glue}{part}" if again else part), True
    if fresh:
        yield held


def _parts(text: str) -> Iterator[tuple[str, str]]:
    """Sentences, with what joins each to the one before; one that is too long is cut between
    words, or anywhere."""
    for paragraph in _PARAGRAPH.split(text):
        glue, at = "\n\n", 0
        for mark in [*_SENTENCE.finditer(paragraph), None]:
            sentence = paragraph[at:]
            if mark:
                sentence = paragraph[at : mark.start()] + mark[0].rstrip()
            for piece in _bounded(sentence.strip("\n")):
                if piece.strip():
                    yield piece, glue
                    glue = " "
            if mark:
                at = mark.end()
                glue = "\n" if mark[0] == "\n" else " "


def _bounded(sentence: str) -> Iterator[str]:
    while len(sentence) > LONGEST:
        space = sentence.rfind(" ", LONGEST // 2, LONGEST)
        end = space if space > 0 else LONGEST
        yield sentence[:end]
        sentence = sentence[end:].lstrip()
    yield sentence


def _ending(text: str, room: int) -> str:
    """The last whole sentences of a text that fit."""
    if room <= 0 or not text:
        return ""
    starts = [mark.end() for mark in _SENTENCE.finditer(text) if len(text) - mark.end() <= room]
    return text[starts[0] :].strip() if starts else ""
