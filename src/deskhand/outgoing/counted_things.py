"""Small numbers that a second reader says count things of the sources: `2 = Piccolo + Grande`.

A reply that says `our two machines` counts what a source only names. The reader writes down what is
counted. Each thing must stand in a source or the message, apart from the others, and no source may
count the same otherwise. A thing is a name, a number, or a word of a list.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from deskhand.language.slots.folded_text import fold
from deskhand.outgoing.claim_words import words_of
from deskhand.outgoing.content_words import same_word, word_after, words_in
from deskhand.outgoing.stated_values import values_in
from deskhand.outgoing.values import Value

LONGEST_COUNT = 200
_MOST_COUNTED = 6
"""More things than that nobody counts without a number that stands somewhere."""
_COUNT = re.compile(r"\s*([0-9])\s*=\s*(.+)")
_ONE = frozenset(("one", "jeden", "jedna", "jedno", "jednu", "uno"))
"""Where it is no article."""
_LISTED = re.compile(r"\s*(?:,|;|/|\b(?:and|und|y|e|a|i|or|oder|nebo|o)\b)\s*")
"""What stands between the things of a list."""


def counts(written: Sequence[str], value: Value, text: str, sources: Sequence[str]) -> bool:
    """Whether one of the counts that a reader wrote down is this number of a reply: as many things,
    each of which stands in a source."""
    if value.kind != "number" or value.unit or not value.readings <= _SMALL:
        return False
    noun = word_after(text, value.end)
    if noun is not None and (
        noun.folded in words_of("packs") or _is_counted_otherwise(noun.folded, value, sources)
    ):
        return False
    if value.readings == {"2"} and any(map(_speaks_of_both, sources)):
        return True
    return any(
        str(number) in value.readings and _stand_in(things, sources)
        for number, things in _each(written)
    )


_SMALL = frozenset(str(number) for number in range(2, _MOST_COUNTED + 1))


def _speaks_of_both(source: str) -> bool:
    """Whether a source has a word for two of a kind: `both work from a tank`."""
    return any(word.folded in words_of("both") for word in words_in(source))


def _each(written: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
    """The counts whose things are as many as they say, and all different."""
    for part in (part for line in written for part in line[:LONGEST_COUNT].split(";")):
        match = _COUNT.fullmatch(part)
        if match is None:
            continue
        things = [" ".join(thing.split()) for thing in match[2].split("+")]
        if len({fold(thing) for thing in things}) == len(things) == int(match[1]):
            yield int(match[1]), things


def _stand_in(things: Sequence[str], sources: Sequence[str]) -> bool:
    """Whether all things stand in the sources, and are names, numbers or the words of one list."""
    texts = [" ".join(fold(source).split()) for source in sources]
    folded = [fold(thing) for thing in things]
    if not all(_stands_in_any(thing, texts) for thing in folded):
        return False
    if all(_is_name(thing) for thing in things):
        return True
    return any(_are_listed(folded, text) for text in texts)


def _is_name(thing: str) -> bool:
    return any(letter.isdigit() for letter in thing) or thing[:1].isupper()


def _stands_in_any(thing: str, texts: Sequence[str]) -> bool:
    pattern = re.compile(rf"(?<!\w){re.escape(thing)}(?!\w)")
    return any(pattern.search(text) for text in texts)


def _are_listed(things: Sequence[str], text: str) -> bool:
    """Whether things stand one behind the other, with nothing but signs of a list between."""
    pattern = _LISTED.pattern.join(re.escape(thing) for thing in things)
    return re.search(rf"(?<!\w){pattern}(?!\w)", text) is not None


def _has_one(noun: str, source: str) -> bool:
    words = [word.folded for word in words_in(source)]
    return any(before in _ONE and same_word(noun, word) for before, word in pairwise(words))


def _is_counted_otherwise(noun: str, value: Value, sources: Sequence[str]) -> bool:
    """Whether a source says another number of what the reply counts: `one service`, `24 months`."""
    for source in sources:
        if _has_one(noun, source):
            return True
        for other in values_in(source):
            if other.kind != "number" or other.readings == value.readings:
                continue
            following = word_after(source, other.end)
            if following is not None and same_word(noun, following.folded):
                return True
    return False
