"""Whether a message speaks to a machine. No defence by itself (the gate is): a reason for a person to look first."""

import unicodedata
from functools import cache
from pathlib import Path
from typing import Any

import re2

from deskhand.config.yaml import read_yaml

LONGEST = 200_000
_BETWEEN = r"(?:[^\s.!?]+ ){0,4}"
_PATTERNS = Path(__file__).with_name("instructions.yaml")
_SHOWN = 80


def spoken_to_machine(text: str) -> str | None:
    """The first words of a text that are meant for a machine, as they stand there but for accents and case."""
    folded = _folded(text[:LONGEST])
    for pattern in _compiled():
        found = pattern.search(folded)
        if found is not None:
            return str(found[0]).strip()[:_SHOWN]
    return None


def _folded(text: str) -> str:
    """Small letters without accents or marks nobody sees, single spaces, lines kept apart."""
    bare = "".join(
        character
        for character in unicodedata.normalize("NFKD", text)
        if not unicodedata.combining(character) and unicodedata.category(character) != "Cf"
    )
    lines = (" ".join(line.split()) for line in bare.casefold().splitlines())
    whole = "\n".join(line for line in lines if line)
    return f"{whole}\n{' '.join(whole.split())}"  # the second time in one line: a phrase may be broken anywhere


@cache
def _compiled() -> tuple[Any, ...]:
    data = read_yaml(_PATTERNS).data
    return tuple(re2.compile(pattern.replace("~", _BETWEEN)) for patterns in data.values() for pattern in patterns)
