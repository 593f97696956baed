"""What a turn states: typed values and the customer's own words, beside what is known by then."""

from collections.abc import Mapping
from typing import Any, Protocol

from deskhand.language.slots.folded_text import FoldedText
from deskhand.language.turn_cues import Cues, turn_cues
from deskhand.language.turn_kinds import OpenQuestion, same_value
from deskhand.language.turn_own_words import OwnWords
from deskhand.language.turn_reading import TurnReading
from deskhand.language.turn_texts import words_beside
from deskhand.language.turn_values import TurnValues


class TextSlots(Protocol):
    """Which slots of a matter take the customer's own words, and what those are about."""

    def texts(self, question: OpenQuestion) -> list[str]: ...

    def about(self, name: str) -> str | None: ...


class StatedValues:
    """The values of one turn."""

    def __init__(
        self,
        reader: TextSlots,
        text: str,
        question: OpenQuestion,
        model: TurnReading,
        stated: TurnValues,
    ) -> None:
        self._slots = reader
        self.text = text
        self.question = question
        self.model = model
        self.found = stated
        self.cues: Cues = turn_cues()
        self.folded = FoldedText(text).folded
        self.own = OwnWords(text, model, stated.spans)

    def typed(self) -> dict[str, Any]:
        return dict(self.found.values)

    def new(self) -> dict[str, Any]:
        """Values that are not known already."""
        known_values = self.question.known
        return {
            name: value for name, value in self.typed().items() if known_values.get(name) != value
        }

    def changed(self) -> dict[str, Any]:
        """Values that differ from what is known."""
        known_values = self.question.known
        return {
            name: value
            for name, value in self.typed().items()
            if name in known_values and not same_value(known_values[name], value)
        }

    def unsure(self, values: Mapping[str, Any]) -> tuple[str, ...]:
        """The values that the model chose among several, or that the text puts in the place of
        another."""
        unsure = dict.fromkeys((*self.found.chosen, *self.found.retracted))
        return tuple(name for name in unsure if name in values)

    @property
    def texts_asked(self) -> list[str]:
        texts = self._slots.texts(self.question)
        return [name for name in self.question.asked if name in texts]

    @property
    def other_one(self) -> bool:
        return bool(self.question.known) and self.cues.has("other_one", self.folded)

    def new_texts(self) -> dict[str, Any]:
        """The customer's own words for the slots that take them and have none yet."""
        texts: dict[str, Any] = {}
        for name in self.by_surety():
            if name in self.question.known:
                continue
            is_asked = name in self.question.asked
            words = self.own.answer(name, self._slots.about(name), is_asked=is_asked)
            if words and not any(words in other or other in words for other in texts.values()):
                texts[name] = words
        return texts

    def by_surety(self) -> list[str]:
        """The slots that take words: those asked for first, then those that are the surest."""
        asked, surety = self.question.asked, self.model.surety
        about = {name: self._slots.about(name) or name for name in self._slots.texts(self.question)}
        return sorted(about, key=lambda name: (name not in asked, -surety.get(about[name], 0)))

    def in_fact(self) -> dict[str, Any]:
        """The words beside an answer that say what is so in truth, in the place of the only words
        that are known: "30 euros. Actually it was too big"."""
        known_texts = [
            name for name in self._slots.texts(self.question) if name in self.question.known
        ]
        words = words_beside(self.text, self.found.spans) if len(known_texts) == 1 else None
        if words is None or not self.new():
            return {}
        is_said_so = self.cues.first("in_fact", FoldedText(words).folded)
        return {known_texts[0]: words} if is_said_so else {}
