"""What a run remembers of its conversation: carried in its first row, so that the next run reads
one run and not all of them."""

from collections.abc import Mapping, Sequence
from typing import Any, Self

from pydantic import Field, ValidationError

from deskhand.model.envelope import Envelope
from deskhand.model.frozen import Frozen

MEMORY = "memory"
"""The field of a run's metadata."""
ALSO_ANSWERS = "also_answers"
"""The field with the runs whose messages this one answers, too."""
MOST_VALUES = 5
"""Different values of one slot that are kept."""


class RememberedTurn(Frozen):
    """One message of the customer's, and what came of it."""

    run: str
    at: str
    """When the message came, as ISO 8601."""
    said: str
    """The customer's own words: nothing quoted, nothing passed on."""
    answered: str = ""
    """What left to the customer."""
    intent: str | None = None
    asked_for: str | None = None
    """What the desk asked for in its answer."""
    done: tuple[str, ...] = ()
    """The tools that changed something, or may have, in order."""
    promised: tuple[str, ...] = ()
    """Sentences of the answer that commit to something."""
    is_open: bool = False
    """Whether somebody was still to decide about it: it is read again then."""
    is_handed_over: bool = False
    """Whether a colleague is to answer it, and not only to approve what was written."""


class SummaryLine(Frozen):
    """What is left of a turn for which there was no room."""

    at: str
    text: str


class Remembered(Frozen):
    """A conversation with one person up to a message."""

    author: str
    """Whose words they are; nobody else's are among them."""
    messages: int = 0
    """How many messages of the customer's came before, remembered or not."""
    turns: tuple[RememberedTurn, ...] = ()
    """Oldest first."""
    values: dict[str, tuple[Any, ...]] = Field(default_factory=dict)
    """What was found in the conversation, by slot, the newest value first."""
    waits_for: str | None = None
    """What the desk asked for last, while that question was open."""
    summary: tuple[SummaryLine, ...] = ()
    """What was said before these turns, in a line each, oldest first."""

    @classmethod
    def of(cls, envelope: Envelope) -> Self | None:
        """What a run remembers; None where it is the first of its conversation."""
        return cls.read(envelope.metadata)

    @classmethod
    def read(cls, metadata: Mapping[str, Any]) -> Self | None:
        """The memory in a run's metadata; None where there is none that can be read."""
        written = metadata.get(MEMORY)
        try:
            return None if written is None else cls.model_validate(written)
        except ValidationError:
            return None

    @property
    def newest(self) -> dict[str, Any]:
        """The newest value of each slot."""
        return {name: values[0] for name, values in self.values.items() if values}

    def others(self, slot: str, than: Sequence[Any]) -> list[Any]:
        """The values of a slot that are not among these, the newest first."""
        return [value for value in self.values.get(slot, ()) if value not in than]

    def with_values(self, newer: Mapping[str, Any]) -> Self:
        """The same with newer values; one that was said before comes to the front."""
        values = dict(self.values)
        for name, value in newer.items():
            others = [other for other in values.get(name, ()) if other != value]
            values[name] = (value, *others)[:MOST_VALUES]
        return self.changed(values=values)


def words_before(envelope: Envelope) -> list[RememberedTurn]:
    """The turns before this message that its own text does not hold already, oldest first."""
    memory = Remembered.of(envelope)
    message = envelope.message
    if memory is None or message is None or memory.author != message.author:
        return []
    answered_too = envelope.metadata.get(ALSO_ANSWERS) or ()
    return [turn for turn in memory.turns if turn.run not in answered_too]
