"""Headers as people read them: raw bytes, encoded words and folded lines become text that can be
stored."""

import binascii
import re
from email.utils import getaddresses

from deskhand.charsets import clean, decoded
from deskhand.model.message import Address

_WORD = re.compile(r"=\?([^?\s]{1,60})\?([bBqQ])\?([^?]{0,5000})\?=")
_BETWEEN = re.compile(r"(\?=)\s+(?==\?)")
_SPACED = re.compile(r"(.{1,500})\s([^\s@]{1,200}@[^\s@]{1,300})")
LONGEST = 20_000
MOST_ADDRESSES = 1000


def unfolded(value: bytes) -> str:
    """A header's value in one line, not yet decoded; bytes that are no ASCII are UTF-8 or else
    Latin-1."""
    return " ".join(clean(decoded(value[:LONGEST], "utf-8")).split())


def header_text(value: str) -> str:
    """`=?utf-8?q?M=C3=BCller?=` read; words that belong together may be cut in the middle of a
    letter."""
    if "=?" not in value:
        return value
    pieces: list[str] = []
    waiting, charset, end = b"", "", 0
    joined = _BETWEEN.sub(r"\1", value)
    for match in _WORD.finditer(joined):
        between = joined[end : match.start()]
        if waiting and (between or match[1].lower() != charset):
            pieces.append(decoded(waiting, charset))
            waiting = b""
        pieces.append(between)
        charset, end = match[1].lower().partition("*")[0], match.end()
        waiting += _word(match[2].lower(), match[3])
    if waiting:
        pieces.append(decoded(waiting, charset))
    return " ".join(clean("".join((*pieces, joined[end:]))).split())


def _word(encoding: str, text: str) -> bytes:
    raw = text.encode("utf-8", "replace")
    if encoding == "q":
        return binascii.a2b_qp(raw, header=True)
    return from_base64(raw)


def from_base64(raw: bytes) -> bytes:
    """What can be read of it: padding that is missing or wrong is no reason to lose the rest."""
    try:
        return binascii.a2b_base64(raw)
    except binascii.Error:
        letters = re.sub(rb"[^A-Za-z0-9+/]", b"", raw)
        letters = letters[: len(letters) - (len(letters) % 4 == 1)]
        return binascii.a2b_base64(letters + b"=" * (-len(letters) % 4))


def addresses(value: str) -> tuple[Address, ...]:
    """The people of a To or From line.

    Names are decoded after they were told apart, so that no name can pass for an address.
    """
    try:
        people = getaddresses([value])[:MOST_ADDRESSES]
    except (RecursionError, IndexError):  # comments in comments without end
        return ()
    return tuple(_person(name, address) for name, address in people if address)


def _person(name: str, address: str) -> Address:
    """`Ann Lee ann@example.com` without brackets is taken apart."""
    inside = _SPACED.fullmatch(address)
    if inside is None:
        return Address(address=address, name=header_text(name))
    return Address(address=inside[2], name=header_text(name or inside[1].strip()))
