"""Numbers that money can be sent to: bank accounts, cards, crypto addresses.

Only those count whose own checksum is right.
"""

import re
from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import Literal, NamedTuple

_IBAN = re.compile(r"(?<![A-Za-z0-9])[A-Za-z]{2}[0-9]{2}(?:[ -]?[A-Za-z0-9]){11,30}(?![A-Za-z0-9])")
_CARD = re.compile(r"(?<![0-9A-Za-z])[2-6](?:[ -]?[0-9]){12,18}(?![0-9A-Za-z])")
_CZECH = re.compile(r"(?<![0-9/-])(?:([0-9]{2,6})-)?([0-9]{6,10})/([0-9]{4})(?![0-9/])")
_BASE58 = re.compile(r"(?<![A-Za-z0-9])[13][1-9A-HJ-NP-Za-km-z]{25,34}(?![A-Za-z0-9])")
_BECH32 = re.compile(
    r"(?<![A-Za-z0-9])(bc1|tb1|ltc1)([02-9ac-hj-np-z]{11,87})(?![A-Za-z0-9])", re.IGNORECASE
)
_ETHEREUM = re.compile(r"(?<![A-Za-z0-9])0x[0-9a-fA-F]{40}(?![A-Za-z0-9])")
_IBAN_LENGTHS = {
    country: length
    for length, countries in {
        15: "NO",
        16: "BE",
        18: "DK FI FK FO GL NL SD",
        19: "MK SI",
        20: "AT BA EE KZ LT LU MN XK",
        21: "CH HR LI LV",
        22: "BG BH CR DE GB GE IE ME RS VA",
        23: "AE GI IL IQ OM SO TL",
        24: "AD CZ ES MD PK RO SA SE SK TN VG",
        25: "AO CV GW LY MZ PT ST",
        26: "DZ IR IS TR",
        27: "BI CF CG CM DJ FR GA GQ GR IT KM MC MG MR SM TD",
        28: "AL AZ BF BJ BY CI CY DO GT HN HU LB MA ML NE NI PL SN SV TG",
        29: "BR EG PS QA UA",
        30: "JO KW MU YE",
        31: "MT SC",
        32: "LC",
        33: "RU",
    }.items()
    for country in countries.split()
}
"""How long the account numbers of a country are."""
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


class Account(NamedTuple):
    kind: Literal["iban", "account", "card", "crypto"]
    number: str
    """Without spaces, in capitals where that is the same."""
    start: int
    end: int


def accounts_in(text: str) -> Iterator[Account]:
    """Every number in a text that money can be sent to, kind by kind."""
    yield from _ibans(text)
    yield from _czech_accounts(text)
    yield from _cards(text)
    yield from _crypto_addresses(text)


def _ibans(text: str) -> Iterator[Account]:
    for match in _IBAN.finditer(text):
        written = _longest_iban(match.group())
        if written is not None:
            end = match.start() + len(written)
            yield Account("iban", _bare(written).upper(), match.start(), end)


def _czech_accounts(text: str) -> Iterator[Account]:
    for match in _CZECH.finditer(text):
        prefix, number, _ = match.groups()
        if _is_czech(prefix or "0") and _is_czech(number):
            yield Account("account", _bare(match.group()), *match.span())


def _cards(text: str) -> Iterator[Account]:
    for match in _CARD.finditer(text):
        number = _bare(match.group())
        if is_card(number):
            yield Account("card", number, *match.span())


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
    return re.sub(r"[ -]", "", written)


def _longest_iban(written: str) -> str | None:
    """The longest beginning that is an IBAN; the words after one may look like more of it."""
    for end in range(len(written), 14, -1):
        at_word_end = written[end - 1].isalnum() and not written[end : end + 1].isalnum()
        if at_word_end and is_iban(_bare(written[:end])):
            return written[:end]
    return None


def is_iban(number: str) -> bool:
    """Whether the length is right for the country and the checksum holds."""
    right_length = len(number) == _IBAN_LENGTHS.get(number[:2].upper())
    if not right_length or not number.isalnum() or not number.isascii():
        return False
    digits = "".join(str(int(letter, 36)) for letter in number[4:] + number[:4])
    return int(digits) % 97 == 1


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
