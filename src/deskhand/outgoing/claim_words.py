"""The words by which claims are read, from `claim_words.toml`, in six languages at once.

What language a draft is in is the word of whoever wrote it: every list counts for every text.
"""

import re
import tomllib
from functools import cache, lru_cache
from importlib.resources import files

from deskhand.language.function_words import small_words
from deskhand.language.slots.folded_text import fold


class WordList:
    """Whole words, and beginnings of words."""

    def __init__(self, written: str) -> None:
        words = written.split()
        self.whole = frozenset(word for word in words if not word.endswith("*"))
        self.beginnings = tuple(word[:-1] for word in words if word.endswith("*"))

    def __contains__(self, word: object) -> bool:
        if not isinstance(word, str):
            return False
        return word in self.whole or word.startswith(self.beginnings)


@cache
def words_of(section: str) -> WordList:
    """The words of a section, of all languages."""
    return WordList(" ".join(_table()[section].values()))


@cache
def words_of_each(section: str) -> dict[str, WordList]:
    """The words of each key of a section."""
    return {key: WordList(words) for key, words in _table()[section].items()}


class KeyedWords:
    """The keys of a section by the words that stand under them, without asking each list."""

    def __init__(self, lists: dict[str, WordList]) -> None:
        self._order = tuple(lists)
        self._by_word: dict[str, set[str]] = {}
        self._by_beginning: dict[str, set[str]] = {}
        for key, listed in lists.items():
            for word in listed.whole:
                self._by_word.setdefault(word, set()).add(key)
            for beginning in listed.beginnings:
                self._by_beginning.setdefault(beginning, set()).add(key)
        self._longest = max(map(len, self._by_beginning), default=0)

    def keys_of(self, word: str) -> tuple[str, ...]:
        keys = set(self._by_word.get(word, ()))
        for length in range(1, min(len(word), self._longest) + 1):
            keys |= self._by_beginning.get(word[:length], set())
        return tuple(sorted(keys, key=self._order.index))


@cache
def _keyed_words(section: str) -> KeyedWords:
    return KeyedWords(words_of_each(section))


@lru_cache(maxsize=65536)
def keys_of(section: str, word: str) -> tuple[str, ...]:
    """The keys of a section under which a folded word stands, in the order of the section."""
    return _keyed_words(section).keys_of(word)


@cache
def phrases_of(section: str) -> re.Pattern[str]:
    """The phrases of a section, of all languages, as one pattern of whole words."""
    return re.compile(rf"(?<!\w)(?:{'|'.join(_table()[section].values())})(?!\w)")


@cache
def phrases_of_each(section: str) -> dict[str, re.Pattern[str]]:
    """The phrases of each key of a section, as patterns of whole words."""
    return {
        key: re.compile(rf"(?<!\w)(?:{listed})(?!\w)") for key, listed in _table()[section].items()
    }


@cache
def pattern_of(section: str) -> re.Pattern[str]:
    """The pattern that a section is."""
    return re.compile(_table()[section]["all"])


@cache
def meanings_of(section: str) -> dict[str, str]:
    """Every word of a section with the key it stands under: `two` is `2`."""
    return {word: key for key, words in _table()[section].items() for word in words.split()}


@cache
def function_words() -> frozenset[str]:
    """The small words of all languages, without accents."""
    return frozenset(map(fold, small_words()))


@cache
def _table() -> dict[str, dict[str, str]]:
    path = files("deskhand.outgoing") / "claim_words.toml"
    return tomllib.loads(path.read_text("utf-8"))
