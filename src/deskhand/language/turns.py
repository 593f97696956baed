"""What a customer's message does while a question of ours is open.

    reader = TurnReader(slots, matter_of=intents.best)
    turn = reader.read("no, the other one", OpenQuestion(asked=("reason",), known={"order": "O-1"}))
    turn.kind    # correction

The reading model says how likely each kind is, and the values that the text states say which kinds
are possible at all: a correction changes something, an answer gives what was asked for. A value
counts only where the message states it.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from deskhand.config.sections.slots import SlotSpec, naming_slots
from deskhand.language.identify import identify
from deskhand.language.message_reader import Graph, MessageReader, shared_message_reader
from deskhand.language.slots import SlotExtractor, SlotValue
from deskhand.language.turn_agreement import agreement, begins_with_yes_or_no
from deskhand.language.turn_kinds import (
    ALWAYS_POSSIBLE,
    ANSWERS,
    CONFIRM,
    OpenQuestion,
    Turn,
    TurnKind,
    answer_kind,
    same_value,
)
from deskhand.language.turn_own_words import OwnWords
from deskhand.language.turn_phrases import weighed_chances
from deskhand.language.turn_reading import Span, TurnReading, read_turn
from deskhand.language.turn_stated import StatedValues
from deskhand.language.turn_values import TurnValues, values_in

MOST_TEXT = 4_000
"""Characters of a turn that are read."""
_FEW_WORDS = 5
_HARMLESS = 6
"""How much likelier it must be that words say nothing before they are no answer."""
_VERY_SURE = 0.9
_VERY_LIKELY = 0.6
"""How likely a kind must be that what the text states speaks against."""
_SURE_WITHOUT_WORDS = 0.88
"""How likely a kind must be that is said without a word for it."""
_NEEDS_WORDS = {
    TurnKind.PERSON: "person",
    TurnKind.CANCEL: "cancel",
    TurnKind.REPEAT: "repeat",
}
"""Kinds that are mostly said by words that mean nothing else, with their cues."""
_SURE_OF_YES = 0.5
"""How likely an answer must be that agrees without a word for yes."""


class TurnReader:
    """Tells the kind of a turn and its values. The same text gives the same answer."""

    def __init__(
        self,
        slots: Mapping[str, SlotSpec],
        *,
        matter_of: Callable[[str], str | None] = lambda text: None,
        slots_of: Callable[[str], Sequence[str]] = lambda matter: (),
        time_zone: str = "UTC",
        messages: MessageReader | None = None,
    ) -> None:
        """`matter_of` says which intent a text has, None for none; `slots_of` an intent's slots."""
        self._slots = dict(slots)
        self._extractor = SlotExtractor(self._slots)
        self._matter_of = matter_of
        self._slots_of = slots_of
        self._time_zone = time_zone
        self._messages = messages

    def read(self, text: str, question: OpenQuestion, received_at: datetime | None = None) -> Turn:
        """What the text does. Too long a text is invalid: nobody answers a question with a book."""
        if len(text) > MOST_TEXT or not text.strip():
            return Turn(TurnKind.INVALID)
        return _Decision(self, text.strip(), question, received_at or datetime.now(UTC)).turn()

    def reading(self, text: str, question: OpenQuestion) -> TurnReading:
        """What the model says of the text."""
        return read_turn(self._messages or shared_message_reader(Graph.TURNS), text, question)

    def values(
        self,
        text: str,
        question: OpenQuestion,
        received_at: datetime,
        marked: Mapping[str, Span] | None = None,
    ) -> TurnValues:
        """The typed values that the text states."""
        slot_values = self._extracted(text, received_at, self._typed(question))
        return values_in(text, slot_values, self._slots, question, marked or {})

    def named_in(self, text: str, received_at: datetime) -> dict[str, list[Any]]:
        """The different things that a text names, by slot."""
        slot_values = self._extracted(text, received_at, sorted(naming_slots(self._slots)))
        named: dict[str, list[Any]] = {}
        for name, slot in slot_values.items():
            values = dict.fromkeys(match.value for match in slot.matches)
            if values:
                named[name] = list(values)
        return named

    def _extracted(
        self, text: str, received_at: datetime, only: Sequence[str]
    ) -> dict[str, SlotValue]:
        language, zone = identify(text).code, self._time_zone
        return self._extractor.extract(
            text, language=language, now=received_at, time_zone=zone, only=only
        )

    def texts(self, question: OpenQuestion) -> list[str]:
        """The slots of the matter whose values are the customer's own words."""
        return [name for name in self._names(question) if self._is_text(name)]

    def about(self, name: str) -> str | None:
        spec = self._slots.get(name)
        return None if spec is None else spec.about

    def slots_of(self, matter: str | None) -> tuple[str, ...]:
        """The slots of an intent; all there are, where it is not known."""
        return tuple(self._slots_of(matter) if matter else ()) or tuple(self._slots)

    def matter_of(self, text: str) -> str | None:
        return self._matter_of(text)

    def _typed(self, question: OpenQuestion) -> list[str]:
        return [name for name in self._names(question) if not self._is_text(name)]

    def _is_text(self, name: str) -> bool:
        spec = self._slots.get(name)
        return name != CONFIRM and (spec is None or spec.type == "text")

    def _names(self, question: OpenQuestion) -> Sequence[str]:
        return tuple(dict.fromkeys((*question.asked, *question.slots)))


class _Decision(StatedValues):
    """One turn being read."""

    def __init__(
        self, reader: TurnReader, text: str, question: OpenQuestion, received_at: datetime
    ) -> None:
        model = reader.reading(text, question)
        stated = reader.values(text, question, received_at, model.marked)
        super().__init__(reader, text, question, model, stated)
        self.reader = reader
        self.received_at = received_at
        self.matter = reader.matter_of(text)
        self.names_other_matter = self.matter not in (None, question.matter)
        self.agrees = self._agreement()

    def turn(self) -> Turn:
        possible = self._possible()
        is_no_answer = TurnKind.ANSWER not in possible
        kind = max(possible, key=lambda kind: self._chance(kind, is_no_answer=is_no_answer))
        if kind in (TurnKind.CANCEL, TurnKind.ASIDE) and self._cancels_thing():
            kind = TurnKind.OTHER_MATTER
        if kind is TurnKind.CORRECTION or (kind in ANSWERS and self._answers_and_corrects()):
            return self._correction()
        if kind in ANSWERS:
            values = self._given()
            return Turn(answer_kind(values), values, unsure=self.unsure(values))
        if kind in (TurnKind.WHY, TurnKind.REPEAT, TurnKind.CANCEL, TurnKind.INVALID):
            return Turn(kind)
        if kind is TurnKind.OTHER_MATTER:
            return self._other_matter()
        values = self.typed()
        is_aside = kind is TurnKind.ASIDE
        if is_aside and self.agrees is not None and begins_with_yes_or_no(self.folded):
            values[CONFIRM] = self.agrees
        return Turn(kind, values, unsure=self.unsure(values))

    def _other_matter(self) -> Turn:
        """What begins another matter, with the values of that one."""
        matter = self.matter if self.names_other_matter else None
        begun = replace(self.question, asked=(), slots=self.reader.slots_of(matter))
        stated = self.reader.values(self.text, begun, self.received_at, self.model.marked)
        own = OwnWords(self.text, self.model, stated.spans)
        values = dict(stated.values)
        for name in self.reader.texts(begun):
            words = own.unasked(name, self.reader.about(name))
            if words:
                values[name] = words
        unsure = tuple(name for name in stated.chosen if name in values)
        return Turn(TurnKind.OTHER_MATTER, values, self.matter, unsure=unsure)

    def _answers_and_corrects(self) -> bool:
        """Whether it changes a known value beside its answer, and says so."""
        is_corrected = bool(self.changed()) and self.cues.has("correct", self.folded)
        return is_corrected or bool(self.in_fact())

    def _cancels_thing(self) -> bool:
        """Whether it wants an order cancelled where something else was talked about: that is a
        matter of its own, and more than to drop this one."""
        return self.names_other_matter and self.cues.has("cancel_thing", self.folded)

    # --- which kinds the values allow

    def _possible(self) -> list[TurnKind]:
        if self._is_bare_answer():
            return [TurnKind.ANSWER]
        if self._says_nothing():
            return [TurnKind.INVALID]
        if self._only_corrects():
            return [TurnKind.CORRECTION]
        if self._only_refuses():
            return [TurnKind.CANCEL]
        given = self._given()
        answered = [name for name in self.question.asked if name in given]
        possible = self._possible_beside(answered)
        if answered or len(given) > 1:
            possible.append(TurnKind.ANSWER)
        is_correction = not answered and self._is_very_likely(TurnKind.CORRECTION)
        if is_correction or self._puts_in_place():
            possible.append(TurnKind.CORRECTION)
        return possible

    def _puts_in_place(self) -> bool:
        """Whether it puts something in the place of what was said before, or in this very turn."""
        if self.changed() or self.found.retracted or self._taken_back():
            return True
        return self.other_one and not self.new()

    def _possible_beside(self, answered: Sequence[str]) -> list[TurnKind]:
        """The kinds beside answers and corrections. Who states what was asked for does not ask
        what it is for, nor does he begin another matter without saying which."""
        possible = list(ALWAYS_POSSIBLE)
        for kind, cue in _NEEDS_WORDS.items():
            if not self._has_words_for(kind, cue):
                possible.remove(kind)
        if not self._may_begin_another():
            possible.remove(TurnKind.OTHER_MATTER)
        if any(name in self.found.values for name in answered):
            possible = [kind for kind in possible if self._may_state_what_was_asked(kind)]
        elif any(self._is_sure_of(name) for name in answered):
            possible.remove(TurnKind.INVALID)
        return possible

    def _may_state_what_was_asked(self, kind: TurnKind) -> bool:
        """Whether a turn of this kind may hold what was asked for: "forget the three euros"."""
        if kind is TurnKind.CANCEL:
            return self._is_very_likely(kind)
        if kind is TurnKind.OTHER_MATTER:
            asks = "?" in self.text or self.cues.has("request", self.folded)
            return (self.names_other_matter and asks) or self._chance(kind) >= _VERY_SURE
        return kind in (TurnKind.ASIDE, TurnKind.PERSON)

    def _has_words_for(self, kind: TurnKind, cue: str) -> bool:
        """Whether its words speak for a kind, or the model is sure without them."""
        return self.cues.has(cue, self.folded) or self._chance(kind) >= _SURE_WITHOUT_WORDS

    def _may_begin_another(self) -> bool:
        """Whether an intent covers it, nothing that it states is of the matter at hand, or the
        model is sure. A note may be about anything."""
        is_note = "summary" in map(self.reader.about, self.question.asked) and "?" not in self.text
        if is_note and not self.names_other_matter:
            return self._chance(TurnKind.OTHER_MATTER) >= _VERY_SURE
        names_several = len(self.found.spans) > 1 and not self.found.values
        if self.names_other_matter or not (self._takes_back() or names_several):
            return True
        return self._is_very_likely(TurnKind.OTHER_MATTER)

    def _is_very_likely(self, kind: TurnKind) -> bool:
        return self._chance(kind) >= _VERY_LIKELY

    def _takes_back(self) -> bool:
        """Whether it puts another value in the place of a known one, or says no to what was to be
        confirmed: that belongs to the matter at hand."""
        return bool(self.changed()) or (self.agrees is False and begins_with_yes_or_no(self.folded))

    def _only_corrects(self) -> bool:
        """Whether it says that another one was meant, or that something was wrong, and no more."""
        if "?" in self.text or self.new():
            return False
        few = len(self.folded.split()) <= _FEW_WORDS
        was_wrong = bool(self.question.known) and self.cues.has("was_wrong", self.folded)
        return was_wrong or (few and self.other_one)

    def _says_nothing(self) -> bool:
        """Whether it has neither letters nor digits nor a question, or is a mere no: "do you have
        the number?" "No."."""
        if CONFIRM in self.question.asked:
            return False
        is_one_word = len(re.findall(r"\w+", self.folded)) == 1
        if is_one_word and self.cues.is_all("refuse", self.folded):
            return True
        return not re.search(r"[^\W_]|\?", self.folded)

    def _only_refuses(self) -> bool:
        """Whether it is nothing but a no or a "never mind", where something else was asked for."""
        if CONFIRM in self.question.asked:
            return False
        return self.cues.is_all("drop", self.folded) or self.cues.is_all("cancel", self.folded)

    def _is_sure_of(self, name: str) -> bool:
        """Whether what was asked for is there for certain: typed, or words that the model marks."""
        if name not in self.texts_asked:
            return True
        answer, invalid = self._chance(TurnKind.ANSWER), self._chance(TurnKind.INVALID)
        return answer >= invalid / _HARMLESS or self.own.is_plain(name, self.reader.about(name))

    def _chance(self, kind: TurnKind, *, is_no_answer: bool = False) -> float:
        """How likely the kind is; answers count together. What sounds like an answer and gives
        nothing that was asked for is invalid."""
        if kind is TurnKind.INVALID and is_no_answer:
            return self._chances[kind] + self._chances[TurnKind.ANSWER]
        if kind in ANSWERS:
            return self._chances[TurnKind.ANSWER]
        if kind is TurnKind.OTHER_MATTER and self._asks_what_another_covers():
            return self._chances[kind] + self._chances[TurnKind.REPEAT]
        return self._chances[kind]

    def _asks_what_another_covers(self) -> bool:
        """Whether it asks what another intent covers, and not to hear our question again."""
        asks = self.names_other_matter and self.text.endswith("?")
        return asks and not self.cues.has("repeat", self.folded)

    @cached_property
    def _chances(self) -> Mapping[TurnKind, float]:
        return weighed_chances(self.text, self.model, takes_words=bool(self.texts_asked))

    def _is_bare_answer(self) -> bool:
        """Whether it is nothing but a yes, a no or the value that was asked for."""
        if CONFIRM in self.question.asked:
            return self.cues.is_all("agree", self.folded) or self.cues.is_all("refuse", self.folded)
        typed = self.new()
        if not any(name in typed for name in self.question.asked) or self.changed():
            return False
        rest = self.text
        for start, end in sorted(self.found.spans, reverse=True):
            rest = rest[:start] + rest[end:]
        return not re.search(r"[^\W\d_]", rest)

    def _correction(self) -> Turn:
        changed = self.changed() or self.in_fact()
        if changed or self.found.retracted or self._taken_back():
            texts = self._taken_back() or self.in_fact() or self.new_texts()
            values = self.typed() | texts
            return Turn(TurnKind.CORRECTION, values, unsure=self.unsure(values))
        return Turn(TurnKind.CORRECTION, other_one=self.other_one)

    def _agreement(self) -> bool | None:
        if CONFIRM not in self.question.asked:
            return None
        is_likely = self._chance(TurnKind.ANSWER) >= _SURE_OF_YES
        return agreement(self.folded, self.question.prompt, is_likely_answer=is_likely)

    # --- values

    def _given(self) -> dict[str, Any]:
        """All that an answer gives."""
        given = self.new() | self.new_texts()
        if self.agrees is not None:
            given[CONFIRM] = self.agrees
        return given

    def _taken_back(self) -> dict[str, Any]:
        """The words that stand in place of what was understood before."""
        texts: dict[str, Any] = {}
        known_values = self.question.known
        is_correction = max(TurnKind, key=self._chance) is TurnKind.CORRECTION and not self.new()
        for name in self.reader.texts(self.question):
            if name not in known_values:
                continue
            words = self.own.instead(name, self.reader.about(name), is_correction=is_correction)
            if words and not same_value(known_values[name], words):
                texts[name] = words
        return texts
