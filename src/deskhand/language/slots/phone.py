"""Telephone numbers: international ones always, national ones where something says that they are
one.

Where a number is in a text, and whether it is meant as one, is read here; how numbers look in each
country comes from the library `phonenumbers`.
"""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import re2

from deskhand.config.sections.slots import SlotSpec
from deskhand.language.slots.folded_text import Scan
from deskhand.language.slots.slot_context import SlotContext
from deskhand.language.slots.slot_value import SlotMatch

if TYPE_CHECKING:
    from phonenumbers import PhoneNumber

_ROW = re2.compile(
    r"(?:\+ ?|\b00)?(?:\([0-9+]{1,6}\)|[0-9]{1,15})(?:(?: ?[-./] ?|"
    r" ){0,1}(?:\([0-9]{1,5}\)|[0-9]{1,15})){0,14}"
)
_CUE = re2.compile(
    r"(?:phone|mobile|cell|call|reach|tel|telefon|telephone|mobil|volejte|volat|zavolejte|zavolat|handy|anrufen|"
    r"rufnummer|ruckruf|erreichbar|telefono|movil|llamar|llame|llamen|llameme|portable|appeler|appelez|joindre|"
    r"komorka|komorkowy|zadzwonic|zadzwon|whatsapp|sms|fax|gsm|number is|cislo je|numer to|nummer"
    r" ist|numero es|"
    r"numero est|numer telefonu|me at|me"
    r" on)[a-z]{0,4}\b[^0-9a-z\n]{0,4}(?:[a-z]+[^0-9a-z\n]{1,3}){0,3}$"
)
_OTHER_CUE = re2.compile(
    r"(?:order|bestellung|bestellnummer|objednavk[a-z]{1,2}|pedido|commande|zamowieni[a-z]{1,2}|invoice|faktur[a-z]{1,2}|"
    r"rechnung|factura|facture|account|konto|iban|ico|dic|nip|vat|ean|isbn|sn|serial|tracking|customer|kunden|"
    r"kundennummer|zakaznik|cliente|client|klient|id|nr|no|#)[.:]?"
    r" ?(?:number|nr|no|c|cislo|numero|id|#)?[.:#]? ?$"
)
_DATE_LIKE = re2.compile(
    r"^(?:[0-9]{1,2}[ ]?[./-] ?[0-9]{1,2} ?[./-]"
    r" ?(?:19|20)?[0-9]{2}|(?:19|20)[0-9]{2}[./-][0-9]{1,2}[./-][0-9]{1,2})"
    r"(?: [0-9]{1,2}(?:[.: ][0-9]{2})?)?$"
)
_THOUSANDS = re2.compile(r"^[1-9][0-9]{0,2}(?:[.,'][0-9]{3})+$")
_AFTER = re2.compile(
    r"^(?:[.,:/][0-9]|"
    r" ?(?:€|\$|£|%|kc\b|czk\b|eur|usd\b|gbp\b|pln\b|zl\b|chf\b|korun|dol)|[a-z0-9@_])"
)
_LOOK_BACK = 48
_PLUS = re.compile("[+\uff0b]")
_DIGIT = re.compile(r"\d")
_FEWEST_DIGITS, _MOST_DIGITS = 8, 12
"""Of a number without its country's code, where no country is given."""


def may_hold_phone(text: str) -> bool:
    """Whether a look for the numbers of no country in particular may find one. It costs little,
    and most texts hold none."""
    if _PLUS.search(text) is not None:
        return True
    return len(_DIGIT.findall(text)) >= _FEWEST_DIGITS


class PhoneExtractor:
    def __init__(self, spec: SlotSpec) -> None:
        self._home = spec.country

    def find(self, scan: Scan, context: SlotContext) -> Iterator[SlotMatch]:
        for match in scan.candidates(_ROW):
            start, end = match.span()
            if end - start < 6 or not _stands_alone(scan.folded, start, end):
                continue
            read = self._read(match.group(), scan.folded[max(0, start - _LOOK_BACK) : start])
            if read is not None:
                number, confidence = read
                yield scan.match(number, start, end, confidence)

    def _read(self, written: str, before: str) -> tuple[str, float] | None:
        """The number and how sure we are of it."""
        digits = _digits(written)
        if written.startswith(("+", "(+")) or (written.startswith("00") and len(digits) >= 11):
            return _international(digits if "+" in written else digits[2:])
        if _DATE_LIKE.search(written) or _THOUSANDS.search(written) or _OTHER_CUE.search(before):
            return None
        has_cue = _CUE.search(before) is not None
        groups = re.findall(r"\d+", written)
        looks = 1 < len(groups) <= 6 and max(map(len, groups)) <= 8
        if self._home is not None:
            return _national(self._home, digits, has_cue, looks)
        if not _FEWEST_DIGITS <= len(digits) <= _MOST_DIGITS:
            return None
        if has_cue:
            return digits, 0.8
        lengths = sorted(map(len, groups))
        grouped = looks and len(groups) >= 3 and lengths[0] >= 2 and lengths[-1] <= 4
        return (digits, 0.6) if grouped or (looks and digits.startswith("0")) else None


def _international(digits: str) -> tuple[str, float] | None:
    """A number whose country exists and has numbers of this length."""
    import phonenumbers  # only where something looks like a number: the import takes a while

    number = _parsed(f"+{digits}", None)
    if number is None or not phonenumbers.is_possible_number(number):
        return None
    return _written_abroad(number), 0.97


def _national(home: str, digits: str, has_cue: bool, looks: bool) -> tuple[str, float] | None:
    """A number as people write it in the country `home`, with the prefix that falls away abroad.

    One that is not in use there needs that prefix: numbers are handed out faster than lists are.
    """
    import phonenumbers

    number = _parsed(digits, home)
    if number is None or not phonenumbers.is_possible_number(number):
        return None
    rest = phonenumbers.national_significant_number(number)
    at_home = _digits(phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.NATIONAL))
    has_prefix = len(digits) > len(rest)
    if digits != at_home and not (has_prefix and digits.endswith(rest)):
        return None
    says_so = has_cue or looks
    if not phonenumbers.is_valid_number(number) and not (has_prefix and says_so):
        return None
    is_mobile = phonenumbers.number_type(number) == phonenumbers.PhoneNumberType.MOBILE
    if not (says_so or is_mobile or (has_prefix and len(rest) >= 8)):
        return None
    confidence = 0.85 if looks else 0.7
    return _written_abroad(number), 0.95 if has_cue else confidence


def _parsed(written: str, home: str | None) -> "PhoneNumber | None":
    import phonenumbers

    try:
        return phonenumbers.parse(written, home)
    except phonenumbers.NumberParseException:
        return None


def _written_abroad(number: "PhoneNumber") -> str:
    """The number as it is dialled from abroad: `+420777123456`."""
    import phonenumbers

    return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)


def _digits(written: str) -> str:
    return "".join(character for character in written if character.isdecimal())


def _stands_alone(folded: str, start: int, end: int) -> bool:
    before = folded[max(0, start - 2) : start]
    last = folded[start - 1 : start]
    continued = last in ("-", "/", ".", ",") and before[:1].isalnum()
    if continued or last.isalnum() or last in ("#", "@", "_", "€", "$", "£"):
        return False
    return _AFTER.search(folded[end : end + 8]) is None
