import datetime as dt
import enum
import json
import socket
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from deskhand.errors import ToolError
from deskhand.model.outcome import ToolStatus
from deskhand.model.results import (
    ToolErrorDetails,
    ToolResult,
    normalize_tool_result,
)


class Color(enum.Enum):
    RED = "red"


class Order(BaseModel):
    id: str
    placed: dt.date = dt.date(2026, 1, 2)


@dataclass
class Parcel:
    id: str
    size: tuple[int, int] = (1, 2)
    extra: dict[str, Any] = field(default_factory=dict[str, Any])


class Rude:
    def __getattr__(self, name: str) -> Any:
        raise RuntimeError("no")

    def __repr__(self) -> str:
        raise RuntimeError("no")


def forever() -> Iterator[int]:
    while True:
        yield 1


async def forever_async() -> AsyncIterator[int]:
    while True:
        yield 1


def circular() -> list[Any]:
    loop: list[Any] = []
    loop.append(loop)
    return loop


def deep() -> list[Any]:
    nested: list[Any] = []
    for _ in range(5000):
        nested = [nested]
    return nested


@pytest.mark.parametrize(
    "fields",
    [
        {"status": "success", "error": {"error_type": "x", "message": "y"}},
        {"status": "error"},
        {"status": "error", "data": {}, "error": {"error_type": "x", "message": "y"}},
        {"status": "maybe"},
        {"status": "success", "extra": 1},
    ],
)
def test_a_result_that_contradicts_itself_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        ToolResult.model_validate(fields)


def test_the_model_sees_the_data_or_the_error() -> None:
    assert ToolResult.success({"a": 1}, "fine").for_model() == {"a": 1}
    assert ToolResult.success().for_model() == {}
    assert ToolResult.failure(
        ToolErrorDetails(error_type="x", message="no such drug")
    ).for_model() == {"error": "no such drug"}


def test_a_result_survives_its_json() -> None:
    for result in (
        ToolResult.success({"a": [1]}, "ok"),
        ToolResult.failure(ToolErrorDetails(error_type="not_found", message="no order O")),
    ):
        assert ToolResult.model_validate_json(result.model_dump_json()) == result
        assert result.ok == (result.status is ToolStatus.SUCCESS)


def test_error_details_keep_a_tools_own_words() -> None:
    details = ToolErrorDetails.from_exception(
        ToolError("too_high", "At most 5.", recoverable=False)
    )
    assert (details.error_type, details.message, details.recoverable) == (
        "too_high",
        "At most 5.",
        False,
    )


def test_error_details_of_any_exception() -> None:
    details = ToolErrorDetails.from_exception(ValueError("bad"), recoverable=False)
    assert (details.error_type, details.message, details.recoverable) == (
        "tool_failed",
        "bad",
        False,
    )
    assert details.details == {"exception": "ValueError"}
    assert ToolErrorDetails.from_exception(TimeoutError()).error_type == "tool_timeout"
    assert ToolErrorDetails.from_exception(TimeoutError()).message == "TimeoutError"
    assert ToolErrorDetails.from_exception(KeyError("id")).message == "KeyError: 'id'"


@pytest.mark.parametrize(
    ("value", "data"),
    [
        (None, {}),
        ({}, {}),
        ({"a": 1}, {"a": 1}),
        ([1, 2], {"result": [1, 2]}),
        ((1, 2), {"result": [1, 2]}),
        (5, {"result": 5}),
        (True, {"result": True}),
        ("plain text", {"text": "plain text"}),
        ("", {"text": ""}),
        ('{"a": 1}', {"a": 1}),
        ("[1]", {"text": "[1]"}),
        ("[" * 100_000, {"text": "[" * 100_000}),
        (b"bytes", {"text": "bytes"}),
        (Order(id="O-1"), {"id": "O-1", "placed": "2026-01-02"}),
        (Parcel("P-1"), {"id": "P-1", "size": [1, 2], "extra": {}}),
        (
            {"when": dt.date(2026, 1, 2), "price": Decimal("1.5")},
            {"when": "2026-01-02", "price": "1.5"},
        ),
        ({"color": Color.RED, 1: "x"}, {"color": "red", "1": "x"}),
        ({"order": Order(id="O-1"), "parcels": [Parcel("P-1")]}, None),
        ({"far": float("inf"), "not": [float("nan")]}, {"far": None, "not": [None]}),
        ('{"far": Infinity}', {"far": None}),
        ({"half": "\ud800", "list": ["a\udfff"]}, {"half": "?", "list": ["a?"]}),
        ({"status": "shipped", "order": "O-1"}, {"status": "shipped", "order": "O-1"}),
        ({"status": "failed", "payment": "P-1"}, {"status": "failed", "payment": "P-1"}),
        ({"status": 200, "body": "x"}, {"status": 200, "body": "x"}),
        ({"status": "success", "data": {"a": 1}}, {"a": 1}),
        ({"status": "ok", "result": [1]}, {"result": [1]}),
        ({"ok": True, "result": {"a": 1}}, {"a": 1}),
        ({"ok": True, "result": {"a": 1}, "total": 9}, {"result": {"a": 1}, "total": 9}),
        ({"success": True, "data": [1], "total": 9}, {"data": [1], "total": 9}),
        ({"success": True, "drugs": []}, {"drugs": []}),
        ({"success": True, "data": None}, {}),
        ({"ok": "yes"}, {"ok": "yes"}),
        ({"error": None, "a": 1}, {"error": None, "a": 1}),
    ],
)
def test_whatever_says_no_error_is_a_success(value: Any, data: dict[str, Any] | None) -> None:
    result = normalize_tool_result(value)
    assert result.ok, result
    assert data is None or result.data == data


@pytest.mark.parametrize(
    ("value", "error_type", "message"),
    [
        ({"error": "no such drug"}, "tool_failed", "no such drug"),
        ({"error": "gone", "error_type": "not_found"}, "not_found", "gone"),
        ({"ok": False}, "tool_failed", "the tool failed without saying why"),
        ({"ok": False, "message": "closed"}, "tool_failed", "closed"),
        ({"success": False, "error": {"code": "E1", "message": "closed"}}, "E1", "closed"),
        ({"status": "error", "message": "closed"}, "tool_failed", "closed"),
        ({"status": "failed", "reason": "card declined"}, "tool_failed", "card declined"),
        (
            {"status": "error", "error": {"error_type": "x", "message": "y", "details": "odd"}},
            "x",
            "y",
        ),
        ('{"error": "as text"}', "tool_failed", "as text"),
        (ValueError("returned, not raised"), "tool_failed", "returned, not raised"),
        (ToolError("x", "y"), "x", "y"),
    ],
)
def test_whatever_says_error_is_a_failure(value: Any, error_type: str, message: str) -> None:
    result = normalize_tool_result(value)
    assert result.error is not None
    assert (result.error.error_type, result.error.message) == (error_type, message)


def test_details_and_recoverability_are_kept() -> None:
    error = {"error_type": "x", "message": "y", "details": {"at": 5}, "recoverable": False}
    result = normalize_tool_result({"status": "error", "error": error, "message": "see details"})
    assert result == ToolResult.failure(ToolErrorDetails.model_validate(error), "see details")


def test_a_ready_result_stays_but_becomes_plain() -> None:
    ready = ToolResult.success({"day": dt.date(2026, 1, 2)}, "found")
    assert normalize_tool_result(ready) == ToolResult.success({"day": "2026-01-02"}, "found")
    failure = ToolResult.failure(ToolErrorDetails(error_type="not_found", message="no order O-1"))
    assert normalize_tool_result(failure) == failure
    looks_failed = ToolResult.success({"error": "is a field here"})
    assert normalize_tool_result(looks_failed) == looks_failed


@pytest.mark.parametrize(
    "make",
    [
        object,
        Rude,
        forever,
        forever_async,
        circular,
        deep,
        lambda: b"\xff",
        lambda: {"\ud800": 1},
        lambda: {"a": object()},
    ],
)
def test_what_cannot_be_stored_is_an_invalid_result(make: Any) -> None:
    value = make()
    result = normalize_tool_result(value)
    assert result.error is not None
    assert result.error.error_type == "tool_result_invalid"
    assert result.error.details["returned"] == type(value).__name__
    assert not result.error.recoverable


def test_an_open_socket_is_an_invalid_result() -> None:
    with socket.socket() as opened:
        assert not normalize_tool_result({"socket": opened}).ok


Anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.binary()
    | st.dates()
    | st.decimals(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["status", "ok", "success", "error", "message", "data", "result", "error_type"]
            )
            | st.text(),
            inner,
            max_size=5,
        )
        | st.sampled_from(["success", "error", "failed"])
    ),
    max_leaves=10,
)


@given(Anything)
def test_normalising_never_fails_and_gives_json_that_survives(value: Any) -> None:
    result = normalize_tool_result(value)
    text = json.dumps(result.model_dump(mode="json"), allow_nan=False, ensure_ascii=False).encode()
    assert ToolResult.model_validate(json.loads(text)) == result
    assert normalize_tool_result(result) == result
