"""The typed values that a turn states: which of several is meant, and a number without its unit."""

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

from deskhand.config.sections.slots import SlotSpec
from deskhand.language.slots import SlotMatch, SlotValue
from deskhand.language.slots.folded_text import FoldedText
from deskhand.language.slots.numbers import written_out
from deskhand.language.turn_cues import Cues

Span = tuple[int, int]

_BARE_NUMBER = re.compile(
    r"(?<![\w.,-])(\d{1,6}(?:[.,]\d{1,2})?)(?![\w%]|[.,]\d|-\d|\s*(?:%|percent|procent|prozent|"
    r"por ciento|items?|pieces?|days?|weeks?|times|kus|dny|dni|stuck|tage|dias|veces|x\b))"
)
_DENIED = re.compile(
    r"(?:\bnot|n't|\bnicht|\bne|\bnikoli|\bneni|\bno|\bkeine?|\binstead of|\bmisto|\bnamisto|"
    r"\bstatt|"
    r"\banstatt|\ben vez de|\ben lugar de|\bno es|\brather than|\bwrong one was)"
    r"(?: (?:the|die|der|das|den|ta|tu|ten|to|el|la|o|order|objednavk\w*|bestellung|pedido|is|"
    r"it's|es|"
    r"number|amount))*[ :]*$"
)
_LEADS_TO_AMOUNT = re.compile(
    r"(?:\bmake (?:that|it)|\bwant|\bonly|\bjust|\brather|\bamount|\brefund(?: me)?|\bback|"
    r"\bit's|\bis|"
    r"\bbut|\bmeant|\bshould be|\bcastk\w+|\bchci|\bvratte(?: mi)?|\bjen|\bale|\bje to|"
    r"\bma byt|\bbetrag|"
    r"\bsondern|\bnur|\bmeinte|\bes sind|\bmochte|\bimporte|\bsino|\bson|\bquiero|\bsolo|\bde|"
    r"\bmejor)"
    r"[ ,:]*$"
)
"""What stands before an amount without its currency, where none was asked for."""
_ENDS_CLAUSE = re.compile(
    r"\s*(?:$|[,;.!\n]|back\b|zuruck|zpet|zpatky|please|bitte|prosim|not\b|nicht\b|ne\b|no\b|-)"
)
_IN_ADDRESS = re.compile(r"\s+[A-ZÁ-Ž][a-zá-ž]{2,}")


class TurnValues(NamedTuple):
    """What a text states, and where."""

    values: dict[str, Any]
    spans: list[Span]
    """The places of all values, also of those that are not meant."""


def values_in(
    text: str,
    found: Mapping[str, SlotValue],
    slots: Mapping[str, SlotSpec],
    asked: Sequence[str],
    cues: Cues,
) -> TurnValues:
    """The value of each slot that the text states, and states for certain."""
    folded = FoldedText(text).folded
    values: dict[str, Any] = {}
    spans: list[Span] = []
    for name, slot in found.items():
        spans += [(match.start, match.end) for match in slot.matches]
        meant = _meant(slot, folded, cues)
        if meant is not None:
            values[name] = meant.value
    reading = _Numbers(text, folded, spans, cues)
    for name in found:
        spec = slots[name]
        if name in values:
            continue
        if spec.type == "order_number":
            reading.order(spec, values, is_asked=name in asked)
        elif spec.type == "money":
            is_asked = name in asked
            if is_asked or values or re.search(r"[a-z]{3}", folded):
                reading.amount(spec, values, is_asked=is_asked)
    return TurnValues(values, spans)


def _meant(slot: SlotValue, folded: str, cues: Cues) -> SlotMatch | None:
    """The match that counts: not one that is denied, and of several the last, where the text takes
    the others back."""
    kept = [match for match in slot.matches if not _DENIED.search(folded[: match.start])]
    different = {repr(match.value): match for match in kept}
    if not different:
        return None
    if len(different) == 1:
        return kept[0]
    first, last = kept[0], kept[-1]
    between = folded[first.end : last.start]
    after = folded[last.end :]
    if cues.has("correct", between) or cues.has("other_one", between) or cues.has("correct", after):
        return last
    return None


class _Numbers:
    """Numbers that stand without the letters or the currency that belong to them."""

    def __init__(self, text: str, folded: str, spans: list[Span], cues: Cues) -> None:
        self._text = text
        self._folded = folded
        self._spans = spans
        self._cues = cues

    def order(self, spec: SlotSpec, values: dict[str, Any], *, is_asked: bool) -> None:
        """A number of the right length without its prefix, where there is only one prefix."""
        if len(spec.prefix) != 1 or spec.min_digits < _FEWEST_DIGITS:
            return
        fits = [
            match
            for match in self._bare()
            if match.group().isdecimal()
            and spec.min_digits <= len(match.group()) <= spec.max_digits
        ]
        elsewhere = [match for match in fits if not _IN_ADDRESS.match(self._text[match.end() :])]
        if elsewhere or not is_asked:
            fits = elsewhere
        meant = self._one_of(fits)
        if meant is not None:
            values[spec.name] = f"{spec.prefix[0].upper()}-{meant}"
            self._spans += [match.span() for match in fits]

    def amount(self, spec: SlotSpec, values: dict[str, Any], *, is_asked: bool) -> None:
        """A number where an amount was asked for, or where its clause can mean nothing else."""
        currency = spec.currency or next(iter(spec.currencies), None)
        if currency is None:
            return
        fits = [match for match in self._bare() if is_asked or self._is_amount(match)]
        meant = self._one_of(fits)
        if meant is not None:
            amount = written_out(Decimal(meant.replace(",", ".")), 2)
            values[spec.name] = {"amount": amount, "currency": currency}
            self._spans += [match.span() for match in fits]

    def _bare(self) -> list["re.Match[str]"]:
        found = _BARE_NUMBER.finditer(self._text)
        return [match for match in found if not self._is_taken(match)]

    def _is_taken(self, match: "re.Match[str]") -> bool:
        return any(start < match.end() and match.start() < end for start, end in self._spans)

    def _one_of(self, matches: list["re.Match[str]"]) -> str | None:
        """The number that is meant; None where several could be."""
        kept = [match for match in matches if not _DENIED.search(self._folded[: match.start()])]
        if len({match.group() for match in kept}) == 1:
            return kept[0].group()
        if not kept:
            return None
        between = self._folded[kept[0].end() : kept[-1].start()]
        after = self._folded[kept[-1].end() :]
        takes_back = self._cues.has("correct", between) or self._cues.has("correct", after)
        return kept[-1].group() if takes_back else None

    def _is_amount(self, match: "re.Match[str]") -> bool:
        before, after = self._folded[: match.start()], self._folded[match.end() :]
        if len(match.group()) > _MOST_DIGITS or not _ENDS_CLAUSE.match(after):
            return False
        begins = not before.strip() or before.rstrip()[-1] in ",;.!\n"
        return begins or _LEADS_TO_AMOUNT.search(before) is not None


_FEWEST_DIGITS = 4
"""Digits that a number must have to be an order without its letters."""
_MOST_DIGITS = 7
