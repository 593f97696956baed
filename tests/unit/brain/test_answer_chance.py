"""The chance of an answer grows with what speaks for it, and stays a chance."""

import itertools
from typing import Any

import pytest

from deskhand.brain.answer_chance import (
    AskLikeness,
    Likeness,
    by_questions,
    by_reading,
    likeliest,
)

LIKE = Likeness("returns", 0.9, True, {"returns": 0.9, "?returns": 0.05})
SOUNDS = Likeness("returns", 0.6, False, {"?returns": 0.5, "returns": 0.4})
OTHER = Likeness("hours", 0.9, True, {"hours": 0.9, "returns": 0.05})
EVERY = AskLikeness._fields


def alike(likeness: Likeness, **changed: Likeness) -> AskLikeness:
    """The same in every wording, but for those that are named."""
    given: dict[str, Any] = dict.fromkeys(EVERY, likeness) | changed
    return AskLikeness(**given)


def test_reading_and_likeness_both_count() -> None:
    for reading in (-3.0, 0.0, 3.0):
        other = by_questions("returns", alike(OTHER), reading, reading)
        assert by_questions("returns", alike(LIKE), reading, reading) > other
    by_itself = [by_questions("returns", alike(LIKE), 0.0, score) for score in (-2.0, 0.0, 2.0)]
    in_context = [by_questions("returns", alike(LIKE), score, 0.0) for score in (-2.0, 0.0, 2.0)]
    assert by_itself == sorted(by_itself)
    assert in_context == sorted(in_context)
    assert by_reading(-1) < by_reading(1)


@pytest.mark.parametrize("wording", EVERY)
def test_any_wording_may_show_what_an_ask_is_about(wording: str) -> None:
    none = by_questions("returns", alike(OTHER), 0.0, 0.0)
    assert by_questions("returns", alike(OTHER, **{wording: LIKE}), 0.0, 0.0) > none


def test_a_subject_that_names_the_matter_makes_a_short_ask_surer() -> None:
    silent = alike(LIKE, own=OTHER, after_previous=OTHER)
    contrary = silent._replace(after_subject=OTHER, after_subject_and_previous=OTHER)
    assert by_questions("returns", silent, 0.0, 0.0) > by_questions("returns", contrary, 0.0, 0.0)


def test_what_an_ask_only_sounds_like_counts_against_it() -> None:
    doubted = by_questions("returns", alike(LIKE, own=SOUNDS), 2.0, 2.0)
    assert doubted < by_questions("returns", alike(LIKE), 2.0, 2.0)


def test_the_likeliest_articles_come_first() -> None:
    assert likeliest(alike(LIKE), 1) == ["returns"]
    assert likeliest(alike(OTHER), 2) == ["hours", "returns"]
    assert likeliest(alike(SOUNDS), 3) == ["returns"]


def test_it_is_never_certain() -> None:
    sides = itertools.product((0.0, 1.0), (-1e9, 1e9))
    for confidence, reading in sides:
        like = alike(Likeness("returns", confidence, True, {"returns": confidence}))
        assert 0 <= by_questions("returns", like, reading, reading) <= 0.99
        assert 0 <= by_reading(reading) <= 0.99
