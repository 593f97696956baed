"""Whether a reply says a fact, however it writes its numbers, amounts, times and letters.

`2,150 EUR`, `2.150 €` and `EUR 2 150` are one amount, `9:00` and `9 am` one time, `five years`
and `5 years` one length. Case, accents and the endings of words do not matter.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import re2

_NUMBERS = {
    "1": "one ein eine einen einer eines jeden jedna jedno jednu jednoho un una uno une",
    "2": "two zwei dva dve dvou dvema dvoch dos deux dwa dwie",
    "3": "three drei tri trech troch tres trois trzy",
    "4": "four vier ctyri ctyr styri styroch cuatro quatre cztery",
    "5": "five funf pet peti pat piatich cinco cinq piec",
    "6": "six sechs sest sesti seis szesc",
    "7": "seven sieben sedm sedmi sedem siete sept siedem",
    "8": "eight acht osm osmi osem ocho huit osiem",
    "9": "nine neun devet deviti devat nueve neuf dziewiec",
    "10": "ten zehn deset deseti desat diez dix dziesiec",
    "12": "twelve zwolf dvanact dvanacti dvanast doce douze dwanascie",
    "14": "fourteen vierzehn ctrnact ctrnacti strnast catorce quatorze czternascie",
    "15": "fifteen funfzehn patnact patnacti patnast quince quinze pietnascie",
    "20": "twenty zwanzig dvacet dvaceti dvadsat veinte vingt dwadziescia",
    "24": "vierundzwanzig veinticuatro",
    "30": "thirty dreissig tricet triceti tridsat treinta trente trzydziesci",
    "40": "forty vierzig ctyricet styridsat cuarenta quarante",
    "50": "fifty funfzig padesat patdesiat cincuenta cinquante",
    "60": "sixty sechzig sedesat sestdesiat sesenta soixante",
    "100": "hundred hundert sto cien cent",
}
_UNITS = {
    "eur": "€ euro euros eura eury eurech",
    "czk": "kc koruna koruny korun",
    "usd": "$ dollar dollars",
    "gbp": "£ pound pounds",
    "%": "percent per cent prozent procent procenta por ciento",
}
_THOUSANDS = re.compile(r"(?<![\d.,])(\d{1,3})((?:[ .,'’]\d{3})+)(?![\d])")
_DECIMALS = re.compile(r"(?<![\d:])(\d+)[.,](\d+)(?![\d:])")
_CLOCK = re.compile(r"(?<![\d:])([01]?\d|2[0-3])(?:[:.h]([0-5]\d))?\s*([ap])\.?\s?m\b\.?")
_TIME = re.compile(r"(?<![\d:])([01]?\d|2[0-3])[:h]([0-5]\d)(?![\d:])")
_TOKEN = re.compile(r"\d+(?:[.:]\d+)?|[^\W\d_]+|%")
_PREFIX = 3
"""Letters from which a word also stands for its longer forms: `refund` for `refunded`."""

Fact = Any
"""Words; a list of wordings of which one will do; or `{matches: PATTERN}`."""


def says(text: str, fact: Fact) -> bool:
    """Whether a text says a fact in one of its wordings."""
    if isinstance(fact, Mapping):
        return bool(re2.search(f"(?im){fact['matches']}", text))
    wordings = [fact] if isinstance(fact, str) else fact
    tokens = tokens_of(text)
    return any(_occurs(tokens_of(wording), tokens) for wording in wordings)


def _occurs(words: Sequence[str], text: Sequence[str]) -> bool:
    if not words:
        return False
    starts = range(len(text) - len(words) + 1)
    return any(all(map(_same, words, text[start:])) for start in starts)


def _same(word: str, other: str) -> bool:
    if word == other:
        return True
    return word.isalpha() and len(word) >= _PREFIX and other.startswith(word)


def tokens_of(text: str) -> list[str]:
    """Words without accents, numbers as values, times as hours and minutes, units by one name."""
    plain = _folded(text)
    plain = _CLOCK.sub(_in_24_hours, plain)
    plain = _TIME.sub(lambda match: _time(int(match[1]), match[2]), plain)
    plain = _THOUSANDS.sub(lambda match: match[1] + re.sub(r"\D", "", match[2]), plain)
    plain = _DECIMALS.sub(lambda match: _decimal(match[1], match[2]), plain)
    for name, sign in _signs():
        plain = plain.replace(sign, f" {name} ")
    names = _known_words()
    return _amounts_first([names.get(token, token) for token in _TOKEN.findall(plain)])


def _amounts_first(tokens: list[str]) -> list[str]:
    """`eur 29` as `29 eur`."""
    ordered = list(tokens)
    for place in range(len(ordered) - 1):
        unit, number = ordered[place : place + 2]
        before = ordered[place - 1] if place else ""
        if unit in _UNITS and number[0].isdigit() and not before[:1].isdigit():
            ordered[place : place + 2] = number, unit
    return ordered


def _folded(text: str) -> str:
    spaced = unicodedata.normalize("NFKD", text.casefold())
    return "".join(letter for letter in spaced if not unicodedata.combining(letter))


def _in_24_hours(match: re.Match[str]) -> str:
    hour = int(match[1]) % 12 + (12 if match[3] == "p" else 0)
    return _time(hour, match[2] or "00")


def _time(hour: int, minutes: str) -> str:
    """A full hour is written as its number: `from 9 to 17` and `from 9:00 to 17:00` are one."""
    return f" {hour} " if minutes == "00" else f" {hour}:{minutes} "


def _decimal(whole: str, part: str) -> str:
    part = part.rstrip("0")
    return f"{whole}.{part}" if part else whole


@cache
def _known_words() -> dict[str, str]:
    words: dict[str, str] = {}
    for name, written in (*_NUMBERS.items(), *_UNITS.items()):
        words.update(dict.fromkeys(written.split(), name))
    for ordinary in ("per", "cent", "por", "ciento"):
        words.pop(ordinary, None)
    return words


@cache
def _signs() -> tuple[tuple[str, str], ...]:
    signs = {"eur": "€", "usd": "$", "gbp": "£"}
    return (*signs.items(), ("%", "per cent"), ("%", "por ciento"))
