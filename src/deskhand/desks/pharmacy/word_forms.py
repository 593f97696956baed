"""Words as people type them: without diacritics, misspelt, bent by Czech grammar."""

import re
import unicodedata
from typing import NamedTuple

_WORD = re.compile(r"\d+(?:[.,]\d+)?|[^\W\d_]{1,2}\d+|[^\W\d_]+")
_INVISIBLE = re.compile(r"[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]")
_SOUNDS = {
    "ph": "f",
    "th": "t",
    "ck": "k",
    "qu": "kv",
    "x": "ks",
    "y": "i",
    "c": "k",
    "z": "s",
    "w": "v",
}
_DOUBLE = re.compile(r"(.)\1+")
_ENDING = re.compile(r"(?:ove|ovi|ou|em|ech|ach|ami|um|[aeiou]){1,2}$")
_SHORTEST_STEM = 3


class Word(NamedTuple):
    """A word as it was typed, its plain form, and its form as it sounds without its ending."""

    written: str
    plain: str
    stem: str

    @property
    def is_number(self) -> bool:
        return self.plain[:1].isdigit()


def fold(text: str) -> str:
    """Lower case without diacritics and without characters nobody sees."""
    apart = unicodedata.normalize("NFKD", _INVISIBLE.sub("", text))
    return "".join(letter for letter in apart if not unicodedata.combining(letter)).casefold()


def stem(plain: str) -> str:
    """How a folded word sounds, without its ending: `nurophenu` and `Nurofen` are the same."""
    for letters, sound in _SOUNDS.items():
        plain = plain.replace(letters, sound)
    plain = _DOUBLE.sub(r"\1", plain) if len(plain) > _SHORTEST_STEM else plain
    short = _ENDING.sub("", plain)
    return short if len(short) >= _SHORTEST_STEM else plain


def words_in(text: str) -> list[Word]:
    """Numbers and words in order; `400mg` is two."""
    written = _WORD.findall(unicodedata.normalize("NFC", _INVISIBLE.sub("", text)))
    return [_word(piece) for piece in written]


def _word(written: str) -> Word:
    plain = fold(written)
    sound = plain if plain[:1].isdigit() else stem(plain)
    return Word(written, plain, sound)
