"""Orders and amounts that stand without the letters or the currency that belong to them."""

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from deskhand.config.sections.slots import SlotSpec
from deskhand.language.address_parts import address_places
from deskhand.language.identify import identify
from deskhand.language.slots.number_phrases import SPOKEN_IN, spoken_digits
from deskhand.language.slots.numbers import written_out
from deskhand.language.turn_amounts import SpokenAmount, numbers_with_cents, spoken_amounts
from deskhand.language.turn_cues import Cues, puts_in_place, turn_cues
from deskhand.language.turn_kinds import OpenQuestion
from deskhand.language.turn_number_patterns import (
    BARE_NUMBER,
    BEFORE_ORDINAL,
    DAY_AND_MONTH,
    DAY_BEFORE,
    DENIED,
    ENDS_CLAUSE,
    GROUPED,
    HAS_CENTS,
    IN_ADDRESS,
    LEADS_TO_AMOUNT,
    MONTH_AFTER,
    ORDER_BEFORE,
    ORDINAL,
    OTHER_THING_BEFORE,
    PHONE,
    PREFIXED_GROUPS,
    SHARE_BEFORE,
    TOO_LITTLE,
    WANTS_MONEY,
    WITH_LETTERS,
)

Span = tuple[int, int]


class BareNumbers:
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
        self._addresses = address_places(text, spans, is_asked="address" in question.asked)
        self.chosen: list[str] = []
        self.retracted: list[str] = []

    def add(self, spec: SlotSpec, values: dict[str, Any]) -> None:
        """The value of an order or of an amount that stands without the rest."""
        is_asked = spec.name in self._question.asked
        if spec.type == "order_number":
            self._order(spec, values, is_asked=is_asked)
        elif spec.type == "money" and (is_asked or values or re.search(r"[a-z]{3}", self._folded)):
            self._amount(spec, values, is_asked=is_asked)

    # --- orders

    def _order(self, spec: SlotSpec, values: dict[str, Any], *, is_asked: bool) -> None:
        """A number of the right length without its prefix, where there is only one prefix; of a
        shop without prefixes only where it was asked for or marked."""
        if len(spec.prefix) > 1 or spec.pattern or spec.min_digits < _FEWEST_DIGITS:
            return
        fits = [match for match in self._bare() if self._may_be_order(match, spec)]
        elsewhere = [match for match in fits if not IN_ADDRESS.match(self._text[match.end() :])]
        if elsewhere or not is_asked:
            fits = elsewhere
        marked = self._marked(fits, mark_of(spec))
        if not spec.prefix and not is_asked:
            fits = [match for match in fits if len(match.group()) >= _PLAIN_DIGITS] or marked
        meant = self._meant(spec, fits, marked)
        if meant is not None:
            values[spec.name] = _with_prefix(meant, spec)
            self._spans += [match.span() for match in fits]
        elif not fits:
            self._order_in_another_form(spec, values, is_asked=is_asked)

    def _order_in_another_form(
        self, spec: SlotSpec, values: dict[str, Any], *, is_asked: bool
    ) -> None:
        """A number in groups, with its letters close to it, or in words; where nobody asked for
        it, only what is called an order or marked as one."""
        written = dict(self._written_in_another_form(spec))
        spoken = {} if written else dict(self._spoken_orders(spec))
        forms = written or spoken
        if not is_asked:
            forms = {order: place for order, place in forms.items() if self._is_called(spec, place)}
        if len(forms) != 1:
            return
        ((values[spec.name], place),) = forms.items()
        self._spans.append(place)
        if spoken:
            self.chosen.append(spec.name)

    def _written_in_another_form(self, spec: SlotSpec) -> Iterator[tuple[str, Span]]:
        fewest = max(_PLAIN_DIGITS, spec.min_digits)
        for match in self._groups(spec):
            digits = re.sub(r"\D", "", match.group())
            if fewest <= len(digits) <= spec.max_digits and not self._is_phone(match):
                yield _with_prefix(digits, spec), match.span()
        for match in self._free(WITH_LETTERS):
            digits = match.group(2).replace(" ", "")
            if not spec.prefix and spec.min_digits <= len(digits) <= spec.max_digits:
                yield f"{match.group(1).upper()}-{digits}", match.span()

    def _spoken_orders(self, spec: SlotSpec) -> Iterator[tuple[str, Span]]:
        """Numbers in words, whatever the language."""
        fewest = max(_PLAIN_DIGITS, spec.min_digits)
        for language in SPOKEN_IN:
            for said in spoken_digits(self._folded, language):
                place = (said.start, said.end)
                fits = fewest <= len(said.digits) <= spec.max_digits
                is_phone = PHONE.search(self._folded[: said.start]) is not None
                is_free = not is_phone and not self._is_place_taken(place)
                if fits and is_free and said.words >= _FEWEST_WORDS:
                    yield _with_prefix(said.digits, spec), place

    def _is_called(self, spec: SlotSpec, place: Span) -> bool:
        """Whether a number is called an order by the words before it, or marked by the model."""
        if overlap(place, self._marks.get(mark_of(spec))):
            return True
        return ORDER_BEFORE.search(self._folded[: place[0]]) is not None

    def _groups(self, spec: SlotSpec) -> list["re.Match[str]"]:
        """Digits in groups that are no postcode."""
        found = self._free(GROUPED)
        for prefix in spec.prefix:
            found += self._free(re.compile(PREFIXED_GROUPS.format(prefix=re.escape(prefix))))
        return [match for match in found if not IN_ADDRESS.match(self._text[match.end() :])]

    def _may_be_order(self, match: "re.Match[str]", spec: SlotSpec) -> bool:
        """Whether a number has the form of an order's, and is neither an amount that is known nor
        the end of another number: `my card ends in 4402`."""
        written = match.group()
        if not _has_form_of_order(written, spec):
            return False
        if any(_is_amount_of(value, written) for value in self._known.values()):
            return False
        return not OTHER_THING_BEFORE.search(self._folded[: match.start()])

    # --- amounts

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
        meant = self._meant(spec, fits, marked)
        if meant is not None:
            amount = written_out(_number(meant), 2)
            values[spec.name] = {"amount": amount, "currency": currency}
            self._spans += [match.span() for match in marked or fits]
        elif not fits:
            self._spoken(spec, currency, values, is_asked=is_asked)

    def put_in_place(self, name: str, after: int, values: dict[str, Any]) -> None:
        """A number without its currency that takes back the amount before it: "20 euros, or no,
        say 15"."""
        later = [
            match
            for match in self._bare()
            if match.start() >= after and ENDS_CLAUSE.match(self._folded[match.end() :])
        ]
        if not later:
            return
        last = later[-1]
        if takes_back(self._folded, after, last.start(), last.end(), self._cues):
            values[name] = {**values[name], "amount": written_out(_number(last.group()), 2)}
            self.retracted.append(name)
            self.chosen.append(name)
            self._spans.append((after, last.end()))

    def _may_be_amount(self, match: "re.Match[str]", in_words: list[Span]) -> bool:
        """Whether a number is not nothing, an ordinal, a day, a size or part of an amount in
        words."""
        if any(overlap(match.span(), place) for place in in_words):
            return False
        before, after = self._folded[: match.start()], self._folded[match.end() :]
        written = match.group()
        if _number(written) == 0 or (written.isdecimal() and written.startswith("0")):
            return False
        is_ordinal = len(written) <= _MOST_ORDINAL and ORDINAL.match(after) is not None
        if is_ordinal and BEFORE_ORDINAL.search(before):
            return False
        if DAY_BEFORE.search(before) and DAY_AND_MONTH.fullmatch(written):
            return False
        if MONTH_AFTER.match(after):
            return False
        return not SHARE_BEFORE.search(before) and not OTHER_THING_BEFORE.search(before)

    def _spoken(
        self, spec: SlotSpec, currency: str, values: dict[str, Any], *, is_asked: bool
    ) -> None:
        """An amount in words, or a share: the customer is asked whether it was understood."""
        language = identify(self._text).code
        known = self._known.get(spec.name)
        found = [
            amount
            for amount in spoken_amounts(self._folded, language)
            if self._is_meant(amount, is_asked=is_asked, is_known=known is not None)
        ]
        typed = [(amount, _typed(amount, currency)) for amount in found]
        new = [(amount, value) for amount, value in typed if value != known] or typed
        meant = self._last_said(new)
        if meant is not None:
            values[spec.name] = meant
            self.chosen.append(spec.name)
            self._spans += [(amount.start, amount.end) for amount in found]

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
        if amount.share is not None or amount.is_note:
            is_led = amount.is_note and leads
            return is_asked or wants or is_led or (is_known and self._corrects())
        leads = wants and leads
        return (is_asked or leads) and ENDS_CLAUSE.match(after) is not None

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

    # --- which number is meant

    def _meant(
        self, spec: SlotSpec, fits: list["re.Match[str]"], marked: list["re.Match[str]"]
    ) -> str | None:
        """The number that the text says for certain, else the one that the model marks."""
        meant = self._one_of(fits) or self._only_new(spec, fits)
        if meant is not None and len({match.group() for match in fits}) > 1:
            self.retracted.append(spec.name)
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
        return [match for match in matches if overlap(match.span(), place)]

    def _bare(self) -> list["re.Match[str]"]:
        return [match for match in self._free(BARE_NUMBER) if not self._is_phone(match)]

    def _free(self, pattern: "re.Pattern[str]") -> list["re.Match[str]"]:
        """What has this form, and belongs neither to another value nor to an address."""
        found = pattern.finditer(self._text)
        return [match for match in found if not self._is_place_taken(match.span())]

    def _is_place_taken(self, place: Span) -> bool:
        return any(overlap(place, taken) for taken in (*self._spans, *self._addresses))

    def _is_phone(self, match: "re.Match[str]") -> bool:
        return PHONE.search(self._folded[: match.start()]) is not None

    def _one_of(self, matches: list["re.Match[str]"]) -> str | None:
        """The number that is meant; None where several could be."""
        kept = [match for match in matches if not DENIED.search(self._folded[: match.start()])]
        if len({match.group() for match in kept}) == 1:
            return kept[0].group()
        if not kept:
            return None
        is_taken_back = takes_back(
            self._folded, kept[0].end(), kept[-1].start(), kept[-1].end(), self._cues
        )
        return kept[-1].group() if is_taken_back else None

    def _is_amount(self, match: "re.Match[str]", *, is_known: bool) -> bool:
        before, after = self._folded[: match.start()], self._folded[match.end() :]
        if len(match.group()) > _MOST_DIGITS or not ENDS_CLAUSE.match(after):
            return False
        if is_known and self._cues.has("correct", re.split(r"[.!?;\n]\s", before)[-1]):
            return True
        has_cents = HAS_CENTS.search(match.group()) is not None
        if is_known and has_cents and not re.split(r"[.!?;,:\n]\s", before)[-1].strip():
            return True
        if not before.strip() or LEADS_TO_AMOUNT.search(before) is not None:
            return True
        return has_cents and self._wants_money(*match.span())


def _with_prefix(digits: str, spec: SlotSpec) -> str:
    return f"{spec.prefix[0].upper()}-{digits}" if spec.prefix else digits


def _has_form_of_order(written: str, spec: SlotSpec) -> bool:
    is_long_enough = spec.min_digits <= len(written) <= spec.max_digits
    return written.isdecimal() and is_long_enough and int(written) > 0


def _is_amount_of(value: Any, written: str) -> bool:
    """Whether a known value is an amount of just this number."""
    if not isinstance(value, Mapping) or "amount" not in value:
        return False
    return Decimal(str(value["amount"])) == int(written)


def _number(written: str) -> Decimal:
    """`1 290,50` and `1.290` as numbers."""
    bare = re.sub(r"[ .'](?=\d{3}(?:\D|$))", "", written)
    return Decimal(bare.replace(",", "."))


def _typed(amount: SpokenAmount, currency: str) -> dict[str, str]:
    if amount.share is not None:
        return {"share": str(amount.share)}
    assert amount.number is not None
    return {"amount": written_out(amount.number, 2), "currency": currency}


_FEWEST_DIGITS = 4
"""Digits that a number must have to be an order without its letters."""
_PLAIN_DIGITS = 5
"""Digits of a number that nobody asked for and that still is an order's."""
_FEWEST_WORDS = 2
"""Words of a number that is said: "siebzigtausend fünfhundertzwei" has no more."""
_MOST_ORDINAL = 2
"""Digits of an ordinal."""
_MOST_DIGITS = 7


def takes_back(folded: str, first_end: int, last_start: int, last_end: int, cues: Cues) -> bool:
    """Whether a text that names two values takes the first one back."""
    return puts_in_place(folded[first_end:last_start], folded[last_end:], cues)


def mark_of(spec: SlotSpec) -> str:
    """What a slot's values are called by the model."""
    names = {"order_number": "order", "money": "amount", "date": "date", "email": "email"}
    return names.get(spec.type, spec.name)


def overlap(place: Span, marked: Span | None) -> bool:
    return marked is not None and place[0] < marked[1] and marked[0] < place[1]
