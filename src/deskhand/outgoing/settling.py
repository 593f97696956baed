"""Which doubts about a model's reply a second reader may settle.

Words and arithmetic decide what is a fact: a number that stands nowhere and follows from nothing, a
link, a dose or a deed that nothing tells is never settled by a model; a new name only in German,
where every noun has a capital. What is left is how something is said: in other words, joined, of
the customer's own case, or in answer to a question.
"""

from collections.abc import Sequence

from deskhand.language.instructions import spoken_to_machine
from deskhand.language.slots.folded_text import fold
from deskhand.outgoing.claim_words import WordList, pattern_of, words_of, words_of_each
from deskhand.outgoing.content_words import same_word, stands_among, words_in
from deskhand.outgoing.counted_things import counts
from deskhand.outgoing.grounds import Grounds
from deskhand.outgoing.own_values import is_own_beside_limit
from deskhand.outgoing.polarity import is_conditional
from deskhand.outgoing.proved_sums import proves
from deskhand.outgoing.quoted_sources import meaningful_words
from deskhand.outgoing.reckoned_days import is_reckoned, is_reckoned_number
from deskhand.outgoing.record_states import states_in
from deskhand.outgoing.sentences import answers_joined, clauses_of, sentence_at
from deskhand.outgoing.unbacked_claim import UnbackedClaim
from deskhand.outgoing.values import DOSES, MONEY, Value, is_stated

MOST_ASKED, LONGEST_ASKED = 20, 600
"""What a second reader is asked at most: more of a reply in other words is a person's to read."""
_STEM, _ENDING = 3, 2
"""Letters that two forms of a name share at least, and that their ends may have at most."""
_LENGTHS = frozenset(("", "mm", "cm", "m"))
_NEVER_THE_CUSTOMERS = DOSES | MONEY | {"g", "kg", "percent", "day", "workday"}
"""Terms, prices and doses are the desk's to say: the customer's own never count."""


def may_be_settled(claim: UnbackedClaim, grounds: Grounds, text: str) -> bool:
    """Whether a second reader's word may lift this of a reply; never in a sentence that tells of a
    deed or states a dose, also where a source has it."""
    if claim.is_for_words_alone:
        return False
    match claim.kind:
        case "statement" | "opposite" | "answer" | "record" | "open":
            return True
        case "value":
            return claim.value is not None and _is_known(claim, claim.value, grounds, text)
        case "name":
            words = [word.folded for word in words_in(claim.text)]
            return bool(words) and all(_may_be_word(word, grounds) for word in words)
        case _:
            return False


def may_be_asked_about(claim: UnbackedClaim, grounds: Grounds, text: str) -> bool:
    """Whether a second reader is asked about this: it may settle it, or show a sum for it. That a
    reply says nothing is settled by what of it is found."""
    if claim.kind == "holding" or may_be_settled(claim, grounds, text):
        return True
    value = claim.value
    is_number = value is not None and value.kind == "number" and value.unit not in DOSES
    return is_number and not claim.is_for_words_alone


def may_be_asked(sentence: str) -> bool:
    """Whether a sentence is shown to a second reader: not one that may be meant for it."""
    return len(sentence) <= LONGEST_ASKED and spoken_to_machine(sentence) is None


def _is_known(claim: UnbackedClaim, value: Value, grounds: Grounds, text: str) -> bool:
    """Whether a value stands in a source or the message, or follows from those by a sum, a count or
    as a day."""
    if value.unit in DOSES:
        return False
    values = _known_values(grounds)
    if _is_stated(value, values) or proves(grounds.sums, value, values):
        return True
    if is_reckoned(value, grounds) or is_own_beside_limit(value, text, grounds):
        return True
    here = value._replace(start=claim.start, end=claim.end)
    if is_reckoned_number(here, text, grounds) or _is_at_once(here, text, grounds):
        return True
    if _is_included(here, text, grounds):
        return True
    sources = [*(shown for _, shown in grounds.shown), grounds.message]
    return counts(grounds.counted, here, text, sources)


def _is_at_once(value: Value, text: str, grounds: Grounds) -> bool:
    """Whether `right away` only says that something is in stock, as a record says it is, or tells
    of what the customer may do himself (`if you start right away`)."""
    clause = _clause_at(text, value.start)
    moved = [word for word in words_in(clause) if word.folded in words_of("moved")]
    if value.readings != {"soon"} or moved:
        return False
    if is_conditional(clause) and pattern_of("customer").search(fold(clause)):
        return True
    return "in stock" in grounds.states and "in stock" in states_in(clause)


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


def _is_stated(value: Value, values: Sequence[Value]) -> bool:
    """Whether a value is known; a bare number may leave its unit to the words around it, as in
    `(2 x 12 EUR)`, and a length to the one beside it, as in `140 x 70 cm`."""
    if is_stated(value, values):
        return True
    if value.kind != "number" or value.unit not in _LENGTHS:
        return False
    numbers = [other for other in values if other.kind == "number"]
    if value.unit:
        numbers = [other for other in numbers if not other.unit]
    return any(value.readings & other.readings for other in numbers)


def _known_values(grounds: Grounds) -> list[Value]:
    said = [value for value in grounds.message_values if value.unit not in _NEVER_THE_CUSTOMERS]
    return [*grounds.article_values, *grounds.record_values, *said]


def _may_be_word(word: str, grounds: Grounds) -> bool:
    """Whether a capital letter may be no new name: in German every noun has one; elsewhere it is a
    form of a word that stands in a source or the message."""
    if grounds.language == "de":
        return True
    said = (*grounds.article_words, *grounds.message_words, *grounds.record_words)
    return any(same_word(word, other) or _same_stem(word, other) for other in said)


def _same_stem(word: str, other: str) -> bool:
    """`Miře` and `Mira`: all but the endings is the same."""
    stem = max(len(word) - _ENDING, len(other) - _ENDING, _STEM)
    return len(word) >= _STEM and word[:stem] == other[:stem]
