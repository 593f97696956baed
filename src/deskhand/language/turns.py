"""What a customer's message does while a question of ours is open.

    reader = TurnReader(slots, matter_of=intents.best)
    turn = reader.read("no, the other one", OpenQuestion(asked=("reason",), known={"order": "O-1"}))
    turn.kind    # correction

It reads English, Czech, German and Spanish by the words in `turns.yaml`. A value counts only where
the message states it.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from deskhand.config.sections.slots import SlotSpec, naming_slots
from deskhand.language.identify import identify
from deskhand.language.slots import SlotExtractor
from deskhand.language.slots.folded_text import FoldedText
from deskhand.language.turn_cues import Cues, turn_cues, turn_model
from deskhand.language.turn_kinds import CONFIRM, OpenQuestion, Turn, TurnKind
from deskhand.language.turn_texts import address_in, is_empty_answer, own_words, reason_in
from deskhand.language.turn_values import TurnValues, values_in

MOST_TEXT = 4_000
"""Characters of a turn that are read: what is longer is a letter, and no answer."""
_FEW_WORDS = 6
_SEVERAL_WORDS = 8
_STEM = 4
"""Letters by which two forms of a word are known."""
_VERY_SURE = 0.85
_SURE = 0.5
"""How sure it must be of what a text sounds like."""


class TurnReader:
    """Tells the kind of a turn and its values. The same text gives the same answer."""

    def __init__(
        self,
        slots: Mapping[str, SlotSpec],
        *,
        matter_of: Callable[[str], str | None] = lambda text: None,
        time_zone: str = "UTC",
    ) -> None:
        """`matter_of` says which intent a text has, None where it has none."""
        self._slots = dict(slots)
        self._extractor = SlotExtractor(self._slots)
        self._matter_of = matter_of
        self._time_zone = time_zone

    def read(self, text: str, question: OpenQuestion, received_at: datetime | None = None) -> Turn:
        """What the text does. Too long a text is invalid: nobody answers a question with a book."""
        if len(text) > MOST_TEXT or not text.strip():
            return Turn(TurnKind.INVALID)
        reading = _Reading(self, text.strip(), question, received_at or datetime.now(UTC))
        return reading.turn()

    def values(self, text: str, question: OpenQuestion, received_at: datetime) -> TurnValues:
        """The typed values that the text states."""
        found = self._extractor.extract(
            text,
            language=identify(text).code,
            now=received_at,
            time_zone=self._time_zone,
            only=self._typed(question),
        )
        return values_in(text, found, self._slots, question.asked, turn_cues())

    def named_in(self, text: str, received_at: datetime) -> dict[str, list[Any]]:
        """The different things that a text names, by slot."""
        found = self._extractor.extract(
            text,
            language=identify(text).code,
            now=received_at,
            time_zone=self._time_zone,
            only=sorted(naming_slots(self._slots)),
        )
        named: dict[str, list[Any]] = {}
        for name, slot in found.items():
            values = dict.fromkeys(match.value for match in slot.matches)
            if values:
                named[name] = list(values)
        return named

    def texts(self, question: OpenQuestion) -> list[str]:
        """The slots of the matter whose values are the customer's own words."""
        return [name for name in self._names(question) if self._is_text(name)]

    def about(self, name: str) -> str | None:
        spec = self._slots.get(name)
        return None if spec is None else spec.about

    def matter_of(self, text: str) -> str | None:
        return self._matter_of(text)

    def _typed(self, question: OpenQuestion) -> list[str]:
        return [name for name in self._names(question) if not self._is_text(name)]

    def _is_text(self, name: str) -> bool:
        spec = self._slots.get(name)
        return name != CONFIRM and (spec is None or spec.type == "text")

    def _names(self, question: OpenQuestion) -> Sequence[str]:
        return tuple(dict.fromkeys((*question.asked, *question.slots)))


class _Reading:
    """One turn being read."""

    def __init__(
        self, reader: TurnReader, text: str, question: OpenQuestion, received_at: datetime
    ) -> None:
        self.reader = reader
        self.text = text
        self.question = question
        self.cues: Cues = turn_cues()
        self.folded = FoldedText(text).folded
        self.words = len(re.findall(r"\w+", self.folded))
        self.found = reader.values(text, question, received_at)
        self.saying = turn_model().predict([text])[0]

    def turn(self) -> Turn:
        steps = (
            self._answer_to_confirm,
            self._person,
            self._about_the_question,
            self._correction,
            self._cancel,
            self._other_matter,
            self._aside,
            self._answer,
        )
        for step in steps:
            turn = step()
            if turn is not None:
                return turn
        return Turn(TurnKind.INVALID)

    def _sounds(self, *sayings: str, sure: float = 0.0) -> bool:
        """Whether the text is most like what people say who mean this."""
        return self.saying.best in sayings and self.saying.confidence >= sure

    # --- what has nothing to do with the values

    def _person(self) -> Turn | None:
        wants = self.cues.has("person", self.folded) and not self._sounds("aside", "cancel")
        if not wants and not self._sounds("person", sure=_SURE):
            return None
        if self._asks_for_words and not (self._sounds("person") and self._is_short_or(wants)):
            return None
        return Turn(TurnKind.PERSON, self._typed())

    def _is_short_or(self, fits: bool) -> bool:
        return fits or self.words <= _SEVERAL_WORDS

    def _about_the_question(self) -> Turn | None:
        if self._new():
            return None
        short = self.words <= _FEW_WORDS and self.cues.is_all("why_short", self.folded)
        asks_why = self.cues.has("why", self.folded) and self._sounds("why", "repeat", "aside")
        if short or asks_why or self._sounds("why", sure=_SURE):
            return Turn(TurnKind.WHY)
        again = self.cues.is_all("repeat", self.folded)
        if again or self._sounds("repeat", sure=_SURE):
            return Turn(TurnKind.REPEAT)
        return None

    # --- what has

    def _answer_to_confirm(self) -> Turn | None:
        if CONFIRM not in self.question.asked:
            return None
        refuses = self._says("refuse")
        agrees = self._says("agree") or (not refuses and self._echoes())
        if self._begins_something_else() is not None or "?" in self.text:
            return None
        corrected = self._corrected(refuses=refuses)
        if corrected:
            given = {CONFIRM: True} if agrees and not refuses else {}
            return Turn(TurnKind.CORRECTION, given | corrected)
        if refuses and self._other_one:
            return Turn(TurnKind.CORRECTION, other_one=True)
        if refuses and self._drops():
            return Turn(TurnKind.CANCEL)
        if agrees == refuses:
            return None
        if refuses and self._sounds("person", "why", "repeat", sure=_SURE):
            return None
        values = {CONFIRM: agrees, **self._new()}
        return Turn(self._kind_of(values), values)

    def _corrected(self, *, refuses: bool) -> dict[str, Any]:
        """What an answer to "shall I?" changes."""
        changed = self._changed()
        takes_back = refuses or self._sounds("correct") or self.cues.has("correct", self.folded)
        if changed or not takes_back or self._sounds("cancel", "person", sure=_SURE):
            return changed
        texts: dict[str, Any] = {}
        for name in self._known_texts:
            words = self._taken_back(name)
            if words and not _same(self.question.known[name], words):
                texts[name] = words
        return texts

    def _taken_back(self, name: str) -> str | None:
        """The words that stand in place of what was understood before."""
        if self.reader.about(name) == "address":
            return address_in(self.text, self.found.spans, is_asked=True)
        words = own_words(self.text, self.found.spans)
        enough = words is not None and len(words.split()) > 1
        return words if enough else None

    def _echoes(self) -> bool:
        """Whether a short answer says again what was to be done: "cancel it" to "shall I cancel
        it?"."""
        stems = {
            word[:_STEM] for word in re.findall(r"\w{5,}", FoldedText(self.question.prompt).folded)
        }
        words = re.findall(r"\w+", self.folded)
        if len(words) > _FEW_WORDS or self.cues.has("negation", self.folded):
            return False
        return any(word[:_STEM] in stems for word in words)

    def _correction(self) -> Turn | None:
        if self._changed() and "?" in self.text and self._sounds("aside"):
            return None
        if self._changed() and self._begins_something_else() is None:
            return Turn(TurnKind.CORRECTION, self._typed() | self._texts(take_back=True))
        if not self.question.known or self._begins_something_else() is not None:
            return None
        if self._other_one and not self._typed():
            return Turn(TurnKind.CORRECTION, other_one=True)
        takes_back = self._sounds("correct") or self.cues.has("correct", self.folded)
        if not takes_back or not self._known_texts or self._sounds("cancel"):
            return None
        texts = self._texts(take_back=True)
        corrected = {name: words for name, words in texts.items() if name in self._known_texts}
        return Turn(TurnKind.CORRECTION, corrected) if corrected else None

    def _cancel(self) -> Turn | None:
        if self._new():
            return None
        if self.cues.is_all("unknown", self.folded):
            return None
        bare = self.cues.is_all("cancel_verb", self.folded)
        return Turn(TurnKind.CANCEL) if bare or self._drops() else None

    def _drops(self) -> bool:
        """Whether the text drops the matter; where words are asked for, only if it sounds so."""
        if CONFIRM in self.question.asked and self.cues.has("cancel_confirm", self.folded):
            return True
        if self._sounds("cancel", sure=_SURE) and "?" not in self.text:
            return True
        if not self.cues.has("cancel", self.folded) or self._is_question:
            return False
        return not self._asks_for_words and self._sounds("cancel", "correct", "unknown")

    def _other_matter(self) -> Turn | None:
        matter = self._begins_something_else()
        if matter is None:
            return None
        values = self._typed() | self._answered_before()
        return Turn(TurnKind.OTHER_MATTER, values, matter or None)

    def _begins_something_else(self) -> str | None:
        """The other intent that the text begins, empty where nobody knows which; None where it
        goes on with this one."""
        if self.words < _FEW_WORDS // 2:
            return None
        matter = self.reader.matter_of(self.text)
        wants = self._is_question or self.cues.has("request", self.folded)
        first = self.cues.has("first", self.folded)
        sounds = self._sounds("request", sure=_SURE)
        if matter is not None and matter != self.question.matter:
            is_other = wants or first or sounds
            return matter if is_other and not self._sounds("aside", "reply", sure=_SURE) else None
        if matter is None and sounds and (wants or first or self.words > _SEVERAL_WORDS):
            return ""
        return "" if sounds and first and self._changed() else None

    def _aside(self) -> Turn | None:
        if not self._is_question:
            return None
        if self._asks_for_words and not ("?" in self.text or self._sounds("aside", sure=_SURE)):
            return None
        return Turn(TurnKind.ASIDE, self._typed() | self._answered_before())

    def _answered_before(self) -> dict[str, Any]:
        """A yes or no before the question, where one was asked for."""
        if CONFIRM not in self.question.asked:
            return {}
        agrees = self.cues.first("agree", self.folded)
        refuses = self.cues.first("refuse", self.folded)
        return {CONFIRM: agrees} if agrees != refuses else {}

    def _answer(self) -> Turn | None:
        values = self._values()
        answers = any(name in values for name in self.question.asked)
        if not answers and len(values) < 2:
            return None
        return Turn(self._kind_of(values), values)

    def _kind_of(self, values: Mapping[str, Any]) -> TurnKind:
        return TurnKind.ANSWERS_SEVERAL if len(values) > 1 else TurnKind.ANSWER

    # --- values

    def _typed(self) -> dict[str, Any]:
        return dict(self.found.values)

    def _new(self) -> dict[str, Any]:
        """Values that are not known already."""
        known = self.question.known
        return {name: value for name, value in self._typed().items() if known.get(name) != value}

    def _changed(self) -> dict[str, Any]:
        """Values that differ from what is known."""
        known = self.question.known
        return {
            name: value
            for name, value in self._typed().items()
            if name in known and not _same(known[name], value)
        }

    def _values(self) -> dict[str, Any]:
        return self._new() | self._texts()

    @property
    def _known_texts(self) -> list[str]:
        texts = self.reader.texts(self.question)
        return [name for name in texts if name in self.question.known]

    def _texts(self, *, take_back: bool = False) -> dict[str, Any]:
        """The customer's own words for the slots that take them."""
        texts: dict[str, Any] = {}
        for name in self.reader.texts(self.question):
            is_asked = name in self.question.asked
            if name in self.question.known and not take_back:
                continue
            words = self._words_for(name, is_asked=is_asked)
            if words:
                texts[name] = words
        return texts

    def _words_for(self, name: str, *, is_asked: bool) -> str | None:
        about = self.reader.about(name)
        if about == "address":
            return address_in(self.text, self.found.spans, is_asked=is_asked)
        if not is_asked:
            return reason_in(self.text, self.found.spans) if about == "reason" else None
        words = own_words(self.text, self.found.spans, drops_lead=about != "summary")
        if words is None or is_empty_answer(words, self.cues):
            return None
        shrugs = self.words <= _SEVERAL_WORDS // 2 and self._sounds("unknown", sure=_VERY_SURE)
        return None if shrugs else words

    # --- how it is said

    @property
    def _asks_for_words(self) -> bool:
        asked = self.question.asked
        return any(name in asked for name in self.reader.texts(self.question))

    @property
    def _other_one(self) -> bool:
        return self.cues.has("other_one", self.folded)

    @property
    def _is_question(self) -> bool:
        return "?" in self.text or self.cues.starts("question", self.folded)

    def _says(self, cue: str) -> bool:
        return self.cues.starts(cue, self.folded)


def _same(known: Any, value: Any) -> bool:
    if isinstance(known, Mapping) and isinstance(value, Mapping):
        return all(_same(known.get(name), item) for name, item in value.items())
    try:
        return Decimal(str(known)) == Decimal(str(value))
    except ArithmeticError:
        pass
    return known == value or str(known).casefold() == str(value).casefold()
