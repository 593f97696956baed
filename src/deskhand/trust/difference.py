"""How much a person changed of what the desk had written."""

import re
import unicodedata

from rapidfuzz.distance import Levenshtein

LONGEST = 5_000
"""Words of a text that are compared."""

_WORD = re.compile(r"[-+]?\w+(?:(?:://|[.,:@/'’_+-])\w+)*|[%€$£¥§]")
_TELLING = re.compile(r"[\d@%€$£¥§]|://|\.\w")


def words_of(text: str) -> list[str]:
    """Words, numbers and addresses each as one; spaces and the punctuation between words say
    nothing."""
    return _WORD.findall(unicodedata.normalize("NFC", text))[:LONGEST]


def share_changed(written: str, sent: str) -> float:
    """Words put in, left out or exchanged, as a share of the longer text: 0 for the same words,
    1 for all others."""
    return round(float(Levenshtein.normalized_distance(words_of(written), words_of(sent))), 4)


def changes_facts(written: str, sent: str) -> bool:
    """Whether a number, an amount, an address or a link differs: then no edit is a small one."""
    return _facts_in(written) != _facts_in(sent)


def _facts_in(text: str) -> list[str]:
    return sorted(word for word in words_of(text) if _TELLING.search(word))
