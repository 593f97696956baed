"""Orders that stand in a customer's turn without the letters that belong to them."""

import re
from collections.abc import Iterator
from typing import Any

from deskhand.config.sections.slots import SlotSpec
from deskhand.language.slots.number_phrases import SPOKEN_IN, spoken_digits
from deskhand.language.turn_number_patterns import (
    GROUPED,
    HYPHENED,
    IN_ADDRESS,
    IN_GROUP_AFTER,
    IN_GROUP_BEFORE,
    IN_THOUSANDS,
    ORDER_BEFORE,
    OTHER_THING_BEFORE,
    PHONE,
    POSTCODE_AFTER,
    PREFIXED_GROUPS,
    WITH_LETTERS,
)
from deskhand.language.turn_number_places import NumberPlaces
from deskhand.language.turn_number_values import (
    Span,
    has_form_of_order,
    is_amount_of,
    mark_of,
    names_other_thing,
    overlap,
    with_prefix,
)

_FEWEST_DIGITS = 4
"""Digits that a number must have to be an order without its letters."""
_PLAIN_DIGITS = 5
"""Digits of a number that nobody asked for and that still is an order's."""
_FEWEST_WORDS = 2
"""Words of a number that is said: "siebzigtausend fünfhundertzwei" has no more."""


class OrderNumbers(NumberPlaces):
    """Orders without the letters that belong to them."""

    def add_order(self, spec: SlotSpec, values: dict[str, Any], *, is_asked: bool) -> None:
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
        if "address" in self._question.asked and not is_asked:
            fits = [match for match in fits if self._is_called(spec, match.span())]
        meant = self._meant(spec, fits, marked)
        if meant is not None:
            values[spec.name] = with_prefix(meant, spec)
            self._spans += [match.span() for match in fits]
        elif not fits:
            self._order_in_another_form(spec, values, is_asked=is_asked)

    def _order_in_another_form(
        self, spec: SlotSpec, values: dict[str, Any], *, is_asked: bool
    ) -> None:
        """A number in groups, with its letters close to it, or in words; where nobody asked for
        it, only what is called an order or marked as one."""
        written = self._orders_only(spec, self._written_in_another_form(spec))
        spoken = {} if written else self._orders_only(spec, self._spoken_orders(spec))
        forms = written or spoken
        if not is_asked:
            forms = {
                order: place for order, place in forms.items() if self._is_meant_so(spec, place)
            }
        if len(forms) != 1:
            return
        ((values[spec.name], place),) = forms.items()
        self._spans.append(place)
        if spoken:
            self.chosen.append(spec.name)

    def _orders_only(self, spec: SlotSpec, forms: Iterator[tuple[str, Span]]) -> dict[str, Span]:
        """Without those that are called the number of something else."""
        return {order: place for order, place in forms if not self._is_of_other_thing(spec, place)}

    def _is_of_other_thing(self, spec: SlotSpec, place: Span) -> bool:
        return names_other_thing(self._folded[: place[0]], spec.name, self._question.prompt)

    def _written_in_another_form(self, spec: SlotSpec) -> Iterator[tuple[str, Span]]:
        fewest = max(_PLAIN_DIGITS, spec.min_digits)
        for match in self._groups(spec):
            digits = re.sub(r"\D", "", match.group())
            if fewest <= len(digits) <= spec.max_digits and not self._is_phone(match):
                yield with_prefix(digits, spec), match.span()
        for match in self._free(IN_THOUSANDS, self._folded):
            digits = match.group(1) + match.group(2).zfill(3)
            if fewest <= len(digits) <= spec.max_digits:
                yield with_prefix(digits, spec), match.span()
        for match in self._free(WITH_LETTERS):
            digits = re.sub(r"\D", "", match.group(2))
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
                    yield with_prefix(said.digits, spec), place

    def _is_meant_so(self, spec: SlotSpec, place: Span) -> bool:
        """Whether a number is called an order by the words before it, or marked by the model, or
        put in the place of a known one."""
        is_replaced = spec.name in self._known and self._cues.has("correct", self._folded)
        return is_replaced or self._is_called(spec, place)

    def _is_called(self, spec: SlotSpec, place: Span) -> bool:
        if overlap(place, self._marks.get(mark_of(spec))):
            return True
        return ORDER_BEFORE.search(self._folded[: place[0]]) is not None

    def _groups(self, spec: SlotSpec) -> list["re.Match[str]"]:
        """Digits in groups that are no postcode."""
        groups = [*self._free(GROUPED), *self._free(HYPHENED)]
        for prefix in spec.prefix:
            groups += self._free(re.compile(PREFIXED_GROUPS.format(prefix=re.escape(prefix))))
        return [match for match in groups if not IN_ADDRESS.match(self._text[match.end() :])]

    def _may_be_order(self, match: "re.Match[str]", spec: SlotSpec) -> bool:
        """Whether a number has the form of an order's, and is neither an amount that is known nor
        the end of another number: `my card ends in 4402`."""
        written = match.group()
        if not has_form_of_order(written, spec):
            return False
        if any(is_amount_of(value, written) for value in self._known.values()):
            return False
        if self._is_of_other_thing(spec, match.span()):
            return False
        after = self._folded[match.end() :]
        if POSTCODE_AFTER.match(after) or IN_GROUP_AFTER.match(after):
            return False
        if IN_GROUP_BEFORE.search(self._folded[: match.start()]):
            return False
        return not OTHER_THING_BEFORE.search(self._folded[: match.start()])
