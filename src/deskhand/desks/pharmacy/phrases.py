"""The patterns in `data/wishes.txt`, by kind, and text as they are matched with it."""

from functools import cache
from pathlib import Path
from typing import Any

import re2

from .word_forms import fold, sentences_in

_FILE = Path(__file__).parent / "data" / "wishes.txt"


def speaks_of(kind: str, plain: str) -> bool:
    """Whether a plain text holds words of this kind."""
    return _patterns()[kind].search(plain) is not None


def kinds_of(kind: str, plain: str) -> set[str]:
    """The different words of this kind in a plain text."""
    return {match[0] for match in _patterns()[kind].finditer(plain)}


def plain_text(text: str) -> str:
    """One line in lower case without diacritics."""
    return " ".join(fold(text).replace("’", "'").split())


def plain_sentences(text: str) -> list[str]:
    return [plain_text(sentence) for sentence in sentences_in(text)]


@cache
def _patterns() -> dict[str, Any]:
    kinds: dict[str, list[str]] = {}
    kind = ""
    for line in _FILE.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            kind = line.strip("[]")
        elif line and not line.startswith("#"):
            kinds.setdefault(kind, []).append(line)
    return {name: re2.compile(rf"\b(?:{'|'.join(lines)})") for name, lines in kinds.items()}
