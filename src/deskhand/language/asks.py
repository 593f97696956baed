"""What a message asks, wishes for, thanks for and merely states, each with its place in the text.

    for part in read_parts("Hi, what does it cost to rent, and who pays for service? Thanks!"):
        part.kind, part.text   # ask: "what does it cost to rent", ask: "who pays for service?" ...

It reads English, Czech, German, Spanish, French and Polish by the words in `asks.yaml`. Whatever
the language, a sentence with a question mark asks.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from deskhand.config.yaml import read_yaml
from deskhand.language.slots.folded_text import FoldedText

MOST_TEXT = 20_000
"""Characters read of one message: what comes later is a document."""
MOST_PARTS = 120
_CONTEXT = 240
"""Characters of what was said just before that come with an ask: it tells what "it" is."""
_PHRASES = Path(__file__).with_name("asks.yaml")
_FEW_LETTERS = 3
_LONGEST_CLOSING = 60
_LONGEST_ANNOUNCEMENT = 8
_QUESTIONS = re.compile(r"\b(?:questions?|dotaz|otaz(?:k|ek)|fragen?|preguntas?|dudas?|pytani)")
"""What "I have two questions." calls what it announces, in words without accents."""


class PartKind(StrEnum):
    ASK = "ask"
    WISH = "wish"
    THANKS = "thanks"
    STATEMENT = "statement"


@dataclass(frozen=True, slots=True)
class Part:
    """One clause or sentence of a message."""

    kind: PartKind
    text: str
    start: int
    end: int
    context: str = ""
    """What the message says just before it, for an ask or a wish."""

    @property
    def in_context(self) -> str:
        """The ask, after what it may refer to."""
        return f"{self.context} {self.text}".strip()


class _Span(NamedTuple):
    start: int
    end: int
    is_item: bool = False
    """Whether it is an item of a list."""


_ITEM = re.compile(r"[ \t]*(?:[-*•–—▪·>]+|\(?\d{1,2}[.)]|\(?[a-h]\))[ \t]+(?=\S)")
_SENTENCE_END = re.compile(
    r"[.!?…]+[\"'”»)]*(?=\s)|\s[–—]\s|;\s|\s\.\.\.|:\s*(?=\n)"
    r"|:\s+(?=[^.!?:\n]{8,}\?)"
)
_ABBREVIATION = re.compile(
    r"(?:\b(?:mr|mrs|ms|dr|st|no|nr|c|tel|e\.g|i\.e|etc|resp|ca|cca|tj|napr|bzw|usw|ggf|z\. ?b"
    r"|d\. ?h|inkl|evtl|sr|sra|srta|art|p\. ?ej|ing|mgr|np|ul|godz|prof|m|mm|mme|mlle"
    r"|\d{1,2}|[a-z]))\.$"
)


def read_parts(text: str, subject: str = "", language: str | None = None) -> list[Part]:
    """The parts of a message in their order, without greeting, closing and signature.

    A subject that asks is a part too (with places before 0) where the text itself asks nothing.
    In a language that is not known, the words of all languages count.
    """
    phrases = _phrases(_language_with_phrases(language))
    parts = _parts_of(text[:MOST_TEXT], phrases)
    if any(part.kind in (PartKind.ASK, PartKind.WISH) for part in parts):
        return parts
    subject = subject[:500]
    in_subject = _parts_of(subject, phrases)
    moved = [
        Part(part.kind, part.text, part.start - len(subject) - 1, part.end - len(subject) - 1)
        for part in in_subject
        if part.kind is PartKind.ASK and "?" in part.text
    ]
    return moved + parts


def _parts_of(text: str, phrases: "_Phrases") -> list[Part]:
    reading = FoldedText(text)
    parts: list[Part] = []
    asking_list = False
    before = ""
    for span in _own_words(reading, phrases):
        words = reading.folded[span.start : span.end]
        kind = _kind_of(words, phrases)
        if not span.is_item:
            asking_list = words.rstrip().endswith(":") or kind in (PartKind.ASK, PartKind.WISH)
        elif asking_list and kind is PartKind.STATEMENT:
            kind = PartKind.ASK
        if words.rstrip().endswith(":") and kind is PartKind.ASK:
            kind = PartKind.STATEMENT  # it announces what the list below asks
        for clause in _clauses(reading, span, kind, phrases):
            part = _part(reading, clause, kind, before)
            if part is not None and not phrases.joints.fullmatch(part.text.lower()):
                parts.append(part)
                before = f"{before} {part.text}"[-_CONTEXT:]
        if len(parts) >= MOST_PARTS:
            break
    return _without_announcements(parts)


def _without_announcements(parts: list[Part]) -> list[Part]:
    """ "I have two questions." asks nothing where the questions follow."""
    if sum(part.kind is PartKind.ASK for part in parts) < 2:
        return parts
    kept: list[Part] = []
    for part in parts:
        only = part.kind is PartKind.ASK and _only_announces(part.text)
        kept.append(replace(part, kind=PartKind.STATEMENT, context="") if only else part)
    if any(part.kind is PartKind.ASK for part in kept):
        return kept
    return parts


def _only_announces(text: str) -> bool:
    words = FoldedText(text).folded
    is_short = len(words.split()) <= _LONGEST_ANNOUNCEMENT
    return is_short and "?" not in words and _QUESTIONS.search(words) is not None


def _part(reading: FoldedText, clause: _Span, kind: PartKind, before: str) -> Part | None:
    start, end = reading.origin(clause.start), reading.origin(clause.end)
    words = reading.given[start:end]
    shift = len(words) - len(words.lstrip(" \t\n-–—,;:"))
    words = words.strip(" \t\n-–—,;:")
    if sum(letter.isalnum() for letter in words) < _FEW_LETTERS:
        return None
    context = before.strip() if kind in (PartKind.ASK, PartKind.WISH) else ""
    return Part(kind, words, start + shift, start + shift + len(words), context)


# --- sentences


def _own_words(reading: FoldedText, phrases: "_Phrases") -> list[_Span]:
    """Sentences and items of lists, without greeting and closing lines."""
    spans: list[_Span] = []
    for line in _lines(reading.folded):
        spans += _sentences(reading.folded, line)
    return _without_signature(reading.text, _without_frame(reading.folded, spans, phrases))


def _lines(text: str) -> Iterator[_Span]:
    """Paragraphs and items of lists: a line goes on with the next unless that begins an item,
    or one of them is empty."""
    start = end = -1
    is_item = False
    at = 0
    for line in text.split("\n"):
        item = _ITEM.match(line)
        if not line.strip() or item is not None or _ends_short(text, start, end):
            if start >= 0:
                yield _Span(start, end, is_item)
            start = -1
        if line.strip():
            if start < 0:
                start, is_item = at + (item.end() if item else 0), item is not None
            end = at + len(line)
        at += len(line) + 1
    if start >= 0:
        yield _Span(start, end, is_item)


def _ends_short(text: str, start: int, end: int) -> bool:
    """Whether what was read so far is a line of its own: short, or ended by a mark."""
    if start < 0:
        return False
    last = text[start:end].rpartition("\n")[2].rstrip()
    return len(last) < 40 or last.endswith((":", "?", ".", "!", ","))


def _sentences(text: str, line: _Span) -> Iterator[_Span]:
    at = line.start
    for mark in _SENTENCE_END.finditer(text, line.start, line.end):
        if mark[0].startswith(".") and _ABBREVIATION.search(
            text, max(at, mark.start() - 8), mark.start() + 1
        ):
            continue
        if text[at : mark.end()].strip():
            yield _Span(at, mark.end(), line.is_item)
        at = mark.end()
    if text[at : line.end].strip():
        yield _Span(at, line.end, line.is_item)


def _without_frame(text: str, spans: Sequence[_Span], phrases: "_Phrases") -> list[_Span]:
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
        kept[0] = _Span(kept[0].start + rest, kept[0].end, kept[0].is_item)
        break
    long = [place for place, span in enumerate(kept) if span.end - span.start > _LONGEST_CLOSING]
    first = max(1, long[-1]) if long else 1  # after closing words nothing long follows
    for place in range(first, len(kept)):
        words = text[kept[place].start : kept[place].end].strip()
        if "?" not in words and phrases.closing.fullmatch(words):
            return kept[:place]
    return kept


def _without_signature(text: str, spans: list[_Span]) -> list[_Span]:
    """Without names at the end: short lines of words that begin with capitals, no sentences."""
    while len(spans) > 1:
        words = text[spans[-1].start : spans[-1].end].strip()
        names = [word for word in words.split() if word[:1].isalpha()]
        is_name = names and all(word[0].isupper() or len(word) < 3 for word in names)
        if not is_name or len(words) > _LONGEST_CLOSING or words.endswith(("?", "!", ":")):
            break
        spans = spans[:-1]
    return spans


# --- clauses


def _clauses(
    reading: FoldedText, span: _Span, kind: PartKind, phrases: "_Phrases"
) -> Iterator[_Span]:
    """A sentence that asks twice ("what does it cost and when is it there?") is two asks."""
    if kind is not PartKind.ASK:
        yield span
        return
    at = span.start
    for mark in phrases.next_question.finditer(reading.folded, span.start, span.end):
        if _asks_by_itself(reading.folded[at : mark.start()], phrases):
            yield _Span(at, mark.start(), span.is_item)
            at = mark.start()
    yield _Span(at, span.end, span.is_item)


def _asks_by_itself(words: str, phrases: "_Phrases") -> bool:
    """Whether the words before a joint ask something already, and not only announce it."""
    bare = words.strip(" ,;:-\n¿¡")
    if phrases.conditions.match(bare):
        behind = bare.partition(", ")[2]
        return bool(behind) and _asks_by_itself(behind, phrases)
    opening = phrases.opens_anywhere.search(bare)
    if opening is not None:
        return len(bare[opening.end() :].split()) >= 1
    request = phrases.requests.search(bare)
    return request is not None and len(bare[request.end() :].split()) >= 2


def _kind_of(words: str, phrases: "_Phrases") -> PartKind:
    bare = words.strip(" ,;:-\n¿¡\"'(")
    if phrases.courtesy.fullmatch(bare.rstrip(" ?.!,;:-)")):
        return PartKind.STATEMENT
    if "?" in words or phrases.opens.match(bare) or phrases.requests.search(bare):
        return PartKind.ASK
    if phrases.wishes.search(bare):
        return PartKind.WISH
    return PartKind.THANKS if phrases.thanks.search(bare) else PartKind.STATEMENT


# --- phrases


class _Phrases(NamedTuple):
    opens: re.Pattern[str]
    opens_anywhere: re.Pattern[str]
    next_question: re.Pattern[str]
    conditions: re.Pattern[str]
    joints: re.Pattern[str]
    requests: re.Pattern[str]
    wishes: re.Pattern[str]
    thanks: re.Pattern[str]
    courtesy: re.Pattern[str]
    greeting: re.Pattern[str]
    closing: re.Pattern[str]


def speaks(language: str | None) -> bool:
    """Whether asks are found by the phrases of this language."""
    return _language_with_phrases(language) is not None


def _language_with_phrases(language: str | None) -> str | None:
    primary = (language or "").partition("-")[0].lower()
    return primary if primary in _table() else None


@cache
def _table() -> Mapping[str, Any]:
    return dict(read_yaml(_PHRASES).data)


@cache
def _phrases(language: str | None) -> _Phrases:
    """The phrases of one language, or of all."""
    table = _table()
    spoken = list(table.values()) if language is None else [table[language]]
    opens, verbs = _any_of(spoken, "opens"), _any_of(spoken, "verbs")
    joins, whether = _any_of(spoken, "joins"), _any_of(spoken, "whether")
    lead = rf"(?:(?:{joins})[ ,]+)?"
    return _Phrases(
        opens=re.compile(rf"{lead}(?:{opens})\b"),
        opens_anywhere=re.compile(rf"\b(?:{opens}|{verbs}|{whether})\b"),
        next_question=re.compile(
            rf"(?:[,;:?]\s+(?:(?:{joins})\s+)?|\s(?:{joins})\s+)[¿¡]?"
            rf"(?=(?:{opens}|{verbs}|{whether})\b)"
        ),
        conditions=re.compile(rf"{lead}(?:{_any_of(spoken, 'conditions')})\b"),
        joints=re.compile(rf"(?:{joins})"),
        requests=re.compile(rf"\b(?:{_any_of(spoken, 'requests')})"),
        wishes=re.compile(rf"\b(?:{_any_of(spoken, 'wishes')})\b"),
        thanks=re.compile(rf"\b(?:{_any_of(spoken, 'thanks')})\b"),
        courtesy=re.compile(rf"(?:{lead}(?:{_any_of(spoken, 'courtesies')}))"),
        greeting=re.compile(
            rf"\W*(?:{_any_of(spoken, 'greets')})\b[^,:!.?\n]{{0,60}}(?:[,:!.]+|$|\n)\s*"
        ),
        closing=re.compile(rf"\W*(?:{_any_of(spoken, 'closes')})\b[^\n?]{{0,{_LONGEST_CLOSING}}}"),
    )


def _any_of(spoken: Sequence[Mapping[str, Sequence[str]]], key: str) -> str:
    written = {phrase for words in spoken for phrase in words[key]}
    longest_first = sorted(written, key=lambda phrase: (-len(phrase), phrase))
    return "|".join(phrase.replace("~", r"(?:\S+ ){0,3}?\S*") for phrase in longest_first)
