"""Words that are alarming in themselves, in six languages: whoever wrote them wants a person.

A trained reader may miss what it has never seen; these are the words that it must not miss.
"""

from functools import cache
from pathlib import Path
from typing import Any

import re2

from deskhand.config.yaml import read_yaml
from deskhand.language.slots.folded_text import fold

LONGEST = 20_000
_PATTERNS = Path(__file__).with_name("alarms.yaml")
_BETWEEN = r"(?:[^\s.!?]+ ){0,4}"
_EVERY = "any"
_SHOWN = 120


def alarms_in(text: str, language: str | None = None) -> dict[str, str]:
    """Kinds of alarm with the words that show each. In an unknown language all words count."""
    folded = " ".join(fold(text[:LONGEST]).split())
    found: dict[str, str] = {}
    for kind, patterns in _patterns(language).items():
        for pattern in patterns:
            match = pattern.search(folded)
            if match is not None:
                found.setdefault(kind, str(match[0]).strip()[:_SHOWN])
    return found


@cache
def _patterns(language: str | None) -> dict[str, tuple[Any, ...]]:
    data = read_yaml(_PATTERNS).data
    wanted = [_EVERY, language] if language in data else list(data)
    compiled: dict[str, tuple[Any, ...]] = {}
    for part in wanted:
        for kind, patterns in data[part].items():
            made = tuple(re2.compile(pattern.replace("~", _BETWEEN)) for pattern in patterns)
            compiled[kind] = compiled.get(kind, ()) + made
    return compiled
