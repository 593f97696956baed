"""Secrets that must never leave: keys by their shape, and the desk's canaries in any disguise."""

import base64
import binascii
import codecs
import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

_SHAPES = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----|"
    r"(?<![A-Za-z0-9])(?:"
    r"sk-(?:proj-|ant-|or-)?[A-Za-z0-9_-]{20,}|[rs]k_(?:live|test)_[A-Za-z0-9]{16,}|gh[pousr]_[A-Za-z0-9]{30,}|"
    r"github_pat_[A-Za-z0-9_]{30,}|glpat-[A-Za-z0-9_-]{20,}|AKIA[0-9A-Z]{16}|ASIA[0-9A-Z]{16}|AIza[0-9A-Za-z_-]{35}|"
    r"xox[abeoprs]-[A-Za-z0-9-]{10,}|SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}|dh_[0-9a-z]{20}_[0-9a-f]{64}|"
    r"eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}|npm_[A-Za-z0-9]{36}|pypi-[A-Za-z0-9_-]{50,}|"
    r"hf_[A-Za-z0-9]{30,}|whsec_[A-Za-z0-9+/=]{20,})"
)
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{8,}={0,2}")
_HEX = re.compile(r"(?:[0-9A-Fa-f]{2}[ :]?){6,}")


class Secret(NamedTuple):
    start: int
    end: int


def keys_in(text: str) -> Iterator[Secret]:
    for match in _SHAPES.finditer(text):
        yield Secret(*match.span())


def canaries_in(text: str, canaries: Collection[str]) -> Iterator[Secret]:
    """As written, with anything between its letters, backwards, in rot13, in base64 or in hex."""
    wanted = {_letters(canary) for canary in canaries} - {""}
    if wanted:
        yield from _in_letters(text, wanted)
        yield from _encoded(text, wanted)


def _in_letters(text: str, wanted: set[str]) -> Iterator[Secret]:
    """Canaries among the letters and digits of a text: as they are, backwards, in rot13."""
    places = [place for place, letter in enumerate(text) if letter.isalnum()]
    letters = _letters(text)
    views = (letters, letters[::-1], codecs.encode(letters, "rot13"))
    for view, backwards in zip(views, (False, True, False), strict=True):
        for canary in wanted:
            first = view.find(canary)
            if first < 0:
                continue
            if backwards:
                first = len(letters) - first - len(canary)
            last = first + len(canary) - 1
            yield Secret(places[first], places[last] + 1)


def _encoded(text: str, wanted: set[str]) -> Iterator[Secret]:
    """Stretches of base64 or hex that hold a canary."""
    for pattern, decode in ((_BASE64, _from_base64), (_HEX, _from_hex)):
        for match in pattern.finditer(text):
            decoded = [_letters(reading) for reading in decode(match.group())]
            if any(canary in letters for letters in decoded for canary in wanted):
                yield Secret(*match.span())


def _letters(text: str) -> str:
    """The letters and digits of a text alone, in small letters."""
    return "".join(letter.lower()[0] for letter in text if letter.isalnum())


def _from_base64(written: str) -> Iterator[str]:
    bare = written.rstrip("=").replace("-", "+").replace("_", "/")
    for skipped in range(4):  # it may stand in the middle of a longer run
        part = bare[skipped:]
        if len(part) % 4 == 1:
            part = part[:-1]
        part += "=" * (-len(part) % 4)
        try:
            yield base64.b64decode(part).decode("utf-8", "ignore")
        except (binascii.Error, ValueError):
            continue


def _from_hex(written: str) -> Iterator[str]:
    bare = re.sub(r"[ :]", "", written)
    yield bytes.fromhex(bare[: len(bare) // 2 * 2]).decode("utf-8", "ignore")
