"""The customer's own days, weights and amounts beside a limit: 2,800 EUR of at least 3,000.

A term or a price is never the customer's to say. What his own case comes to may be told where a
source sets a limit in the same unit, the reply names that limit, and says of neither side what the
numbers deny. Whether the sentence is right is a second reader's to say.
"""

from collections.abc import Iterator, Sequence
from itertools import chain

from deskhand.language.slots.folded_text import fold
from deskhand.outgoing.claim_words import words_of_each
from deskhand.outgoing.content_words import words_in
from deskhand.outgoing.grounds import Grounds
from deskhand.outgoing.proved_sums import proves
from deskhand.outgoing.quoted_limits import bounds_in, ends_with, is_limit_of, is_term, number_of
from deskhand.outgoing.sentences import clauses_of, sentences
from deskhand.outgoing.stated_values import values_in
from deskhand.outgoing.values import MONEY, Value, is_stated, same_value

_UNITS = MONEY | {"day", "kg"}


def is_own_beside_limit(value: Value, text: str, grounds: Grounds) -> bool:
    """Whether a value of a reply is the customer's own, or follows from it by a sum, and a limit of
    a source stands beside it that the reply names."""
    if value.kind != "number" or value.unit not in _UNITS:
        return False
    is_said = _is_said(value, grounds)
    if not is_said and not _follows(value, grounds):
        return False
    told_values = values_in(text, grounds.now)
    limits = [limit for limit in _limits(grounds) if limit.unit == value.unit]
    limits = [limit for limit in limits if is_stated(limit, told_values)]
    return bool(limits) and _is_compared_rightly(value, text, limits, is_said=is_said)


def is_first_above(value: Value, text: str, grounds: Grounds) -> bool:
    """Whether a number at its place is the first that a limit of a source lets in or keeps out:
    `from six people on` where it says `more than five`."""
    before = fold(text[: value.start]).rstrip()
    if value.kind != "number" or value.unit or not ends_with(before, "from_on"):
        return False
    bounds = chain.from_iterable(bounds_in(passage) for passage in grounds.verified.others)
    return any(
        not bound.is_most
        and not bound.limit.unit
        and number_of(value) == number_of(bound.limit) + 1
        and ends_with(fold(bound.clause.text[: bound.limit.start]).rstrip(), "rather_more")
        for bound in bounds
    )


def _is_said(value: Value, grounds: Grounds) -> bool:
    """Whether the customer names it; he may leave out what it counts (`so about 1,500?`)."""
    said = [other for other in grounds.message_values if other.kind == "number"]
    return any(
        same_value(value, other) or (not other.unit and other.readings == value.readings)
        for other in said
    )


def _follows(value: Value, grounds: Grounds) -> bool:
    bare = [other for other in grounds.message_values if other.kind == "number" and not other.unit]
    meant = [other._replace(unit=value.unit) for other in bare if value.unit not in MONEY]
    said = [*grounds.message_values, *meant]
    return proves(grounds.sums, value, [*said, *grounds.article_values, *grounds.record_values])


def _limits(grounds: Grounds) -> list[Value]:
    bounds = chain.from_iterable(bounds_in(passage) for passage in grounds.verified.others)
    return [bound.limit for bound in bounds]


def _is_compared_rightly(
    value: Value, text: str, limits: Sequence[Value], *, is_said: bool
) -> bool:
    """Whether the value is called no limit itself, and not over or under one that it is not. What
    is missing to a limit may be `more than 300 EUR`."""
    is_limit = is_term if is_said else is_limit_of
    for clause in _clauses(text):
        here = [other for other in values_in(clause) if same_value(value, other)]
        if any(is_limit(clause, other) for other in here):
            return False
        if here and not _is_on_its_side(value, clause, limits):
            return False
    return True


def _clauses(text: str) -> Iterator[str]:
    for start, end in sentences(text):
        sentence = text[start:end]
        yield from (sentence[first:last] for first, last in clauses_of(sentence))


def _is_on_its_side(value: Value, clause: str, limits: Sequence[Value]) -> bool:
    words = [word.folded for word in words_in(clause)]
    says_over = any(word in words_of_each("opposites")["more"] for word in words)
    says_under = any(word in words_of_each("opposites")["less"] for word in words)
    beside = [limit for limit in limits if is_stated(limit, values_in(clause))]
    if says_over == says_under or not beside:
        return True
    if says_over:
        return any(number_of(value) >= number_of(limit) for limit in beside)
    return any(number_of(value) <= number_of(limit) for limit in beside)
