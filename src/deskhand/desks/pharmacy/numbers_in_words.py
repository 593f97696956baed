"""Numbers as people write them in letters and mails: `2`, `dvě`, `půl tuctu`, `two hundred`."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from .word_forms import TypedWord, words_in

_WORDS: dict[int, str] = {
    1: """jeden jedna jedno jednoho jednu jedne jednom jednou jedneho one a an single ein eine einen
        einer eines einem un una uno""",
    2: "dva dve dvou dvema dvoje dvaja dvoch dvom dvomi couple pair two zwei dos par",
    3: "tri trech tremi troje traja troch trom three drei tres",
    4: "ctyri ctyr ctyrech ctyrmi styri styroch styria four vier cuatro",
    5: "pet peti pat piatich piati five funf cinco",
    6: "sest sesti siestich six sechs seis",
    7: "sedm sedmi sedem siedmich seven sieben siete",
    8: "osm osmi osem osmich eight acht ocho",
    9: "devet deviti devat deviatich nine neun nueve",
    10: "deset deseti desat desiatich ten zehn diez",
    11: "jedenact jedenacti jedenast eleven elf",
    12: "dvanact dvanacti dvanast twelve zwolf doce tucet tuctu dozen dutzend docena",
    13: "trinact trinacti trinast thirteen dreizehn trece",
    14: "ctrnact ctrnacti strnast fourteen vierzehn catorce",
    15: "patnact patnacti patnast fifteen funfzehn quince",
    16: "sestnact sestnacti sestnast sixteen sechzehn dieciseis",
    17: "sedmnact sedmnacti sedemnast seventeen siebzehn diecisiete",
    18: "osmnact osmnacti osemnast eighteen achtzehn dieciocho",
    19: "devatenact devatenacti devatnast nineteen neunzehn diecinueve",
    20: "dvacet dvaceti dvadsat twenty zwanzig veinte",
    30: "tricet triceti tridsat thirty dreissig treinta",
    40: "ctyricet styridsat forty vierzig cuarenta",
    50: "padesat patdesiat fifty funfzig cincuenta",
    60: "sedesat sestdesiat sixty sechzig sesenta",
    70: "sedmdesat sedemdesiat seventy siebzig setenta",
    80: "osmdesat osemdesiat eighty achtzig ochenta",
    90: "devadesat devatdesiat ninety neunzig noventa",
    100: "sto hundred hundert cien ciento",
    200: "dveste doscientos doscientas",
    1000: "tisic thousand tausend mil",
}
_NICKNAMES: dict[int, str] = {
    10: "desitk desiatk zehner",
    14: "ctrnactk strnastk",
    20: "dvacitk dvadsiatk zwanziger",
    28: "osmadvacitk",
    30: "tricitk tridsiatk dreissiger",
    50: "padesatk patdesiatk funfziger",
    60: "sedesatk sestdesiatk sechziger",
    90: "devadesatk devatdesiatk neunziger",
    100: "stovk hunderter",
}
"""What a pack, or a strength, is called by its number: `třicítka`, `die Hunderter`."""
_NICKNAME = {stem: value for value, stems in _NICKNAMES.items() for stem in stems.split()}
_NICKNAME_STEMS = tuple(_NICKNAME)
_AFTER_NICKNAME = re.compile(
    r"^(?:a|u|y|e|ou|ami|ach|am|ova|ove|ovou|ovy|packung|pack|schachtel)?$"
)
_CZECH_TENS = {
    20: "dvacet dvaceti",
    30: "tricet triceti",
    40: "ctyricet ctyriceti",
    50: "padesat padesati",
    60: "sedesat sedesati",
    70: "sedmdesat sedmdesati",
    80: "osmdesat osmdesati",
    90: "devadesat devadesati",
}
_CZECH_ONES = "jeden dva tri ctyri pet sest sedm osm devet"
_GERMAN_TENS = "zwanzig dreissig vierzig funfzig sechzig siebzig achtzig neunzig"
_GERMAN_ONES = "ein zwei drei vier funf sechs sieben acht neun"


def _joined_numbers() -> Iterator[tuple[str, int]]:
    """Numbers of two figures that are one word: `osmačtyřicet`, `achtundvierzig`."""
    for tens, forms in _CZECH_TENS.items():
        for ones, word in enumerate(_CZECH_ONES.split(), 1):
            for form in forms.split():
                yield f"{word}a{form}", tens + ones
    for place, tens_word in enumerate(_GERMAN_TENS.split(), 2):
        for ones, word in enumerate(_GERMAN_ONES.split(), 1):
            yield f"{word}und{tens_word}", 10 * place + ones
    for tens, forms in _CZECH_TENS.items():
        yield from ((form, tens) for form in forms.split())


_VALUE_OF = dict(_joined_numbers()) | {
    word: value for value, words in _WORDS.items() for word in words.split()
}
_HALVES = frozenset(("pul", "polovicku", "half", "halbes", "halben", "media", "medio", "pol"))
_DOZENS = frozenset(("tuctu", "tucet", "tucta", "dozen", "dutzend", "docena"))
_FACTORS = frozenset((100, 1000))
_NO_FACTORS = frozenset(("sto", "cien", "ciento"))
"""Hundreds that no number multiplies: `1000 sto` is two numbers."""
_LARGEST_MULTIPLE = 9
_ARTICLES = frozenset(("a", "an"))
_AND = frozenset(("and", "y"))
_MOST_BEHIND = {float(tens): 9 for tens in range(20, 100, 10)}
_MOST_BEHIND |= {float(hundreds): 99 for hundreds in range(100, 1000, 100)}
"""The largest number that may follow tens or hundreds as a part of them."""
_CZECH_LETTER = re.compile("[ěščřžýůňťďľĺŕĚŠČŘŽÝŮŇŤĎ]")
_CZECH_SIGNS = frozenset(
    ("prosim", "dobry", "mate", "tak", "jen", "chci", "baleni", "dekuji", "dekuju", "diky")
)


class Number(NamedTuple):
    value: float
    length: int
    """In words."""
    in_digits: bool


def is_number_word(word: TypedWord) -> bool:
    return word.plain in _VALUE_OF or word.plain in _HALVES or nickname_of(word) is not None


def nickname_of(word: TypedWord) -> int | None:
    """The number that a pack or a strength is called by in one word; None for any other word."""
    if not word.plain.startswith(_NICKNAME_STEMS):
        return None
    for stem, value in _NICKNAME.items():
        if word.plain.startswith(stem) and _AFTER_NICKNAME.match(word.plain[len(stem) :]):
            return value
    return None


def number_at(words: Sequence[TypedWord], at: int) -> Number | None:
    """The number that begins at this word; None where none does."""
    word = words[at]
    if word.is_number:
        return _with_factor(words, at, float(word.plain.replace(",", ".")), in_digits=True)
    if word.plain in _HALVES:
        return _half_dozen(words, at)
    nickname = nickname_of(word)
    if nickname is not None:
        return Number(float(nickname), 1, in_digits=True)
    value = _VALUE_OF.get(word.plain)
    if value is None:
        return None
    return _with_factor(words, at, float(value), in_digits=False)


def counted_words(text: str) -> list[TypedWord]:
    """The words of a text, in which no small word of Czech passes for an English number: `ten
    Controloc` is this Controloc, not ten."""
    words = words_in(text)
    plain = {word.plain for word in words}
    if not (plain & _CZECH_SIGNS or _CZECH_LETTER.search(text)):
        return words
    return [_as_czech(word) for word in words]


def _as_czech(word: TypedWord) -> TypedWord:
    return word._replace(plain="tento") if word.plain == "ten" else word


def _with_factor(words: Sequence[TypedWord], at: int, value: float, *, in_digits: bool) -> Number:
    """`two hundred`, `a couple`, `dvě stě`, but not `1000? sto tablet` nor `20 hundred tablets`,
    which are a strength and a pack."""
    factor, length = _factor_behind(words, at), 1
    is_multiple = factor in _FACTORS and value <= _LARGEST_MULTIPLE
    if is_multiple or (factor > 1 and words[at].plain in _ARTICLES):
        value, length = value * factor, 2
    return Number(value, length, in_digits) if in_digits else _with_rest(words, at, value, length)


def _factor_behind(words: Sequence[TypedWord], at: int) -> int:
    """The hundred or thousand right behind a number, with nothing but a space between; zero where
    there is none."""
    if at + 1 >= len(words) or words[at + 1].start - words[at].end > 1:
        return 0
    following = words[at + 1].plain
    if following in _NO_FACTORS and words[at].plain not in _ARTICLES:
        return 0
    return 100 if following == "ste" else _VALUE_OF.get(following, 0)


def _with_rest(words: Sequence[TypedWord], at: int, value: float, length: int) -> Number:
    """`a hundred and five`, `twenty-eight`, `cuarenta y ocho`: tens and hundreds with what follows
    them. A comma between them makes two numbers."""
    place = at + length
    if place < len(words) and words[place].plain in _AND:
        place += 1
    whole = Number(value, length, in_digits=False)
    if place >= len(words) or words[place].plain in _ARTICLES:
        return whole
    gaps = [words[here].start - words[here - 1].end for here in range(at + 1, place + 1)]
    rest, most = _VALUE_OF.get(words[place].plain, 0), _MOST_BEHIND.get(value, 0)
    if not 0 < rest <= most or max(gaps) > 1:
        return whole
    return Number(value + rest, place + 1 - at, in_digits=False)


def _half_dozen(words: Sequence[TypedWord], at: int) -> Number | None:
    for skipped in (1, 2):
        place = at + skipped
        between = [word.plain for word in words[at + 1 : place]]
        if place < len(words) and words[place].plain in _DOZENS and set(between) <= _ARTICLES:
            return Number(6, skipped + 1, in_digits=False)
    return None
