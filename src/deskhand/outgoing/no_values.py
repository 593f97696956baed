"""Words that are read as values and state none here: `nothing changes`, `write right away`.

That something is free, or done at once, is a claim like any number, held against the sources. These
words say other things as well. Which of them they say is told by the words around them; a second
reader must confirm the sentence.
"""

from deskhand.language.slots.folded_text import fold
from deskhand.outgoing.claim_words import WordList, pattern_of, words_of, words_of_each
from deskhand.outgoing.content_words import stands_among, words_in
from deskhand.outgoing.grounds import Grounds
from deskhand.outgoing.polarity import is_conditional
from deskhand.outgoing.quoted_sources import meaningful_words
from deskhand.outgoing.record_states import states_in
from deskhand.outgoing.sentences import answers_joined, clauses_of, sentence_at
from deskhand.outgoing.values import MONEY, Value


def is_no_value(value: Value, text: str, grounds: Grounds) -> bool:
    """Whether `right away` or `nothing` at its place states no time and no amount of ours."""
    if _is_at_once(value, text, grounds) or _is_no_price(value, text):
        return True
    return _is_included(value, text, grounds)


def is_owed(value: Value, text: str, grounds: Grounds) -> bool:
    """Whether it is said that nothing is owed, and no record calls it paid."""
    says_so = pattern_of("nothing_owed").search(fold(_clause_at(text, value.start)))
    is_paid = "is paid" in grounds.states and "is unpaid" not in grounds.states
    return value.readings == {"0"} and says_so is not None and not is_paid


def _is_at_once(value: Value, text: str, grounds: Grounds) -> bool:
    """Whether `right away` only says that something is in stock, as a record says it is, or tells
    of what the customer may do himself (`if you start right away`)."""
    clause = _clause_at(text, value.start)
    moved = [word for word in words_in(clause) if word.folded in words_of("moved")]
    if value.readings != {"soon"}:
        return False
    if _is_asked_of_customer(clause):
        return True
    if moved:
        return False
    if is_conditional(clause) and pattern_of("customer").search(fold(clause)):
        return True
    return "in stock" in grounds.states and "in stock" in states_in(clause)


def _is_asked_of_customer(clause: str) -> bool:
    """`please write to us right away`: what he does is no promise of ours."""
    folded = fold(clause)
    asks = pattern_of("asks_customer").search(folded)
    return asks is not None and pattern_of("company").search(folded) is None


def _is_no_price(value: Value, text: str) -> bool:
    """Whether `nothing` is no amount: `nothing changes`, `nothing is outstanding` of what is paid,
    `it is not free`."""
    folded = fold(_clause_at(text, value.start))
    sections = ("nothing_else", "nothing_owed", "not_free")
    says_so = any(pattern_of(section).search(folded) for section in sections)
    return value.readings == {"0"} and says_so


def _is_included(value: Value, text: str, grounds: Grounds) -> bool:
    """Whether `nothing extra` is said of what a source calls included, in a sentence that says so
    itself: `maintenance is included, so there is nothing to pay for it`."""
    sentence = sentence_at(text, value.start) or ""
    says_so = [word.folded for word in words_in(sentence) if word.folded in _included()]
    if value.readings != {"0"} or value.unit not in MONEY or not says_so:
        return False
    named = [word.folded for word in meaningful_words(sentence) if word.folded not in says_so]
    for passage in grounds.verified.others:
        for clause in passage.clauses:
            about = [word for word in clause.words if stands_among(word, named)]
            if about and any(word in _included() for word in clause.words):
                return True
    return False


def _included() -> WordList:
    return words_of_each("synonyms")["includes"]


def _clause_at(text: str, place: int) -> str:
    for start, end in answers_joined(text):
        for first, last in clauses_of(text[start:end]):
            if start + first <= place < start + last:
                return text[start + first : start + last]
    return ""
