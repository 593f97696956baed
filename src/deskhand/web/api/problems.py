"""Errors as problem+json (RFC 9457): one shape for every answer that is not what was asked for."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic_core import ErrorDetails
from starlette.exceptions import HTTPException

from deskhand.errors import (
    AlreadyServed,
    ConfigError,
    Conflict,
    DeskhandError,
    Fenced,
    IncompleteDecision,
    NotFound,
    StoreUnavailable,
)
from deskhand.model.codes import ErrorCode

MEDIA_TYPE = "application/problem+json"
RETRY_AFTER = {"Retry-After": "5"}
_LONGEST = 500
_NOT_BLANK = r"\S"

_CODES = {
    400: ErrorCode.MESSAGE_UNREADABLE,
    401: ErrorCode.UNAUTHENTICATED,
    403: ErrorCode.FORBIDDEN,
    404: ErrorCode.NOT_FOUND,
    405: ErrorCode.METHOD_NOT_ALLOWED,
    408: ErrorCode.REQUEST_TIMEOUT,
    409: ErrorCode.CONFLICT,
    413: ErrorCode.MESSAGE_TOO_LARGE,
    415: ErrorCode.UNSUPPORTED_MEDIA_TYPE,
    422: ErrorCode.REQUEST_INVALID,
    429: ErrorCode.OVERLOADED,
    503: ErrorCode.STORE_UNAVAILABLE,
}

_TEXT = {"type": "string"}
_FIELD_PROBLEM = {"type": "object", "properties": {"field": _TEXT, "problem": _TEXT}}
_SCHEMA = {
    "type": "object",
    "required": ["type", "title", "status", "detail", "code"],
    "properties": {
        **dict.fromkeys(("type", "title", "detail", "code", "incident"), _TEXT),
        "status": {"type": "integer"},
        "errors": {"type": "array", "items": _FIELD_PROBLEM},
    },
}
_CONTENT = {MEDIA_TYPE: {"schema": _SCHEMA}}
DOCUMENTED: dict[int | str, dict[str, Any]] = {
    "4XX": {"description": "The request cannot be met as it is.", "content": _CONTENT},
    "503": {"description": "Something is away; try again later.", "content": _CONTENT},
}
"""What every operation may answer instead, for the API's description."""


@dataclass(frozen=True, slots=True)
class FieldProblem:
    """What is wrong with one field of a request, in words that say what to write."""

    field: str
    problem: str

    def __str__(self) -> str:
        return f"{self.field}: {self.problem}" if self.field else self.problem


@dataclass(frozen=True, slots=True)
class Problem:
    status: int
    detail: str
    code: ErrorCode | None = None
    """The stable code; None takes the usual one of the status."""
    errors: Sequence[FieldProblem] = ()
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    incident: str | None = None
    """What to look for in the log."""

    def response(self) -> JSONResponse:
        code = self.code or _CODES.get(self.status, ErrorCode.INTERNAL)
        content: dict[str, Any] = {
            "type": f"urn:deskhand:problem:{code}",
            "title": HTTPStatus(self.status).phrase,
            "status": self.status,
            "detail": self.detail[:_LONGEST],
            "code": code,
        }
        if self.errors:
            content["errors"] = [
                {"field": error.field[:_LONGEST], "problem": error.problem} for error in self.errors
            ]
        if self.incident is not None:
            content["incident"] = self.incident
        return JSONResponse(content, self.status, self.headers, MEDIA_TYPE)


class Refused(DeskhandError):
    """The caller must change the request."""

    def __init__(self, status: int, detail: str, **more: Any) -> None:
        super().__init__(detail)
        self.problem = Problem(status, detail, **more)


@contextmanager
def refusing_what_cannot_be() -> Iterator[None]:
    """A name, address, desk or limit that is none is the caller's mistake."""
    try:
        yield
    except ConfigError as error:
        raise Refused(422, str(error)) from error


def invalid(*errors: FieldProblem) -> Refused:
    """The request can be read, and some of its fields are wrong."""
    return Refused(422, "; ".join(map(str, errors)), errors=errors)


def invalid_fields(errors: Iterable[ErrorDetails], *, skip: int = 0) -> Refused:
    """The same, from what pydantic found; `skip` leaves out the beginning of each place."""
    listed = list(errors)
    return invalid(
        *(
            FieldProblem(".".join(map(str, error["loc"][skip:])), _words(error))
            for error in listed
            if not _is_echo(error, listed)
        )
    )


def _is_echo(error: ErrorDetails, listed: Sequence[ErrorDetails]) -> bool:
    """A list whose only entry is wrong is called too short beside it."""
    place = error["loc"]
    inner = [inside for inside in listed if len(inside["loc"]) > len(place)]
    return error["type"] == "too_short" and any(
        inside["loc"][: len(place)] == place for inside in inner
    )


def _words(error: ErrorDetails) -> str:
    limits: Mapping[str, Any] = error.get("ctx") or {}
    match error["type"]:
        case "extra_forbidden":
            return "there is no such field; leave it out"
        case "missing":
            return "it is missing"
        case "model_type" | "dict_type":
            return "it must be an object: {...}"
        case "tuple_type" | "list_type":
            return "it must be a list: [...]"
        case "too_short":
            return f"at least {limits.get('min_length')} must be given"
        case "too_long":
            most, given = limits.get("max_length"), limits.get("actual_length")
            return f"at most {most} can be given, not {given or 'so many'}"
        case "string_pattern_mismatch" if limits.get("pattern") == _NOT_BLANK:
            return "it is blank; write something"
        case _:
            return error["msg"]


def problem_of(error: Exception) -> Problem | None:
    """How an expected error is told to the caller; None for one that nobody expected."""
    match error:
        case Refused():
            return error.problem
        case NotFound():
            return Problem(404, str(error))
        case IncompleteDecision():
            return invalid(FieldProblem(error.field, str(error))).problem
        case Conflict():
            return Problem(409, str(error))
        case StoreUnavailable() | Fenced() | AlreadyServed():
            detail = "the desk cannot take or give data right now; try again later"
            return Problem(503, detail, error.code, headers=RETRY_AFTER)
        case RequestValidationError():
            return invalid_fields(
                error.errors(), skip=1
            ).problem  # `query`, `path` or `header` comes first
        case HTTPException():
            return Problem(error.status_code, str(error.detail), headers=error.headers or {})
        case _:
            return None
