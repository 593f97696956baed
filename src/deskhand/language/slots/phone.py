"""Telephone numbers: international ones always, national ones where something says that they are
one."""

import re
from collections.abc import Iterator

import re2

from deskhand.config.sections.slots import SlotSpec
from deskhand.language.slots.countries import NUMBERING, Numbering, country_code
from deskhand.language.slots.folded_text import Scan
from deskhand.language.slots.slot_context import SlotContext
from deskhand.language.slots.slot_value import SlotMatch

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


class PhoneExtractor:
    def __init__(self, spec: SlotSpec) -> None:
        self._home: Numbering | None = NUMBERING[spec.country] if spec.country else None

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
        digits = "".join(character for character in written if character.isdecimal())
        if written.startswith(("+", "(+")) or (written.startswith("00") and len(digits) >= 11):
            return _international(written, digits)
        if _DATE_LIKE.search(written) or _THOUSANDS.search(written) or _OTHER_CUE.search(before):
            return None
        has_cue = _CUE.search(before) is not None
        groups = [group for group in _split(written) if group]
        looks = len(groups) > 1 and len(groups) <= 6 and all(len(group) <= 8 for group in groups)
        if self._home is not None:
            return self._national(self._home, digits, has_cue, looks)
        if not 8 <= len(digits) <= 12:
            return None
        if has_cue:
            return digits, 0.8
        grouped = (
            looks and len(groups) >= 3 and max(map(len, groups)) <= 4 and min(map(len, groups)) >= 2
        )
        return (digits, 0.6) if grouped or (looks and digits.startswith("0")) else None

    def _national(
        self, home: Numbering, digits: str, has_cue: bool, looks: bool
    ) -> tuple[str, float] | None:
        if home.code == "1" and len(digits) == 11 and digits.startswith("1"):
            digits = digits[1:]
        if home.trunk and not digits.startswith(home.trunk):
            return None
        rest = digits.removeprefix(home.trunk)
        fewest, most = home.lengths
        if not fewest <= len(rest) <= most or not rest.startswith(tuple(home.first)):
            return None
        says_so = has_cue or looks or (bool(home.trunk) and len(rest) >= 8)
        is_mobile = bool(home.mobile) and rest.startswith(tuple(home.mobile))
        if not (says_so or is_mobile):
            return None
        confidence = 0.85 if looks else 0.7
        return f"+{home.code}{rest}", 0.95 if has_cue else confidence


def _international(written: str, digits: str) -> tuple[str, float] | None:
    if not written.startswith(("+", "(+")):
        digits = digits[2:]
    code = country_code(digits)
    if code is None:
        return None
    if "(0)" in written and digits[len(code) :].startswith("0"):
        digits = code + digits[len(code) + 1 :]
    plan = next((plan for plan in NUMBERING.values() if plan.code == code), None)
    fewest, most = plan.lengths if plan else (5, 14)
    rest = len(digits) - len(code)
    if not (fewest <= rest <= most + 1 and len(digits) <= 15):
        return None
    return f"+{digits}", 0.97


def _split(written: str) -> list[str]:
    """The groups of digits."""
    return re.findall(r"\d+", written)


def _stands_alone(folded: str, start: int, end: int) -> bool:
    before = folded[max(0, start - 2) : start]
    last = folded[start - 1 : start]
    continued = last in ("-", "/", ".", ",") and before[:1].isalnum()
    if continued or last.isalnum() or last in ("#", "@", "_", "€", "$", "£"):
        return False
    return _AFTER.search(folded[end : end + 8]) is None
