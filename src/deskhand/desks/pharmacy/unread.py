"""Things that a sentence asks for and in which no medicine was read: `Do you have it, and plasters
too?`"""

import re
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path

from .clauses import BREAK, DETERMINERS, OF_A_SHOP, is_of_a_name, says_nothing
from .marked_names import NAME
from .numbers_in_words import is_number_word
from .phrases import speaks_of
from .places import place_words
from .unknown_names import MAKERS, ORDINARY_WORDS
from .word_forms import TypedWord, words_in

_FILE = Path(__file__).parent / "data" / "ordinary_words.txt"
_JOINING = r"\b(?:a|i|ani|plus|y|e|o)\b"
_PIECES = re.compile(rf"({BREAK.pattern}|{_JOINING}|[?!.]\s)")
_WANTING = re.compile(
    r"\b(?:potrebuj\w*|potreboval\w*|shanim\w*|zhanam\w*|hledam\w*|hladam\w*"
    r"|need|looking for|brauch\w*|suche|benotige|necesit\w+|busco|buscamos)\b"
)
_PRONOUN_WORDS = """
    ho ji ju jej je to ich it them him lo la los las ihn sie es das die
"""
_PRONOUNS = frozenset(_PRONOUN_WORDS.split())
_UNITS_AND_PREPOSITIONS = """
    mg g ml mcg iu in v ve en at im bei de of von za do
"""
_BESIDE_A_NAME = frozenset(_UNITS_AND_PREPOSITIONS.split())
_BEFORE_A_SIGNATURE = frozenset((",", "."))
_SHORTEST_THING = 4
_ORDINARY_KINDS = """
    stock hours reserve asked command price paying prescription seeks tell_me thanks when kinds
    cancel check
"""


def asks_for_something_unread(plain: str) -> bool:
    """Whether a sentence with marked names asks for a thing that is none of them.

    A word that no list has is such a thing beside a word for stock or for putting aside, behind a
    verb of wanting, and where it is joined to a name.
    """
    is_question = plain.endswith("?")
    pieces = _PIECES.split(plain)
    if not is_question and len(pieces) > 1 and pieces[-2].strip() in _BEFORE_A_SIGNATURE:
        pieces = pieces[:-2]
    parts = [piece for piece in pieces[::2] if piece.strip()]
    unnamed = [piece for piece in parts if NAME not in piece]
    if any(map(_wants_something_strange, unnamed)) or _joins_something_strange(parts):
        return True
    if is_question:
        return any(map(_asks_for_strange_stock, unnamed))
    return any(map(_puts_aside_something_strange, unnamed))


def has_strange_words(plain: str) -> bool:
    """Whether a text with marked names holds a word that no list has."""
    return any(map(_is_strange, words_in(plain)))


def _joins_something_strange(parts: Sequence[str]) -> bool:
    """Whether a part that names a medicine is followed by one that holds another thing alone."""
    named = [piece for piece in pairwise(parts) if NAME in piece[0] and NAME not in piece[1]]
    return any(_is_bare(words_in(following)) for _, following in named)


def _puts_aside_something_strange(piece: str) -> bool:
    return speaks_of("reserve", piece) and any(map(_is_strange, words_in(piece)))


def _asks_for_strange_stock(piece: str) -> bool:
    is_about_stock = speaks_of("stock", piece) and not speaks_of("hours", piece)
    return is_about_stock and any(map(_is_strange, words_in(piece)))


def _wants_something_strange(piece: str) -> bool:
    """Whether the first word behind a verb of wanting that says anything is in no list."""
    verb = _WANTING.search(piece)
    behind = words_in(piece[verb.end() :]) if verb else []
    if not behind or behind[0].plain in _PRONOUNS:
        return False
    meant = [word for word in behind if not _says_little(word)]
    return bool(meant) and _is_strange(meant[0])


def _is_bare(words: Sequence[TypedWord]) -> bool:
    """Whether there is nothing but a strange word and what stands beside a name."""
    strange = [word for word in words if _is_strange(word)]
    others = [word for word in words if word not in strange]
    return len(strange) == 1 and all(map(_stands_beside_a_name, others))


def _stands_beside_a_name(word: TypedWord) -> bool:
    if is_of_a_name(word) or word.plain in DETERMINERS or word.plain in place_words():
        return True
    return is_number_word(word) or word.plain in _BESIDE_A_NAME


def _says_little(word: TypedWord) -> bool:
    return says_nothing(word) or word.plain in DETERMINERS or is_number_word(word)


def _is_strange(word: TypedWord) -> bool:
    if len(word.plain) < _SHORTEST_THING or _says_little(word) or word.plain in OF_A_SHOP:
        return False
    if word.plain in ORDINARY_WORDS or word.plain in MAKERS or word.plain in _ordinary_words():
        return False
    return not any(speaks_of(kind, word.plain) for kind in _ORDINARY_KINDS.split())


@cache
def _ordinary_words() -> frozenset[str]:
    lines = _FILE.read_text(encoding="utf-8").splitlines()
    return frozenset(word for line in lines if not line.startswith("#") for word in line.split())
