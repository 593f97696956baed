"""One JSON object, however it is wrapped; nothing else."""

import json
import time
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskhand.brain.json_answer import AnswerProblem, EmptyAnswer, parse_object

PLAIN = {"category": "refund", "confidence": 0.9}
TEXT = json.dumps(PLAIN)


@pytest.mark.parametrize(
    "text",
    [
        TEXT,
        f"  \n{TEXT}\n ",
        f"\ufeff{TEXT}",
        f"```json\n{TEXT}\n```",
        f"```\n{TEXT}\n```",
        f"Sure! Here is the answer:\n\n```json\n{TEXT}\n```\nAnything else?",
        f"The answer is {TEXT}. I used {{braces}} and {{ 1, 2 }} here.",
        f'<think>maybe {{"category": "other"}}?</think>\n{TEXT}',
        f"[1] as above: {TEXT}",
        json.dumps(PLAIN, indent=4),
    ],
)
def test_wrapping_does_not_matter(text: str) -> None:
    assert parse_object(text) == PLAIN


def test_a_line_break_inside_a_text_is_taken_as_meant() -> None:
    assert parse_object('{"text": "Dear Anna,\nyours"}') == {"text": "Dear Anna,\nyours"}


def test_braces_and_fences_inside_texts_are_part_of_the_text() -> None:
    value = {"text": 'use ```json {"a": 1} ``` and } or {'}
    assert parse_object(f"Here: {json.dumps(value)} ok") == value


@pytest.mark.parametrize(
    "text", ["", "  \n\t", "\ufeff", "<think>hm</think>", "<think>never ends {"]
)
def test_nothing_is_an_empty_answer(text: str) -> None:
    with pytest.raises(EmptyAnswer, match="the answer is empty"):
        parse_object(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("I would say it is a refund.", "no JSON object"),
        ("<html><body>Bad gateway</body></html>", "a web page"),
        ("<style>a {color: red}</style>", "a web page"),
        ('{"category": "refund", "confi', "not valid JSON"),
        ('{"category": "refund"', "not valid JSON"),
        ('{"outer": {"category": "refund"}, ', "not valid JSON"),
        ("{", "not valid JSON"),
        ("{'category': 'refund'}", "no JSON object"),
        ('{"a": 1,}', "not valid JSON"),
        (f"[{TEXT}]", "a list"),
        (f"```json\n[\n {TEXT}]\n```", "a list"),
        ("[]", "a list"),
        ('"refund"', "a text"),
        ("null", "null"),
        ("true", "true or false"),
        ("12", "a number"),
        (f"{TEXT}\n{TEXT}", "more than one"),
        (f"Either {TEXT} or {{}}", "more than one"),
        ('{"a": NaN}', "NaN is not a JSON number"),
        ('x {"a": -Infinity}', "-Infinity is not a JSON number"),
        ('{"a": 1e999}', "1e999 is too large"),
        ('{"a": ' + "9" * 5000 + "}", "not valid JSON"),
        ('{"a": 1, "b": {"c": 1, "c": 2}}', "'c' occurs twice"),
        ('ok: {"a": 1, "a": 1}', "'a' occurs twice"),
        ('{"a": "\\ud83d"}', "half a surrogate pair"),
        ('{"\\ud83d": 1}', "half a surrogate pair"),
        ('{"a": ["\\u0000"]}', "a NUL character"),
    ],
)
def test_anything_else_is_named(text: str, words: str) -> None:
    with pytest.raises(AnswerProblem) as caught:
        parse_object(text)
    assert words in str(caught.value)
    assert not isinstance(caught.value, EmptyAnswer)


@pytest.mark.parametrize("depth", [51, 900, 100_000])
@pytest.mark.parametrize("prefix", ["", "Here: "])
def test_deep_nesting_is_refused(depth: int, prefix: str) -> None:
    with pytest.raises(AnswerProblem, match="nested"):
        parse_object(prefix + '{"a":' * depth + "1" + "}" * depth)


def test_fifty_levels_are_enough_for_everybody() -> None:
    assert parse_object('{"a":' * 49 + "1" + "}" * 49)


def test_ten_megabytes_are_refused_without_being_read() -> None:
    with pytest.raises(AnswerProblem, match="more than 1,000,000"):
        parse_object('{"a": "' + "x" * 10_000_000 + '"}')


@pytest.mark.parametrize(
    "text", ["{" * 999_999, "{ " * 499_999, '{"a":' * 199_999, "{x " * 333_333, "[" * 999_999]
)
def test_hostile_answers_cost_little_time(text: str) -> None:
    started = time.process_time()
    with pytest.raises(AnswerProblem):
        parse_object(text)
    assert time.process_time() - started < 50


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**60), 2**60)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text('abcé{}"`'), inner, max_size=4)
    ),
    max_leaves=15,
)


@given(st.dictionaries(st.text('abcé{}"`', max_size=5), json_values, max_size=5), st.booleans())
def test_every_object_survives_its_wrapping(value: dict[str, Any], ascii_only: bool) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only)
    assert parse_object(f"Here you are:\n```json\n{text}\n```\nGood luck.") == value


@given(st.text())
def test_any_text_gives_an_object_or_a_problem(text: str) -> None:
    with suppress(AnswerProblem):
        assert isinstance(parse_object(text), dict)
