"""A message's own sentences and items of lists, without greeting, closing and signature."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from deskhand.language.ask_phrases import LONGEST_CLOSING, AskPhrases, spoken_phrases
from deskhand.language.slots.folded_text import FoldedText


class SentenceSpan(NamedTuple):
    start: int
    end: int
    is_item: bool = False
    """Whether it is an item of a list."""
    goes_on: bool = False
    """Whether it is a later sentence of an item."""


_ITEM = re.compile(r"[ \t]*(?:[-*•–—▪·‣◦→>]+|\(?\d{1,2}[.)/:]|\(?[a-h][)/]|[a-h]\.)[ \t]+(?=\S)")
_SENTENCE_END = re.compile(
    r"[.!?…]+[\"'”»)]*(?=\s)|\s[–—]\s|;\s|\s\.\.\.|:\s*(?=\n)"
    r"|:\s+(?=[^.!?:\n]{8,}\?)"
)
_ABBREVIATION = re.compile(
    r"(?:\b(?:mr|mrs|ms|dr|st|no|nr|c|tel|e\.g|i\.e|etc|resp|ca|cca|tj|napr|bzw|usw|ggf|z\. ?b"
    r"|d\. ?h|inkl|evtl|sr|sra|srta|art|p\. ?ej|ing|mgr|np|ul|godz|prof|m|mm|mme|mlle"
    r"|\d{1,2}|[a-z]))\.$"
)


_LONGEST_READ = 20_000


def without_frame(text: str) -> str:
    """A message without its greeting, closing words and signature, in any language that we know
    such words of; the whole of it where nothing else is there."""
    read = text[:_LONGEST_READ]
    spans = own_words(FoldedText(read), spoken_phrases(None))
    return read[spans[0].start : spans[-1].end].strip() if spans else read


def own_words(reading: FoldedText, phrases: AskPhrases) -> list[SentenceSpan]:
    """Sentences and items of lists, without greeting and closing lines."""
    spans: list[SentenceSpan] = []
    for line in _lines(reading.folded):
        spans += _sentences(reading.folded, line)
    return _without_signature(reading.text, _without_frame(reading.folded, spans, phrases))


def _lines(text: str) -> Iterator[SentenceSpan]:
    """Paragraphs and items of lists: a line goes on with the next unless that begins an item,
    or one of them is empty."""
    start = end = -1
    is_item = False
    at = 0
    for line in text.split("\n"):
        item = _ITEM.match(line)
        if not line.strip() or item is not None or _ends_short(text, start, end):
            if start >= 0:
                yield SentenceSpan(start, end, is_item)
            start = -1
        if line.strip():
            if start < 0:
                start, is_item = at + (item.end() if item else 0), item is not None
            end = at + len(line)
        at += len(line) + 1
    if start >= 0:
        yield SentenceSpan(start, end, is_item)


def _ends_short(text: str, start: int, end: int) -> bool:
    """Whether what was read so far is a line of its own: short, or ended by a mark."""
    if start < 0:
        return False
    last = text[start:end].rpartition("\n")[2].rstrip()
    return len(last) < 40 or last.endswith((":", "?", ".", "!", ","))


def _sentences(text: str, line: SentenceSpan) -> Iterator[SentenceSpan]:
    at = line.start
    for mark in _SENTENCE_END.finditer(text, line.start, line.end):
        if mark[0].startswith(".") and _ABBREVIATION.search(
            text, max(at, mark.start() - 8), mark.start() + 1
        ):
            continue
        if text[at : mark.end()].strip():
            yield SentenceSpan(at, mark.end(), line.is_item, line.is_item and at > line.start)
        at = mark.end()
    if text[at : line.end].strip():
        yield SentenceSpan(at, line.end, line.is_item, line.is_item and at > line.start)


def _without_frame(
    text: str, spans: Sequence[SentenceSpan], phrases: AskPhrases
) -> list[SentenceSpan]:
    """Without the greeting at the beginning, and from the closing words at the end on."""
    kept = list(spans)
    while kept:
        words = text[kept[0].start : kept[0].end]
        greeting = phrases.greeting.match(words)
        if greeting is None:
            break
        rest = greeting.end()
        if not words[rest:].strip(" ,.!:-\n"):
            kept.pop(0)
            continue
        kept[0] = SentenceSpan(kept[0].start + rest, kept[0].end, kept[0].is_item)
        break
    long = [place for place, span in enumerate(kept) if span.end - span.start > LONGEST_CLOSING]
    first = max(1, long[-1]) if long else 1  # after closing words nothing long follows
    for place in range(first, len(kept)):
        words = text[kept[place].start : kept[place].end].strip()
        if "?" not in words and phrases.closing.fullmatch(words):
            return kept[:place]
    return kept


def _without_signature(text: str, spans: list[SentenceSpan]) -> list[SentenceSpan]:
    """Without names at the end: short lines of words that begin with capitals, no sentences."""
    while len(spans) > 1:
        words = text[spans[-1].start : spans[-1].end].strip()
        names = [word for word in words.split() if word[:1].isalpha()]
        is_name = names and all(word[0].isupper() or len(word) < 3 for word in names)
        if not is_name or len(words) > LONGEST_CLOSING or words.endswith(("?", "!", ":")):
            break
        spans = spans[:-1]
    return spans
