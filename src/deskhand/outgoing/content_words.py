"""The words of a text that carry its meaning, and whether two of them are the same word.

Endings differ from case to case and from one language's grammar to another's, so words are compared
by their beginnings; German compounds by what stands in them.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import repeat
from typing import NamedTuple

from deskhand.language.slots.folded_text import FoldedText, fold
from deskhand.outgoing.claim_words import function_words, keys_of, words_of

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_TOKEN = re.compile(r"[a-z0-9€$£%]+")
_SHORT = 600
"""Characters of a text whose tokens are remembered, at most."""
_SHORTEST = 3
_SHARED = 0.66
"""How much of the longer word two words of the same stem have in common, at least."""
_SHORTEST_PART = 5
_OPPOSITE = ("un", "in", "im", "ir", "ne", "nie", "non", "dis", "des")
_SENTENCE_BREAK = re.compile(r"[.!?¡¿:\n\"“„»(–-][\s\"“„»(–¡¿-]*$|^[\s>*•\"“„»(–¡¿-]*$")


_VOWELS = re.compile(r"[aeiou]")
_FEWEST_CONSONANTS = 6
_ENGLISH_Y = re.compile(r"(?<=[b-df-hj-np-tv-z])ie[ds]$")
"""`tried`, `tries`: forms of `try`."""


class Word(NamedTuple):
    folded: str
    start: int
    end: int
    is_capital: bool
    is_first: bool
    """Whether a sentence or a line begins with it: then its capital tells nothing."""


@lru_cache(maxsize=4096)
def words_in(text: str) -> tuple[Word, ...]:
    """All words of a text, in order."""
    reading = FoldedText(text)
    words: list[Word] = []
    for match in _WORD.finditer(reading.folded):
        start, end = reading.origin(match.start()), reading.origin(match.end())
        given = text[start:end]
        is_first = _SENTENCE_BREAK.search(text[:start][-12:]) is not None
        words.append(Word(match.group(), start, end, given[:1].isupper(), is_first or start == 0))
    return tuple(words)


def tokens(text: str) -> str:
    """The words and numbers of a text, folded, with one space around each."""
    return _tokens_of_short(text) if len(text) <= _SHORT else _tokens(text)


def _tokens(text: str) -> str:
    return f" {' '.join(_TOKEN.findall(fold(text)))} "


_tokens_of_short = lru_cache(maxsize=4096)(_tokens)
"""Each sentence of a reply is held against each sentence that is quoted."""


def word_after(text: str, place: int) -> Word | None:
    """The word right behind a place, with nothing but a space between."""
    following = words_in(text[place:])[:1]
    if not following or text[place : place + following[0].start].strip(" -"):
        return None
    return following[0]


def carries_meaning(word: str) -> bool:
    """Whether a folded word says something: neither a small word nor one of every letter."""
    word = word.split("'")[0]
    is_small = len(word) < _SHORTEST or word in function_words()
    return not is_small and word not in words_of("courtesy")


@lru_cache(maxsize=65536)
def same_word(word: str, other: str) -> bool:
    """Whether two folded words are forms of one word, or one is a part of the other."""
    word, other = _ENGLISH_Y.sub("y", word), _ENGLISH_Y.sub("y", other)
    if word == other:
        return True
    if opposite_words(word, other):
        return False
    if _same_consonants(word, other) or _are_synonyms(word, other):
        return True
    shorter, longer = sorted((word, other), key=len)
    if len(shorter) < _SHORTEST:
        return False
    shared = 0
    for letter, letter_of_other in zip(shorter, longer, strict=False):
        if letter != letter_of_other:
            break
        shared += 1
    if shared >= max(4, _SHARED * len(shorter)) or (
        shared == len(shorter) and len(longer) - shared <= 2
    ):
        return True
    return len(shorter) >= _SHORTEST_PART and shorter in longer


def _same_consonants(word: str, other: str) -> bool:
    """`verschieben` and `verschoben`: strong verbs change their vowels alone."""
    consonants = _VOWELS.sub("", word)
    long_enough = len(consonants) >= _FEWEST_CONSONANTS
    return long_enough and consonants == _VOWELS.sub("", other)


def _are_synonyms(word: str, other: str) -> bool:
    return not set(keys_of("synonyms", word)).isdisjoint(keys_of("synonyms", other))


def stands_among(word: str, others: Iterable[str]) -> bool:
    """Whether a folded word, in some form, is one of the others."""
    return any(map(same_word, repeat(word), others))


@lru_cache(maxsize=65536)
def opposite_words(word: str, other: str) -> bool:
    """`used` and `unused`, `posíláme` and `neposíláme`."""
    shorter, longer = sorted((word, other), key=len)
    for prefix in _OPPOSITE:
        rest = longer.removeprefix(prefix)
        if rest != longer and len(rest) >= 4 and len(shorter) >= 4:
            shared = min(len(rest), len(shorter), max(4, int(0.8 * len(rest))))
            if rest[:shared] == shorter[:shared]:
                return True
    return False
