"""What a customer's turn may do while a question is open."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from typing import Any

CONFIRM = "confirm"
"""The slot of a question that is answered with yes or no."""


class TurnKind(StrEnum):
    """What a turn does. Rows hold these words: never rename one."""

    ANSWER = "answer"
    ANSWERS_SEVERAL = "answers_several"
    INVALID = "invalid"
    CORRECTION = "correction"
    ASIDE = "aside"
    OTHER_MATTER = "other_matter"
    CANCEL = "cancel"
    PERSON = "person"
    WHY = "why"
    REPEAT = "repeat"


ANSWERS = (TurnKind.ANSWER, TurnKind.ANSWERS_SEVERAL)
ALWAYS_POSSIBLE = (
    TurnKind.INVALID,
    TurnKind.ASIDE,
    TurnKind.OTHER_MATTER,
    TurnKind.CANCEL,
    TurnKind.PERSON,
    TurnKind.WHY,
    TurnKind.REPEAT,
)
"""What a turn may do whatever values it states."""


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """What was asked, and what is known by then."""

    asked: tuple[str, ...]
    slots: tuple[str, ...] = ()
    """All slots of the matter, asked or not."""
    known: Mapping[str, Any] = field(default_factory=dict[str, Any])
    matter: str | None = None
    """The intent that the question belongs to."""
    prompt: str = ""
    """The question's words."""


@dataclass(frozen=True, slots=True)
class Turn:
    """What a message does, and the values that it states."""

    kind: TurnKind
    values: dict[str, Any] = field(default_factory=dict[str, Any])
    matter: str | None = None
    """With `other_matter`: the intent that it begins, where that is known."""
    other_one: bool = False
    """With `correction`: it means the thing that was not named, whichever that is."""
    unsure: tuple[str, ...] = ()
    """The values that are one of several which the message names: the customer is asked whether
    they are right."""


def same_value(first: Any, second: Any) -> bool:
    """Whether two values are one: 15 and 15.00 are, and so are words in capitals and in small."""
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        return all(same_value(first.get(name), item) for name, item in second.items())
    try:
        return Decimal(str(first)) == Decimal(str(second))
    except ArithmeticError:
        pass
    return first == second or str(first).casefold() == str(second).casefold()


def answer_kind(values: Mapping[str, Any]) -> TurnKind:
    """The kind of an answer that gives these values."""
    return TurnKind.ANSWERS_SEVERAL if len(values) > 1 else TurnKind.ANSWER
