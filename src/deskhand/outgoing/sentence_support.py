"""What backs a clause of a reply best: a sentence of a quoted source, or a record."""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from deskhand.outgoing.claim_words import function_words, words_of
from deskhand.outgoing.content_words import Word, same_word, word_after, words_in
from deskhand.outgoing.contradictions import (
    counts_other,
    counts_something_else,
    is_part_of_a_text,
    is_size_of_pack,
    measures_something_else,
    overlap,
    stands_in_other_field,
)
from deskhand.outgoing.quoted_sources import Clause, Passage, clause_of, meaningful_words
from deskhand.outgoing.rates import is_rate_of_another
from deskhand.outgoing.reply_sentence import ReplySentence
from deskhand.outgoing.sentences import conjuncts_of
from deskhand.outgoing.stated_values import values_in
from deskhand.outgoing.values import Value, same_value

_LIST_SIGNS = re.compile(r", (?:and |und |a |y )?| (?:and|und|a|y|or|oder|nebo|o) ")
_WHERE_TEN_IS_THAT = ("cs", "sk", "pl")
_LONG = 3
"""Letters of a small word, at most."""
_FEW = 2
"""Words that a reply shares with a passage by chance."""


class Support(NamedTuple):
    """What backs a clause best."""

    passage: Passage
    missing: list[Value]
    """The clause's values that it does not state."""
    overlap: int

    @property
    def rank(self) -> tuple[int, int]:
        return -len(self.missing), self.overlap


def support_of(sentence: ReplySentence, clause: Clause, values: Sequence[Value]) -> Support | None:
    """What backs a clause best: the fewest missing values, then the most words in common."""
    best: Support | None = None
    around = [word.folded for word in sentence.words]
    for passage in sentence.grounds.passages:
        missing = [value for value in values if is_missing(sentence, value, clause.text, passage)]
        if values and not missing and _is_of_something_else(sentence, clause, passage):
            missing = list(values)
        context = [*passage.words, *passage.context]
        shared = 3 * overlap(clause.words, passage.words) + overlap(around, context)
        support = Support(passage, missing, shared)
        if best is None or support.rank > best.rank:
            best = support
    return best


def backed_apart(sentence: ReplySentence, start: int, end: int) -> list[tuple[int, int]]:
    """A clause, or its parts around an `and` where no one passage has all its values."""
    text = sentence.whole[start:end]
    values = values_of(sentence, text)
    support = support_of(sentence, clause_of(text, sentence.language), values)
    parts = conjuncts_of(text, sentence.language)
    if len(parts) == 1 or support is None:
        return [(start, end)]
    if not support.missing and not _is_from_two(sentence, support, [text[a:b] for a, b in parts]):
        return [(start, end)]
    return [(start + first, start + last) for first, last in parts]


def _is_from_two(sentence: ReplySentence, support: Support, parts: Sequence[str]) -> bool:
    """Whether a part without values stands, with all its words, in another quoted sentence than
    the rest: two sentences of the source are told in one."""
    for part in parts:
        words = clause_of(part, sentence.language).words
        if len(set(words)) < _FEW or values_in(part):
            continue
        if overlap(words, support.passage.words) == len(set(words)):
            continue
        others = sentence.grounds.verified.passages
        if any(overlap(words, other.words) == len(set(words)) for other in others):
            return True
    return False


def values_of(sentence: ReplySentence, text: str) -> list[Value]:
    """The values of a clause, but for its links and for small numbers that count what no
    source speaks of (`two things`)."""
    values = [value for value in values_in(text, sentence.grounds.now) if value.kind != "link"]
    if sentence.language in _WHERE_TEN_IS_THAT:
        values = [value for value in values if value.written.lower() not in ("ten", "ten den")]
    return [value for value in values if not _is_idle_count(sentence, value, text)]


def _is_idle_count(sentence: ReplySentence, value: Value, text: str) -> bool:
    listed = _listed_behind(sentence, value, text)
    if listed > 1:
        return value.readings == {str(listed)}
    if value.kind != "number" or value.unit or any(map(str.isdigit, value.written)):
        return False
    following = word_after(text, value.end)
    if following is None or following.folded in words_of("stock"):
        return False
    noun = following.folded
    return not any(same_word(noun, word) for word in sentence.grounds.quoted_words)


def _listed_behind(sentence: ReplySentence, value: Value, text: str) -> int:
    """How many things the sentence lists behind `three sizes:`; 0 where it lists none."""
    _, colon, behind = sentence.text.partition(f"{text}:")
    if value.kind != "number" or value.unit or not colon or word_after(text, value.end) is None:
        return 0
    return len(_LIST_SIGNS.split(behind.strip(" .")))


def is_missing(sentence: ReplySentence, value: Value, text: str, passage: Passage) -> bool:
    if not any(same_value(value, other) for other in passage.values):
        return not is_size_of_pack(value, passage)
    asks: tuple[Callable[[Value, str, Passage], bool], ...]
    asks = (counts_something_else, measures_something_else, is_rate_of_another)
    if passage.is_record:
        around = f"{sentence.text} {text}"
        if value.kind == "weekday":
            around = f"{around} {' '.join(sentence.grounds.questions)}"
        if is_part_of_a_text(value, around, passage):
            return True
        asks = (counts_other, stands_in_other_field)
    return any(is_other(value, text, passage) for is_other in asks)


def _is_of_value(word: Word, clause: Clause) -> bool:
    return any(value.start <= word.start < value.end for value in clause.values)


def _is_of_something_else(sentence: ReplySentence, clause: Clause, passage: Passage) -> bool:
    """Whether nothing of the reply but its values stands in the passage, or the sentence names
    another record."""
    if passage.is_record:
        return sentence.grounds.names_other_record(clause.text, sentence.text, passage)
    context = [*passage.words, *passage.context]
    if overlap([word.folded for word in sentence.words], context):
        return False
    plain = [word.folded for word in words_in(clause.text) if not _is_of_value(word, clause)]
    spoken = [word.folded for word in words_in(passage.text)]
    kept = [word for word in plain if len(word) > _LONG and word not in function_words()]
    if kept and overlap(kept, spoken) >= _FEW:
        return False
    around = [word.folded for word in meaningful_words(sentence.whole)]
    return overlap(sentence.asked_words, context) == 0 and overlap(around, context) < _FEW


def words_of_supports(supports: Sequence[Support]) -> list[str]:
    """All words of what backs a sentence."""
    words: list[str] = []
    for support in supports:
        words += [word.folded for word in words_in(support.passage.text)]
        words += support.passage.context
    return words
