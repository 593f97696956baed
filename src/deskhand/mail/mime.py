"""The parts of a mail, split without trust: every limit is checked before memory is spent."""

import binascii
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from email.message import Message as Headers
from email.utils import unquote
from functools import cached_property

from deskhand.charsets import clean, decoded
from deskhand.mail.header_text import from_base64, header_text, unfolded

MAX_DEPTH = 20
MAX_PARTS = 500
MAX_HEADERS = 1000
MAX_HEADER_BYTES = 262_144
_HEAD = 65_536
_LONGEST_PARAMETERS = 4_000
"""Characters of a Content-Type and the like that are read: taking its parameters apart takes the
square of their length."""
_FIELD = re.compile(rb"([!-9;-~]{1,200})[ \t]*:[ \t]*(.*)", re.S)
_LINE = re.compile(rb"[^\r\n]*(?:\r\n|\n|\r|$)")


@dataclass
class MimePart:
    """A mail or one part of it: headers in order and, for a leaf, its bytes as they travelled."""

    headers: list[tuple[str, str]]
    """Names in lower case; values in one line, encoded words not yet read."""
    body: bytes
    parts: list["MimePart"] = field(default_factory=list)
    default_type: str = "text/plain"
    attached: bytes = b""
    """Of an attached mail: the mail as it travelled."""

    def header(self, name: str) -> str:
        return next((value for header, value in self.headers if header == name), "")

    @cached_property
    def kind(self) -> str:
        """`text/plain` and the like."""
        written = (
            self._content("content-type").get_content_type()
            if self.header("content-type")
            else self.default_type
        )
        return clean(written).lower()

    @property
    def is_multipart(self) -> bool:
        return bool(self.parts)

    @property
    def disposition(self) -> str:
        return self.header("content-disposition").partition(";")[0].strip().lower()

    @cached_property
    def file_name(self) -> str | None:
        name = self._parameter("content-disposition", "filename")
        if name is None:
            name = self._parameter("content-type", "name")
        return None if name is None else header_text(" ".join(clean(name).split())).strip()[:255]

    @cached_property
    def charset(self) -> str:
        return self._parameter("content-type", "charset") or "utf-8"

    @property
    def boundary(self) -> bytes | None:
        written = self._parameter("content-type", "boundary")
        return written.encode("utf-8", "replace")[:200].strip() or None if written else None

    def content(self) -> bytes:
        """The bytes with the transfer encoding undone; an encoding nobody knows is none."""
        encoding = (
            self.header("content-transfer-encoding").partition(";")[0].strip().strip("\"'").lower()
        )
        if encoding == "base64":
            return from_base64(self.body)
        if encoding in ("quoted-printable", "quopri"):
            return binascii.a2b_qp(self.body)
        if encoding in ("uuencode", "x-uuencode", "uue", "x-uue"):
            return _from_uuencode(self.body)
        return self.body

    def text(self) -> str:
        return clean(decoded(self.content(), self.charset))

    def walk(self) -> Iterator["MimePart"]:
        yield self
        for part in self.parts:
            yield from part.walk()

    def _content(self, name: str) -> Headers:
        headers = Headers()
        headers[name] = self.header(name)[:_LONGEST_PARAMETERS]
        return headers

    def _parameter(self, header: str, name: str) -> str | None:
        """A parameter of a header; None where it is not there or broken.

        The standard library would decode it by any charset that it names, so we do.
        """
        if name not in self.header(header).lower():
            return None
        try:
            value = self._content(header).get_param(name, None, header)
        except Exception:  # the standard library raises all kinds of errors on broken parameters
            return None
        if isinstance(value, tuple):
            charset, _, encoded = value
            return decoded(encoded.encode("latin-1", "replace"), charset or "utf-8")
        return None if value is None else unquote(value)


def read_head(raw: bytes) -> MimePart:
    """The headers of a mail alone, as far as its first bytes hold them; cheap whatever it holds."""
    return _part(raw[:_HEAD], "text/plain")


def split(raw: bytes) -> MimePart:
    """The tree of parts, as deep and as many as we take; what lies beyond is left out."""
    root, left = _part(raw, "text/plain"), [MAX_PARTS]
    _divide(root, 0, left)
    return root


def _divide(part: MimePart, depth: int, left: list[int]) -> None:
    if depth >= MAX_DEPTH:
        return
    main = part.kind.partition("/")[0]
    if main == "multipart":
        boundary = part.boundary
        pieces = _between(part.body, boundary, left[0]) if boundary else []
        default = "message/rfc822" if part.kind == "multipart/digest" else "text/plain"
    elif part.kind == "message/rfc822":
        part.attached = part.content()
        pieces, default = [part.attached], "text/plain"
    else:
        return
    left[0] -= len(pieces)
    for piece in pieces:
        child = _part(piece, default)
        part.parts.append(child)
        _divide(child, depth + 1, left)
    if part.parts:
        part.body = b""


def _between(body: bytes, boundary: bytes, most: int) -> list[bytes]:
    pieces: list[bytes] = []
    start: int | None = None
    # letters first: a pattern that begins with them is looked for eight times as fast
    pattern = re.compile(rb"--" + re.escape(boundary) + rb"(--)?[ \t]*(?=[\r\n]|$)")
    for line in pattern.finditer(body):
        if line.start() and body[line.start() - 1] not in b"\r\n":
            continue
        if start is not None:
            pieces.append(_piece(body, start, line.start()))
        start = None if line[1] else line.end()
        if line[1] or len(pieces) >= most:
            start = None
            break
    if start is not None:
        pieces.append(_piece(body, start, len(body)))
    return pieces


def _piece(body: bytes, start: int, end: int) -> bytes:
    """A part of the body without the line break that ends its boundary's line, and without the one
    before the next boundary."""
    for mark in (b"\r\n", b"\n", b"\r"):
        if body.startswith(mark, start):
            start += len(mark)
            break
    for mark in (b"\r\n", b"\n", b"\r"):
        if body.endswith(mark, start, end):
            end -= len(mark)
            break
    return body[start:end]


def _part(raw: bytes, default_type: str) -> MimePart:
    """Headers up to the first empty line, or up to what is no header; the rest is the body."""
    headers: list[tuple[str, list[bytes]]] = []
    at = 0
    while at < len(raw) and at < MAX_HEADER_BYTES and len(headers) < MAX_HEADERS:
        line = _LINE.match(raw, at)
        assert line is not None
        text = line[0].rstrip(b"\r\n")
        if not text:
            at = line.end()
            break
        if text[:1] in b" \t" and headers:
            headers[-1][1].append(text.strip())
        elif header := _FIELD.match(text):
            headers.append((header[1].decode("ascii").lower(), [header[2].strip()]))
        elif headers or not _header_follows(raw, line.end()):
            break
        at = line.end()
    read = [(name, unfolded(b" ".join(lines))) for name, lines in headers]
    return MimePart(read, raw[at:], default_type=default_type)


def _header_follows(raw: bytes, at: int) -> bool:
    """Whether headers follow the odd line that mbox writes above them (`From ann@... Mon ...`)."""
    following = _LINE.match(raw, at)
    return following is not None and _FIELD.match(following[0]) is not None


def _from_uuencode(raw: bytes) -> bytes:
    pieces: list[bytes] = []
    for line in raw.splitlines():
        if line.startswith((b"begin ", b"end")) or not line.strip():
            continue
        try:
            pieces.append(binascii.a2b_uu(line))
        except binascii.Error:
            continue
    return b"".join(pieces)
