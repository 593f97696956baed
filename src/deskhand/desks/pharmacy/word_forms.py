"""Words as people type them: without diacritics, misspelt, bent by Czech grammar."""

import re
import unicodedata
from functools import cache, lru_cache
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
_SENTENCE_END = re.compile(r"[.!?:]\s|[\n¿¡]")
_SENTENCE = re.compile(r"(?:[^.!?\n]|[.!?](?=[^\s.!?])|(?<=\b\w)\.|(?<=\d)\.)+[.!?]*|[.!?]+")
_WRAPPED = re.compile(r"(?m)^(.{50,})\n(?=\S)")
"""A line so long that its sentence may go on in the next one."""
_DOUBLE = re.compile(r"(.)\1+")
_ENDING = re.compile(r"(?:ove|ovi|ou|em|ech|ach|ami|um|[aeiou]){1,2}$")
_SHORTEST_STEM = 3
_AFTER_CONSONANT = """
    a e i o u y em om ou ovi um am ech ich ach och ami mi ama ov uv s es
"""
_CASE_ENDINGS = frozenset(_AFTER_CONSONANT.split())
_VOWELS = "aeiouy"
_LATIN_NEUTER = "um"
_SHORTEST_BARE_STEM = 4
_SHORTEST_NEUTER = 5
_ORDINARY = 40
"""Letters of a word whose forms are remembered, at most."""


class TypedWord(NamedTuple):
    """A word as it was typed, its plain form, and its form as it sounds without its ending."""

    written: str
    plain: str
    stem: str
    start: int = 0
    """Where it begins in the text."""
    opens: bool = False
    """Whether it is the first word of a sentence or line."""

    @property
    def is_number(self) -> bool:
        return self.plain[:1].isdigit()

    @property
    def is_capitalised(self) -> bool:
        return self.written[:1].isupper()

    @property
    def end(self) -> int:
        return self.start + len(self.written)


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


def words_in(text: str) -> list[TypedWord]:
    """Numbers and words in order; `400mg` is two."""
    clean = visible(text)
    words: list[TypedWord] = []
    end = 0
    for piece in _WORD.finditer(clean):
        opens = not words or _SENTENCE_END.search(clean, end, piece.start()) is not None
        words.append(_word(piece[0], piece.start(), opens))
        end = piece.end()
    return words


def visible(text: str) -> str:
    """A text without characters nobody sees, composed; the places of words are places in it."""
    return unicodedata.normalize("NFC", _INVISIBLE.sub("", text))


def sentences_in(text: str) -> list[str]:
    """The sentences and lines of a text, each with its last sign."""
    pieces = _SENTENCE.findall(_WRAPPED.sub(r"\1 ", visible(text)))
    return [piece.strip() for piece in pieces if piece.strip()]


def _word(written: str, start: int, opens: bool) -> TypedWord:
    read = _remembered if len(written) <= _ORDINARY else _plain_and_stem
    return TypedWord(written, *read(written), start, opens)


def _plain_and_stem(written: str) -> tuple[str, str]:
    plain = fold(written)
    return plain, plain if plain[:1].isdigit() else stem(plain)


_remembered = lru_cache(maxsize=16_384)(_plain_and_stem)
"""A text is read several times for each message, and most words stand in many."""


@cache
def forms_of(word: str) -> frozenset[str]:
    """The forms of a folded word, itself among them.

    A word in a vowel loses it before an ending (`Smecta`, `Smectu`), one in -um may lose that
    (`Imodium`, `Imodia`). The bare stem is a form as well (`Claritin`).
    """
    forms = {word, *(word + ending for ending in _CASE_ENDINGS)}
    if word[-1:] in _VOWELS and len(word) - 1 >= _SHORTEST_BARE_STEM:
        stem = word[:-1]
        forms |= {stem, *(stem + ending for ending in _CASE_ENDINGS)}
    if word.endswith(_LATIN_NEUTER) and len(word) - 2 >= _SHORTEST_NEUTER:
        stem = word[:-2]
        forms |= {stem + ending for ending in _CASE_ENDINGS}
    return frozenset(forms)
