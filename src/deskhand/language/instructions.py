"""Whether a message speaks to a machine: a reason for a person to look first.

It is no defence by itself; the gate is.
"""

import unicodedata
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import re2

from deskhand.config.yaml import read_yaml
from deskhand.language.pattern_set import PatternSet

LONGEST = 200_000
_BETWEEN = r"(?:[^\s.!?]+ ){0,4}"
_PATTERNS = Path(__file__).with_name("instructions.yaml")
_SHOWN = 80


def spoken_to_machine(text: str) -> str | None:
    """The first words that are meant for a machine, without accents and case; None for none."""
    if not text.strip():
        return None
    folded = _folded(text[:LONGEST])
    at_once, patterns = _compiled()
    for number in at_once.candidates(folded):
        match = patterns[number].search(folded)
        if match is not None:
            return str(match[0]).strip()[:_SHOWN]
    return None


def without_machine_words(text: str) -> str:
    """The text without the paragraphs that speak to a machine; as it is where none is left.

    They say nothing of what the customer wants.
    """
    if spoken_to_machine(text) is None:
        return text
    others = [each for each in _paragraphs(text) if spoken_to_machine(each) is None]
    return "\n\n".join(others) if others else text


def _paragraphs(text: str) -> Iterator[str]:
    """What stands between empty lines."""
    lines: list[str] = []
    for line in (*text.splitlines(), ""):
        if line.strip():
            lines.append(line)
        elif lines:
            yield "\n".join(lines)
            lines = []


def _folded(text: str) -> str:
    """Small letters without accents or marks nobody sees, single spaces, lines kept apart."""
    bare = text if text.isascii() else unicodedata.normalize("NFKD", text).translate(_BARE)
    lines = (" ".join(line.split()) for line in bare.casefold().splitlines())
    whole = "\n".join(line for line in lines if line)
    return (  # the second time in one line: a phrase may be broken anywhere
        f"{whole}\n{' '.join(whole.split())}"
    )


_HIDDEN = ("Cf", "Cs")
"""Marks of format, and half characters, which RE2 cannot read."""


class _Bare(dict[int, int | None]):
    """For `str.translate`: takes accents and marks nobody sees away; filled as characters are
    met."""

    def __missing__(self, code: int) -> int | None:
        hidden = unicodedata.combining(chr(code)) or unicodedata.category(chr(code)) in _HIDDEN
        self[code] = None if hidden else code
        return self[code]


_BARE = _Bare()


@cache
def _compiled() -> tuple[PatternSet, tuple[Any, ...]]:
    """All patterns as one set, which reads a text once, and each by itself, to show what it
    found."""
    data = read_yaml(_PATTERNS).data
    written = [pattern.replace("~", _BETWEEN) for patterns in data.values() for pattern in patterns]
    return PatternSet(written), tuple(map(re2.compile, written))
