"""Orders and amounts that stand without the letters or the currency that belong to them."""

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from deskhand.config.sections.slots import SlotSpec
from deskhand.language.identify import identify
from deskhand.language.slots.numbers import written_out
from deskhand.language.turn_amounts import SpokenAmount, numbers_with_cents, spoken_amounts
from deskhand.language.turn_number_patterns import (
    BARE_NUMBER,
    BEFORE_ORDINAL,
    BEGINS_PART,
    COUNTED_AFTER,
    DAY_AND_MONTH,
    DAY_BEFORE,
    DENIED,
    DIGIT_BEFORE,
    EACH_BEFORE,
    ENDS_CLAUSE,
    ENDS_PART,
    HAS_CENTS,
    LEADS_TO_AMOUNT,
    LEADS_TO_PRICE,
    MONTH_AFTER,
    ORDINAL,
    OTHER_THING_BEFORE,
    PRICE_AFTER,
    SHARE_BEFORE,
    TOO_LITTLE,
    WANTS_MONEY,
)
from deskhand.language.turn_number_values import (
    Span,
    is_of_size,
    mark_of,
    number_of,
    overlap,
    takes_back,
    typed_amount,
)
from deskhand.language.turn_order_numbers import OrderNumbers

_MOST_ORDINAL = 2
"""Digits of an ordinal."""
_MOST_DIGITS = 7
"""Digits of an amount that nobody asked for."""
_ORDER_DIGITS = 5
"""Digits of a whole number that may be an order's, and is no price."""
_LARGE = 20
"""From here on a number in words hardly counts things beside what was asked for."""


class BareNumbers(OrderNumbers):
    """Numbers that stand without the letters or the currency that belong to them."""

    def add(self, spec: SlotSpec, values: dict[str, Any]) -> None:
        """The value of an order or of an amount that stands without the rest."""
        is_asked = spec.name in self._question.asked
        if spec.type == "order_number":
            self.add_order(spec, values, is_asked=is_asked)
        elif spec.type == "money" and (is_asked or values or re.search(r"[a-z]{3}", self._folded)):
            self._amount(spec, values, is_asked=is_asked)

    def _amount(self, spec: SlotSpec, values: dict[str, Any], *, is_asked: bool) -> None:
        """A number where an amount was asked for, or where its clause can mean nothing else; else
        an amount in words."""
        currency = spec.currency or next(iter(spec.currencies), None)
        if currency is None:
            return
        in_words = [(place.start, place.end) for place in numbers_with_cents(self._folded)]
        bare = [match for match in self._bare() if self._may_be_amount(match, in_words)]
        marked = self._marked(bare, mark_of(spec))
        if not is_asked:
            marked = [match for match in marked if self._wants_money(*match.span())]
        is_known = spec.name in self._known
        fits = [match for match in bare if is_asked or self._is_amount(match, is_known=is_known)]
        meant = self._beside_known(spec, bare) or self._meant(spec, fits, marked)
        if meant is None and not is_asked and not marked:
            meant = self._price(spec, bare)
        if meant is not None:
            amount = written_out(number_of(meant), 2)
            values[spec.name] = {"amount": amount, "currency": currency}
            self._spans += [match.span() for match in marked or fits]
        elif not fits:
            self._spoken(spec, currency, values, is_asked=is_asked)

    def _beside_known(self, spec: SlotSpec, bare: list["re.Match[str]"]) -> str | None:
        """Where a text names the amount that is known, the one other number of that size: it is
        said what the first one stood for."""
        known_amount = self._known_amount(spec)
        named = {number_of(match.group()) for match in BARE_NUMBER.finditer(self._text)}
        if known_amount is None or known_amount not in named:
            return None
        others = [match for match in bare if is_of_size(number_of(match.group()), known_amount)]
        different = {match.group() for match in others}
        if len(different) != 1:
            return None
        self.retracted.append(spec.name)
        return different.pop()

    def _known_amount(self, spec: SlotSpec) -> Decimal | None:
        value = self._known.get(spec.name)
        if not isinstance(value, Mapping) or "amount" not in value:
            return None
        return Decimal(str(value["amount"]))

    def _price(self, spec: SlotSpec, bare: list["re.Match[str]"]) -> str | None:
        """What the thing cost, where nobody asked: the customer is asked whether that is right."""
        fits = [match for match in bare if self._is_price(match)]
        if len({match.group() for match in fits}) != 1:
            return None
        self.chosen.append(spec.name)
        self._spans += [match.span() for match in fits]
        return fits[0].group()

    def _is_price(self, match: "re.Match[str]") -> bool:
        before, after = self._folded[: match.start()], self._folded[match.end() :]
        has_cents = HAS_CENTS.search(match.group()) is not None
        if has_cents and (LEADS_TO_PRICE.search(before) or PRICE_AFTER.match(after)):
            return True
        if match.group().isdecimal() and len(match.group()) >= _ORDER_DIGITS:
            return False
        if not ENDS_CLAUSE.match(after):
            return False
        if LEADS_TO_PRICE.search(before) is not None or PRICE_AFTER.match(after) is not None:
            return True
        stands_alone = BEGINS_PART.search(before) is not None and ENDS_PART.match(after) is not None
        return stands_alone and has_cents

    def put_in_place(self, spec: SlotSpec, after: int, values: dict[str, Any]) -> None:
        """A number without its currency that takes back the amount before it: "20 euros, or no,
        say 15"."""
        name = spec.name
        known_amount = self._known_amount(spec)
        if known_amount is not None and Decimal(str(values[name].get("amount", 0))) == known_amount:
            instead = self._beside_known(spec, self._bare())
            if instead is not None:
                values[name] = {**values[name], "amount": written_out(number_of(instead), 2)}
                return
        later = [
            match
            for match in self._bare()
            if match.start() >= after and ENDS_CLAUSE.match(self._folded[match.end() :])
        ]
        if not later:
            return
        last = later[-1]
        if takes_back(self._folded, after, last.start(), last.end(), self._cues):
            values[name] = {**values[name], "amount": written_out(number_of(last.group()), 2)}
            self.retracted.append(name)
            self.chosen.append(name)
            self._spans.append((after, last.end()))

    def _may_be_amount(self, match: "re.Match[str]", in_words: list[Span]) -> bool:
        """Whether a number is not nothing, an ordinal, a day, a size or part of an amount in
        words."""
        if any(overlap(match.span(), place) for place in in_words):
            return False
        if EACH_BEFORE.search(self._text[: match.start()]):
            return False
        before, after = self._folded[: match.start()], self._folded[match.end() :]
        written = match.group()
        if number_of(written) == 0 or (written.isdecimal() and written.startswith("0")):
            return False
        is_ordinal = len(written) <= _MOST_ORDINAL and ORDINAL.match(after) is not None
        if is_ordinal and BEFORE_ORDINAL.search(before):
            return False
        if DAY_BEFORE.search(before) and DAY_AND_MONTH.fullmatch(written):
            return False
        if MONTH_AFTER.match(after) or COUNTED_AFTER.match(after):
            return False
        if len(written) == 1 and DIGIT_BEFORE.search(before):
            return False
        return not SHARE_BEFORE.search(before) and not OTHER_THING_BEFORE.search(before)

    def _spoken(
        self, spec: SlotSpec, currency: str, values: dict[str, Any], *, is_asked: bool
    ) -> None:
        """An amount in words, or a share: the customer is asked whether it was understood."""
        language = identify(self._text).code
        known_value = self._known.get(spec.name)
        amounts = [
            amount
            for amount in spoken_amounts(self._folded, language)
            if self._is_meant(amount, is_asked=is_asked, is_known=known_value is not None)
        ]
        typed = [(amount, typed_amount(amount, currency)) for amount in amounts]
        new = [(amount, value) for amount, value in typed if value != known_value] or typed
        meant = self._last_said(new)
        if meant is not None:
            values[spec.name] = meant
            self.chosen.append(spec.name)
            self._spans += [(amount.start, amount.end) for amount in amounts]

    def _last_said(self, typed: list[tuple[SpokenAmount, dict[str, str]]]) -> dict[str, str] | None:
        """The only amount, or the last where the text takes the others back."""
        if not typed:
            return None
        numbers = [pair for pair in typed if pair[0].share is None]
        if len(numbers) == 1:  # "half of it, that is 32.45"
            typed = numbers
        first, last = typed[0], typed[-1]
        if all(value == last[1] for _, value in typed):
            return last[1]
        places = first[0].end, last[0].start, last[0].end
        return last[1] if takes_back(self._folded, *places, self._cues) else None

    def _is_meant(self, amount: SpokenAmount, *, is_asked: bool, is_known: bool) -> bool:
        before, after = self._folded[: amount.start], self._folded[amount.end :]
        if self._is_place_taken((amount.start, amount.end)):
            return False
        if DENIED.search(before) or TOO_LITTLE.match(after):
            return False
        wants = self._wants_money(amount.start, amount.end)
        leads = LEADS_TO_AMOUNT.search(before) is not None
        if is_known and _has_cents(amount):
            return True
        if amount.share == 1 and not is_asked:
            return WANTS_MONEY.search(_clause_around(self._folded, amount)) is not None
        if amount.share is not None or amount.is_note:
            is_led = amount.is_note and leads
            return is_asked or wants or is_led or (is_known and self._corrects())
        ends = ENDS_CLAUSE.match(after) is not None
        if is_asked:
            return ends or _is_full_amount(amount, after)
        return ends and ((wants and leads) or LEADS_TO_PRICE.search(before) is not None)

    def _corrects(self) -> bool:
        is_denied = re.search(r"\b(?:not|nicht|ne|no)\b", self._folded) is not None
        return is_denied or self._cues.has("correct", self._folded)

    def _wants_money(self, start: int, end: int) -> bool:
        """Whether the sentence around a place speaks of money to be paid back."""
        begin = self._begin_of_sentence(start)
        if not re.search(r"[a-z]", self._folded[begin:start]):  # "My money back. 24.80 for a case"
            begin = self._begin_of_sentence(max(0, begin - 2))
        stop = re.search(r"[?!;\n]|\.\s|$", self._folded[end:])
        sentence = self._folded[begin : end + (stop.start() if stop is not None else 0)]
        return WANTS_MONEY.search(sentence) is not None

    def _begin_of_sentence(self, place: int) -> int:
        return max(self._folded.rfind(mark, 0, place) for mark in ("?", "!", ";", "\n", ". ")) + 1

    def _is_amount(self, match: "re.Match[str]", *, is_known: bool) -> bool:
        before, after = self._folded[: match.start()], self._folded[match.end() :]
        has_cents = HAS_CENTS.search(match.group()) is not None
        if has_cents and (is_known or LEADS_TO_AMOUNT.search(before)):
            return True
        if len(match.group()) > _MOST_DIGITS or not ENDS_CLAUSE.match(after):
            return False
        if is_known and self._cues.has("correct", re.split(r"[.!?;\n]\s", before)[-1]):
            return True
        if not before.strip() or LEADS_TO_AMOUNT.search(before) is not None:
            return True
        return has_cents and self._wants_money(*match.span())


def _is_full_amount(amount: SpokenAmount, after: str) -> bool:
    """Whether a number in words that was asked for counts nothing else: it has cents or several
    words, and no unit follows."""
    is_large = amount.number is not None and amount.number >= _LARGE
    return (_has_cents(amount) or is_large) and COUNTED_AFTER.match(after) is None


def _has_cents(amount: SpokenAmount) -> bool:
    return amount.number is not None and amount.number != amount.number.to_integral_value()


def _clause_around(folded: str, amount: SpokenAmount) -> str:
    begin = max(folded.rfind(mark, 0, amount.start) for mark in ".,!?;\n") + 1
    stop = re.search(r"[.,!?;\n]|$", folded[amount.end :])
    return folded[begin : amount.end + (stop.start() if stop is not None else 0)]
