"""Whom a reply greets."""

import pytest

from deskhand.brain.addressee import addressee


@pytest.mark.parametrize(
    ("sender", "text", "greeted"),
    [
        ("Greenline Care", "We are unhappy.\n\nYours sincerely,\nSade Okafor", "Sade Okafor"),
        ("Greenline Care", "Hello\n\nKind regards\nSade Okafor, Manager\nGreenline", "Sade Okafor"),
        ("Bergmann Bau", "Hallo\n\nMit freundlichen Grüßen\nStefan Berg", "Stefan Berg"),
        ("Sade Okafor", "Hello\n\nKind regards\nSade Okafor", "Sade Okafor"),
        ("Sade Okafor", "Hello\n\nKind regards\nS. Okafor", "Sade Okafor"),
        ("Greenline Care", "Hello, when are you open?", "Greenline Care"),
        ("Greenline Care", "Hello\n\nKind regards\nYour support team", "Greenline Care"),
        ("", "Hello\n\nKind regards\nSade Okafor", ""),
    ],
)
def test_the_person_who_signed_is_greeted(sender: str, text: str, greeted: str) -> None:
    assert addressee(sender, text) == greeted
