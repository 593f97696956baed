"""The words by which claims are read, from `claim_words.toml`, in six languages at once.

What language a draft is in is the word of whoever wrote it: every list counts for every text.
"""

import re
import tomllib
from functools import cache
from importlib.resources import files

from deskhand.language.function_words import small_words
from deskhand.language.slots.folded_text import fold


class WordList:
    """Whole words, and beginnings of words."""

    def __init__(self, written: str) -> None:
        words = written.split()
        self.whole = frozenset(word for word in words if not word.endswith("*"))
        self._beginnings = tuple(word[:-1] for word in words if word.endswith("*"))

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and (
            word in self.whole or word.startswith(self._beginnings or ("\0",))
        )


@cache
def words_of(section: str) -> WordList:
    """The words of a section, of all languages."""
    return WordList(" ".join(_table()[section].values()))


@cache
def words_of_each(section: str) -> dict[str, WordList]:
    """The words of each key of a section."""
    return {key: WordList(words) for key, words in _table()[section].items()}


@cache
def phrases_of(section: str) -> re.Pattern[str]:
    """The phrases of a section, of all languages, as one pattern of whole words."""
    return re.compile(rf"(?<!\w)(?:{'|'.join(_table()[section].values())})(?!\w)")


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
