"""Numbers of several words: `treinta y cinco`, `fünfundzwanzig`, `dvě stě padesát`, `twelve
fifty`.

Where two numbers stand side by side that make none together, the second are the cents: twelve
fifty is 12.50.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from functools import cache
from types import MappingProxyType
from typing import NamedTuple

from deskhand.language.slots.folded_text import fold

_UNITS = {
    "en": "one two three four five six seven eight nine",
    "cs": "jeden/jedna/jednu/jedno dva/dve tři čtyři pět šest sedm/sedum osm/osum devět",
    "de": "ein/eins/eine/einen zwei/zwo drei vier fünf/fuenf sechs sieben acht neun",
    "es": "un/uno/una dos tres cuatro cinco seis siete ocho nueve",
}
_TEENS = {
    "en": "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen",
    "cs": ("deset jedenáct dvanáct třináct čtrnáct patnáct šestnáct sedmnáct osmnáct devatenáct"),
    "de": (
        "zehn elf zwölf/zwoelf dreizehn vierzehn fünfzehn/fuffzehn sechzehn siebzehn achtzehn"
        " neunzehn"
    ),
    "es": "diez once doce trece catorce quince dieciséis diecisiete dieciocho diecinueve",
}
_TENS = {
    "en": "twenty thirty forty/fourty fifty sixty seventy eighty ninety",
    "cs": (
        "dvacet třicet čtyřicet padesát šedesát sedmdesát/sedumdesát osmdesát/osumdesát devadesát"
    ),
    "de": "zwanzig dreißig/dreissig vierzig fünfzig/fuffzig sechzig siebzig achtzig neunzig",
    "es": "veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa",
}
_HUNDREDS = {
    "en": {},
    "cs": {
        "dvěstě": 200,
        "třista": 300,
        "čtyřista": 400,
        "pětset": 500,
        "šestset": 600,
        "sedmset": 700,
        "osmset": 800,
        "devětset": 900,
    },
    "de": {},
    "es": {
        "ciento": 100,
        "doscientos": 200,
        "trescientos": 300,
        "cuatrocientos": 400,
        "quinientos": 500,
        "seiscientos": 600,
        "setecientos": 700,
        "ochocientos": 800,
        "novecientos": 900,
    },
}
_TIMES = {
    "en": {"hundred": 100, "thousand": 1000},
    "cs": {"sto": 100, "sta": 100, "stě": 100, "set": 100, "tisíc": 1000, "tisíce": 1000},
    "de": {"hundert": 100, "tausend": 1000},
    "es": {"cien": 100, "mil": 1000},
}
_ZERO = {"en": "zero oh nought naught", "cs": "nula", "de": "null", "es": "cero"}
_BETWEEN = ("and", "y", "und", "a")
_WORD = re.compile(r"[a-z]+?tausend(?=[a-z]{3})|[a-z]+")
_GAP = re.compile(r"[ \n-]+|(?<=tausend)")
_PAUSE = re.compile(r"[ ,.\n-]+|(?<=tausend)")
_BEGINS_ONLY = ("sto", "cien")
"""Hundreds that are never counted: "šedesát tři sto" are two numbers."""
_DIGIT_NAMES = {
    "cs": (
        "jednička/jedničku dvojka/dvojku trojka/trojku čtyřka/čtyřku pětka/pětku šestka/šestku"
        " sedmička/sedmičku osmička/osmičku devítka/devítku"
    ),
}
"""What digits are called where numbers are read out."""
SPOKEN_IN = tuple(_UNITS)
"""Languages whose number words are known."""


class NumberPhrase(NamedTuple):
    """A number in words, and where it stands in the folded text."""

    start: int
    end: int
    value: Decimal
    words: int
    """How many number words it has."""


class SpokenDigits(NamedTuple):
    """Digits that somebody says one by one or in groups, and where they stand in the folded
    text."""

    start: int
    end: int
    digits: str
    words: int
    """How many number words they have."""


class _Words(NamedTuple):
    plain: Mapping[str, int]
    """Numbers that are added."""
    times: Mapping[str, int]
    """Numbers that multiply what stands before them."""


def number_phrases(folded: str, languages: Sequence[str]) -> Iterator[NumberPhrase]:
    """The numbers in words of a folded text, in their order."""
    words = _words(tuple(languages))
    place = 0
    while (match := _WORD.search(folded, place)) is not None:
        phrase = _phrase_at(folded, match, words)
        if phrase is not None:
            yield phrase
        place = match.end() if phrase is None else phrase.end


def spoken_digits(folded: str, language: str) -> Iterator[SpokenDigits]:
    """What number words make when they are written one behind the other: "ninety one zero forty
    three" is 91043, "fifty thousand and nine" 50009."""
    words, zeros = _digit_words(language), _ZERO[language].split()
    place = 0
    while (match := _WORD.search(folded, place)) is not None:
        said = _digits_at(folded, match, words, zeros)
        if said is not None:
            yield said
        place = match.end() if said is None else said.end


def _digits_at(
    folded: str, first: "re.Match[str]", words: _Words, zeros: Sequence[str]
) -> SpokenDigits | None:
    groups: list[str] = []
    number, end, count = _Number(), first.start(), 0
    match: re.Match[str] | None = first
    while match is not None:
        word = match.group()
        if word in zeros:
            groups += [*_group_of(number), "0"]
            number = _Number()
        elif not number.add(word, words, may_be_cents=False):
            groups += _group_of(number)
            number = _Number()
            if not number.add(word, words, may_be_cents=False):
                break
        count, end = count + 1, match.end()
        match = _next_word(folded, end, words, _PAUSE)
    groups += _group_of(number)
    return SpokenDigits(first.start(), end, "".join(groups), count) if count else None


def _group_of(number: "_Number") -> list[str]:
    return [str(int(number.value()))] if number.words else []


def _phrase_at(folded: str, first: "re.Match[str]", words: _Words) -> NumberPhrase | None:
    number = _Number()
    match: re.Match[str] | None = first
    end = first.start()
    while match is not None:
        may_be_cents = match.start() - end <= 1
        if not number.add(match.group(), words, may_be_cents=may_be_cents):
            break
        end = match.end()
        match = _next_word(folded, end, words)
    if not number.words:
        return None
    return NumberPhrase(first.start(), end, number.value(), number.words)


def _next_word(
    folded: str, end: int, words: _Words, between: "re.Pattern[str]" = _GAP
) -> "re.Match[str] | None":
    """The number word that follows, also after an `and`."""
    gap = between.match(folded, end)
    match = None if gap is None else _WORD.match(folded, gap.end())
    if match is None or match.group() not in _BETWEEN or match.group() in words.plain:
        return match
    gap = _GAP.match(folded, match.end())
    return None if gap is None else _WORD.match(folded, gap.end())


class _Number:
    """A number while its words are read."""

    def __init__(self) -> None:
        self.words = 0
        self._thousands = 0
        self._rest = 0
        self._cents: int | None = None

    def value(self) -> Decimal:
        return Decimal(self._thousands + self._rest) + Decimal(self._cents or 0) / 100

    def add(self, word: str, words: _Words, *, may_be_cents: bool) -> bool:
        """Take a word in; False where it does not belong to the number."""
        number = words.plain.get(word)
        if self._cents is None:
            times = None if word in _BEGINS_ONLY and self._rest else words.times.get(word)
            is_taken = self._multiply(times) or self._add(number, may_be_cents)
        else:
            is_taken = self._add_to_cents(number)
        self.words += is_taken
        return is_taken

    def _multiply(self, times: int | None) -> bool:
        if (
            times is None
            or (times == 100 and self._rest >= 100)
            or (times == 1000 and self._thousands)
        ):
            return False
        if times == 1000:
            self._thousands = max(self._rest, 1) * 1000
            self._rest = 0
        else:
            self._rest = max(self._rest, 1) * 100
        return True

    def _add(self, number: int | None, may_be_cents: bool) -> bool:
        if number is None:
            return False
        if number >= 1000:
            return self._begin_with(number)
        if self._fits(number):
            self._rest += number
            return True
        if not may_be_cents or self._thousands or not 10 <= number < 100:
            return False
        self._cents = number
        return True

    def _begin_with(self, thousands: int) -> bool:
        """Thousands in one word: "siebentausend"."""
        if self._thousands or self._rest:
            return False
        self._thousands = thousands
        return True

    def _add_to_cents(self, number: int | None) -> bool:
        """The five of "seven ninety-five"."""
        cents = self._cents
        if number is None or number >= 10 or cents is None or cents not in range(20, 100, 10):
            return False
        self._cents = cents + number
        return True

    def _fits(self, number: int) -> bool:
        """Whether the places of a number are still free."""
        if number >= 100:
            return not self._rest
        if number >= 10:
            return self._rest % 100 == 0
        return self._rest % 10 == 0 and self._rest % 100 != 10


@cache
def _words(languages: tuple[str, ...]) -> _Words:
    plain: dict[str, int] = {}
    times: dict[str, int] = {}
    for language in languages:
        if language not in _UNITS:
            continue
        plain |= _listed(_UNITS[language], 1) | _listed(_TEENS[language], 10)
        plain |= _listed(_TENS[language], 20, step=10)
        plain |= _joined(language)
        plain |= {fold(word): number for word, number in _HUNDREDS[language].items()}
        times |= {fold(word): number for word, number in _TIMES[language].items()}
    return _Words(MappingProxyType(plain), MappingProxyType(times))


@cache
def _digit_words(language: str) -> _Words:
    """The words of numbers that are read out."""
    words = _words((language,))
    names = _listed(_DIGIT_NAMES.get(language, ""), 1)
    return _Words(MappingProxyType({**words.plain, **names}), words.times)


def _listed(written: str, first: int, *, step: int = 1) -> dict[str, int]:
    numbers: dict[str, int] = {}
    for place, spellings in enumerate(written.split()):
        numbers |= {fold(spelling): first + place * step for spelling in spellings.split("/")}
    return numbers


def _joined(language: str) -> dict[str, int]:
    """Numbers that are written as one word."""
    units = _listed(_UNITS[language], 1)
    tens = _listed(_TENS[language], 20, step=10)
    if language == "de":
        return _joined_german(units, tens | _listed(_TEENS[language], 10))
    if language == "cs":
        joined = {f"{unit}a{ten}": units[unit] + tens[ten] for unit in units for ten in tens}
        return joined | {f"{ten}{unit}": tens[ten] + units[unit] for unit in units for ten in tens}
    if language == "es":
        twenties = {f"veinti{unit}": 20 + units[unit] for unit in units}
        return twenties | {
            f"{ten}y{unit}": tens[ten] + units[unit] for unit in units for ten in tens
        }
    return {f"{ten}{unit}": tens[ten] + units[unit] for unit in units for ten in tens}


def _joined_german(units: Mapping[str, int], tens: Mapping[str, int]) -> dict[str, int]:
    below_hundred = {**units, **tens}
    for unit, number in units.items():
        below_hundred |= {f"{unit}und{ten}": number + tens[ten] for ten in tens if tens[ten] >= 20}
    joined = dict(below_hundred)
    for unit, number in {"": 1, **units}.items():
        hundred = f"{unit}hundert"
        joined |= {f"{hundred}{rest}": number * 100 + below_hundred[rest] for rest in below_hundred}
        if unit:
            joined[hundred] = number * 100
    for unit, number in below_hundred.items():
        joined[f"{unit}tausend"] = number * 1000
    return joined
