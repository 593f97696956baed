"""What the stages of a run have found out about its message.

Stages write their findings into outputs of their own, under the reserved fields listed here. Every
reader asks `Understanding`, so that modes, reviews, trust, the gate, policies and the choice of a
model go by the same values: for each field the newest that is not None.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from math import isfinite
from typing import Any, Self, cast

from deskhand.model.envelope import Envelope
from deskhand.model.message import REPLY
from deskhand.model.tasks import OTHER

CATEGORY = "category"
"""Text: what the message is about, as a classifying stage named it."""

INTENT_ID = "intent_id"
"""Text: what the customer wants, as a planning stage named it; goes before the category."""

INTENT = "intent"
"""Text: the same as `intent_id`, for stages that call it so; `intent_id` goes before it."""

CONFIDENCE = "confidence"
"""Number: how sure the stage is of what it gave, in most cases from 0 to 1."""

LANGUAGE = "language"
"""Text: the code of the message's or the reply's language."""

THRESHOLD = "threshold"
"""Number: the confidence from which the review stage lets a reply pass."""

REQUIRES_APPROVAL = "requires_approval"
"""True or false: whether the review stage asked a person."""

RESULTS = "results"
"""List: what the stage's tool calls returned, one mapping each, oldest first."""

SLOTS = "slots"
"""Mapping: values found in the message by name, each bare or as `{"value": ...}`."""

OUT_OF_SCOPE = "out_of_scope"
NO_INTENT = (OTHER, OUT_OF_SCOPE)
"""Names for messages that fit no intent."""
LOOP_IN = "loop_in_human"
"""What the customer is asked for when nobody knows what he wants: whether a person shall help."""

UNKNOWN_INTENT = "unknown_intent"
"""The service that asks the customer then."""
RESTART_AT = "restart_at"
"""The setting that tells it where the flow begins anew."""
PLAN_AT = "plan_at"
"""The setting that tells it which stage makes the plans."""


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return isfinite(value)


def _is_truth_value(value: Any) -> bool:
    return isinstance(value, bool)


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple)


def _is_mapping(value: Any) -> bool:
    return isinstance(value, Mapping)


_MAPPINGS = (dict, Mapping)
"""Almost all are plain dictionaries, and asking Mapping alone takes eight times as long."""
_TEXT = ("text", _is_text)
_NUMBER = ("a number", _is_number)

RESERVED_FIELDS = {
    CATEGORY: _TEXT,
    INTENT_ID: _TEXT,
    INTENT: _TEXT,
    CONFIDENCE: _NUMBER,
    LANGUAGE: _TEXT,
    THRESHOLD: _NUMBER,
    REQUIRES_APPROVAL: ("true or false", _is_truth_value),
    RESULTS: ("a list", _is_list),
    SLOTS: ("a mapping", _is_mapping),
}
"""What each reserved field must hold, in words and as a check. None is allowed everywhere."""


def wrong_fields(output: Mapping[str, Any]) -> list[str]:
    """What is wrong with a stage's reserved output fields, one sentence part each."""
    problems: list[str] = []
    for name, value in output.items():
        if value is None or name not in RESERVED_FIELDS:
            continue
        expected, fits = RESERVED_FIELDS[name]
        if not fits(value):
            problems.append(f"`{name}` must be {expected}, not {repr(value)[:60]}")
    return problems


def drafted_output(outputs: Mapping[str, Any]) -> str | None:
    """The name of the output from which the reply was made; None where no stage drafted it."""
    reply = outputs.get(REPLY)
    text = reply.get("text") if isinstance(reply, Mapping) else None
    names: list[str] = list(outputs)
    for name in reversed(names):
        output = outputs[name]
        if name != REPLY and isinstance(output, Mapping) and text and output.get("text") == text:
            return name
    return None


class Understanding:
    """The reserved fields of a run's outputs, read in one way.

    A value of the wrong type counts as None, and so does an empty text: records may be older than
    the check of what stages return.
    """

    __slots__ = ("_newest_first",)

    def __init__(self, outputs: Mapping[str, Any]) -> None:
        mappings = [output for output in outputs.values() if isinstance(output, _MAPPINGS)]
        self._newest_first: list[Mapping[str, Any]] = mappings[::-1]

    @classmethod
    def of(cls, envelope: Envelope) -> Self:
        return cls(envelope.outputs)

    @property
    def outputs(self) -> Sequence[Mapping[str, Any]]:
        """Whole outputs, the newest first, for what belongs together in one of them."""
        return self._newest_first

    @property
    def category(self) -> str | None:
        """The newest `category`."""
        return _text_in(self._newest_first, CATEGORY)

    @property
    def intent_id(self) -> str | None:
        """The newest `intent_id`; the newest `intent` where no output has an `intent_id`."""
        named = _text_in(self._newest_first, INTENT_ID)
        return named or _text_in(self._newest_first, INTENT)

    @property
    def topic(self) -> str | None:
        """The name that modes, trust and models go by: the intent, else the category."""
        return self.intent_id or self.category

    @property
    def topics(self) -> tuple[str, ...]:
        """The topic, then the category where it differs.

        What is held back for a topic asks about all of them: a planning stage that names another
        intent must not lift what the category demands.
        """
        named = (self.intent_id, self.category)
        return tuple(dict.fromkeys(name for name in named if name is not None))

    def topic_in(self, listed: Collection[str]) -> str | None:
        """The first of the topics that is listed; None where none is."""
        if not listed:
            return None
        return next((name for name in self.topics if name in listed), None)

    @property
    def confidence(self) -> float | None:
        """How sure the stages are of the topics; the lowest where they differ.

        None where the stage that named the category did not say. Confidence beside something else,
        a draft for example, does not count.
        """
        category, intent = self.category, self.intent_id
        of_category = self._confidence_beside(category, (CATEGORY,))
        of_intent = self._confidence_beside(intent, (INTENT_ID, INTENT))
        if category is None:
            return of_intent
        if of_category is None or of_intent is None or intent == category:
            return of_category
        return min(of_category, of_intent)

    @property
    def language(self) -> str | None:
        """The newest `language`."""
        return _text_in(self._newest_first, LANGUAGE)

    @property
    def threshold(self) -> float | None:
        """The newest `threshold`."""
        return next(self._values(THRESHOLD), None)

    @property
    def requires_approval(self) -> bool:
        """The newest `requires_approval`; false where no stage said."""
        return next(self._values(REQUIRES_APPROVAL), False)

    @property
    def results(self) -> list[Mapping[str, Any]]:
        """Every tool result of the run, newest first."""
        newest_first: list[Mapping[str, Any]] = []
        for results in self._values(RESULTS):
            newest_first += [result for result in reversed(results) if isinstance(result, Mapping)]
        return newest_first

    @property
    def slots(self) -> dict[str, Any]:
        """The newest value of each slot, bare."""
        values: dict[str, Any] = {}
        for slots in self._values(SLOTS):
            for name, slot in slots.items():
                is_wrapped = isinstance(slot, Mapping) and "value" in slot
                value = slot["value"] if is_wrapped else slot
                if value is not None:
                    values.setdefault(str(name), value)
        return values

    def newest(self, field: str) -> Any:
        """The newest value of any field, reserved or not, that is not None."""
        return next(self._values(field), None)

    def _values(self, field: str) -> Iterator[Any]:
        """Values that are not None and of the reserved type, newest first."""
        _, fits = RESERVED_FIELDS.get(field, ("anything", None))
        for output in self._newest_first:
            value = output.get(field)
            if value is not None and (fits is None or fits(value)):
                yield value

    def _confidence_beside(self, name: str | None, fields: tuple[str, ...]) -> float | None:
        """The newest confidence in an output that gives this name under one of the fields."""
        if name is None:
            return None
        for output in self._newest_first:
            confidence = output.get(CONFIDENCE)
            if confidence is None or not _is_number(confidence):
                continue
            if name in [output.get(field) for field in fields]:
                return cast(float, confidence)
        return None


def is_unknown_intent(outputs: Mapping[str, Any], known_intents: Collection[str] = ()) -> bool:
    """Whether no intent was found. `known_intents` are those of which something is written: a desk
    may have one that is called `other`."""
    understanding = Understanding(outputs)
    topic = understanding.topic
    if topic in known_intents:
        return False
    if topic is None or topic in NO_INTENT:
        return True
    abstained = understanding.newest("abstained") is True
    return abstained and not understanding.confidence


def _text_in(outputs: list[Mapping[str, Any]], field: str) -> str | None:
    """The newest text under the field that is not empty."""
    for output in outputs:
        value = output.get(field)
        if value and isinstance(value, str):  # most outputs have no such field
            return value
    return None
