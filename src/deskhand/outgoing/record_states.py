"""Where a thing is, as records and replies say it: shipped, in production, paid, in stock.

A record says it in a word (`status: shipped`), by the name of a field (`paid: false`,
`expected: 2026-11-24`) or by a number (`stock: 0`). A reply says it in the words of its language.
"""

import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from functools import lru_cache
from typing import Any

from deskhand.language.slots.folded_text import fold
from deskhand.outgoing.claim_words import keys_of, words_of_each
from deskhand.outgoing.content_words import words_in
from deskhand.outgoing.polarity import is_negative

_PHASE = "is "
_PARTS = re.compile(r"[,;.]\s+")
"""States that exclude each other."""
DENIED = {"is paid": "is unpaid", "is unpaid": "is paid", "in stock": "sold out"}
"""What a denied state says."""
_LONGEST_REMEMBERED = 1_000
"""Characters of a text whose states are remembered."""
_STOCK = frozenset(("stock", "available", "in_stock", "left", "quantity_available"))


def states_in(text: str) -> frozenset[str]:
    """The states that the words of a text name."""
    return _read_states(text) if len(text) > _LONGEST_REMEMBERED else _states_of_words(text)


def _read_states(text: str) -> frozenset[str]:
    folded = fold(text)
    states = {state for word in words_in(text) for state in keys_of("states", word.folded)}
    for state, phrases in words_of_each("state_phrases").items():
        if any(phrase.replace("_", " ") in folded for phrase in phrases.whole):
            states.add(state)
    return frozenset(states - {"in stock"} if "sold out" in states else states)


_states_of_words = lru_cache(maxsize=4096)(_read_states)


def claimed_states(text: str, *, negative: bool) -> frozenset[str]:
    """The states that a text says something is in: of a denied one what its denial says, or
    nothing."""
    states = states_in(text)
    if not negative:
        return states
    return frozenset(DENIED.get(state, "") for state in states)


def states_of(fields: Mapping[str, Any]) -> set[str]:
    """The states that a record is in."""
    states: set[str] = set()
    for name, value in fields.items():
        named = states_in(name.replace("_", " "))
        if value is True:
            states |= named
        elif value is False:
            states |= {DENIED.get(state, "") for state in named}
        elif name in _STOCK and isinstance(value, int | float):
            states.add("in stock" if value else "sold out")
        elif value not in (None, ""):
            states |= {state for state in named if not state.startswith(_PHASE)}
            if isinstance(value, str):
                states |= _states_told_in(value)
    return states - {""}


def in_stock_of(records: Iterable[Mapping[str, Any]]) -> Decimal | None:
    """The most pieces that a record says are there; None where none says it."""
    counts = [
        Decimal(str(value))
        for fields in records
        for name, value in fields.items()
        if name in _STOCK and isinstance(value, int | float) and not isinstance(value, bool)
    ]
    return max(counts, default=None)


def _states_told_in(value: str) -> set[str]:
    """The states that a record's text says, and not those that it denies: of `requested, not
    confirmed` none."""
    states: set[str] = set()
    for part in _PARTS.split(value):
        states |= claimed_states(part, negative=is_negative(part))
    return states


def is_told(word: str, states: frozenset[str]) -> bool:
    """Whether a word names a state that the records are in, or the one that theirs denies."""
    return any(state in states or DENIED.get(state) in states for state in states_in(word))


def other_state(text: str, negative: bool, states: frozenset[str]) -> str | None:
    """A state that a clause claims and the records are not in; None where they say no state."""
    phases = {state for state in states if state.startswith(_PHASE) or state in DENIED.values()}
    if not phases and "in stock" not in states:
        return None
    for state in states_in(text):
        claimed = DENIED.get(state, state) if negative else state
        is_phase = claimed.startswith(_PHASE) or claimed in ("sold out", "in stock")
        if is_phase and claimed not in states and _is_rival(claimed, states):
            return claimed.removeprefix(_PHASE)
    return None


def _is_rival(claimed: str, states: frozenset[str]) -> bool:
    """Whether the records say another state of the same kind."""
    if claimed.startswith(_PHASE):
        return any(state.startswith(_PHASE) for state in states)
    return bool({"sold out", "in stock"} & states)
