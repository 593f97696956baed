"""The numbers of a customer's turn that belong to nothing else, and which of several is meant."""

import re
from collections.abc import Mapping

from deskhand.config.sections.slots import SlotSpec
from deskhand.language.address_parts import address_places
from deskhand.language.turn_cues import turn_cues
from deskhand.language.turn_kinds import OpenQuestion
from deskhand.language.turn_number_patterns import BARE_NUMBER, DENIED, PHONE
from deskhand.language.turn_number_values import Span, overlap, takes_back


class NumberPlaces:
    """The numbers of one turn, and which of several is meant."""

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
        """The one of two numbers that is not known yet."""
        digits = re.sub(r"\D", "", str(self._known.get(spec.name) or ""))
        numbers = {match.group() for match in fits}
        new = numbers - {digits}
        return new.pop() if len(new) == 1 and digits in numbers else None

    def _marked(self, matches: list["re.Match[str]"], name: str) -> list["re.Match[str]"]:
        place = self._marks.get(name)
        return [match for match in matches if overlap(match.span(), place)]

    def _bare(self) -> list["re.Match[str]"]:
        return [match for match in self._free(BARE_NUMBER) if not self._is_phone(match)]

    def _free(self, pattern: "re.Pattern[str]", text: str | None = None) -> list["re.Match[str]"]:
        """What has this form, and belongs neither to another value nor to an address."""
        matches = pattern.finditer(text or self._text)
        return [match for match in matches if not self._is_place_taken(match.span())]

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
