"""Where an argument's value came from: found by looking for the value, since no model can be asked
for it.

It helps a reviewer and may make a rule stricter; it is never the only defence, since whoever writes
a message or a note can put any value there.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping
from decimal import Decimal, InvalidOperation
from functools import cached_property
from typing import Any

from pydantic_core import PydanticSerializationError, to_json

from deskhand.model.envelope import Envelope
from deskhand.model.principal import Principal
from deskhand.model.remembered import words_before
from deskhand.model.understanding import RESULTS, Understanding
from deskhand.model.value_readings import MAPPINGS

PRINCIPAL, OPERATOR, MESSAGE, MODEL = "principal", "operator", "message", "model"
MOST_TEXT = 200_000
"""Characters of a message and its attachments that are searched."""
_NUMBER = re.compile(r"\d[\d.,]*")
_AMOUNT = re.compile(r"\d+(\.\d+)?( [A-Z]{3})?")
_ORDER = (PRINCIPAL, OPERATOR, "result", MESSAGE, MODEL)


class Sources:
    """What values may have come from, most trusted first."""

    def __init__(
        self,
        principal: Principal,
        envelope: Envelope,
        operator: Mapping[str, Any] | None = None,
        model_outputs: Collection[str] = (),
        outside: Collection[str] = (),
    ) -> None:
        self._principal = {
            normal(value) for value in (principal.customer_id, principal.address) if value
        }
        self._operator: dict[str, set[str]] = {}
        for name, value in (operator or {}).items():
            self._operator[name] = {normal(leaf) for leaf in _leaves(value)}
        self._data = results_in(envelope, model_outputs, outside)
        self._read: list[str] = []
        self._envelope = envelope

    def origin(self, argument: str, value: Any) -> str:
        """The origin of a value, of a list or mapping the least trusted of its parts'."""
        if isinstance(value, str):  # as most are
            return self._of(argument, value)
        origins = [self._of(argument, leaf) for leaf in _leaves(value)]
        return max(
            origins, key=lambda where: _ORDER.index(where.partition(":")[0]), default=OPERATOR
        )

    def result_naming(self, value: Any) -> int | None:
        """The number of the first tool result with exactly this value in it, not with text that
        contains it."""
        wanted = _written(value)
        is_text = isinstance(value, str)
        for number, text in enumerate(self._results(), 1):
            if wanted not in text:
                continue
            if is_text or stands_in(text, wanted, '."-', '."'):
                return number
        return None

    def offers(self, key: str) -> bool:
        """Whether a result has a thing with this `id`: text that says so may be a note the model
        wrote."""
        return any(str(thing["id"]) == key for thing in _things(self._data) if "id" in thing)

    def _results(self) -> Iterator[str]:
        """The results as text, one after the other: most values are found in the first one."""
        yield from self._read
        for result in self._data[len(self._read) :]:
            self._read.append(_written(result))
            yield self._read[-1]

    @cached_property
    def _text(self) -> str:
        return _text(self._envelope)

    def _of(self, argument: str, value: Any) -> str:
        wanted = normal(value)
        if wanted in self._principal:
            return PRINCIPAL
        if wanted in self._operator.get(argument, ()):
            return OPERATOR
        if (number := self.result_naming(value)) is not None:
            return f"result:{number}"
        return MESSAGE if self._in_message(value, wanted) else MODEL

    def _in_message(self, value: Any, wanted: str) -> bool:
        if isinstance(value, bool) or not wanted:
            return False
        amount = _decimal(str(value).partition(" ")[0]) if _looks_like_amount(value) else None
        if amount is not None and any(
            _decimal(number) == amount for number in _NUMBER.findall(self._text)
        ):
            return True
        return stands_in(self._text, wanted)


def stands_in(text: str, wanted: str, not_before: str = "", not_after: str = "") -> bool:
    """Whether the text holds this as a word of its own, without one of these signs right before or
    after it.

    Looked for place by place: a pattern compiled for every value of every call costs more than all
    the rest of a call.
    """
    at = text.find(wanted)
    while at >= 0:
        before, after = text[at - 1 : at], text[at + len(wanted) : at + len(wanted) + 1]
        if not (_joins(before, not_before) or _joins(after, not_after)):
            return True
        at = text.find(wanted, at + 1)
    return False


def _joins(letter: str, signs: str) -> bool:
    return bool(letter) and (letter.isalnum() or letter == "_" or letter in signs)


def results_in(
    envelope: Envelope, model_outputs: Collection[str], outside: Collection[str] = ()
) -> list[Any]:
    """What tools returned so far, in the order of the run's stages; also what was adopted from an
    earlier run.

    A model may write `results` of its own: those are no tool's. What a tool brings from `outside`
    says nothing.
    """
    data: list[Any] = []
    for key, output in envelope.outputs.items():
        if key in model_outputs or not isinstance(output, MAPPINGS) or RESULTS not in output:
            continue
        for result in reversed(Understanding({key: output}).results):
            is_outside = result.get("tool") in outside
            data.append(None if is_outside else result.get("data"))
    return data


def _written(value: Any) -> str:
    """The value as JSON: a text stands in quotes there, so that it is found whole, and quotes
    inside another one are escaped."""
    try:
        return to_json(value, fallback=str).decode().casefold()
    except PydanticSerializationError:  # half a character, as a model may write one
        return json.dumps(value, ensure_ascii=False, default=str, check_circular=False).casefold()


def _text(envelope: Envelope) -> str:
    message = envelope.message
    parts = [envelope.raw_input]
    if message is not None:
        parts += [message.subject, message.body, message.sender.address, message.sender.name]
        parts += [attachment.text or "" for attachment in message.attachments]
        parts += [turn.said for turn in words_before(envelope)]
    return normal("\n".join(parts)[:MOST_TEXT])


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, str):  # most are, and to ask for a Mapping takes long
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _leaves(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _leaves(item)
    elif value is not None:
        yield value


def _things(value: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(value, Mapping):
        yield value
        for item in value.values():
            yield from _things(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _things(item)


def normal(value: Any) -> str:
    """A value as it is compared with others: one line, without case; numbers by what they are."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"{_decimal(str(value)) or value}"
    return " ".join(str(value).split()).casefold()


def _looks_like_amount(value: Any) -> bool:
    return isinstance(value, int | float) or _AMOUNT.fullmatch(str(value)) is not None


def _decimal(text: str) -> Decimal | None:
    written = text.strip(".,")
    if re.fullmatch(r"\d{1,3}(,\d{3})+(\.\d+)?", written):
        written = written.replace(",", "")
    try:
        return Decimal(written.replace(",", ".")).normalize()
    except InvalidOperation:
        return None
