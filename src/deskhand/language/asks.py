"""What a message asks, wishes for, thanks for and merely states, each with its place in the text.

    for part in read_parts("Hi, what does it cost to rent, and who pays for service? Thanks!"):
        part.kind, part.text   # ask: "what does it cost to rent", ask: "who pays for service?" ...

It reads English, Czech, German, Spanish, French and Polish by the words in `asks.yaml`. Whatever
the language, a sentence with a question mark asks.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from deskhand.language.ask_phrases import (
    AskPhrases,
    language_with_phrases,
    spoken_phrases,
)
from deskhand.language.message_sentences import SentenceSpan, own_words
from deskhand.language.slots.folded_text import FoldedText, fold

MOST_TEXT = 20_000
"""Characters read of one message: what comes later is a document."""
MOST_PARTS = 120
_CONTEXT = 240
"""Characters of what was said just before that come with an ask: it tells what "it" is."""
_AROUND = " ,;:-\n¿¡\"'("
_FEW_LETTERS = 3
_LONGEST_ANNOUNCEMENT = 12
_LEFT_OUT = 3
"""A request with no more words after it than these does not say what is asked."""
_CLOSE = 4
"""How many words before a joint "see", "tell me" and the like may stand whose object follows it."""
_ASIDE = 5
"""The most words of what somebody says in passing that he does not know."""
_TITLE = 5
"""The most words of a list's item that asks without a question mark among others with one."""
_LONGEST_TITLE = 60
_TAIL = 2
"""Words that ask nothing by themselves at the end of a sentence: "and how?"."""
_QUESTION_MARK = re.compile(r"\?(?!\w|\.\w)")
"""None inside the name of a file."""
_DASH = re.compile(r"\s[-–—]+\s|:\s")
_ACCENT = re.compile(r"[áéíóúñ]", re.IGNORECASE)
_ANNOUNCED_NUMBERS = {
    2: "2|two|a couple of|dva|dve|zwei|dos|deux|dwa|dwie",
    3: "3|three|tri|drei|tres|trois|trzy",
    4: "4|four|ctyri|vier|cuatro|quatre|cztery",
    5: "5|five|pet|funf|cinco|cinq|piec",
}
_ADJECTIVES = r"(?:\w+ ){0,2}?"
_CALLED_ASKS = (
    r"(?:questions?|queries|things|dotazy|otazky|veci|fragen|dinge|sachen|punkte|preguntas|dudas"
    r"|consultas|cosas|choses|pytania|rzeczy|sprawy)"
)
_NO_ASKS = r"(?! (?:went|are (?:wrong|missing)|fehlen|chybi|faltan|wrong|i like|that i like))"
_ANNOUNCED = {
    number: re.compile(rf"\b(?:{words}) {_ADJECTIVES}{_CALLED_ASKS}\b{_NO_ASKS}")
    for number, words in _ANNOUNCED_NUMBERS.items()
}


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


def read_parts(text: str, subject: str = "", language: str | None = None) -> list[Part]:
    """The parts of a message in their order, without greeting, closing and signature.

    A subject that asks is a part too (with places before 0) where the text itself asks nothing.
    In a language that is not known, the words of all languages count.
    """
    phrases = spoken_phrases(language)
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


def _parts_of(text: str, phrases: AskPhrases) -> list[Part]:
    reading = FoldedText(text)
    parts: list[Part] = []
    unmarked: set[int] = set()
    before = ""
    for span, kind in _kinds(reading, phrases):
        for clause in _clauses(reading, span, kind, phrases):
            part = _part(reading, clause, kind, before)
            if part is not None and not phrases.joints.fullmatch(part.text.lower()):
                if not _is_marked(_words(reading, span)):
                    unmarked.add(len(parts))
                parts.append(part)
                before = f"{before} {part.text}"[-_CONTEXT:]
        if len(parts) >= MOST_PARTS:
            break
    return _without_announcements(parts, unmarked, phrases)


def _kinds(reading: FoldedText, phrases: AskPhrases) -> Iterator[tuple[SentenceSpan, PartKind]]:
    """Sentences and items of lists, each with what it does."""
    spans = own_words(reading, phrases)
    items = [span for span in spans if span.is_item]
    marked = any(_is_marked(_words(reading, span)) for span in items)
    asking_list = bool(items) and _asks_by_its_items(reading, spans, phrases)
    only_items = asking_list
    kind = PartKind.STATEMENT
    for span in spans:
        words = _words(reading, span)
        kind = _kind_of(words, phrases, after=kind)
        if kind is PartKind.ASK and _only_sounds_asking(reading, span, phrases):
            kind = PartKind.STATEMENT
        announces = words.rstrip().endswith(":")
        if not span.is_item:
            asking_list = only_items or announces or kind in (PartKind.ASK, PartKind.WISH)
        elif kind is PartKind.ASK:
            asking_list = True
        elif asking_list and kind is PartKind.STATEMENT and not span.goes_on:
            names_ask = len(words.split()) <= _TITLE or _asks_after_its_title(words, phrases)
            kind = PartKind.ASK if names_ask or not marked else kind
        if announces and kind is PartKind.ASK:
            kind = PartKind.STATEMENT  # it announces what the list below asks
        yield span, kind


def _asks_by_its_items(
    reading: FoldedText, spans: Sequence[SentenceSpan], phrases: AskPhrases
) -> bool:
    """Whether a message asks nothing but what its list names: "- price of a lid - colours"."""
    for span in spans:
        kind = _kind_of(_words(reading, span), phrases)
        if not span.is_item and kind in (PartKind.ASK, PartKind.WISH):
            return False
    short = [span for span in spans if span.is_item and span.end - span.start <= _LONGEST_TITLE]
    return len(short) > 1


def _asks_after_its_title(words: str, phrases: AskPhrases) -> bool:
    """Whether an item names its subject and then asks: "castors - how long do you keep them"."""
    _, dash, asked = _DASH.sub("\0", words, count=1).partition("\0")
    return bool(dash) and phrases.opens.match(asked.strip(_AROUND)) is not None


def _words(reading: FoldedText, span: SentenceSpan) -> str:
    return reading.folded[span.start : span.end]


def _only_sounds_asking(reading: FoldedText, span: SentenceSpan, phrases: AskPhrases) -> bool:
    """Whether a sentence begins with an asking word and tells something: "When I click, it hangs."

    Spanish tells the two apart by the accent, for those who write accents.
    """
    words = _words(reading, span)
    bare = words.strip(_AROUND)
    if _is_marked(words) or not phrases.opens.match(bare):
        return False
    if phrases.requests.search(bare) or phrases.indirect.search(bare):
        return False
    if phrases.tells.match(bare):
        return True
    begin = span.start + words.index(bare)
    given = reading.given[reading.origin(begin) : reading.origin(span.end)]
    opening = phrases.accented.match(bare)
    if opening is None or not _ACCENT.search(reading.given):
        return False
    return not _ACCENT.search(given[: opening.end()])


def _without_announcements(
    parts: list[Part], unmarked: Collection[int], phrases: AskPhrases
) -> list[Part]:
    """ "I have two questions." and "Not sure who to ask." ask nothing where a question follows."""
    if sum(part.kind is PartKind.ASK for part in parts) < 2:
        return parts
    kept = list(parts)
    for place in unmarked:
        part = parts[place]
        if part.kind is PartKind.ASK and _only_announces(part.text, phrases):
            kept[place] = replace(part, kind=PartKind.STATEMENT, context="")
    if any(part.kind is PartKind.ASK for part in kept):
        return kept
    return parts


def _only_announces(text: str, phrases: AskPhrases) -> bool:
    """Whether a sentence without a question mark only says that something is asked."""
    words = FoldedText(text).folded.strip(_AROUND)
    unsure = phrases.unsure.match(words)
    if unsure is not None:
        what = words[unsure.end() :].strip(" ,").partition(",")[0]
        return len(what.split()) <= _ASIDE
    if phrases.asks_inside.match(words):
        return False
    if phrases.announces.search(words) and len(words.split()) <= _LONGEST_ANNOUNCEMENT:
        return phrases.indirect.search(words) is None
    request = phrases.requests.search(words)
    return request is not None and len(words[request.end() :].split()) <= _LEFT_OUT


def _part(reading: FoldedText, clause: SentenceSpan, kind: PartKind, before: str) -> Part | None:
    start, end = reading.origin(clause.start), reading.origin(clause.end)
    words = reading.given[start:end]
    shift = len(words) - len(words.lstrip(" \t\n-–—,;:"))
    words = words.strip(" \t\n-–—,;:")
    if sum(letter.isalnum() for letter in words) < _FEW_LETTERS:
        return None
    context = before.strip() if kind in (PartKind.ASK, PartKind.WISH) else ""
    return Part(kind, words, start + shift, start + shift + len(words), context)


# --- clauses


def _clauses(
    reading: FoldedText, span: SentenceSpan, kind: PartKind, phrases: AskPhrases
) -> Iterator[SentenceSpan]:
    """A sentence that asks twice ("what does it cost and when is it there?") is two asks."""
    if kind is not PartKind.ASK:
        yield span
        return
    at = span.start
    for mark in phrases.next_question.finditer(reading.folded, span.start, span.end):
        before = reading.folded[at : mark.start()]
        behind = reading.folded[mark.start() : span.end]
        if _goes_on(before, mark[0], behind, phrases) or _only_leads_in(before, mark[0], phrases):
            continue
        if _asks_by_itself(before, phrases):
            yield SentenceSpan(at, mark.start(), span.is_item)
            at = mark.start()
    yield SentenceSpan(at, span.end, span.is_item)


def _goes_on(before: str, joint: str, behind: str, phrases: AskPhrases) -> bool:
    """Whether the words behind a joint belong to the question before it.

    They do if they name the other possibility ("is it gone, or can I get it back?"), if they are
    what somebody wants to see or be told ("where do I see whether it is open?"), if they only
    describe a thing ("the chairs, which are blue"), or if they are too few.
    """
    asked = behind[len(joint) :].lstrip(" ¿¡")
    if phrases.alternatives.match(behind) or len(asked.split()) < _TAIL:
        return True
    is_bare = joint.strip(" ¿¡") == ","
    if is_bare and phrases.repeated.match(asked) and phrases.repeated.search(before):
        return True
    if is_bare and "¿" not in joint and phrases.relatives.match(asked):
        return True
    asks_openly = phrases.whether.match(asked) is not None
    if is_bare and not asks_openly and not _is_marked(behind):
        return True
    bare = before.strip(_AROUND)
    is_question = phrases.asks_inside.match(bare) is not None
    last = bare if is_bare and not is_question else " ".join(bare.split()[-_CLOSE:])
    return asks_openly and _lacks_object(last, phrases)


def _only_leads_in(before: str, joint: str, phrases: AskPhrases) -> bool:
    """Whether the words before `¿` only say when or of what is asked: "cuando llegue, ¿dónde ...?"
    The question begins at its mark."""
    if "¿" not in joint or _is_marked(before) or "¿" in before:
        return False
    return not (phrases.requests.search(before) or phrases.indirect.search(before))


def _lacks_object(words: str, phrases: AskPhrases) -> bool:
    """Whether somebody wants to know, and the words do not say yet what."""
    wanting = list(phrases.knows.finditer(words))
    return bool(wanting) and phrases.object.search(words, wanting[-1].end()) is None


def _asks_by_itself(words: str, phrases: AskPhrases) -> bool:
    """Whether the words before a joint ask something already, and not only announce it."""
    bare = words.strip(" ,;:-\n¿¡")
    if phrases.conditions.match(bare):
        behind = bare.partition(", ")[2]
        return bool(behind) and _asks_by_itself(behind, phrases)
    if phrases.tells.match(bare):
        return False
    opening = phrases.asks_inside.search(bare)
    if opening is not None:
        return len(bare[opening.end() :].split()) >= 1
    request = phrases.requests.search(bare)
    return request is not None and len(bare[request.end() :].split()) >= 2


def _kind_of(words: str, phrases: AskPhrases, *, after: PartKind = PartKind.STATEMENT) -> PartKind:
    bare = words.strip(_AROUND)
    if phrases.courtesy.fullmatch(bare.rstrip(" ?.!,;:-)")):
        return PartKind.STATEMENT
    if _is_marked(words) or phrases.opens.match(bare) or phrases.requests.search(bare):
        return PartKind.ASK
    if phrases.indirect.search(bare):
        return PartKind.ASK
    if after is PartKind.ASK and phrases.asks_on.fullmatch(bare):
        return PartKind.ASK  # "What does it cost? And if twelve of them are cheaper :)"
    if phrases.wishes.search(bare):
        return PartKind.WISH
    return PartKind.THANKS if phrases.thanks.search(bare) else PartKind.STATEMENT


def _is_marked(words: str) -> bool:
    return _QUESTION_MARK.search(words) is not None


def speaks(language: str | None) -> bool:
    """Whether asks are found by the phrases of this language."""
    return language_with_phrases(language) is not None


def announced_asks(text: str) -> int:
    """How many asks a message says that it has; 0 where it says nothing of it.

    Whoever says "two things" has two, also where one of them is put so that nobody would see it.
    """
    folded = " ".join(fold(text).split())
    announced = [number for number, pattern in _ANNOUNCED.items() if pattern.search(folded)]
    return max(announced, default=0)
