from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskhand.web.api.problems import Refused
from deskhand.web.api.request_body import parse_json


@given(st.binary())
def test_any_bytes_are_a_document_or_refused(body: bytes) -> None:
    with suppress(Refused):
        parse_json(body)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"\xff", "not UTF-8 at byte 0"),
        (b'{"a": }', "line 1 column 7"),
        (b"Infinity", "Infinity is not a number"),
        (b"[" * 100_000, "nested too deeply"),
        (rb'["\ud800"]', "half a surrogate pair"),
        (rb'{"x": {"\u0000": 1}}', "NUL"),
    ],
)
def test_the_refusal_says_what_is_wrong(body: bytes, words: str) -> None:
    with pytest.raises(Refused, match=words):
        parse_json(body)


@pytest.mark.parametrize(
    ("body", "value"), [(rb'"\ud83d\ude00"', "😀"), (rb'"\\u0000"', "\\u0000"), (b"[1]", [1])]
)
def test_what_only_looks_wrong_is_read(body: bytes, value: Any) -> None:
    assert parse_json(body) == value
