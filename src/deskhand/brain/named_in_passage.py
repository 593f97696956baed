"""Whether a passage speaks of the thing that an ask names."""

import re
from collections.abc import Collection, Sequence

from deskhand.language.function_words import is_small
from deskhand.language.slots.folded_text import WORD, fold

_SENTENCE = re.compile(r"(?<=[.!?;])\s+")
_NAME = re.compile(r"(?<=[\w,;] )[A-ZÁ-Ž][\w-]+(?: [A-ZÁ-Ž][\w-]+)*")
"""Words with a capital inside a sentence."""
_CODE = re.compile(r"\b(?!(?:EUR|CZK|USD|GBP|PLN|CHF)\b)[A-Z]{2,6}[ -]?\d{2,6}(?:-\d+)?\b")
"""Capitals and a number, no price: `BS 5852`, `EN 1335-1`, `IP65`."""
_STEM = 5
_NOUNS_WITH_CAPITALS = frozenset({"de"})
"""Languages that write every noun with a capital: one such word says nothing about a name."""
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTHS = ("january", "february", "march", "april", "may", "june", "july", "august", "september")
_CALENDAR = frozenset((*_DAYS, *_MONTHS, "october", "november", "december"))
"""English words with a capital that name no thing."""


def speaks_of_it(ask: str, title: str, passage: str, language: str | None = None) -> bool:
    """Whether the passage, in its language, speaks of what the ask names, and not of another
    thing."""
    if says_it_of_another(ask, passage, language):
        return False
    return not leaves_out_code(ask, f"{title} {passage}")


def says_it_of_another(ask: str, passage: str, language: str | None = None) -> bool:
    """Whether the passage says what is asked for of another thing than the one that is named.

    "Is the Mira Plus available in green?" is not answered by "The Mira comes in green. The Mira
    Plus has a sensor": the only sentence that speaks of green names another thing.
    """
    names = _names_in_both(ask, _named(passage, language))
    if not names:
        return False
    everything_named = " ".join(names)
    others = [stem for stem in _stems(ask) if stem not in everything_named]
    speaking: list[str] = []
    for sentence in _SENTENCE.split(passage):
        if any(stem in fold(sentence) for stem in others):
            speaking.append(sentence)
    return bool(speaking) and all(_names_only_others(names, sentence) for sentence in speaking)


def leaves_out_code(ask: str, passage: str) -> bool:
    """Whether the ask names a norm, a type or a part by its code, and the passage does not.

    "Does it meet BS 5852?" is not answered by what the chair is made of.
    """
    said = _joined(passage)
    codes = (match[0] for match in _CODE.finditer(ask))
    return any(_joined(code) not in said for code in codes)


def _joined(text: str) -> str:
    return re.sub(r"[\s-]", "", fold(text))


def _names_only_others(names: Sequence[str], sentence: str) -> bool:
    named = _capitals(sentence)
    return bool(named) and not any(name in fold(sentence) for name in names)


def _named(passage: str, language: str | None) -> set[str]:
    """The names of things in a passage; of German ones, those of several words: "Lampe Mira Plus"
    names a Mira Plus."""
    named = set(_capitals(passage))
    if language not in _NOUNS_WITH_CAPITALS:
        return named
    words = [name.split() for name in named]
    return {" ".join(run[start:]) for run in words for start in range(len(run) - 1)}


def _names_in_both(ask: str, named: Collection[str]) -> list[str]:
    """The names of things in the ask that the passage has too, the longest only: `mira plus`."""
    asked = " ".join(WORD.findall(fold(ask)))
    named_in_ask = [name for name in named if re.search(rf"\b{re.escape(name)}\b", asked)]
    longest: list[str] = []
    for name in sorted(named_in_ask, key=len, reverse=True):
        if not any(name in other for other in longest):
            longest.append(name)
    return longest


def _capitals(text: str) -> list[str]:
    named = [fold(match[0]) for match in _NAME.finditer(text)]
    return [name for name in named if name not in _CALENDAR]


def _stems(text: str) -> list[str]:
    """The beginnings of its words, without small ones, which any sentence has."""
    words = [word for word in WORD.findall(fold(text)) if not is_small(word)]
    return [word[:_STEM] for word in words if len(word) >= _STEM - 1]
