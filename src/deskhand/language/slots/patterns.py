"""Slots found by shape alone: own patterns, e-mail addresses, order numbers."""

from collections.abc import Iterator
from typing import Any

import re2

from deskhand.config.sections.slots import SlotSpec
from deskhand.language.slots.folded_text import Scan
from deskhand.language.slots.slot_context import SlotContext
from deskhand.language.slots.slot_value import SlotMatch


class PatternExtractor:
    """An engineer's own RE2 pattern over the text as written."""

    def __init__(self, pattern: str) -> None:
        options = re2.Options()
        options.log_errors = False
        self._pattern = re2.compile(pattern, options)
        self._groups = dict(sorted(self._pattern.groupindex.items(), key=lambda item: item[1]))

    def find(self, scan: Scan, context: SlotContext) -> Iterator[SlotMatch]:
        for match in scan.candidates(self._pattern, scan.reading.text):
            value, group = self._value(match)
            start, end = match.span(group)
            if start < end:
                yield scan.match_given(value, start, end, 0.95)

    def _value(self, match: Any) -> tuple[Any, int]:
        """The group `value` or the only named one; several named ones together; else all that
        matched."""
        if len(self._groups) > 1 and "value" not in self._groups:
            return {name: match.group(index) for name, index in self._groups.items()}, 0
        group = self._groups.get("value", next(iter(self._groups.values()), 0))
        return match.group(group), group


_EMAIL = re2.compile(
    r"(?i)[a-z0-9!#$%&'*+/=?^_{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_{|}~-]+)*@"
    r"(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+(?:xn--[a-z0-9-]{2,59}|[a-z]{2,63})\b"
)
_QUOTES = "'`*_~{}|/=?!#$%&^"


class EmailExtractor:
    """Addresses as people use them; lower case, since nobody means two mailboxes by two
    spellings."""

    def find(self, scan: Scan, context: SlotContext) -> Iterator[SlotMatch]:
        for match in scan.candidates(_EMAIL):
            address, start = match.group(), match.start()
            bare = address.lstrip(_QUOTES)
            start += len(address) - len(bare)
            if bare.index("@") in range(1, 65) and len(bare) <= 254:
                yield scan.match(bare, start, match.end(), 0.98)


_CUES = (
    "orders?|order|purchase|parcel|shipment|tracking|objednavk[auyo]u?|objednavek|objednavce|zasilk[auyo]u?|zasilce|"
    "bestellungen|bestellung|bestell|auftrags|auftrag|lieferung|sendungs?|pedidos?|envio|commandes?|colis|"
    "zamowieni[aeu]|zamowieniem|przesylk[aieo]|paczk[aieo]|invoice|faktur[auyo]u?|rechnungs?|factura|facture"
)
_NUMBER_SIGNS = (
    "numbers?|num|nro|nr|n ?o|id|#|c[.:"
    " ]|cislo|cisla|cislem|nummer|numero|numeru|numerem|numer|reference|ref|kod|code"
)
_VERB_BEFORE = re2.compile(
    r"(?:\b(?:to|i|we|you|please|can|could|will|would|wish|must|should|they|also) )$"
)
_AMOUNT_AFTER = re2.compile(
    r"^(?:[.,:/][0-9]|-[0-9]|"
    r" ?(?:€|\$|£|%|kc|czk|eur|usd|gbp|pln|zl|chf|euro|korun|dollar|pound|zloty|kg|ks|pcs|x\b|"
    r"pieces|kus|stuck|piezas|pieces|sztuk))"
)


class OrderNumberExtractor:
    """Numbers with their letters (P-1001), with a sign (#12345), or after a word for an order
    (order 12345)."""

    def __init__(self, spec: SlotSpec) -> None:
        letters = "|".join(
            sorted((prefix.lower() for prefix in spec.prefix), key=len, reverse=True)
        )
        digits = f"[0-9]{{{spec.min_digits},{spec.max_digits}}}"
        self._has_prefixes = bool(spec.prefix)
        own = rf"({letters})[-_/ ]?({digits})" if letters else rf"([a-z]{{1,2}})-({digits})"
        after_cue = own if letters else rf"([a-z]{{1,4}})?-?({digits})"
        cue = (
            rf"\b(?:{_CUES})[ -]?(?:({_NUMBER_SIGNS})[.:]?)? ?[:#]? ?(?:is |je |ist |es |est |to )?"
        )
        self._with_cue = re2.compile(rf"{cue}{after_cue}\b")
        self._alone = re2.compile(rf"\b{own}\b")
        self._with_sign = re2.compile(rf"#()({digits})\b")

    def find(self, scan: Scan, context: SlotContext) -> Iterator[SlotMatch]:
        taken: set[int] = set()  # all forms end with the same digits
        for pattern, confidence in self._forms():
            for match in scan.candidates(pattern):
                letters, digits = match.groups()[-2:]
                start = (
                    match.start(match.re.groups - 1) if letters else match.start(match.re.groups)
                )
                if self._is_amount(scan.folded, match) or match.end() in taken:
                    continue
                taken.add(match.end())
                yield scan.match(
                    f"{letters.upper()}-{digits}" if letters else digits,
                    start,
                    match.end(),
                    confidence,
                )

    def _forms(self) -> Iterator[tuple[Any, float]]:
        yield self._with_cue, 0.95
        yield self._alone, 0.95 if self._has_prefixes else 0.8
        if not self._has_prefixes:
            yield self._with_sign, 0.85

    def _is_amount(self, folded: str, match: Any) -> bool:
        start, end = match.span()
        after = folded[end : end + 12]
        if match.re is self._with_cue and not match.group(1):
            verb = _VERB_BEFORE.search(folded[max(0, start - 10) : start])
            return verb is not None or _AMOUNT_AFTER.search(after) is not None
        return len(after) > 1 and after[0] in "-/.@" and after[1].isdecimal()


def order_numbers(spec: SlotSpec) -> PatternExtractor | OrderNumberExtractor:
    return (
        PatternExtractor(spec.pattern) if spec.pattern is not None else OrderNumberExtractor(spec)
    )
