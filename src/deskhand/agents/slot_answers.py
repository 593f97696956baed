"""Reading the customer's answer to a plan's question: the value of each parameter it asked for."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

from deskhand.language.identify import identify
from deskhand.language.turn_kinds import OpenQuestion, Turn
from deskhand.mail.reply import visible_reply
from deskhand.model.message import Message

if TYPE_CHECKING:
    from deskhand.language.slots import SlotExtractor
    from deskhand.language.turns import TurnReader

LONGEST_ANSWER = 2_000
"""Characters of a text that is the value of a parameter; a longer one is no answer."""


class ReadsAnswers(Protocol):
    """Finds values in a customer's answer."""

    @property
    def names(self) -> frozenset[str]:
        """The parameters it knows how to find; of any other, the customer's words are the value."""
        ...

    def find(self, text: str, names: Sequence[str], received_at: datetime) -> dict[str, Any]:
        """The value of each of these parameters that the text states, and states only once."""
        ...


class SlotAnswers:
    """Finds what the desk's slots describe."""

    def __init__(self, extractor: "SlotExtractor", names: frozenset[str], time_zone: str) -> None:
        self.names = names
        self._extractor = extractor
        self._time_zone = time_zone

    def find(self, text: str, names: Sequence[str], received_at: datetime) -> dict[str, Any]:
        slots = self._extractor.extract(
            text,
            language=identify(text).code,
            now=received_at,
            time_zone=self._time_zone,
            only=names,
        )
        return {
            name: slot.value for name, slot in slots.items() if slot.found and not slot.ambiguous
        }


class DeskTurns:
    """Tells what customers' turns do, by the desk's slots and intents."""

    def __init__(self, reader: "TurnReader", slots: Mapping[str, tuple[str, ...]]) -> None:
        """`slots` are those of each intent."""
        self._reader = reader
        self._slots = slots

    def slots_of(self, matter: str | None) -> tuple[str, ...]:
        return self._slots.get(matter or "", ())

    def read(self, text: str, question: OpenQuestion, received_at: datetime | None = None) -> Turn:
        return self._reader.read(text, question, received_at)

    def named_in(self, text: str, received_at: datetime) -> Mapping[str, Sequence[Any]]:
        return self._reader.named_in(text, received_at)


async def answers_in(
    message: Message,
    asked: Sequence[str],
    later: Sequence[str],
    reader: ReadsAnswers | None,
) -> Mapping[str, Any]:
    """The values that a message gives for the parameters it was asked for, and for those that the
    plan would ask for later.

    A parameter that no slot describes gets the customer's own words. They count only for what was
    asked.
    """
    text = visible_reply(message.words)
    slot_names = frozenset[str]() if reader is None else reader.names
    wanted = [name for name in (*asked, *later) if name in slot_names]
    values: dict[str, Any] = {}
    if reader is not None and wanted:
        values = await asyncio.to_thread(reader.find, text, wanted, message.received_at)
    for name in asked:
        if name not in slot_names and 0 < len(text) <= LONGEST_ANSWER:
            values[name] = text
    return values
