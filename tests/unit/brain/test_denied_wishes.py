"""Clauses that say what shall not be done."""

import pytest

from deskhand.brain.named_wishes import without_denied


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Keep it as it is, don't cancel the order", "Keep it as it is"),
        ("Please don't cancel it, just send it to my office", "just send it to my office"),
        ("Nerušte to, jen mi řekněte, kde je", "jen mi řekněte, kde je"),
        ("Bestellung so lassen, nicht stornieren", "Bestellung so lassen"),
        ("no canceles nada", ""),
    ],
)
def test_a_clause_that_denies_is_taken_out(text: str, left: str) -> None:
    assert without_denied(text) == left


@pytest.mark.parametrize(
    "text",
    ["Cancel my order", "Why don't you cancel it?", "Zrušte to, už to nechci", "Stornieren bitte"],
)
def test_a_wish_stays_whole(text: str) -> None:
    assert without_denied(text) == text
