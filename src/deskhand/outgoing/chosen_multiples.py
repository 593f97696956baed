"""How many a reply chooses itself, and what they come to: `three packs would be 321 CZK`.

Nobody named the three. A second reader writes the sum down, and it is calculated anew: the number
times a price of a source is the amount, and both stand in one sentence. The number counts packs,
months or what a source or the customer names. It is no term, and no more than a record says are
there.
"""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import NamedTuple

from deskhand.outgoing.claim_words import words_of, words_of_each
from deskhand.outgoing.content_words import stands_among
from deskhand.outgoing.grounds import Grounds
from deskhand.outgoing.proved_sums import proves
from deskhand.outgoing.quoted_limits import is_term, nouns_behind, number_of
from deskhand.outgoing.record_states import in_stock_of
from deskhand.outgoing.sentences import sentences
from deskhand.outgoing.stated_values import values_in
from deskhand.outgoing.values import MONEY, Value

_MOST = 60
"""A larger number nobody chooses to show what something costs."""


class Multiple(NamedTuple):
    """A number that a reply chooses, and the amount of so many; both at their place in it."""

    number: Value
    amount: Value


def is_of_multiple(value: Value, multiples: Sequence[Multiple]) -> bool:
    """Whether a value at its place in a reply is such a number or such an amount."""
    return any(value.start in (each.number.start, each.amount.start) for each in multiples)


def multiples_in(text: str, grounds: Grounds) -> Iterator[Multiple]:
    """The numbers that a reply multiplies a price of a source with, and what that comes to."""
    sources = [*grounds.article_values, *grounds.record_values]
    prices = [value for value in sources if value.kind == "number" and value.unit in MONEY]
    if not grounds.sums:
        return
    for start, end in sentences(text):
        sentence = text[start:end]
        stated = values_in(sentence, grounds.now)
        for number in filter(_may_be_chosen, stated):
            if is_term(sentence, number) or not _counts_something(number, sentence, grounds):
                continue
            for amount in stated:
                is_product = any(_is_product(number, price, amount) for price in prices)
                if is_product and proves(grounds.sums, amount, [*sources, number]):
                    yield Multiple(_at(number, start), _at(amount, start))


def _at(value: Value, start: int) -> Value:
    return value._replace(start=value.start + start, end=value.end + start)


def _may_be_chosen(value: Value) -> bool:
    if value.kind != "number" or value.unit not in ("", "month"):
        return False
    number = number_of(value)
    return number % 1 == 0 and 2 <= number <= _MOST


def _counts_something(number: Value, sentence: str, grounds: Grounds) -> bool:
    """Whether it counts months, packs that are there, or what a source or the customer names."""
    if number.unit == "month":
        return True
    on_shelf = in_stock_of(record.fields for record in grounds.records)
    if on_shelf is not None and number_of(number) > on_shelf:
        return False
    said = (*grounds.article_words, *grounds.record_words, *grounds.message_words)
    prices = words_of_each("concepts")["price"]
    nouns = [noun for noun in nouns_behind(sentence, number) if noun not in prices]
    return any(noun in words_of("packs") or stands_among(noun, said) for noun in nouns)


def _is_product(number: Value, price: Value, amount: Value) -> bool:
    if amount.kind != "number" or amount.unit != price.unit:
        return False
    product = {number_of(number) * Decimal(reading) for reading in price.readings}
    return any(Decimal(reading) in product for reading in amount.readings)
