"""The customer's own words in one turn, for the slots that take words.

What the model marks comes first, cut to whole clauses without values of other slots; an address
that is plain by its form is taken whole; else the words that are left beside other values.
"""

import re
from collections.abc import Sequence

from deskhand.language.address_parts import address_places
from deskhand.language.slots.folded_text import FoldedText
from deskhand.language.turn_addresses import address_in, unasked_words, with_name_before
from deskhand.language.turn_cues import turn_cues
from deskhand.language.turn_kinds import TurnKind
from deskhand.language.turn_number_values import overlap
from deskhand.language.turn_reading import Span, TurnReading
from deskhand.language.turn_texts import (
    EDGES,
    gives_reason,
    is_empty_answer,
    marked_words,
    only_wishes,
    own_words,
    wishes_return,
    with_what_follows,
    words_beside,
)

_FEW_WORDS = 5
_SURE_OF_ANSWER = 0.9
"""How sure it must be of words that were asked for and say little."""
_SURE_OF_WORDS = 0.6
"""How sure it must be of words that were not asked for."""
_NEW_SENTENCE = re.compile(r"[.!?;]\s|\n")
_LEADS_TO_ORDER = re.compile(
    r"\(?(?:\b(?:from|of|in|on|for|with|aus|von|bei|zu|zur|mit|z|ze|u|v|k|ke|de|del|en) )?"
    r"(?:\b(?:the|my|this|der|meiner|dieser|me|moji|teto|mi|el|la) )?"
    r"\b(?:orders?|order's|bestell\w*|auftrag\w*|objednavk\w*|obj|pedido|compra|orden)"
    r"(?: (?:number|no|nr|nummer|cislo|c|numero|is|ist|je|es))*[ .:#]*$"
)
"""What stands before an order amid other words."""
_NAME = re.compile(r"c/o\b|[A-ZÀ-Ž]")


class OwnWords:
    """What a text says in words of its own. `spans` are the places of its other values."""

    def __init__(self, text: str, model: TurnReading, spans: Sequence[Span]) -> None:
        self._text = text
        self._model = model
        self._spans = spans

    def answer(self, name: str, about: str | None, *, is_asked: bool) -> str | None:
        """What the model marks; of what was asked for, else what is left beside other values."""
        if about == "address":
            return self._address(name, about, is_asked=is_asked)
        words = self._without_orders(self._answer(name, about, is_asked=is_asked))
        return words if words is not None and self.says(words) else None

    def _answer(self, name: str, about: str | None, *, is_asked: bool) -> str | None:
        words = self.marked(name, about)
        if words is not None and (is_asked or self._is_sure(name, about)) and self.says(words):
            if about == "summary" and is_asked:
                return with_what_follows(self._text, words, self._spans)
            return _reasoned(about, words)
        if not is_asked:
            several = self._model.chance(TurnKind.ANSWERS_SEVERAL)
            gives_more = several >= self._model.chance(TurnKind.ANSWER)
            words = words_beside(self._text, self._spans) if gives_more else None
            return _reasoned(about, words)
        words = own_words(self._text, self._spans, drops_lead=about != "summary")
        return _reasoned(about, words) if words is not None and self.says(words) else None

    def _without_orders(self, words: str | None) -> str | None:
        """The words without an order that stands amid them: "the lamp from order 10018
        flickers"."""
        start = -1 if words is None else self._text.find(words)
        if words is None or start < 0:
            return words
        place = start, start + len(words)
        return without_orders(self._text, place, self._spans)

    def unasked(self, name: str, about: str | None) -> str | None:
        """The words for a slot of a matter that begins: what the model marks, else what says so
        by itself."""
        if about == "address":
            return self._address(name, about, is_asked=False)
        words = self.marked(name, about) if self._is_sure(name, about) else None
        words = _reasoned(about, words)
        if words is not None and self.says(words):
            return words
        return unasked_words(about, self._text, self._spans)

    def instead(self, name: str, about: str | None, *, is_correction: bool) -> str | None:
        """The words in the place of others: an address by its form; other words that are not
        marked only where the turn is most likely a correction."""
        if about == "address":
            words = self._address(name, about, is_asked=False)
        else:
            words = self.marked(name, about)
        if words is None and is_correction and about != "address":
            words = own_words(self._text, self._spans)
            words = words if words and len(words.split()) > 1 else None
        return words if words is not None and self.says(words) else None

    def marked(self, name: str, about: str | None) -> str | None:
        """The clauses that the model marks, without values of other slots."""
        place = self._model.marked.get(about or name)
        return None if place is None else marked_words(self._text, place, self._spans)

    def says(self, words: str) -> bool:
        """Whether words say something, and not only which of two things is meant."""
        cues = turn_cues()
        points = cues.has("other_one", FoldedText(words).folded)
        if points and len(words.split()) <= _FEW_WORDS:
            return False
        return not is_empty_answer(words, cues)

    def is_plain(self, name: str, about: str | None) -> bool:
        """Whether the words are there for certain: the model says so, or they say why."""
        says_why = about == "reason" and gives_reason(FoldedText(self._text).folded)
        return says_why or self._model.surety.get(about or name, 0) >= _SURE_OF_ANSWER

    def _is_sure(self, name: str, about: str | None) -> bool:
        return self._model.surety.get(about or name, 0) >= _SURE_OF_WORDS

    # --- addresses

    def _address(self, name: str, about: str, *, is_asked: bool) -> str | None:
        places = address_places(self._text, self._spans, is_asked=is_asked)
        mark = self._model.marked.get(about)
        if places:
            return self._text[slice(*self._as_marked(places[-1], mark))].strip(EDGES)
        words = self.marked(name, about)
        if words is not None and (is_asked or self._is_sure(name, about)) and self.says(words):
            return with_name_before(self._text, words)
        return address_in(self._text, self._spans, is_asked=is_asked)

    def _as_marked(self, place: Span, mark: Span | None) -> Span:
        """An address with what the model marks before and after it: a name, a door."""
        start, end = place
        if mark is None or not overlap(place, mark):
            return place
        before = self._text[mark[0] : start]
        if mark[0] < start and _NAME.match(before) and self._is_free(mark[0], start):
            start = mark[0]
        marked_end = mark[1]
        while self._text[marked_end - 1 : marked_end + 1].isalnum() and marked_end < len(
            self._text
        ):
            marked_end += 1
        if marked_end > end and self._is_free(end, marked_end):
            end = marked_end
        return start, end

    def _is_free(self, start: int, end: int) -> bool:
        """Whether a place holds no other value, and no new sentence."""
        if _NEW_SENTENCE.search(self._text[start:end]):
            return False
        return not any(overlap((start, end), span) for span in self._spans)


def _reasoned(about: str | None, words: str | None) -> str | None:
    """The words, unless they are to be a reason and only repeat what is wanted."""
    if words and about == "reason" and (only_wishes(words) or wishes_return(words)):
        return None
    return words


def without_orders(text: str, place: Span, spans: Sequence[Span]) -> str | None:
    """The words at a place without the orders in them and the words that lead to those; None where
    nothing is left."""
    folded = FoldedText(text).folded
    start, end = place
    pieces: list[str] = []
    for first, last in sorted(spans):
        lead = _LEADS_TO_ORDER.search(folded[start:first]) if start <= first < end else None
        if lead is not None:
            pieces.append(text[start : start + lead.start()])
            start = _after_bracket(text, last) if "(" in lead.group() else last
    pieces.append(text[start:end])
    words = " ".join(piece.strip() for piece in pieces if piece.strip(EDGES))
    return words.strip(EDGES) or None


def _after_bracket(text: str, place: int) -> int:
    """Where the bracket ends that is open at a place."""
    end = text.find(")", place)
    return place if end < 0 else end + 1
