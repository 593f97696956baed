"""Which doubts about a model's reply a second reader may settle.

Words and arithmetic decide what is a fact: a number that stands nowhere and follows from nothing, a
link, a dose or a deed that nothing tells is never settled by a model; a new name only in German,
where every noun has a capital. What is left is how something is said: in other words, joined, of
the customer's own case, or in answer to a question.
"""

from collections.abc import Sequence

from deskhand.language.instructions import spoken_to_machine
from deskhand.outgoing.chosen_multiples import is_of_multiple, multiples_in
from deskhand.outgoing.claim_words import meanings_of, words_of
from deskhand.outgoing.content_words import same_word, words_in
from deskhand.outgoing.counted_things import counts
from deskhand.outgoing.grounds import Grounds
from deskhand.outgoing.no_values import is_no_value, is_owed
from deskhand.outgoing.own_values import is_first_above, is_own_beside_limit
from deskhand.outgoing.proved_sums import proves
from deskhand.outgoing.quoted_limits import number_of
from deskhand.outgoing.reckoned_days import is_reckoned, is_reckoned_number
from deskhand.outgoing.reckoned_spans import is_span_between
from deskhand.outgoing.reply_sentence import is_told_name
from deskhand.outgoing.unbacked_claim import UnbackedClaim
from deskhand.outgoing.value_owner import is_said_of_another
from deskhand.outgoing.values import DOSES, MONEY, Value, is_stated

MOST_ASKED, LONGEST_ASKED = 20, 600
"""What a second reader is asked at most: more of a reply in other words is a person's to read."""
_STEM, _ENDING = 3, 2
"""Letters that two forms of a name share at least, and that their ends may have at most."""
_WEEK, _WORKWEEK = 7, 5
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
            if any(is_told_name(text, claim.start, word) for word in words):
                return all(_is_form(word, grounds) for word in words)
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
    here = value._replace(start=claim.start, end=claim.end)
    if is_said_of_another(here, text, grounds) or is_owed(here, text, grounds):
        return False
    if _is_calculated(here, text, grounds) or _is_of_calendar(here, text, grounds):
        return True
    if is_own_beside_limit(value, text, grounds) or is_first_above(here, text, grounds):
        return True
    if is_no_value(here, text, grounds):
        return True
    sources = [*(shown for _, shown in grounds.shown), grounds.message]
    return counts(grounds.counted, here, text, sources)


def _is_calculated(value: Value, text: str, grounds: Grounds) -> bool:
    """Whether a value at its place stands somewhere, or comes of what does."""
    values = _known_values(grounds)
    multiples = list(multiples_in(text, grounds))
    if _is_stated(value, values) or is_of_multiple(value, multiples):
        return True
    chosen = [number for multiple in multiples for number in multiple]
    return proves(grounds.sums, value, [*values, *chosen])


def _is_of_calendar(value: Value, text: str, grounds: Grounds) -> bool:
    """Whether a day, a time or a span at its place follows from known ones."""
    if is_reckoned(value, grounds) or is_reckoned_number(value, text, grounds):
        return True
    return is_span_between(value, text, grounds)


def _is_stated(value: Value, values: Sequence[Value]) -> bool:
    """Whether a value is known; a bare number may leave its unit to the words around it, as in
    `(2 x 12 EUR)`, and a length to the one beside it, as in `140 x 70 cm`."""
    if is_stated(value, values):
        return True
    if value.kind == "number" and value.unit == "day":
        return any(_is_workweeks(value, other) for other in values)
    if value.kind != "number" or value.unit not in _LENGTHS:
        return False
    numbers = [other for other in values if other.kind == "number"]
    if value.unit:
        numbers = [other for other in numbers if not other.unit]
    return any(value.readings & other.readings for other in numbers)


def _is_workweeks(value: Value, other: Value) -> bool:
    """Whether weeks are as long as so many working days: two weeks as ten."""
    if other.kind != "number" or other.unit != "workday":
        return False
    return (
        number_of(value) % _WEEK == 0 and number_of(value) * _WORKWEEK == number_of(other) * _WEEK
    )


def _known_values(grounds: Grounds) -> list[Value]:
    said = [
        value
        for value in grounds.message_values
        if value.unit not in _NEVER_THE_CUSTOMERS and value.readings != {"soon"}
    ]
    return [*grounds.article_values, *grounds.record_values, *said]


def _may_be_word(word: str, grounds: Grounds) -> bool:
    """Whether a capital letter may be no new name: in German every noun has one; elsewhere it is a
    form of a word that stands in a source or the message."""
    return grounds.language == "de" or _is_form(word, grounds)


def _is_form(word: str, grounds: Grounds) -> bool:
    """Whether it is a form of a word that stands in a source or the message, a month that somebody
    names (`February` where the customer writes `Feb`) or a festival."""
    if word in words_of("festivals"):
        return True
    said = (*grounds.article_words, *grounds.message_words, *grounds.record_words)
    month = meanings_of("months").get(word)
    if month is not None and any(meanings_of("months").get(other) == month for other in said):
        return True
    return any(same_word(word, other) or _same_stem(word, other) for other in said)


def _same_stem(word: str, other: str) -> bool:
    """`Miře` and `Mira`: all but the endings is the same."""
    stem = max(len(word) - _ENDING, len(other) - _ENDING, _STEM)
    return len(word) >= _STEM and word[:stem] == other[:stem]
