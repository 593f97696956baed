"""Reading what a browser's form sends: bounded, text and files apart."""

import asyncio
import re
from typing import NamedTuple
from urllib.parse import parse_qsl

from starlette.requests import Request

from deskhand.mail.mime import MimePart, split
from deskhand.model.attached_files import (
    LARGEST_TOGETHER,
    MOST_FILES,
    AttachedFile,
    safe_file_name,
    safe_type,
)
from deskhand.web.api.problems import Refused
from deskhand.web.api.request_body import PATIENCE, too_large

MAX_FORM = 1_000_000
MAX_UPLOAD = MAX_FORM + LARGEST_TOGETHER
_MOST_FIELDS = 120
_MOST_PARTS = _MOST_FIELDS + MOST_FILES
_KIND = "application/x-www-form-urlencoded"
_WITH_FILES = "multipart/form-data"
_NAME = re.compile(r'(?:^|;)\s*name="([^"\r\n]{1,200})"')


class Submission(NamedTuple):
    """What a form sends: its fields, each once, and the files that were chosen in it."""

    fields: dict[str, str]
    files: tuple[AttachedFile, ...] = ()


async def read_submission(request: Request) -> Submission:
    """A form with or without files."""
    if _kind(request) != _WITH_FILES:
        return Submission(await read_form(request))
    declared = request.headers.get("content-type", "")
    body = await _read(request, MAX_UPLOAD)
    form = split(f"Content-Type: {declared}\r\n\r\n".encode("latin-1", "replace") + body)
    fields: dict[str, str] = {}
    files: list[AttachedFile] = []
    for part in form.parts[:_MOST_PARTS]:
        name = _field_name(part)
        if part.file_name is None:
            fields[name] = _plain(part.body.decode(errors="replace"))
        elif part.file_name or part.body:
            file_type = safe_type(part.header("content-type"))
            files.append(AttachedFile(safe_file_name(part.file_name), file_type, part.body))
    return Submission(fields, tuple(files))


def _field_name(part: MimePart) -> str:
    match = _NAME.search(part.header("content-disposition"))
    if match is None:
        raise Refused(400, "the form cannot be read")
    return match[1]


def _kind(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


async def read_form(request: Request) -> dict[str, str]:
    """The form's fields, each once, with plain line breaks and without NUL characters."""
    if _kind(request) != _KIND:
        raise Refused(415, "send the form as a browser does")
    body = await _read(request, MAX_FORM)
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


async def _read(request: Request, limit: int) -> bytes:
    body = bytearray()
    try:
        async with asyncio.timeout(PATIENCE):
            async for piece in request.stream():
                body += piece
                if len(body) > limit:
                    raise too_large(limit)
    except TimeoutError:
        raise Refused(408, "the form did not arrive in time") from None
    return bytes(body)


def _plain(value: str) -> str:
    return value.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")
