"""Limits that a quoted rule sets: up to 15 persons, from 10 pieces on, over 1,000 EUR."""

import re
from collections.abc import Iterator
from decimal import Decimal
from itertools import chain
from typing import NamedTuple

from deskhand.language.slots.folded_text import fold
from deskhand.outgoing.claim_words import phrases_of, words_of, words_of_each
from deskhand.outgoing.content_words import same_word, words_in
from deskhand.outgoing.contradictions import overlap
from deskhand.outgoing.quoted_sources import Clause, Passage
from deskhand.outgoing.reply_sentence import ReplySentence
from deskhand.outgoing.values import Value

_DURATIONS = frozenset(("day", "month"))
_NOUNS = 2
"""Words behind a number among which is what it counts: `12 Linea chairs`."""
_ALTERNATIVE = re.compile(r"\s*[0-9]+ [a-z]+ (?:or|oder|nebo|o|ou|lub) $")
"""`15 persons or`, before a second limit of the same kind."""


class Bound(NamedTuple):
    """A limit of a rule, and the part of the rule that holds within it."""

    limit: Value
    clause: Clause
    passage: Passage
    is_most: bool
    """`up to 15`; otherwise `from 10 on`."""

    def holds(self, value: Value) -> bool:
        if self.is_most:
            return number_of(value) <= number_of(self.limit)
        return number_of(value) >= number_of(self.limit)


def bounds_of(sentence: ReplySentence, value: Value, clause: Clause) -> list[Bound]:
    """The limits of the quoted sentence that speaks most of what the reply does."""
    by_passage: dict[str, list[Bound]] = {}
    for bound in chain.from_iterable(map(bounds_in, sentence.grounds.passages)):
        if _is_alike(value, clause.text, bound):
            by_passage.setdefault(bound.passage.text, []).append(bound)
    if not by_passage:
        return []
    said = [word.folded for word in words_in(sentence.text)]

    def likeness(bounds: list[Bound]) -> tuple[int, int]:
        own = [word.folded for word in words_in(bounds[0].passage.text)]
        names = [word for word in said if word in sentence.grounds.source_names]
        return overlap(names, own), overlap(said, own)

    return max(by_passage.values(), key=likeness)


def bounds_in(passage: Passage) -> Iterator[Bound]:
    """The limits that a passage sets."""
    for clause in passage.clauses:
        for value in clause.values:
            if value.kind != "number":
                continue
            before = _before(clause.text, value)
            if ends_with(before, "from_on"):
                yield Bound(value, clause, passage, is_most=False)
            elif _is_most(before, value):
                yield Bound(value, clause, passage, is_most=True)


def is_limit_of(text: str, value: Value) -> bool:
    """Whether a text calls a value a limit itself: `up to 12 persons`."""
    return ends_with(_before(text, value), "up_to")


def is_term(text: str, value: Value) -> bool:
    """Whether a text makes a value a limit of any kind: `up to`, `within` or `from` it."""
    before = _before(text, value)
    return any(ends_with(before, section) for section in ("up_to", "within", "from_on"))


def _before(text: str, value: Value) -> str:
    """What stands before a value, without a first limit: `up to 15 persons or`."""
    return _ALTERNATIVE.sub("", fold(text[: value.start])).rstrip()


def _is_most(before: str, value: Value) -> bool:
    """`up to 15`, `within 30 days`, `carries 120 kg`."""
    if ends_with(before, "up_to") or _is_limit_of_time(before, value):
        return True
    return value.unit == "kg" and ends_with(before, "bears")


def _is_limit_of_time(before: str, value: Value) -> bool:
    return value.unit in _DURATIONS and ends_with(before, "within")


def ends_with(folded: str, section: str) -> bool:
    """Whether a folded text ends with a phrase of a section."""
    return any(match.end() == len(folded) for match in phrases_of(section).finditer(folded))


def _is_alike(value: Value, text: str, bound: Bound) -> bool:
    """Whether a value and a limit count the same."""
    if value.unit or bound.limit.unit:
        return value.unit == bound.limit.unit
    counted = nouns_behind(text, value)
    limited = nouns_behind(bound.clause.text, bound.limit)
    if not counted or not limited:
        return True
    groups = words_of_each("counted_kinds").values()
    for noun in counted:
        if any(same_word(noun, other) for other in limited):
            return True
        for group in groups:
            if noun in group and any(other in group for other in limited):
                return True
    pieces = words_of_each("counted_kinds")["pieces"]
    return any(other in pieces for other in limited)


def nouns_behind(text: str, value: Value) -> list[str]:
    """What a number counts, by the words right behind it."""
    behind = text[value.end :]
    words: list[str] = []
    for word in words_in(behind)[:_NOUNS]:
        if re.search(r"[.,;:!?()]", behind[: word.start]):
            break
        words.append(word.folded)
    return [word for word in words if len(word) > 2 and word not in words_of("joints")]


def number_of(value: Value) -> Decimal:
    """What a value counts; the largest that its writing may mean."""
    return max(map(Decimal, value.readings))
