"""Numbers that money can be sent to: bank accounts, cards, crypto addresses.

Only those count whose own checksum is right.
"""

import re
from collections.abc import Callable, Iterator
from functools import cache
from hashlib import sha256
from typing import Literal, NamedTuple

_DIGIT = re.compile(r"[0-9]")
"""Stands in a number of every kind."""
_SIGN = re.compile(r"[A-Za-z0-9]")
_BETWEEN = r"[\s.,:;_|/\\*·•\-\u2010-\u2015]{0,3}"
_RUN = re.compile(rf"[A-Za-z0-9](?:{_BETWEEN}[A-Za-z0-9])*")
"""Letters and digits with at most three spaces, dots, dashes or line breaks between two of them."""
_CARD_LENGTHS = (19, 16, 15, 14, 13)
_BEGINNING = re.compile(
    rf"(?<![A-Za-z0-9])(?:[A-Za-z]{_BETWEEN}[A-Za-z]{_BETWEEN}[0-9]{_BETWEEN}[0-9]"
    rf"|[0-9](?:{_BETWEEN}[0-9]){{{_CARD_LENGTHS[-1] - 1}}})"
)
"""How an IBAN begins, or as many digits as the shortest card has: without one of these, no run
holds a number."""
_CZECH = re.compile(
    r"(?<![0-9/-])(?:([0-9](?:[ .]?[0-9]){1,5}) ?- ?)?([0-9](?:[\s.]?[0-9]){1,9})\s?/\s?"
    r"([0-9](?:\s?[0-9]){3})(?![0-9/])"
)
_SHORTEST_CZECH, _TELLING_PREFIX = 6, 3
"""Digits of a Czech number that counts by itself; digits of a prefix beside which a shorter one
does."""
_BASE58 = re.compile(r"(?<![A-Za-z0-9])[13][1-9A-HJ-NP-Za-km-z]{25,34}(?![A-Za-z0-9])")
_BECH32 = re.compile(
    r"(?<![A-Za-z0-9])(bc1|tb1|ltc1)([02-9ac-hj-np-z]{11,87})(?![A-Za-z0-9])", re.IGNORECASE
)
_ETHEREUM = re.compile(r"(?<![A-Za-z0-9])0x[0-9a-fA-F]{40}(?![A-Za-z0-9])")
_IBAN_SHAPES = {
    country: shape
    for shape, countries in {
        "8n12c": "AD",
        "19n": "AE IL SO TL",
        "8n16c": "AL CY",
        "21n": "AO CV LY MZ PT ST",
        "16n": "AT BA EE LT MN XK",
        "4a20c": "AZ",
        "12n": "BE",
        "2c19n": "GW",
        "2c22n": "BF BJ CI ML NE SN TG",
        "4a6n8c": "BG",
        "4a14c": "BH",
        "23n": "BI CF CG CM DJ GA GQ KM MG MR TD",
        "10n11c2n": "BL FR GF GP MC MF MQ NC PF PM RE TF WF YT",
        "23n1a1c": "BR",
        "4c4n16c": "BY",
        "5n12c": "CH LI",
        "18n": "CR DE ME RS VA",
        "20n": "CZ ES SE SK TN",
        "14n": "AX DK FI FO GL SD",
        "4c20n": "DO",
        "22n": "DZ IR IS",
        "25n": "EG",
        "2a12n": "FK",
        "4a14n": "GB GG IE IM JE",
        "2a16n": "GE",
        "4a15c": "GI",
        "7n16c": "GR",
        "24c": "GT MA",
        "4a20n": "HN NI SV",
        "17n": "HR",
        "24n": "HU PL",
        "4a15n": "IQ",
        "1a10n12c": "IT SM",
        "4a4n18c": "JO YE",
        "4a22c": "KW",
        "3n13c": "KZ LU",
        "4n20c": "LB",
        "4a24c": "LC",
        "4a13c": "LV",
        "20c": "MD",
        "3n10c2n": "MK",
        "4a5n18c": "MT",
        "4a19n3a": "MU",
        "4a10n": "NL",
        "11n": "NO",
        "3n16c": "OM",
        "4a16c": "PK RO",
        "4a21c": "PS QA",
        "14n15c": "RU",
        "2n18c": "SA",
        "4a20n3a": "SC",
        "15n": "SI",
        "6n16c": "TR",
        "6n19c": "UA",
        "4a16n": "VG",
    }.items()
    for country in countries.split()
}
"""What follows the two check digits, by country: so many digits (n), letters (a) or either (c).

As the registry of IBANs (ISO 13616) prints it. Without the shape, one in 97 strings of the right
length would do: parts of a UUID are.
"""
_IBAN_LENGTHS = {
    country: 4 + sum(map(int, re.findall(r"\d+", shape))) for country, shape in _IBAN_SHAPES.items()
}
_POLISH = _IBAN_LENGTHS["PL"] - 2
"""Digits of a number as it is written in Poland: an IBAN without its country."""
_SIGNS = {"n": "[0-9]", "a": "[A-Z]", "c": "[A-Z0-9]"}
_ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_BECH_ALPHABET = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
_BECH_GENERATORS = (0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)
_CARD_SHAPES = (
    (re.compile(r"4"), (13, 16, 19)),
    (re.compile(r"5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720"), (16,)),
    (re.compile(r"3[47]"), (15,)),
    (re.compile(r"3(?:0[0-5]|[68])"), (14,)),
    (re.compile(r"35|6011|64[4-9]|65"), (16,)),
)


_SHORTEST = 11
"""Characters of the shortest account number there is, a Czech one: 123456/0800."""


class Account(NamedTuple):
    kind: Literal["iban", "account", "card", "crypto"]
    number: str
    """Without spaces, in capitals where that is the same."""
    start: int
    end: int


def accounts_in(text: str) -> Iterator[Account]:
    """Every number in a text that money can be sent to, kind by kind."""
    if len(text) < _SHORTEST or _DIGIT.search(text) is None:
        return
    runs = list(_runs(text)) if _BEGINNING.search(text) else []
    yield from _ibans(text, runs)
    yield from _czech_accounts(text)
    yield from _cards(text, runs)
    yield from _crypto_addresses(text)


class _Run(NamedTuple):
    signs: str
    """Letters and digits, without what stands between them."""
    places: list[int]
    """The place of each in the text."""
    starts: list[int]
    """Which of them follow something else: a number that stands alone begins with one of these."""


def _ibans(text: str, runs: list[_Run]) -> Iterator[Account]:
    end = 0
    for signs, places, starts in runs:
        for first in starts:
            country = signs[first : first + 2].upper()
            is_polish = country.isdecimal()
            length = _POLISH if is_polish else _IBAN_LENGTHS.get(country, 0)
            last = first + length - 1
            if not length or last >= len(signs) or places[first] < end:
                continue
            number = ("PL" if is_polish else "") + signs[first : last + 1].upper()
            if _stands_alone(text, places[first], places[last]) and is_iban(number):
                end = places[last] + 1
                yield Account("iban", number, places[first], end)


def _czech_accounts(text: str) -> Iterator[Account]:
    for match in _CZECH.finditer(text):
        prefix, number, _ = (_bare(part or "0") for part in match.groups())
        if len(number) < _SHORTEST_CZECH and len(prefix) < _TELLING_PREFIX:
            continue  # 15/2026 and 11-12/2026 are no accounts
        if _is_czech(prefix) and _is_czech(number):
            yield Account("account", _bare(match.group()), *match.span())


def _cards(text: str, runs: list[_Run]) -> Iterator[Account]:
    end = 0
    for signs, places, starts in runs:
        for first in starts:
            if signs[first] not in "23456" or places[first] < end:
                continue
            for length in _CARD_LENGTHS:
                number = signs[first : first + length]
                if len(number) < length or not number.isdecimal() or not is_card(number):
                    continue
                begin, last = places[first], places[first + length - 1]
                if _stands_alone(text, begin, last) and _is_grouped(text[begin : last + 1]):
                    end = last + 1
                    yield Account("card", number, begin, end)
                    break


def _runs(text: str) -> Iterator[_Run]:
    """What may be one number; what is too short for any is left out."""
    for run in _RUN.finditer(text):
        if run.end() - run.start() < _CARD_LENGTHS[-1]:
            continue
        places = [sign.start() for sign in _SIGN.finditer(text, run.start(), run.end())]
        signs = "".join([text[place] for place in places])
        starts = [0]
        starts += [
            number for number in range(1, len(places)) if places[number] - places[number - 1] > 1
        ]
        yield _Run(signs, places, starts)


def _stands_alone(text: str, first: int, last: int) -> bool:
    """Whether no letter or digit stands right before or after."""
    return not text[max(first - 1, 0) : first].isalnum() and not text[last + 1 : last + 2].isalnum()


def _is_grouped(written: str) -> bool:
    """Whether digits are written as one number: with spaces and dashes, or in equal groups.

    Dots and line breaks also stand between numbers that have nothing to do with each other.
    """
    if re.fullmatch(r"[0-9](?:[ -]?[0-9])*", written):
        return True
    *lengths, rest = map(len, re.split(r"[^0-9]+", written))
    return (len(set(lengths)) == 1 and rest <= lengths[0]) or (*lengths, rest) == (4, 6, 5)


def _crypto_addresses(text: str) -> Iterator[Account]:
    checks: tuple[tuple[re.Pattern[str], Callable[[str], bool]], ...] = (
        (_BASE58, _is_base58),
        (_BECH32, _is_bech32),
        (_ETHEREUM, lambda written: True),
    )
    for pattern, is_address in checks:
        for match in pattern.finditer(text):
            if is_address(match.group()):
                yield Account("crypto", match.group(), *match.span())


def _bare(written: str) -> str:
    return re.sub(r"[\s.-]", "", written)


def is_iban(number: str) -> bool:
    """Whether it has the shape of its country's numbers and the checksum holds."""
    number = number.upper()
    shape = _IBAN_SHAPES.get(number[:2])
    if shape is None or not _iban_pattern(shape).fullmatch(number):
        return False
    digits = "".join(str(int(letter, 36)) for letter in number[4:] + number[:4])
    return int(digits) % 97 == 1


@cache
def _iban_pattern(shape: str) -> re.Pattern[str]:
    parts = re.findall(r"(\d+)([nac])", shape)
    account = "".join(f"{_SIGNS[kind]}{{{count}}}" for count, kind in parts)
    return re.compile(f"[A-Z]{{2}}[0-9]{{2}}{account}", re.ASCII)


def is_card(number: str) -> bool:
    if not any(shape.match(number) and len(number) in lengths for shape, lengths in _CARD_SHAPES):
        return False
    total = 0
    for place, digit in enumerate(reversed(number)):
        value = int(digit) * (1 + place % 2)
        total += value - 9 if value > 9 else value
    return total % 10 == 0


def _is_czech(part: str) -> bool:
    weights = (6, 3, 7, 9, 10, 5, 8, 4, 2, 1)
    digits = map(int, part.zfill(10))
    return sum(digit * weight for digit, weight in zip(digits, weights, strict=True)) % 11 == 0


def _is_base58(written: str) -> bool:
    number = 0
    for letter in written:
        number = number * 58 + _ALPHABET.index(letter)
    try:
        raw = number.to_bytes(25, "big")
    except OverflowError:
        return False
    return sha256(sha256(raw[:-4]).digest()).digest()[:4] == raw[-4:]


def _is_bech32(written: str) -> bool:
    if written not in (written.lower(), written.upper()):
        return False
    human, _, data = written.lower().rpartition("1")
    if any(letter not in _BECH_ALPHABET for letter in data):
        return False
    high_bits = [ord(letter) >> 5 for letter in human]
    low_bits = [ord(letter) & 31 for letter in human]
    payload = [_BECH_ALPHABET.index(letter) for letter in data]
    check = 1
    for value in [*high_bits, 0, *low_bits, *payload]:
        top = check >> 25
        check = (check & 0x1FFFFFF) << 5 ^ value
        for bit, generator in enumerate(_BECH_GENERATORS):
            check ^= generator if (top >> bit) & 1 else 0
    return check in (1, 0x2BC830A3)
