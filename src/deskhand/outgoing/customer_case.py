"""Numbers of a reply that are the customer's own case, held against a rule that is quoted.

`For your order of 800 EUR the delivery costs 49 EUR` names an amount that no article has. It may
leave where the quoted rule (`49 EUR, and nothing over 1,000 EUR`) says this of such an amount; the
same with 1,300 EUR may not. `Three desks come to 105 EUR` may leave where a desk costs 35 EUR.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import NamedTuple

from deskhand.language.slots.folded_text import fold
from deskhand.outgoing.claim_words import phrases_of, words_of, words_of_each
from deskhand.outgoing.content_words import Word, same_word, stands_among, words_in
from deskhand.outgoing.derived_amounts import counted_in, is_derived_amount, tells_price_of_size
from deskhand.outgoing.derived_dates import is_base_of_derived, is_derived_date
from deskhand.outgoing.quoted_limits import (
    Bound,
    bounds_in,
    bounds_of,
    is_limit_of,
    nouns_behind,
    number_of,
)
from deskhand.outgoing.quoted_sources import Clause, Passage
from deskhand.outgoing.reply_sentence import ReplySentence
from deskhand.outgoing.sentences import sentences
from deskhand.outgoing.stated_values import values_in
from deskhand.outgoing.values import MONEY, Value, is_stated, same_value

_PER = re.compile(r"\s*(?:a|an|per|each|je|pro|im|za|na|por|al|la|el|cada|par|chacun\w*)\s+")


_MOST_VALUES = 16
"""In a sentence of which something is computed: each value is held against the others."""


def without_own_case(
    sentence: ReplySentence, clause: Clause, values: Sequence[Value]
) -> list[Value]:
    """The values of a clause that a quote must state: those that are not rightly the customer's
    own, nor computed from them. Of a sentence with very many values, all of them."""
    if len(sentence.values) > _MOST_VALUES:
        return list(values)
    case = _own_case(sentence, clause, values)
    return [value for value in values if value not in case]


def _own_case(sentence: ReplySentence, clause: Clause, values: Sequence[Value]) -> list[Value]:
    quoted = sentence.grounds.quoted_values
    computed = [value for value in values if _is_derived(sentence, clause, value)]
    case = [value for value in values if _comes_of(sentence, clause, value, computed)]
    for value in values:
        if value.kind != "number" or value in case:
            continue
        if _is_asked(sentence, value) and not is_stated(value, quoted):
            others = [other for other in values if other not in (value, *computed)]
            if computed or _is_fitting(sentence, value, clause, others):
                case.append(value)
    return case


def _comes_of(
    sentence: ReplySentence, clause: Clause, value: Value, computed: Sequence[Value]
) -> bool:
    """Whether a value is computed, or one that another is computed from."""
    if value in computed or (value.unit == "month" and value.readings == {"12"} and computed):
        return True
    if value.kind == "weekday":  # of a date, which tells it
        return not any(other.kind == "weekday" for other in sentence.values)
    if value.unit in MONEY and tells_price_of_size(sentence, value):
        return True
    if _is_told_as_theirs(sentence, clause, value):
        return True
    computes = any(_is_derived(sentence, clause, other) for other in sentence.values)
    return computes and _is_count_of_theirs(sentence, value)


def _is_distance(sentence: ReplySentence, clause: Clause, value: Value) -> bool:
    """Whether a value is how far the customer's own is from a quoted limit, and the clause says on
    which side: `138 kg is 12 kg under that limit`."""
    for own in clause.values:
        if own == value or own.unit != value.unit or not _is_asked(sentence, own):
            continue
        bounds = bounds_of(sentence, own, clause)
        if len(bounds) != 1 or not value.unit:
            continue
        limit = bounds[0].limit
        side = replace(clause, values=(limit,))
        exact = number_of(value) == abs(number_of(limit) - number_of(own))
        if exact and _compares_beyond(own, side, bounds):
            return True
    return False


def _is_asked(sentence: ReplySentence, value: Value) -> bool:
    """Whether a value is the customer's, who may leave out what it counts."""
    return any(
        is_stated(value, (asked,)) or (not asked.unit and asked.readings == value.readings)
        for asked in sentence.grounds.message_values
        if asked.kind == value.kind
    )


def _is_told_as_theirs(sentence: ReplySentence, clause: Clause, value: Value) -> bool:
    """Whether a clause only says of the customers what they said of themselves: `you are four`."""
    if value.kind != "number" or value.unit or clause.negative:
        return False
    opening = phrases_of("you_are").search(fold(clause.text))
    if opening is None:
        return False
    written = sentence.grounds.message
    said = [written[start:end] for start, end in sentences(written)]
    said = [text for text in said if not text.rstrip().endswith("?")]
    is_said = any(is_stated(value, values_in(text)) for text in said)
    theirs = [*sentence.grounds.message_words, *words_of("people").whole, *opening.group().split()]
    return is_said and all(stands_among(word, theirs) for word in clause.words)


def _is_count_of_theirs(sentence: ReplySentence, value: Value) -> bool:
    """Whether a number is one of those that the message counts, or all of them together."""
    counts = [counted.number for counted in counted_in(sentence.grounds.message)]
    is_count = value.kind == "number" and value.unit in ("", "month")
    return is_count and number_of(value) in {*counts, sum(counts)}


def _is_derived(sentence: ReplySentence, clause: Clause, value: Value) -> bool:
    if _is_computed(sentence, value) or is_derived_amount(sentence, clause, value):
        return True
    if _is_distance(sentence, clause, value):
        return True
    return is_derived_date(sentence, value) or is_base_of_derived(sentence, value)


def _is_fitting(
    sentence: ReplySentence, value: Value, clause: Clause, others: Sequence[Value]
) -> bool:
    """Whether a rule that is quoted says of such a value what the clause says of it."""
    if is_limit_of(clause.text, value):
        return False
    bounds = bounds_of(sentence, value, clause)
    if not bounds:
        return not value.unit and (
            _is_theirs(clause.text, value) or _is_priced(sentence, value, clause)
        )
    if _compares_beyond(value, clause, bounds):
        return True
    if bounds[0].is_most:
        inside = all(bound.holds(value) for bound in bounds)
        return inside != clause.negative
    return _is_within_steps(sentence, value, clause, others, bounds)


def _compares_beyond(value: Value, clause: Clause, bounds: Sequence[Bound]) -> bool:
    """Whether a clause says that a value is over, or under, a limit that it tells, and it is."""
    words = [word.folded for word in words_in(clause.text)]
    says_over = any(word in words_of_each("opposites")["more"] for word in words)
    says_under = any(word in words_of_each("opposites")["less"] for word in words)
    if says_over == says_under or clause.negative:
        return False
    for bound in bounds:
        if not is_stated(bound.limit, clause.values):
            return False
        is_over = number_of(value) > number_of(bound.limit)
        if (says_over and not is_over) or (
            says_under and number_of(value) >= number_of(bound.limit)
        ):
            return False
    return True


def _is_limit(value: Value, bounds: Sequence[Bound]) -> bool:
    return any(same_value(value, bound.limit) for bound in bounds)


def _is_within_steps(
    sentence: ReplySentence,
    value: Value,
    clause: Clause,
    others: Sequence[Value],
    bounds: Sequence[Bound],
) -> bool:
    """`From 10 pieces 5%, from 30 pieces 10%`: the highest step that is reached says it."""
    reached = [bound for bound in bounds if bound.holds(value)]
    told_values = others or _values_beside(sentence, clause)
    told_values = [other for other in told_values if not _is_limit(other, bounds)]
    missed = [bound for bound in bounds if bound not in reached]
    if not reached:
        promised = [stated for bound in missed for stated in _scope(bound)]
        if any(is_stated(other, promised) for other in told_values):
            return clause.negative
        return bool(told_values) or clause.negative
    best = max(reached, key=lambda bound: number_of(bound.limit))
    if clause.negative:
        return False
    return all(is_stated(other, _scope(best)) for other in told_values)


def _scope(bound: Bound) -> list[Value]:
    """The values that hold from a limit on: those of its clause, or behind it up to the next
    limit where it has none."""
    values = list(bound.clause.values)
    if len(values) > 1:
        return values
    clauses = bound.passage.clauses
    for clause in clauses[clauses.index(bound.clause) + 1 :]:
        if any(other.clause == clause for other in bounds_in(bound.passage)):
            break
        values += clause.values
    return values


def fits_own_step(sentence: ReplySentence, clause: Clause) -> bool:
    """Whether a clause tells the customer's number and the step of the rule that it reaches:
    another step of the same rule does not speak against it."""
    asked = sentence.grounds.message_values
    quoted = sentence.grounds.quoted_values
    for value in sentence.values:
        is_own = value.kind == "number" and is_stated(value, asked)
        if not is_own or is_stated(value, quoted):
            continue
        bounds = bounds_of(sentence, value, clause)
        if not bounds or bounds[0].is_most or clause.negative:
            continue
        reached = [bound for bound in bounds if bound.holds(value)]
        if not reached:
            continue
        best = max(reached, key=lambda bound: number_of(bound.limit))
        others = [other for other in clause.values if other.readings != value.readings]
        if others and all(is_stated(other, _scope(best)) for other in others):
            return True
    return False


def _values_beside(sentence: ReplySentence, clause: Clause) -> list[Value]:
    """The values of the sentence where the clause with the case has no other of its own."""
    asked = sentence.grounds.message_values
    return [value for value in sentence.values if not is_stated(value, asked)]


def _is_priced(sentence: ReplySentence, value: Value, clause: Clause) -> bool:
    """`three desks`, where a desk has a price."""
    nouns = nouns_behind(clause.text, value)
    rates = [rate for passage in sentence.grounds.passages for rate in _rates(passage)]
    return any(same_word(noun, rate.noun) for noun in nouns for rate in rates)


def _is_theirs(text: str, value: Value) -> bool:
    """Whether the customer's own is spoken of: `your two lamps`."""
    before = words_in(text[: value.start])[-1:]
    return bool(before) and before[0].folded in words_of("yours")


# --- what comes of a price and a number of pieces


class _Rate(NamedTuple):
    price: Decimal
    unit: str
    noun: str


def _is_computed(sentence: ReplySentence, value: Value) -> bool:
    """Whether an amount is a year's worth of months."""
    if value.unit not in MONEY or is_stated(value, sentence.grounds.quoted_values):
        return False
    rates = [rate for passage in sentence.grounds.passages for rate in _rates(passage)]
    totals: set[Decimal] = set()
    if any(_is_year(word) for word in words_in(sentence.text)):
        of_unit = [rate for rate in rates if rate.unit == value.unit]
        totals |= {12 * rate.price for rate in of_unit if rate.noun in _months()}
    return number_of(value) in totals - {Decimal(0)}


def _rates(passage: Passage) -> Iterator[_Rate]:
    """`35 EUR a desk`."""
    for clause in passage.clauses:
        for value in clause.values:
            if value.unit not in MONEY or value.readings == {"0"}:
                continue
            noun = _noun_of_rate(clause.text, value)
            if noun is not None:
                yield _Rate(number_of(value), value.unit, noun)


def _noun_of_rate(text: str, value: Value) -> str | None:
    behind = text[value.end :]
    pieces = words_of_each("counted_kinds")["pieces"]
    first = words_in(behind)[:1]
    if first and (first[0].folded in pieces or first[0].folded in _months()):
        return first[0].folded
    joint = _PER.match(fold(behind))
    following = () if joint is None else words_in(behind[joint.end() :])[:1]
    return following[0].folded if following else None


def prices_wrongly(sentence: ReplySentence, clause: Clause, values: Sequence[Value]) -> str | None:
    """Why an amount of a clause is the price of something else; None where it is not."""
    if _is_total_of_one(sentence, clause, values):
        return "the quote says this of one piece"
    if any(tells_price_of_size(sentence, value) is False for value in values):
        return "the source has this price for another size"
    return None


def _is_total_of_one(sentence: ReplySentence, clause: Clause, values: Sequence[Value]) -> bool:
    """Whether a clause calls the price of one piece the total of several."""
    if phrases_of("in_total").search(fold(clause.text)) is None:
        return False
    texts = (sentence.grounds.message, sentence.text)
    counts = [value for text in texts for value in values_in(text) if not value.unit]
    several = any(value.kind == "number" and number_of(value) > 1 for value in counts)
    rates = [rate for passage in sentence.grounds.passages for rate in _rates(passage)]
    return several and any(
        number_of(value) == rate.price and value.unit == rate.unit
        for value in values
        for rate in rates
        if value.unit in MONEY
    )


def _months() -> frozenset[str]:
    return frozenset(words_of_each("months_of_rates")["month"].whole)


def _is_year(word: Word) -> bool:
    return word.folded in words_of_each("months_of_rates")["year"]
