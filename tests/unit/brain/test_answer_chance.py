"""The chance of an answer grows with what speaks for it, and stays a chance."""

import itertools
from typing import Any

from deskhand.brain.answer_chance import (
    LaterAsk,
    Likeness,
    by_questions,
    by_reading,
    of_later_ask,
)

LIKE = Likeness("returns", 0.9, True)
UNANSWERED = Likeness("returns", 0.9, False)
OTHER = Likeness("hours", 0.9, True)


def test_each_kind_of_evidence_counts() -> None:
    for reading in (-3.0, 0.0, 3.0):
        doubted = by_questions("returns", [UNANSWERED], reading)
        assert by_questions("returns", [LIKE], reading) > doubted
        assert by_questions("returns", [OTHER], reading) == doubted
    chances = [by_questions("returns", [LIKE], score) for score in (-2.0, 0.0, 2.0)]
    assert chances == sorted(chances)
    assert by_reading(-1) < by_reading(1)


def test_a_wording_that_says_something_else_lowers_the_chance() -> None:
    agreeing = by_questions("returns", [LIKE, LIKE], 2.0)
    differing = by_questions("returns", [LIKE, OTHER], 2.0)
    assert by_questions("returns", [OTHER], 2.0) < differing < agreeing


def test_any_wording_of_a_later_ask_may_show_what_it_is_about() -> None:
    like = Likeness("returns", 0.9, True, {"returns": 0.9, "?returns": 0.05})
    other = Likeness("hours", 0.9, True, {"hours": 0.9, "returns": 0.05})
    least = LaterAsk(other, other, other, other, None)
    chances = [of_later_ask("returns", least, 1.0, 1.0)]
    for wording in ("in_context", "after_previous", "after_opening", "own"):
        changed: dict[str, Any] = {wording: like}
        more = least._replace(**changed)
        chances.append(of_later_ask("returns", more, 1.0, 1.0))
    assert min(chances) == chances[0] < min(chances[1:])
    assert of_later_ask("returns", least._replace(previous="returns"), 1.0, 1.0) > chances[0]


def test_a_later_ask_that_only_sounds_answered_has_a_lower_chance() -> None:
    like = Likeness("returns", 0.9, True, {"returns": 0.9, "?returns": 0.01})
    sounds = Likeness("returns", 0.6, True, {"returns": 0.5, "?returns": 0.4})
    sure = LaterAsk(like, like, like, like, "returns")
    doubted = sure._replace(own=sounds)
    assert of_later_ask("returns", doubted, 2.0, 2.0) < of_later_ask("returns", sure, 2.0, 2.0)
    assert 0 <= of_later_ask("returns", sure, 1e9, 1e9) <= 0.99


def test_it_is_never_certain() -> None:
    sides = itertools.product((0.0, 1.0), (-1e9, 1e9))
    for confidence, reading in sides:
        alike = [Likeness("returns", confidence, True)]
        assert 0 <= by_questions("returns", alike, reading) <= 0.99
        assert 0 <= by_reading(reading) <= 0.99
