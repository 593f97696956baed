"""Amounts of money a piece or a month: whether the source has the same amount for the same."""

import re

from deskhand.language.slots.folded_text import fold
from deskhand.outgoing.claim_words import meanings_of
from deskhand.outgoing.content_words import carries_meaning, same_word, word_after, words_in
from deskhand.outgoing.quoted_sources import Clause, Passage
from deskhand.outgoing.values import MONEY, Value, same_value

_PER = re.compile(r"\s*(?:a|an|per|each|je|pro|im|za|na|por|al|la|el|cada)\s+")
_TIMES = frozenset(("day", "week", "month", "year"))


def is_rate_of_another(value: Value, text: str, passage: Passage) -> bool:
    """Whether `10 EUR a desk` is in the source 10 EUR a lamp, or `89 EUR a year` is 89 EUR a
    month."""
    noun = _per(value, text)
    if value.unit not in MONEY or noun is None or passage.is_record:
        return False
    unit = meanings_of("units").get(noun)
    if unit in _TIMES:
        return not _speaks_of_time(unit, passage)
    stating = [clause for clause in passage.clauses if _states(clause, value)]
    others = [_per_in(clause, value) for clause in stating]
    is_other = bool(others) and all(
        other is not None and not same_word(noun, other) for other in others
    )
    stands_there = any(same_word(noun, word) for word in passage.words)
    return is_other and stands_there


def _speaks_of_time(unit: str | None, passage: Passage) -> bool:
    units = meanings_of("units")
    paces = {word for pace, word in _paces() if pace == unit}
    words = [word.folded for word in words_in(passage.text)]
    return any(units.get(word) == unit or word in paces for word in words)


def _paces() -> list[tuple[str, str]]:
    """Words such as `monthly`, each with its length of time."""
    named = {"1 month": "month", "12 month": "year", "7 day": "week", "1 day": "day"}
    pairs = [(named.get(pace, ""), word) for word, pace in meanings_of("pace").items()]
    return [(unit, word.rstrip("*")) for unit, word in pairs if unit]


def _per(value: Value, text: str) -> str | None:
    """The noun behind an amount: `10 EUR a lamp`."""
    joint = _PER.match(fold(text[value.end :]))
    if joint is None:
        return None
    noun = word_after(text, value.end + joint.end())
    if noun is None or not (carries_meaning(noun.folded) or noun.folded in meanings_of("units")):
        return None
    return noun.folded


def _per_in(clause: Clause, value: Value) -> str | None:
    for stated in clause.values:
        if same_value(value, stated):
            return _per(stated, clause.text)
    return None


def _states(clause: Clause, value: Value) -> bool:
    return any(same_value(value, stated) for stated in clause.values)
