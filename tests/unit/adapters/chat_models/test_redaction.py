"""Credentials disappear, ordinary words stay."""

import pytest

from deskhand.adapters.chat_models.redaction import redacted


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Incorrect API key provided: sk-proj-abcdef123456", "Incorrect API key provided: ***"),
        ("header was Authorization: Bearer abc.def-123", "header was Authorization: Bearer ***"),
        ("https://me:hunter2@host/v1 failed", "https://***@host/v1 failed"),
        ('{"api_key": "0123456789abcdef"}', '{"api_key": "***"}'),
        ("key AIzaSyA1234567890123456789012345 expired", "key *** expired"),
        ("token=eyJhbGciOi.eyJzdWIiOi.abc-123 x", "token=*** x"),
        ("the model is overloaded, ask again", "the model is overloaded, ask again"),
        ("two\n  lines", "two lines"),
    ],
)
def test_what_looks_like_a_credential_is_masked(text: str, shown: str) -> None:
    assert redacted(text) == shown


def test_known_secrets_are_masked_whatever_they_look_like() -> None:
    assert redacted("a plainword b", "plainword", None, "") == "a *** b"


def test_long_texts_are_cut() -> None:
    assert redacted("ab " * 10_000, limit=10) == "ab ab ab …"
