"""Whether a clause of a reply denies what the clause of a source says, or the reverse."""

from collections.abc import Sequence

from deskhand.outgoing.claim_words import WordList, keys_of, words_of, words_of_each
from deskhand.outgoing.content_words import carries_meaning, opposite_words, same_word, words_in
from deskhand.outgoing.contradictions import overlap
from deskhand.outgoing.polarity import (
    denies_only_if,
    is_conditional,
    is_negative,
    without_words,
)
from deskhand.outgoing.quoted_sources import Clause, Passage

_FEW = 1
"""Words that two sentences share by chance."""


def denies_otherwise(clause: Clause, nearest: Clause) -> bool:
    """Whether one of the two denies what the other says."""
    if clause.negative != nearest.negative:
        negated = clause if clause.negative else nearest
        if not is_conditional(negated.text):
            return True
    elif clause.negative and not is_conditional(clause.text) and denies_only_if(nearest.text):
        return True
    for word in clause.words:
        opposites = [said for said in nearest.words if opposite_words(word, said)]
        if opposites and not _denies_by_word(word, clause, nearest):
            return True
    return _leaves_out_otherwise(clause, nearest) or _has_opposite(clause, nearest)


def _denies_by_word(word: str, clause: Clause, nearest: Clause) -> bool:
    """Whether both deny, the one by a first syllable and the other by a word of its own: `dokud ji
    nepředáme`, `dokud není předána`."""
    if not (clause.negative and nearest.negative):
        return False
    rest = " ".join(other.folded for other in words_in(clause.text) if other.folded != word)
    return not is_negative(rest)


def _leaves_out_otherwise(clause: Clause, nearest: Clause) -> bool:
    """`with prescription` against `without prescription`."""
    for side, other in ((clause, nearest), (nearest, clause)):
        left_out = without_words(side.text)
        said = [word.folded for word in words_in(other.text)]
        kept = [word for word in said if word not in without_words(other.text)]
        if other.negative:
            continue
        if any(same_word(word, keeps) for word in left_out for keeps in kept if len(word) > 2):
            return True
    return False


_PAIRS = (("before", "after"), ("more", "less"), ("open", "shut"), ("included", "excluded"))


def _has_opposite(clause: Clause, nearest: Clause) -> bool:
    claimed, said = _groups(clause.text), _groups(nearest.text)
    for first, second in _PAIRS:
        for mine, theirs in ((first, second), (second, first)):
            if mine in claimed and theirs not in claimed and theirs in said and mine not in said:
                return True
    return False


def _groups(text: str) -> set[str]:
    return {group for word in words_in(text) for group in keys_of("opposites", word.folded)}


def denied_elsewhere(
    clause: Clause, nearest: Clause, passage: Passage, others: Sequence[Passage]
) -> Clause | None:
    """A clause of another sentence that has more of the claim's words than the one that states its
    values, and denies what the claim says."""
    own = overlap(clause.words, (*passage.words, *passage.context))
    for other in others:
        if other.text == passage.text:
            continue
        for said in other.clauses:
            shared = overlap(clause.words, said.words)
            is_opposite = said.negative != clause.negative and not is_conditional(said.text)
            if is_opposite and shared > _FEW and shared > own:
                return said
    return None


def says_after_for_until(clause: Clause, passage: Passage) -> bool:
    """Whether a claim says something of the time after what the quote names as its end: `after it
    was handed over` against `until it is handed over`."""
    told_words = [word.folded for word in words_in(clause.text)]
    after = _behind(told_words, words_of_each("opposites")["after"])
    after += _behind(told_words, words_of("even_though"))
    if not after or any(word in words_of("until") for word in told_words):
        return False
    for said in passage.clauses:
        words = [word.folded for word in words_in(said.text)]
        if overlap(after, _behind(words, words_of("until"))):
            return True
    return False


def _behind(words: Sequence[str], signs: WordList) -> list[str]:
    """The words that carry a meaning behind the first of some signs."""
    for place, word in enumerate(words):
        if word in signs:
            return [later for later in words[place + 1 :] if carries_meaning(later)]
    return []
