"""The typed values that a turn states: which of several is meant, and a number without its unit."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from deskhand.config.sections.slots import SlotSpec
from deskhand.language.slots import SlotMatch, SlotValue
from deskhand.language.slots.folded_text import FoldedText
from deskhand.language.turn_cues import Cues, turn_cues
from deskhand.language.turn_kinds import OpenQuestion
from deskhand.language.turn_number_patterns import DEARER_OR_CHEAPER, DENIED
from deskhand.language.turn_number_values import mark_of, names_other_thing, overlap, takes_back
from deskhand.language.turn_numbers import BareNumbers

Span = tuple[int, int]


class TurnValues(NamedTuple):
    """What a text states, and where."""

    values: dict[str, Any]
    spans: list[Span]
    """The places of all values, also of those that are not meant."""
    chosen: tuple[str, ...] = ()
    """The slots of which the text states several values, and the model says which is meant; and
    those of which it says the value in words of its own."""
    retracted: tuple[str, ...] = ()
    """The slots of which the text states a value, and then takes it back for another."""


def values_in(
    text: str,
    slot_values: Mapping[str, SlotValue],
    slots: Mapping[str, SlotSpec],
    question: OpenQuestion,
    marks: Mapping[str, Span],
) -> TurnValues:
    """The value of each slot that the text states, and states for certain.

    `marks` are the words by which a model says which of several values is meant.
    """
    cues = turn_cues()
    folded = FoldedText(text).folded
    values: dict[str, Any] = {}
    spans: list[Span] = []
    chosen: list[str] = []
    retracted: list[str] = []
    belonging = {
        name: _belonging(slot, slots[name], folded, question) for name, slot in slot_values.items()
    }
    for name, slot in belonging.items():
        spans += [(match.start, match.end) for match in slot_values[name].matches]
        meant = _meant(slot, folded, cues) or _only_new(slot, question.known.get(name))
        if meant is None:
            meant = _marked_match(slot, folded, marks.get(mark_of(slots[name])))
            chosen += [name] if meant is not None else []
        if meant is not None:
            values[name] = meant.value
            retracted += [name] if _is_retraction(slot, meant, folded, cues) else []
    reading = BareNumbers(text, folded, spans, question, marks)
    for name, slot in belonging.items():
        if name not in values:
            reading.add(slots[name], values)
        elif slots[name].type == "money":
            reading.put_in_place(slots[name], slot.matches[-1].end, values)
    return TurnValues(values, spans, (*chosen, *reading.chosen), (*retracted, *reading.retracted))


def _belonging(slot: SlotValue, spec: SlotSpec, folded: str, question: OpenQuestion) -> SlotValue:
    """What was found without the numbers of other things than orders, and without amounts that
    only compare prices."""
    kept = slot.matches
    if spec.type == "order_number":
        kept = tuple(
            match
            for match in kept
            if not names_other_thing(folded[: match.start], spec.name, question.prompt)
        )
    elif spec.type == "money" and spec.name not in question.asked:
        kept = tuple(match for match in kept if not DEARER_OR_CHEAPER.match(folded[match.end :]))
    return replace(slot, matches=kept)


def _meant(slot: SlotValue, folded: str, cues: Cues) -> SlotMatch | None:
    """The match that counts: not one that is denied, and of several the last, where the text takes
    the others back."""
    kept = _not_denied(slot, folded)
    different = {repr(match.value): match for match in kept}
    if not different:
        return None
    if len(different) == 1:
        return kept[0]
    first, last = kept[0], kept[-1]
    if takes_back(folded, first.end, last.start, last.end, cues):
        return last
    return last if cues.has("other_one", folded[first.end : last.start]) else None


def _is_retraction(slot: SlotValue, meant: SlotMatch, folded: str, cues: Cues) -> bool:
    """Whether another value stands before the one that is meant, and is taken back."""
    before = [match for match in slot.matches if match.end <= meant.start]
    others = [match for match in before if match.value != meant.value]
    return bool(others) and takes_back(folded, others[0].end, meant.start, meant.end, cues)


def _only_new(slot: SlotValue, known_value: Any) -> SlotMatch | None:
    """The one of two values that is not known yet: the other only says what it stands for."""
    if known_value is None:
        return None
    new = [match for match in slot.matches if match.value != known_value]
    is_one = len({repr(match.value) for match in new}) == 1
    return new[0] if is_one and len(new) < len(slot.matches) else None


def _not_denied(slot: SlotValue, folded: str) -> list[SlotMatch]:
    return [match for match in slot.matches if not DENIED.search(folded[: match.start])]


def _marked_match(slot: SlotValue, folded: str, marked: Span | None) -> SlotMatch | None:
    """Of several matches the only one that the model marks."""
    kept = _not_denied(slot, folded)
    chosen = [match for match in kept if overlap((match.start, match.end), marked)]
    different = {repr(match.value) for match in chosen}
    return chosen[0] if len(different) == 1 else None
