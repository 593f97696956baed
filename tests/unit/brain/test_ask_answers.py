"""An answer is sure only where ask and context agree, and the passage speaks of the same thing."""

from collections.abc import Sequence
from typing import NamedTuple

import pytest

from deskhand.brain.ask_answers import known_answer, says_it_of_another

LAMPS = (
    "The Mira lamp comes in black, white and green and costs 79 EUR. The lamp Mira Plus has a"
    " sensor and costs 119 EUR. Both have a dimmer."
)


class Likeness(NamedTuple):
    best: str
    confidence: float
    label: str | None = None


class Known:
    def __init__(self, *likenesses: Likeness) -> None:
        self._likenesses = likenesses

    def predict(self, texts: Sequence[str]) -> Sequence[Likeness]:
        return self._likenesses[: len(texts)]


def test_an_ask_and_its_context_must_be_like_the_same_questions() -> None:
    agreeing = Known(Likeness("lamps", 0.7), Likeness("lamps", 0.9))
    assert known_answer(agreeing, ["a", "b"]) == ("lamps", 0.9)
    differing = Known(Likeness("desks", 0.7), Likeness("lamps", 0.9))
    assert known_answer(differing, ["a", "b"]) == ("lamps", 0.49)


def test_what_is_like_an_unanswered_question_is_doubted() -> None:
    assert known_answer(Known(Likeness("?lamps", 0.9)), ["a"]) == ("lamps", 0.49)
    mixed = Known(Likeness("?lamps", 0.6), Likeness("lamps", 0.9))
    assert known_answer(mixed, ["a", "b"]) == ("lamps", 0.49)


@pytest.mark.parametrize(
    ("ask", "of_another"),
    [
        ("Is the Mira Plus available in green?", True),
        ("Is the Mira available in green?", False),
        ("What does the Mira Plus cost?", False),
        ("Does the Mira have a dimmer?", False),
        ("Do you have green lamps?", False),
    ],
)
def test_a_passage_must_say_it_of_the_thing_that_is_named(ask: str, of_another: bool) -> None:
    assert says_it_of_another(ask, LAMPS) is of_another
