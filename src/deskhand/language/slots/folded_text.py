"""A text made easy to read for extractors: folded to plain lower case letters, with the way back
to the original."""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property, lru_cache
from itertools import islice
from typing import Any

from deskhand.language.slots.slot_value import Precision, SlotMatch
from deskhand.model.value_readings import Reading

MOST_TEXT = 1_000_000
"""Characters read of one text."""
MOST_CANDIDATES = 2_000
"""Places looked at for one slot."""
MOST_MATCHES = 200
"""Places kept for one slot."""
MOST_WORDS = 200_000
"""Words of one text that are compared with names."""

Word = tuple[int, int, str]
"""Start, end and text."""
WORD = re.compile(r"[^\W_]+")

_LETTERS = {
    "ß": "s",
    "ł": "l",
    "ø": "o",
    "đ": "d",
    "ð": "d",
    "ı": "i",
    "æ": "a",
    "œ": "o",
    "þ": "t",
}
_MARKS = {
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe63\uff0d", "-"),
    **dict.fromkeys("\u2018\u2019\u201a\u02bc\u00b4`\u2032", "'"),
    **dict.fromkeys("\u00d7\u2715\u2716", "x"),
    **dict.fromkeys("\u00b0\u00ba", "o"),
    **dict.fromkeys("\r\x0b\x0c\x1c\x1d\x1e\u0085\u2028\u2029", "\n"),
    "\uff0b": "+",
    "\u00aa": "a",
    "\t": " ",
}
_DROPPED = re.compile(
    "[\u0300-\u036f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufe0e\ufe0f\ufeff]+"
)


_MOST_REMEMBERED = 50_000
_SHORT = 300
"""Characters of a text whose folded form is remembered."""


class _Folding(dict[int, str]):
    """Character to character, worked out on first sight; never more or fewer than one."""

    def __missing__(self, code: int) -> str:
        folded = _folded_character(chr(code))
        if len(self) < _MOST_REMEMBERED:
            self[code] = folded
        return folded


def _folded_character(character: str) -> str:
    if character in _MARKS:
        return _MARKS[character]
    kind = unicodedata.category(character)
    if kind == "Zs":
        return " "
    if kind == "Nd":
        return str(unicodedata.decimal(character))
    if kind[0] != "L":
        return "?" if kind == "Cs" else character
    lower = character.lower()[0]
    return _LETTERS.get(lower) or unicodedata.normalize("NFKD", lower)[0].lower()[0]


_FOLDING = _Folding()


def fold(text: str) -> str:
    """Lower case, without diacritics, one kind of space, dash, apostrophe and digit."""
    return _fold_short(text) if len(text) <= _SHORT else _fold(text)


def _fold(text: str) -> str:
    return _DROPPED.sub("", text).translate(_FOLDING)


_fold_short = lru_cache(maxsize=4096)(_fold)
"""Words, clauses and sentences are folded again and again while one reply is checked."""


class FoldedText:
    """One text, as given and folded."""

    def __init__(self, text: str) -> None:
        self.given = text
        self.is_cut = len(text) > MOST_TEXT
        read = text[:MOST_TEXT]
        self.text = read.encode("utf-8", "replace").decode()
        """With `?` for halves of characters, which cannot be encoded; every place as given."""
        self.folded = fold(read)
        self._kept, self._shift = [0], [0]
        shift = 0
        for gap in _DROPPED.finditer(read) if len(self.folded) < len(read) else ():
            self._kept.append(gap.start() - shift)
            shift += gap.end() - gap.start()
            self._shift.append(shift)

    @cached_property
    def words(self) -> list[Word]:
        """The words of the folded text, one more than MOST_WORDS at most."""
        return [
            (*match.span(), match.group())
            for match in islice(WORD.finditer(self.folded), MOST_WORDS + 1)
        ]

    def origin(self, place: int) -> int:
        """Where a place of the folded text is in the text as given."""
        return place + self._shift[bisect_right(self._kept, place) - 1]


class Scan:
    """One slot's look at a text: hands out candidates until there are too many, and makes
    matches."""

    def __init__(self, reading: FoldedText) -> None:
        self.reading = reading
        self.folded = reading.folded
        self.is_cut = reading.is_cut
        self._left = MOST_CANDIDATES

    def candidates(self, pattern: Any, text: str | None = None) -> Iterator[Any]:
        """The RE2 pattern's matches in the folded text, or in another one."""
        for match in pattern.finditer(self.folded if text is None else text):
            if self._left <= 0:
                self.is_cut = True
                return
            self._left -= 1
            yield match

    def match(
        self,
        value: Any,
        start: int,
        end: int,
        confidence: float,
        *,
        precision: Precision = "exact",
        read: Reading = "exact",
    ) -> SlotMatch:
        """A match whose place is one of the folded text."""
        first, last = self.reading.origin(start), self.reading.origin(end)
        return self.match_given(value, first, last, confidence, precision, read)

    def match_given(
        self,
        value: Any,
        start: int,
        end: int,
        confidence: float,
        precision: Precision = "exact",
        read: Reading = "exact",
    ) -> SlotMatch:
        text = self.reading.given[start:end]
        return SlotMatch(value, start, end, text, round(confidence, 3), precision, read)
