"""Reading what a browser's form sends: bounded, and nothing but text."""

import asyncio
from urllib.parse import parse_qsl

from starlette.requests import Request

from deskhand.web.api.problems import Refused
from deskhand.web.api.request_body import PATIENCE, too_large

MAX_FORM = 1_000_000
_MOST_FIELDS = 40
_KIND = "application/x-www-form-urlencoded"


async def read_form(request: Request) -> dict[str, str]:
    """The form's fields, each once, with plain line breaks and without NUL characters."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != _KIND:
        raise Refused(415, "send the form as a browser does")
    body = bytearray()
    try:
        async with asyncio.timeout(PATIENCE):
            async for piece in request.stream():
                body += piece
                if len(body) > MAX_FORM:
                    raise too_large(MAX_FORM)
    except TimeoutError:
        raise Refused(408, "the form did not arrive in time") from None
    try:
        pairs = parse_qsl(
            body.decode("ascii"),
            keep_blank_values=True,
            max_num_fields=_MOST_FIELDS,
            errors="replace",
        )
    except ValueError:
        raise Refused(400, "the form cannot be read") from None
    return {name: _plain(value) for name, value in pairs}


def _plain(value: str) -> str:
    return value.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")
