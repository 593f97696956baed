"""The IMAP syntax (RFC 3501): reads responses, and writes strings and folder names."""

import base64
import re
from collections.abc import Sequence
from typing import Any, TypeAlias

from deskhand.errors import RetryableError

Word: TypeAlias = "str | bytes | list[Word] | None"
Piece: TypeAlias = "str | bytes"
"""What a command is made of: text as it is, bytes as a literal."""

LITERAL = re.compile(rb"\{(\d+)\}\r\n$")
_PLAIN = re.compile(r"[\x20-\x7e]*")
_DEPTH = 50


class ImapProtocolError(RetryableError):
    """The server said something that IMAP does not know; the connection is of no use any more."""


def quoted(text: str) -> Piece:
    """An argument: quoted where that can be, else a literal."""
    if _PLAIN.fullmatch(text):
        return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return text.encode()


def folder_name(name: str) -> Piece:
    """A folder's name in modified UTF-7, quoted."""
    return quoted(encode_folder(name))


def encode_folder(name: str) -> str:
    def shifted(match: re.Match[str]) -> str:
        if match[0] == "&":
            return "&-"
        code = base64.b64encode(match[0].encode("utf-16-be")).rstrip(b"=").replace(b"/", b",")
        return f"&{code.decode()}-"

    return re.sub(r"&|[^\x20-\x7e]+", shifted, name)


def decode_folder(name: str) -> str:
    def plain(match: re.Match[str]) -> str:
        code = match[1].replace(",", "/")
        if not code:
            return "&"
        try:
            return base64.b64decode(code + "=" * (-len(code) % 4)).decode("utf-16-be")
        except ValueError:
            return match[0]

    return re.sub(r"&([^-]*)-", plain, name)


def parse_response(pieces: Sequence[bytes]) -> list[Word]:
    """One response, read as text and literals in turn, to its tokens."""
    reader = _Tokens(pieces)
    tokens = reader.until(None)
    return tokens


class _Tokens:
    def __init__(self, pieces: Sequence[bytes]) -> None:
        self._pieces, self._piece, self._at, self._depth = pieces, 0, 0, 0

    @property
    def _text(self) -> bytes:
        return self._pieces[self._piece]

    def until(self, end: bytes | None) -> "list[Word]":
        words: list[Word] = []
        while True:
            char = self._text[self._at : self._at + 1]
            if char in (b"", b"\r"):
                if end is not None:
                    raise ImapProtocolError("a list in the server's answer does not end")
                return words
            if char == b" ":
                self._at += 1
            elif char == end:
                self._at += 1
                return words
            else:
                words.append(self._one(char))

    def _one(self, char: bytes) -> "Word":
        if char == b"(":
            self._at += 1
            self._depth += 1
            if self._depth > _DEPTH:
                raise ImapProtocolError("the server's answer is nested too deeply")
            inside = self.until(b")")
            self._depth -= 1
            return inside
        if char == b'"':
            return self._quoted()
        if char == b"{" and self._literal():
            return self._pieces[self._piece - 1]
        return self._atom()

    def _quoted(self) -> str:
        out, at = bytearray(), self._at + 1
        while at < len(self._text) and self._text[at : at + 1] != b'"':
            at += self._text[at : at + 1] == b"\\"
            out += self._text[at : at + 1]
            at += 1
        self._at = at + 1
        return out.decode("utf-8", "replace")

    def _literal(self) -> bool:
        """Step over a literal: it is the next piece, and the text goes on in the one after it."""
        if not LITERAL.match(self._text[self._at :]) or self._piece + 2 >= len(self._pieces):
            return False
        self._piece, self._at = self._piece + 2, 0
        return True

    def _atom(self) -> str | None:
        """Up to a space or a parenthesis; BODY[HEADER.FIELDS (DATE)] is one atom."""
        start, inside = self._at, 0
        while self._at < len(self._text):
            char = self._text[self._at : self._at + 1]
            inside += (char == b"[") - (char == b"]")
            if char in b"\r" or (inside <= 0 and char in b" ()"):
                break
            self._at += 1
        if self._at == start:
            self._at += 1  # a stray closing parenthesis
        atom = self._text[start : self._at].decode("utf-8", "replace")
        return None if atom.upper() == "NIL" else atom


def pairs(items: Any) -> dict[str, Any]:
    """A list of names and values by upper-case name."""
    if not isinstance(items, list):
        return {}
    return {str(name).upper(): value for name, value in zip(items[::2], items[1::2], strict=False)}


def uid_ranges(uids: Sequence[int]) -> str:
    """`1:3,7` for 1, 2, 3, 7: a command's line has its limits."""
    parts: list[str] = []
    ordered = sorted(set(uids))
    index = 0
    while index < len(ordered):
        last = index
        while last + 1 < len(ordered) and ordered[last + 1] == ordered[last] + 1:
            last += 1
        parts.append(str(ordered[index]) if last == index else f"{ordered[index]}:{ordered[last]}")
        index = last + 1
    return ",".join(parts)
