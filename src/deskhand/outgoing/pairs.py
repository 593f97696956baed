"""What a source pairs: five years with furniture, two with coffee machines; a number with
the place where it stands."""

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

from deskhand.outgoing.claim_words import words_of
from deskhand.outgoing.content_words import (
    carries_meaning,
    same_word,
    stands_among,
    words_in,
)
from deskhand.outgoing.contradictions import overlap
from deskhand.outgoing.quoted_sources import Clause, Passage, clause_of
from deskhand.outgoing.reply_sentence import ReplySentence
from deskhand.outgoing.sentences import conjuncts_of
from deskhand.outgoing.values import Value, is_stated


def said_of_the_other(
    sentence: ReplySentence, values: Sequence[Value], passage: Passage
) -> Clause | None:
    """The clause of a passage that says another value of what the reply speaks of: two years of the
    coffee machine for which the reply tells the five of furniture."""
    words = [word.folded for word in sentence.words]
    for own, other in _pairs(values, passage):
        if any(is_stated(value, other.values) for value in sentence.values):
            continue
        of_own = [word for word in own.words if not stands_among(word, other.words)]
        of_other = [word for word in other.words if not stands_among(word, own.words)]
        is_named = bool(of_other) and overlap(of_other, words) == len(set(of_other))
        if is_named and overlap(of_own, words) < len(set(of_own)):
            return other
        is_asked = bool(of_other) and overlap(of_other, sentence.asked_words) == len(set(of_other))
        if is_asked and not overlap(of_own, (*words, *sentence.asked_words)):
            return other
    return None


def pairs_wrongly(sentence: ReplySentence, clause: Clause, passage: Passage) -> Clause | None:
    """The clause of a passage that says another value of what a part of a clause names: `50 EUR for
    the Heron and 30 EUR for the Otter` where each has the other's price."""
    names = sentence.grounds.source_names
    if sentence.language == "de":  # every noun has a capital there
        return None
    for start, end in conjuncts_of(clause.text, sentence.language):
        part = clause_of(clause.text[start:end], sentence.language)
        for own, other in _pairs(part.values, passage):
            if any(is_stated(value, other.values) for value in part.values):
                continue
            of_own = [word for word in own.words if word in names]
            of_other = [word for word in other.words if word in names and word not in of_own]
            if overlap(of_other, part.words) and not overlap(of_own, part.words):
                return other
    return None


def _pairs(values: Sequence[Value], passage: Passage) -> Iterator[tuple[Clause, Clause]]:
    """The clauses that state the values, each with every other of its sentence that states others
    of the same unit."""
    for own in passage.clauses:
        stated = [value for value in values if is_stated(value, own.values)]
        units = {value.unit for value in stated if value.is_strength}
        for other in passage.clauses if units else ():
            if other is not own and units & {value.unit for value in other.values}:
                yield own, other


def other_place(clause: Clause, passage: Passage, quoted: AbstractSet[str]) -> str | None:
    """A place that no source names, where the passage says another behind the same word: `printed
    on the invoice` against `printed below the seat`."""
    said = list(_places(passage.text))
    for verb, place in _places(clause.text):
        if stands_among(place, quoted):
            continue
        others = [other for before, other in said if same_word(before, verb)]
        if others and not any(stands_among(other, clause.words) for other in others):
            return place
    return None


def _places(text: str) -> Iterator[tuple[str, str]]:
    """Each noun behind a word of place, with the word before it: `printed`, `invoice`."""
    words = [word.folded for word in words_in(text)]
    for at, word in enumerate(words):
        if at == 0 or word not in words_of("places"):
            continue
        behind = words[at + 1 : at + 3]
        if behind and behind[0] in words_of("articles"):
            behind = behind[1:]
        if behind and carries_meaning(behind[0]):
            yield words[at - 1], behind[0]
