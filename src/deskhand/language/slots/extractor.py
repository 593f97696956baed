"""All slots of a desk over one text."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import datetime
from itertools import islice
from zoneinfo import ZoneInfo

from deskhand.config.sections.slots import SlotSpec
from deskhand.language.slots.dates import DateExtractor
from deskhand.language.slots.folded_text import MOST_MATCHES, FoldedText, Scan
from deskhand.language.slots.money import MoneyExtractor
from deskhand.language.slots.names import NameExtractor
from deskhand.language.slots.patterns import EmailExtractor, PatternExtractor, order_numbers
from deskhand.language.slots.phone import PhoneExtractor
from deskhand.language.slots.quantity import QuantityExtractor
from deskhand.language.slots.slot_context import Extractor, SlotContext
from deskhand.language.slots.slot_value import SlotMatch, SlotValue, settle

PRECEDENCE = ("email", "order_number", "money", "date", "phone", "quantity")
"""Who keeps a place that several types read: the more specific, which comes first. `pattern` and
`name` read beside."""

_EXTRACTORS: Mapping[str, Callable[[SlotSpec], Extractor]] = {
    "pattern": lambda spec: PatternExtractor(spec.pattern or ""),
    "order_number": order_numbers,
    "email": lambda spec: EmailExtractor(),
    "phone": PhoneExtractor,
    "money": MoneyExtractor,
    "date": DateExtractor,
    "quantity": QuantityExtractor,
    "name": NameExtractor,
    "text": lambda spec: AnswerOnly(),
}


class AnswerOnly:
    """Finds nothing: such a value is the customer's answer to a question, as it was written."""

    def find(self, scan: Scan, context: SlotContext) -> Iterator[SlotMatch]:
        return iter(())


class SlotExtractor:
    """Finds every value of every slot.

    The same text, language and time give the same answer, whichever slots are asked for.
    """

    def __init__(self, specs: Mapping[str, SlotSpec] | Iterable[SlotSpec]) -> None:
        every = specs.values() if isinstance(specs, Mapping) else specs
        self._specs = {spec.name: spec for spec in every}
        self._extractors = {
            name: _EXTRACTORS[spec.type](spec) for name, spec in self._specs.items()
        }

    def extract(
        self,
        text: str,
        *,
        language: str | None = None,
        now: datetime,
        time_zone: str = "UTC",
        only: Collection[str] | None = None,
    ) -> dict[str, SlotValue]:
        """A SlotValue for every slot, or for those in `only`.

        A `now` without a zone counts as one of `time_zone`.
        """
        asked = [name for name in self._specs if only is None or name in only]
        zone = ZoneInfo(time_zone)
        local = now.astimezone(zone) if now.tzinfo else now.replace(tzinfo=zone)
        context = SlotContext(language, local)
        reading = FoldedText(text)
        by_slot = {name: self._find(name, reading, context) for name in self._needed(asked)}
        return {name: self._settled(name, by_slot) for name in asked}

    def _needed(self, asked: list[str]) -> list[str]:
        """The slots asked for, and those that may keep a place from them."""
        weakest = max((_rank(self._specs[name]) for name in asked), default=-1)
        return [
            name
            for name, spec in self._specs.items()
            if name in asked or 0 <= _rank(spec) < weakest
        ]

    def _find(
        self, name: str, reading: FoldedText, context: SlotContext
    ) -> tuple[list[SlotMatch], bool]:
        scan = Scan(reading)
        matches = list(islice(self._extractors[name].find(scan, context), MOST_MATCHES + 1))
        return matches[:MOST_MATCHES], scan.is_cut or len(matches) > MOST_MATCHES

    def _settled(self, name: str, by_slot: Mapping[str, tuple[list[SlotMatch], bool]]) -> SlotValue:
        """The slot's value, from the places that no slot of a stronger type has taken."""
        rank = _rank(self._specs[name])
        taken: list[SlotMatch] = []
        for other, (matches, _) in by_slot.items():
            if 0 <= _rank(self._specs[other]) < rank:
                taken += matches

        matches, is_cut = by_slot[name]
        own = matches
        if taken:
            own = [match for match in matches if not any(map(match.overlaps, taken))]
        return settle(own, truncated=is_cut)


def _rank(spec: SlotSpec) -> int:
    return PRECEDENCE.index(spec.type) if spec.type in PRECEDENCE else -1
