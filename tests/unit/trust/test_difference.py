"""How much of a reply was changed, by its words."""

import pytest

from deskhand.trust.difference import changes_facts, share_changed


@pytest.mark.parametrize(
    ("written", "sent", "share", "facts"),
    [
        ("It left on Monday.", "It  left\non Monday!", 0.0, False),
        ("It left on Monday.", "It left on Tuesday.", 0.25, False),
        ("You get 10 EUR back", "You get 100 EUR back", 0.2, True),
        ("You get 10.00 EUR", "You get 1000 EUR", 0.25, True),
        ("Write to help@acme.example", "Write to sales@acme.example", 1 / 3, True),
        ("See https://acme.example/a", "See https://acme.example/b", 0.5, True),
        ("Přijde v pondělí", "Přijde v pondělí nebo v úterý", 0.5, False),
        ("Yes", "Dear Ann, thank you for asking", 1.0, False),
        ("", "", 0.0, False),
        ("-5 %", "5 %", 0.5, True),
    ],
)
def test_words_are_compared_and_numbers_are_told_apart(
    written: str, sent: str, share: float, facts: bool
) -> None:
    assert share_changed(written, sent) == pytest.approx(share, abs=1e-3)
    assert share_changed(sent, written) == pytest.approx(share, abs=1e-3)
    assert changes_facts(written, sent) is facts


def test_a_very_long_text_is_compared_in_a_moment() -> None:
    """The first words count: nobody edits a novel, and nobody may make us compare one."""
    assert share_changed("word " * 200_000, "other " * 200_000) == 1.0
