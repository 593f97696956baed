"""The typed values that a turn states: which of several is meant, and a number without its unit."""

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, NamedTuple

from deskhand.config.sections.slots import SlotSpec
from deskhand.language.slots import SlotMatch, SlotValue
from deskhand.language.slots.folded_text import FoldedText
from deskhand.language.slots.numbers import written_out
from deskhand.language.turn_cues import Cues, turn_cues
from deskhand.language.turn_kinds import OpenQuestion

Span = tuple[int, int]

_BARE_NUMBER = re.compile(
    r"(?<![\w.,-])(?<!minus )(\d{1,6}(?:[.,]\d{1,2})?)(?![\w%]|[.,]\d|-\d|\s*"
    r"(?:%|percent|procent|prozent|por ciento|items?|pieces?|days?|weeks?|times|"
    r"kus|dny|dni|stuck|tage|dias|veces|x\b))"
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
    r"\s*(?:$|[,;.!\n]|(?:on|of|for|from|za|z|ze|von|fur|bei)\b|back\b|zuruck|zpet|zpatky|please|bitte|prosim|not\b|nicht\b|ne\b|no\b|-)"
)
_IN_ADDRESS = re.compile(r"\s+[A-ZÁČĎÉĚÍŇÓŘŠŤÚŮÝŽÄÖÜÑ][a-zá-ž]{2,}")


class TurnValues(NamedTuple):
    """What a text states, and where."""

    values: dict[str, Any]
    spans: list[Span]
    """The places of all values, also of those that are not meant."""
    chosen: tuple[str, ...] = ()
    """The slots of which the text states several values, and the model says which is meant."""


def values_in(
    text: str,
    found: Mapping[str, SlotValue],
    slots: Mapping[str, SlotSpec],
    question: OpenQuestion,
    marks: Mapping[str, Span],
) -> TurnValues:
    """The value of each slot that the text states, and states for certain.

    `marks` are the words by which a model says which of several values is meant.
    """
    cues = turn_cues()
    folded = FoldedText(text).folded
    values: dict[str, Any] = {}
    spans: list[Span] = []
    chosen: list[str] = []
    for name, slot in found.items():
        spans += [(match.start, match.end) for match in slot.matches]
        meant = _meant(slot, folded, cues) or _only_new(slot, question.known.get(name))
        if meant is None:
            meant = _marked_match(slot, folded, marks.get(_mark_of(slots[name])))
            chosen += [name] if meant is not None else []
        if meant is not None:
            values[name] = meant.value
    reading = _Numbers(text, folded, spans, question, marks)
    for name in found:
        if name not in values:
            reading.add(slots[name], values)
    return TurnValues(values, spans, (*chosen, *reading.chosen))


def _mark_of(spec: SlotSpec) -> str:
    """What a slot's values are called by the model."""
    names = {"order_number": "order", "money": "amount", "date": "date", "email": "email"}
    return names.get(spec.type, spec.name)


def _meant(slot: SlotValue, folded: str, cues: Cues) -> SlotMatch | None:
    """The match that counts: not one that is denied, and of several the last, where the text takes
    the others back."""
    kept = _not_denied(slot, folded)
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


def _only_new(slot: SlotValue, known: Any) -> SlotMatch | None:
    """Of two values the one that is not known yet: the other only says what it stands for."""
    new = [match for match in slot.matches if known is not None and match.value != known]
    is_one = len({repr(match.value) for match in new}) == 1
    return new[0] if is_one and len(new) < len(slot.matches) else None


def _not_denied(slot: SlotValue, folded: str) -> list[SlotMatch]:
    return [match for match in slot.matches if not _DENIED.search(folded[: match.start])]


def _marked_match(slot: SlotValue, folded: str, marked: Span | None) -> SlotMatch | None:
    """Of several matches the only one that the model marks."""
    kept = _not_denied(slot, folded)
    chosen = [match for match in kept if _overlap((match.start, match.end), marked)]
    different = {repr(match.value) for match in chosen}
    return chosen[0] if len(different) == 1 else None


def _overlap(place: Span, marked: Span | None) -> bool:
    return marked is not None and place[0] < marked[1] and marked[0] < place[1]


class _Numbers:
    """Numbers that stand without the letters or the currency that belong to them."""

    def __init__(
        self,
        text: str,
        folded: str,
        spans: list[Span],
        question: OpenQuestion,
        marks: Mapping[str, Span],
    ) -> None:
        self._text = text
        self._folded = folded
        self._spans = spans
        self._cues = turn_cues()
        self._question = question
        self._known = question.known
        self._marks = marks
        self.chosen: list[str] = []

    def add(self, spec: SlotSpec, values: dict[str, Any]) -> None:
        """The value of an order or of an amount that stands without the rest."""
        is_asked = spec.name in self._question.asked
        if spec.type == "order_number":
            self._order(spec, values, is_asked=is_asked)
        elif spec.type == "money" and (is_asked or values or re.search(r"[a-z]{3}", self._folded)):
            self._amount(spec, values, is_asked=is_asked)

    def _order(self, spec: SlotSpec, values: dict[str, Any], *, is_asked: bool) -> None:
        """A number of the right length without its prefix, where there is only one prefix; of a
        shop without prefixes only where it was asked for or marked."""
        if len(spec.prefix) > 1 or spec.pattern or spec.min_digits < _FEWEST_DIGITS:
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
        marked = self._marked(fits, _mark_of(spec))
        if not spec.prefix and not is_asked:
            fits = [match for match in fits if len(match.group()) >= _PLAIN_DIGITS] or marked
        meant = self._meant(spec, fits, marked)
        if meant is not None:
            values[spec.name] = f"{spec.prefix[0].upper()}-{meant}" if spec.prefix else meant
            self._spans += [match.span() for match in fits]

    def _amount(self, spec: SlotSpec, values: dict[str, Any], *, is_asked: bool) -> None:
        """A number where an amount was asked for, or where its clause can mean nothing else."""
        currency = spec.currency or next(iter(spec.currencies), None)
        if currency is None:
            return
        marked = self._marked(self._bare(), _mark_of(spec))
        is_known = spec.name in self._known
        fits = [m for m in self._bare() if is_asked or self._is_amount(m, is_known=is_known)]
        meant = self._meant(spec, fits, marked)
        if meant is not None:
            amount = written_out(Decimal(meant.replace(",", ".")), 2)
            values[spec.name] = {"amount": amount, "currency": currency}
            self._spans += [match.span() for match in marked or fits]

    def _meant(
        self, spec: SlotSpec, fits: list["re.Match[str]"], marked: list["re.Match[str]"]
    ) -> str | None:
        """The number that the text says for certain, else the one that the model marks."""
        meant = self._one_of(fits) or self._only_new(spec, fits)
        if meant is not None and (not marked or meant in [match.group() for match in marked]):
            return meant
        meant = self._one_of(marked)
        if meant is not None and fits:
            self.chosen.append(spec.name)
        return meant

    def _only_new(self, spec: SlotSpec, fits: list["re.Match[str]"]) -> str | None:
        """Of two numbers the one that is not known yet."""
        known = re.sub(r"\D", "", str(self._known.get(spec.name) or ""))
        numbers = {match.group() for match in fits}
        new = numbers - {known}
        return new.pop() if len(new) == 1 and known in numbers else None

    def _marked(self, matches: list["re.Match[str]"], name: str) -> list["re.Match[str]"]:
        place = self._marks.get(name)
        return [match for match in matches if _overlap(match.span(), place)]

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

    def _is_amount(self, match: "re.Match[str]", *, is_known: bool) -> bool:
        before, after = self._folded[: match.start()], self._folded[match.end() :]
        if len(match.group()) > _MOST_DIGITS or not _ENDS_CLAUSE.match(after):
            return False
        return is_known or not before.strip() or _LEADS_TO_AMOUNT.search(before) is not None


_FEWEST_DIGITS = 4
"""Digits that a number must have to be an order without its letters."""
_PLAIN_DIGITS = 5
"""Digits of a number that nobody asked for and that still is an order's."""
_MOST_DIGITS = 7
