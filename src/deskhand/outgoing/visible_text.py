"""A reply as its reader sees it: decoded, without invisible characters, look-alikes made plain."""

import html
import re
import unicodedata
from collections.abc import Sequence
from functools import cached_property, lru_cache
from urllib.parse import unquote_to_bytes

_ENCODED = re.compile(
    r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});|&#(?:[0-9]{2,7}|[xX][0-9a-fA-F]{2,6})"
    r"|(?:%[0-9A-Fa-f]{2})+"
)
_STRANGE = re.compile(r"[^\x00-\x7f]")
_ROUNDS = 4
"""How often something may be encoded in itself."""
INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\U000e0000-\U000e0fff]"
)
_DOTS = dict.fromkeys("\u3002\uff0e\uff61\u2024\u00b7\u2027\u30fb\u0701\u0702\u0660\u06d4", ".")
_SLASHES = dict.fromkeys("\u2044\u2215\u29f8\uff0f\u2571", "/")
_COLONS = dict.fromkeys("\u02d0\u0589\u05c3\u2236\ua789\uff1a\ufe55\ufe13", ":")
_AT = dict.fromkeys("\uff20\ufe6b", "@")
_DASHES = dict.fromkeys("\u2010\u2011\u2012\u2212\ufe63\uff0d", "-")
_SAME_SIGN = {**_DOTS, **_SLASHES, **_COLONS, **_AT, **_DASHES}
_LOOK_ALIKE = {
    other: letter
    for letter, others in {
        "a": "аαɑᴀ",
        "b": "вьβʙ",
        "c": "сϲᴄ",
        "d": "ԁđᴅð",
        "e": "еёэєεҽᴇ",
        "f": "ғƒ",
        "g": "ɡցğ",
        "h": "нһհħ",
        "i": "іїιɩıɪ",
        "j": "јϳ",
        "k": "кκᴋ",
        "l": "ӏłʟǀ",
        "m": "мᴍ",
        "n": "пηոռɴ",
        "o": "оοσөօøᴏ",
        "p": "рρᴘ",
        "q": "ԛզ",
        "r": "гяʀ",
        "s": "ѕꜱß",
        "t": "тτŧᴛ",
        "u": "цυսᴜ",
        "v": "νѵᴠ",
        "w": "ԝшωᴡ",
        "x": "хχ",
        "y": "уγүყ",
        "z": "ᴢʐ",
        "3": "зʒ",
        "6": "б",
    }.items()
    for other in others
}
"""Letters of other alphabets that are taken for these."""


class VisibleText:
    """`plain` as it is read, `skeleton` in ASCII small letters for patterns.

    `span` leads from both back to the given text.
    """

    def __init__(self, text: str) -> None:
        self.given = text
        self.plain, self._starts, self._ends = _decoded(text)

    @cached_property
    def skeleton(self) -> str:
        """As long as `plain`: each character as the plain letter, digit or sign it looks like."""
        return self.plain.lower() if self.plain.isascii() else self.plain.translate(_SKELETON)

    def span(self, start: int, end: int) -> tuple[int, int]:
        """A part of `plain` as a part of the given text."""
        if start < end:
            return self._starts[start], self._ends[end - 1]
        place = self._starts[start] if start < len(self._starts) else len(self.given)
        return place, place


def _decoded(text: str) -> tuple[str, Sequence[int], Sequence[int]]:
    """The text as it is read, and where each of its characters begins and ends in the given."""
    if text.isascii() and not _ENCODED.search(text):
        return text, range(len(text)), range(1, len(text) + 1)
    letters = list(text)
    starts = list(range(len(text)))
    ends = list(range(1, len(text) + 1))
    for _ in range(_ROUNDS):
        whole = "".join(letters)
        encoded = list(_ENCODED.finditer(whole))
        if not encoded:
            break
        replaced = [(*match.span(), _decode(match.group())) for match in encoded]
        if all(whole[begin:end] == read for begin, end, read in replaced):
            break
        letters, starts, ends = _exchanged(replaced, letters, starts, ends)
    strange = [match.start() for match in _STRANGE.finditer("".join(letters))]
    read = [(place, place + 1, _as_read(letters[place])) for place in strange]
    letters, starts, ends = _exchanged(read, letters, starts, ends)
    return "".join(letters), starts, ends


def _exchanged(
    replaced: list[tuple[int, int, str]], letters: list[str], starts: list[int], ends: list[int]
) -> tuple[list[str], list[int], list[int]]:
    """The text with these stretches exchanged, in one pass: each is its beginning, its end and
    what is read there."""
    new_letters: list[str] = []
    new_starts: list[int] = []
    new_ends: list[int] = []
    done = 0
    for begin, end, read in replaced:
        new_letters += letters[done:begin]
        new_starts += starts[done:begin]
        new_ends += ends[done:begin]
        new_letters += read
        new_starts += [starts[begin]] * len(read)
        new_ends += [ends[end - 1]] * len(read)
        done = end
    new_letters += letters[done:]
    new_starts += starts[done:]
    new_ends += ends[done:]
    return new_letters, new_starts, new_ends


def _decode(written: str) -> str:
    if written[0] == "&":
        return html.unescape(written)
    try:
        return unquote_to_bytes(written).decode()
    except UnicodeDecodeError:
        return written


@lru_cache(maxsize=4096)
def _as_read(letter: str) -> str:
    if INVISIBLE.match(letter):
        return ""
    read = _SAME_SIGN.get(letter) or unicodedata.normalize("NFKC", letter)
    return "".join(_SAME_SIGN.get(sign, sign) for sign in read)


def _looks_like(letter: str) -> str:
    if letter.isascii():
        return letter.lower()
    small = letter.lower()[0]
    plain = _LOOK_ALIKE.get(small) or unicodedata.normalize("NFKD", small)[0]
    if plain.isascii():
        return plain.lower()
    if unicodedata.category(letter) in ("Zs", "Zl", "Zp"):
        return " "
    return "x" if letter.isalpha() else str(unicodedata.decimal(letter, "?"))[0]


class _Skeleton(dict[int, str]):
    """For `str.translate`: filled as letters are met."""

    def __missing__(self, code: int) -> str:
        self[code] = _looks_like(chr(code))
        return self[code]


_SKELETON = _Skeleton()
