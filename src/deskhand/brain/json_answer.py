"""Finds the one JSON object in a model's answer: lenient about what surrounds it, strict about
what is in it."""

import json
import math
import re
from typing import Any

MAX_CHARACTERS = 1_000_000
MAX_DEPTH = 50

# a brace followed by a quote, a closing brace or nothing opens an object; any other brace is prose
_OPENING = re.compile(r'\{(?=\s*(?:["}]|\Z))')


class AnswerProblem(ValueError):
    """What is wrong with an answer, in words the model can mend it by."""


class EmptyAnswer(AnswerProblem):
    """There is no answer at all."""


def parse_object(text: str) -> dict[str, Any]:
    """The object in `text`, be it bare, in a code fence, or between sentences; AnswerProblem for
    anything else."""
    if len(text) > MAX_CHARACTERS:
        raise AnswerProblem(
            f"the answer is {len(text):,} characters long, more than {MAX_CHARACTERS:,}"
        )
    text = _without_thoughts(text.strip().lstrip("\ufeff"))
    if not text:
        raise EmptyAnswer("the answer is empty")
    try:
        value = _DECODER.decode(text)
    except AnswerProblem:
        raise
    except (ValueError, RecursionError):
        value = _only_object_in(text)
    if not isinstance(value, dict):
        raise AnswerProblem(f"the answer is {_kind(value)}, not a JSON object")
    _check_storable(value)
    return value


def _without_thoughts(text: str) -> str:
    """Drop the reasoning that some models put before their answer."""
    if text.startswith("<think>"):
        _, _, text = text.partition("</think>")
    return text.strip()


def _only_object_in(text: str) -> dict[str, Any]:
    answer: dict[str, Any] | None = None
    end = 0
    while opening := _OPENING.search(text, end):
        position = opening.start()
        if text[:position].rstrip().endswith("["):
            raise AnswerProblem("the answer is a list, not a JSON object")
        if answer is not None:
            raise AnswerProblem("the answer holds more than one JSON object")
        answer, end = _decoded(text, position)
    if answer is not None:
        return answer
    if text.startswith("<"):
        raise AnswerProblem("the answer is a web page or markup, not a JSON object")
    raise AnswerProblem("the answer holds no JSON object")


def _decoded(text: str, position: int) -> tuple[dict[str, Any], int]:
    """The object that begins at this position, and where it ends."""
    try:
        return _DECODER.raw_decode(text, position)
    except RecursionError:
        raise AnswerProblem("the answer is nested too deeply") from None
    except json.JSONDecodeError as error:
        problem = f"{error.msg} at character {error.pos}"
        raise AnswerProblem(f"the answer is not valid JSON: {problem}") from None
    except AnswerProblem:
        raise
    except ValueError as error:
        raise AnswerProblem(f"the answer is not valid JSON: {error}") from None


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise AnswerProblem(f"the key {twice!r} occurs twice in one object")
    return result


def _no_constant(name: str) -> Any:
    raise AnswerProblem(f"{name} is not a JSON number")


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise AnswerProblem(f"the number {digits[:40]} is too large")
    return number


# strict=False: a line break inside a string, which models like to write, has only one meaning
_DECODER = json.JSONDecoder(
    object_pairs_hook=_unique_keys, parse_constant=_no_constant, parse_float=_finite, strict=False
)


def _kind(value: Any) -> str:
    match value:
        case list():
            return "a list"
        case str():
            return "a text"
        case None:
            return "null"
        case bool():
            return "true or false"
        case _:
            return "a number"


def _check_storable(value: Any, depth: int = 1) -> None:
    """Refuse what a database or the next serializer would choke on."""
    if depth > MAX_DEPTH:
        raise AnswerProblem(f"the answer is nested deeper than {MAX_DEPTH} levels")
    if isinstance(value, str):
        _check_text(value)
    elif isinstance(value, dict):
        for key, item in value.items():
            _check_storable(key, depth)
            _check_storable(item, depth + 1)
    elif isinstance(value, list):
        for item in value:
            _check_storable(item, depth + 1)


def _check_text(text: str) -> None:
    if not text.isascii() and not _is_unicode(text):
        raise AnswerProblem("a text in the answer holds half a surrogate pair")
    if "\0" in text:
        raise AnswerProblem("a text in the answer holds a NUL character")


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
