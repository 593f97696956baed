"""What numbers in a customer's turn amount to: orders with their letters, amounts with their
currency."""

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from deskhand.config.sections.slots import SlotSpec
from deskhand.language.slots.folded_text import fold
from deskhand.language.slots.numbers import written_out
from deskhand.language.turn_amounts import SpokenAmount
from deskhand.language.turn_cues import Cues, puts_in_place
from deskhand.language.turn_number_patterns import OTHER_NUMBER_BEFORE

Span = tuple[int, int]
_TIMES = 10
"""How many times larger or smaller a number may be that stands in the place of an amount."""
_STEM = 6
_NUMBER = ("number", "cislo", "numero", "symbol", "nummer")


def with_prefix(digits: str, spec: SlotSpec) -> str:
    return f"{spec.prefix[0].upper()}-{digits}" if spec.prefix else digits


def has_form_of_order(written: str, spec: SlotSpec) -> bool:
    is_long_enough = spec.min_digits <= len(written) <= spec.max_digits
    return written.isdecimal() and is_long_enough and int(written) > 0


def is_amount_of(value: Any, written: str) -> bool:
    """Whether a known value is an amount of just this number."""
    if not isinstance(value, Mapping) or "amount" not in value:
        return False
    return Decimal(str(value["amount"])) == int(written)


def is_of_size(number: Decimal, known_amount: Decimal) -> bool:
    """Whether a number that is not the known one may stand in its place."""
    return number != known_amount and known_amount / _TIMES <= number <= known_amount * _TIMES


def names_other_thing(before: str, slot: str, prompt: str) -> bool:
    """Whether folded words call the number behind them that of something else than an order:
    `my customer number is`. What the question itself names counts as asked for."""
    match = OTHER_NUMBER_BEFORE.search(before)
    if match is None:
        return False
    thing = match.group("thing")
    asked = fold(f"{slot} {prompt}")
    return not any(
        word[:_STEM] in asked for word in re.findall(r"[a-z]{4,}", thing) if word not in _NUMBER
    )


def number_of(written: str) -> Decimal:
    """`1 290,50`, `1.290` and `1,290.50` as numbers."""
    bare = re.sub(r"[ .',](?=\d{3}(?:\D|$))", "", written)
    return Decimal(bare.replace(",", "."))


def typed_amount(amount: SpokenAmount, currency: str) -> dict[str, str]:
    if amount.share is not None:
        return {"share": str(amount.share)}
    assert amount.number is not None
    return {"amount": written_out(amount.number, 2), "currency": currency}


def takes_back(folded: str, first_end: int, last_start: int, last_end: int, cues: Cues) -> bool:
    """Whether a text that names two values takes the first one back."""
    return puts_in_place(folded[first_end:last_start], folded[last_end:], cues)


def mark_of(spec: SlotSpec) -> str:
    """What a slot's values are called by the model."""
    names = {"order_number": "order", "money": "amount", "date": "date", "email": "email"}
    return names.get(spec.type, spec.name)


def overlap(place: Span, marked: Span | None) -> bool:
    return marked is not None and place[0] < marked[1] and marked[0] < place[1]
