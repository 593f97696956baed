"""Request bodies: read within bounds, refused with a reason, described for OpenAPI, and those that
come again."""

import asyncio
import json
import re
from typing import Any, NoReturn
from weakref import WeakValueDictionary

from fastapi import Request
from pydantic import BaseModel

from deskhand.web.api.problems import Refused

PATIENCE = 60.0
"""Seconds a client has for sending its body."""
MOST_LEVELS = 50
"""How deeply lists and objects may lie in each other."""
_MAY_BE_UNSTORABLE = re.compile(rb"\\u(?:[dD][89a-fA-F]|0000)")
_TAKEN = {"Accept": "application/json"}
_SURROGATE_OR_NUL = re.compile("[\0\ud800-\udfff]")


class Turns:
    """Queues requests with the same Idempotency-Key, so that all return the first one's answer."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def __getitem__(self, key: str) -> asyncio.Lock:
        return self._locks.setdefault(key, asyncio.Lock())


async def read_body(request: Request, limit: int) -> bytes:
    """The body, if it is JSON and at most `limit` bytes; no more than that is ever held."""
    _check_type(request)
    return await read_bytes(request, limit)


async def read_bytes(request: Request, limit: int) -> bytes:
    """The body, whatever it is, if it has at most `limit` bytes."""
    length = request.headers.get("content-length", "")
    if length.isdecimal() and int(length[:20]) > limit:
        raise too_large(limit)
    body = bytearray()
    try:
        async with asyncio.timeout(PATIENCE):
            async for piece in request.stream():
                if len(body) + len(piece) > limit:
                    raise too_large(limit)
                body += piece
    except TimeoutError:
        raise Refused(408, f"the body did not arrive within {PATIENCE:.0f} seconds") from None
    return bytes(body)


def too_large(limit: int) -> Refused:
    return Refused(413, f"the body is larger than the {limit:,} bytes that are taken")


def parse_json(body: bytes) -> Any:
    """The document; whatever is in it can be stored."""
    try:
        data = json.loads(body.decode(), parse_constant=_no_number)
    except UnicodeDecodeError as error:
        raise _unreadable(f"the body is not UTF-8 at byte {error.start}") from None
    except RecursionError:
        raise _unreadable("the body is nested too deeply") from None
    except ValueError as error:
        raise _unreadable(f"the body is not JSON: {error}") from None
    if body.count(b"[") + body.count(b"{") > MOST_LEVELS and _levels(data) > MOST_LEVELS:
        raise _unreadable(f"the body is nested in more than {MOST_LEVELS} levels")
    if _MAY_BE_UNSTORABLE.search(body) and not _storable(data):
        raise _unreadable(
            "the body has text with NUL or half a surrogate pair in it; leave those out"
        )
    return data


def _check_type(request: Request) -> None:
    media, _, parameters = request.headers.get("content-type", "").partition(";")
    charset = re.search(r"charset\s*=\s*\"?([^\s\";]+)", parameters, re.IGNORECASE)
    if media.strip().lower() != "application/json" or (
        charset and charset[1].lower() not in ("utf-8", "utf8")
    ):
        raise Refused(415, "send JSON: `Content-Type: application/json`, in UTF-8", headers=_TAKEN)
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise Refused(415, "send the body as it is, without Content-Encoding")


def _unreadable(words: str) -> Refused:
    return Refused(400, words)


def _no_number(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a number in JSON")


def _levels(data: Any) -> int:
    """How deeply lists and objects lie in each other; no further than is allowed is looked."""
    depth = 0
    layer = [data]
    while layer and depth <= MOST_LEVELS:
        below: list[Any] = []
        for item in layer:
            if isinstance(item, dict):
                below += item.values()
            elif isinstance(item, list):
                below += item
        layer = [item for item in below if isinstance(item, dict | list)]
        depth += 1
    return depth


def _storable(data: Any) -> bool:
    left = [data]
    while left:
        match left.pop():
            case str() as text if _SURROGATE_OR_NUL.search(text):
                return False
            case dict() as mapping:
                left += [*mapping.keys(), *mapping.values()]
            case list() as items:
                left += items
            case _:
                pass
    return True


def json_body(model: type[BaseModel]) -> dict[str, Any]:
    """What `openapi_extra` wants for a route that takes this model as JSON.

    The routes read their bodies themselves, so FastAPI cannot describe them.
    """
    schema = model.model_json_schema()
    definitions = schema.pop("$defs", {})
    content = {"application/json": {"schema": _inlined(schema, definitions)}}
    return {"requestBody": {"required": True, "content": content}}


def _inlined(part: Any, definitions: dict[str, Any]) -> Any:
    """A schema without references: they would point nowhere inside a larger document."""
    if isinstance(part, list):
        return [_inlined(item, definitions) for item in part]
    if not isinstance(part, dict):
        return part
    if "$ref" in part:
        return _inlined(definitions[part["$ref"].rsplit("/", 1)[-1]], definitions)
    return {key: _inlined(value, definitions) for key, value in part.items()}
