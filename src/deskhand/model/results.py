"""What a tool gives back: one shape, whatever the tool returned."""

import json
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import asdict, is_dataclass
from typing import Any, Self, cast

from pydantic import BaseModel, Field, model_validator
from pydantic_core import PydanticSerializationError, to_json, to_jsonable_python

from deskhand.model.codes import ErrorCode
from deskhand.model.frozen import Frozen
from deskhand.model.outcome import ToolStatus


class ToolErrorDetails(Frozen):
    """Why a tool failed, under a code that stays stable."""

    error_type: str
    message: str
    details: dict[str, Any] = Field(default_factory=dict)
    recoverable: bool = True

    @classmethod
    def from_exception(cls, error: BaseException, *, recoverable: bool = True) -> Self:
        """Keep a ToolError's own type and recoverability; any other exception is `tool_failed`,
        by class name."""
        error_type = getattr(error, "error_type", None)
        if isinstance(error_type, str):
            return cls(
                error_type=error_type,
                message=_words(error),
                recoverable=bool(getattr(error, "recoverable", recoverable)),
            )
        code = ErrorCode.TOOL_TIMEOUT if isinstance(error, TimeoutError) else ErrorCode.TOOL_FAILED
        return cls(
            error_type=code,
            message=_words(error),
            details={"exception": type(error).__name__},
            recoverable=recoverable,
        )


class ToolResult(Frozen):
    """Success with data, or an error with details; never both, never neither."""

    status: ToolStatus
    data: dict[str, Any] | None = None
    error: ToolErrorDetails | None = None
    message: str | None = None

    @model_validator(mode="after")
    def _agrees_with_itself(self) -> Self:
        if self.status is ToolStatus.SUCCESS and self.error is not None:
            raise ValueError(
                "a successful result carries no error; drop `error` or set status 'error'"
            )
        if self.status is ToolStatus.ERROR and self.error is None:
            raise ValueError("a failed result needs `error` with error_type and message")
        if self.status is ToolStatus.ERROR and self.data is not None:
            raise ValueError(
                "a failed result carries no data; put what is known into error.details"
            )
        return self

    @classmethod
    def success(cls, data: Mapping[str, Any] | None = None, message: str | None = None) -> Self:
        return cls(status=ToolStatus.SUCCESS, data=dict(data or {}), message=message)

    @classmethod
    def failure(cls, error: ToolErrorDetails, message: str | None = None) -> Self:
        return cls(status=ToolStatus.ERROR, error=error, message=message)

    @property
    def ok(self) -> bool:
        return self.status is ToolStatus.SUCCESS

    def for_model(self) -> dict[str, Any]:
        """What the model sees: the data, or `{"error": message}`."""
        return {"error": self.error.message} if self.error is not None else dict(self.data or {})


class DiscoveredItem(Frozen):
    identifier: str
    kind: str = "item"
    source: str | None = None
    details: dict[str, Any] = Field(default_factory=dict)


class Evidence(Frozen):
    content: str
    source: str | None = None
    confidence: float | None = Field(default=None, ge=0, le=1)
    details: dict[str, Any] = Field(default_factory=dict)


class ToolResultData(Frozen):
    """A tool's data (`raw`) beside the fields that exploring tools share."""

    items_explored: list[str] = Field(default_factory=list)
    items_pending: list[str] = Field(default_factory=list)
    discoveries: list[DiscoveredItem] = Field(default_factory=list)
    evidence: list[Evidence] = Field(default_factory=list)
    raw: dict[str, Any] = Field(default_factory=dict)


def normalize_tool_result(value: Any) -> ToolResult:
    """Turn anything a tool may return into a ToolResult made of plain JSON data.

    What cannot be stored (an open socket, a circular list) becomes a `tool_result_invalid` failure,
    never an exception.
    """
    if isinstance(value, BaseException):
        return ToolResult.failure(ToolErrorDetails.from_exception(value))
    try:
        if isinstance(value, ToolResult):
            return ToolResult.model_validate(_to_plain(value))
        return _normalize_plain(_to_plain(value))
    except Exception as error:  # whatever a foreign object raises while it is read
        details = {"returned": type(value).__name__, "problem": _words(error)[:500]}
        message = f"the tool returned a {type(value).__name__} that is not a readable result"
        return ToolResult.failure(
            ToolErrorDetails(
                error_type=ErrorCode.TOOL_RESULT_INVALID,
                message=message,
                details=details,
                recoverable=False,
            )
        )


def _words(error: BaseException) -> str:
    """An exception's message, as text that can be stored; its class where the message alone says
    nothing."""
    try:
        text = str(error)
    except Exception:
        text = ""
    if not text or isinstance(error, KeyError):
        text = f"{type(error).__name__}: {text}".removesuffix(": ")
    return text.encode(errors="replace").decode()


_PLAIN = frozenset((dict, list, str, int, float, bool, type(None)))


def _to_plain(value: Any) -> Any:
    """JSON data: no infinities, no half characters, no iterators (which may never end)."""
    if type(value) in _PLAIN:
        pass
    elif isinstance(value, Iterator | AsyncIterator):
        raise TypeError("an iterator is not a result; return a list")
    elif isinstance(value, BaseModel):
        value = value.model_dump(mode="python")
    elif is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    plain = to_jsonable_python(value, inf_nan_mode="null")
    try:
        to_json(plain)
    except PydanticSerializationError:
        return _without_half_characters(plain)
    return plain


def _without_half_characters(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode(errors="replace").decode()
    if isinstance(value, dict):
        return {
            key: _without_half_characters(item) for key, item in cast(dict[str, Any], value).items()
        }
    if isinstance(value, list):
        return [_without_half_characters(item) for item in value]
    return value


def _normalize_plain(value: Any) -> ToolResult:
    if value is None:
        return ToolResult.success({})
    if isinstance(value, str):
        return _normalize_text(value)
    if isinstance(value, dict):
        return _normalize_mapping(cast(dict[str, Any], value))
    return ToolResult.success({"result": value})


def _normalize_text(text: str) -> ToolResult:
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError):
        return ToolResult.success({"text": text})
    return (
        _normalize_mapping(_to_plain(parsed))
        if isinstance(parsed, dict)
        else ToolResult.success({"text": text})
    )


def _normalize_mapping(value: dict[str, Any]) -> ToolResult:
    """Read the new shape, then the old ones: `ok`/`success` flags, a bare `error`, a wrapped
    `result` or `data`."""
    message = next(
        (value[key] for key in ("message", "reason") if isinstance(value.get(key), str)), None
    )
    error = value.get("error")
    failed = _says_failed(value)
    if failed or (failed is None and error):
        return ToolResult.failure(_error_details(error, message, value), message)
    if failed is None:
        return ToolResult.success(value)
    rest = {
        key: item
        for key, item in value.items()
        if key not in ("status", "ok", "success", "error", "message")
    }
    if len(rest) == 1 and (wrapped := rest.keys() & {"data", "result"}):
        inner = rest[wrapped.pop()]
        if inner is None:
            return ToolResult.success({}, message)
        return ToolResult.success(inner if isinstance(inner, dict) else {"result": inner}, message)
    return ToolResult.success(rest, message)


_RESULT_KEYS = {
    "status",
    "data",
    "result",
    "error",
    "error_type",
    "message",
    "reason",
    "details",
    "recoverable",
}


def _says_failed(value: dict[str, Any]) -> bool | None:
    """What the result says of itself, if it speaks a result shape at all (a `status: shipped` is
    plain data).

    So is the `status: failed` of a parcel or a payment that was looked up: it counts only as a
    whole result's own word.
    """
    status = value.get("status")
    if isinstance(status, str):
        try:
            failed = ToolStatus.parse(status) is ToolStatus.ERROR
        except ValueError:
            return None
        own_word = (
            status.strip().lower() == ToolStatus.ERROR
            or value.keys() <= _RESULT_KEYS
            or bool(value.get("error"))
        )
        return None if failed and not own_word else failed
    for flag in ("ok", "success"):
        if isinstance(value.get(flag), bool):
            return not value[flag]
    return None


def _error_details(error: Any, message: str | None, value: dict[str, Any]) -> ToolErrorDetails:
    if isinstance(error, dict):
        fields = cast(dict[str, Any], error)
        return ToolErrorDetails(
            error_type=str(
                fields.get("error_type")
                or fields.get("type")
                or fields.get("code")
                or ErrorCode.TOOL_FAILED
            ),
            message=str(fields.get("message") or message or "the tool failed without saying why"),
            details=fields["details"] if isinstance(fields.get("details"), dict) else {},
            recoverable=bool(fields.get("recoverable", True)),
        )
    text = str(error) if error else message or "the tool failed without saying why"
    error_type = value.get("error_type")
    return ToolErrorDetails(
        error_type=str(error_type) if error_type else ErrorCode.TOOL_FAILED, message=text
    )
