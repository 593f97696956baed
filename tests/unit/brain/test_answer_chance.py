"""The chance of an answer grows with what speaks for it, and stays a chance."""

import itertools

from deskhand.brain.answer_chance import Likeness, by_questions, by_reading

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


def test_it_is_never_certain() -> None:
    sides = itertools.product((0.0, 1.0), (-1e9, 1e9))
    for confidence, reading in sides:
        alike = [Likeness("returns", confidence, True)]
        assert 0 <= by_questions("returns", alike, reading) <= 0.99
        assert 0 <= by_reading(reading) <= 0.99
