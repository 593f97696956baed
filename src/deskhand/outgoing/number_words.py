"""Numbers written as words: `dreihundertfünfzehn`, `tres cientos quince`, `dvě stě padesát`."""

import re
from functools import lru_cache

from deskhand.outgoing.claim_words import meanings_of

_HUNDREDS = {
    "hundred": 100, "sto": 100, "ste": 100, "sta": 100, "set": 100, "hundert": 100,
    "cien": 100, "ciento": 100, "cientos": 100, "cientas": 100, "cent": 100, "cents": 100,
    "doscientos": 200, "doscientas": 200, "trescientos": 300, "trescientas": 300,
    "cuatrocientos": 400, "cuatrocientas": 400, "quinientos": 500, "quinientas": 500,
    "seiscientos": 600, "seiscientas": 600, "setecientos": 700, "ochocientos": 800,
    "novecientos": 900, "dwiescie": 200, "trzysta": 300, "piecset": 500,
}  # fmt: skip
_ONLY_BEHIND = ("ste", "sta", "set", "cent", "cents", "cientos", "cientas")
"""A hundred only behind a number: `set` is an English word."""
_THOUSANDS = (
    "thousand",
    "tisic",
    "tisice",
    "tausend",
    "mil",
    "mille",
    "tysiac",
    "tysiace",
    "tysiecy",
)
_AND = ("and", "a", "y", "et", "i", "und")
_ONES = ("ein", "eine", "eins", "one", "jeden", "jedna", "uno", "un", "une")
_GERMAN = re.compile(
    r"(?:(?P<thousands>[a-z]*)tausend)?(?:(?P<hundreds>[a-z]*?)hundert)?(?P<rest>[a-z]*)"
)


_TIMES = re.compile(r"([a-z]{3,})(?:krat|mal|fach)")
"""`pětkrát`, `dreimal`: five times, three times."""


@lru_cache(maxsize=4096)
def number_of(word: str) -> int | None:
    """The number that one folded word says; None where it says none."""
    plain = meanings_of("numbers").get(word)
    if plain is not None and plain.isdigit():
        return int(plain)
    times = _TIMES.fullmatch(word)
    if times is not None:
        return number_of(times[1])
    if word in _HUNDREDS and word not in _ONLY_BEHIND:
        return _HUNDREDS[word]
    return _german(word)


def _german(word: str) -> int | None:
    """German writes a number as one word."""
    match = _GERMAN.fullmatch(word)
    if match is None or len(word) < 6:
        return None
    thousands, hundreds, rest = match["thousands"], match["hundreds"], match["rest"]
    if thousands is None and hundreds is None and "und" not in rest:
        return None
    parts = [
        _below_thousand(thousands),
        _below_hundred(hundreds, 1),
        _below_hundred(rest.removeprefix("und"), 0),
    ]
    if None in parts:
        return None
    total = (parts[0] or 0) * 1000
    total += (parts[1] or 0) * 100 if hundreds is not None else 0
    return total + (parts[2] or 0)


def _below_thousand(word: str | None) -> int | None:
    if word is None:
        return 0
    if not word:
        return 1
    small = _below_hundred(word, 0)
    return small if small is not None else number_of(word)


def _below_hundred(word: str | None, when_empty: int) -> int | None:
    if word is None:
        return 0
    if not word:
        return when_empty
    plain = meanings_of("numbers").get(word)
    if plain is not None and plain.isdigit():
        return int(plain)
    if word in _ONES:
        return 1
    ones, und, tens = word.partition("und")
    tens_number = meanings_of("numbers").get(tens)
    ones_number = "1" if ones in _ONES else meanings_of("numbers").get(ones)
    if und and tens_number is not None and ones_number is not None:
        return int(tens_number) + int(ones_number)
    return None


def number_at(words: list[str], place: int) -> tuple[int, int] | None:
    """The number that begins at a place among words, and how many words it takes."""
    total = group = 0
    taken = last = 0
    while place + taken < len(words):
        word = words[place + taken]
        number = number_of(word)
        if taken and word in _ONLY_BEHIND:
            number = 100
        if number is None and not (taken and word in (*_THOUSANDS, *_AND)):
            break
        taken += 1
        if word in _THOUSANDS:
            total += max(group, 1) * 1000
            group = 0
        elif number is not None and number == 100 and 0 < group < 10:
            group *= 100
        elif number is not None:
            if last and not _may_follow(group, number):
                taken -= 1
                break
            group += number
        else:
            continue
        last = taken
    return (total + group, last) if last else None


def _may_follow(group: int, number: int) -> bool:
    """Whether a number continues the one before it: `twenty five`, `hundred fifteen`."""
    if group == 0:
        return True
    smaller = 100 if group % 100 == 0 else 10
    return number < smaller and group % smaller == 0
