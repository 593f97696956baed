"""Many words looked for at once, at a cost that does not grow with their number."""

import re
from collections.abc import Iterator
from typing import Any

_TOKEN = re.compile(r"\w+|\s+|[^\w\s]")
_LONGEST_VALUE = 100
"""Tokens of a value that are looked at."""


def any_of(words: str) -> str:
    """A pattern for any of the words (`one|two words`) in any case, the longest first.

    Common beginnings are written once: a search leaves a text's letter after a few looks, where a
    plain list would be tried word by word.
    """
    tree: dict[str, Any] = {}
    for word in words.split("|"):
        branch = tree
        for letter in word:
            branch = branch.setdefault(letter, {})
        branch[""] = {}
    return f"(?i:{_written(tree)})"


def _written(tree: dict[str, Any]) -> str:
    branches = [re.escape(letter) + _written(rest) for letter, rest in tree.items() if letter]
    if not branches:
        return ""
    one_way = len(branches) == 1 and "" not in tree
    return branches[0] if one_way else f"(?:{'|'.join(branches)}){'?' * ('' in tree)}"


class KnownValues:
    """Values with their kinds, found where they stand by themselves, in one walk over a text."""

    def __init__(self) -> None:
        self._tree: dict[str, Any] = {}

    def add(self, value: str, kind: str) -> None:
        """Note a value; the kind that it was first noted with stays."""
        branch = self._tree
        for token in _TOKEN.findall(value)[:_LONGEST_VALUE]:
            branch = branch.setdefault(_as_looked_up(token), {})
        branch.setdefault("", kind)

    def find(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Beginning, end and kind of the longest value at each place; they may overlap."""
        if not self._tree:
            return
        tokens = list(_TOKEN.finditer(text))
        for place, token in enumerate(tokens):
            if (hit := self._longest(tokens, place)) is not None:
                yield token.start(), *hit

    def _longest(self, tokens: list[re.Match[str]], place: int) -> tuple[int, str] | None:
        branch, hit = self._tree, None
        for at in range(place, len(tokens)):
            branch = branch.get(_as_looked_up(tokens[at][0]), {})
            if not branch:
                break
            if "" in branch:
                hit = (tokens[at].end(), str(branch[""]))
        return hit


def _as_looked_up(token: str) -> str:
    """White space is the same however much of it there is."""
    return " " if token.isspace() else token
