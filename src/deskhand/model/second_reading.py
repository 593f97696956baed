"""What a second model said of a reply that another model wrote, kept in the run's metadata."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from hashlib import sha256
from typing import Any

SECOND_READING = "second_reading"
"""Metadata: which sentences of which text the second reader found in the articles."""


@dataclass(frozen=True, slots=True)
class ToRead:
    """What a second reader is asked about a reply that another model wrote."""

    reply: str
    sentences: tuple[str, ...]
    """Those that claim something."""
    sources: tuple[tuple[str, str], ...]
    """The articles that the reply quotes, and what tools found for it, each with its id."""
    message: str
    """What the customer wrote."""
    refuses: str = ""
    """Why no reader is asked and a person looks; empty where one is."""
    now: datetime | None = None
    """The moment from which `tomorrow` counts, in the desk's time zone."""


@dataclass(frozen=True, slots=True)
class SecondReading:
    """What the second reader said; it is about one text alone."""

    confirmed: frozenset[str] = frozenset()
    """The sentences that it found in the articles."""
    refused: Mapping[str, str] = field(default_factory=dict[str, str])
    """The others, each with what the reader misses."""
    sums: tuple[str, ...] = ()
    """How numbers of the reply follow from others: `3 * 540 = 1620`."""
    on: date | None = None
    """The day on which it was read: what it says of `tomorrow` is true on that day alone."""
    counted: tuple[str, ...] = ()
    """What small numbers of the reply count: `2 = Piccolo + Grande`."""

    def as_metadata(self, read: ToRead, by: str | None) -> dict[str, Any]:
        """The entry for a run's metadata, bound to the reply's text and the message it answers."""
        return {
            "by": by,
            "text": _digest(read.reply, read.message),
            "confirmed": sorted(self.confirmed),
            "refused": dict(self.refused),
            "sums": list(self.sums),
            "counted": list(self.counted),
            "on": None if read.now is None else read.now.date().isoformat(),
        }


NOT_READ = SecondReading()


def second_reading_of(metadata: Mapping[str, Any], text: str, message: str) -> SecondReading:
    """What a second reader said of this very text as an answer to this message; nothing where none
    has read it."""
    kept = metadata.get(SECOND_READING)
    if not isinstance(kept, Mapping) or kept.get("text") != _digest(text, message):
        return NOT_READ
    return SecondReading(
        frozenset(_texts(kept.get("confirmed"))),
        _reasons(kept.get("refused")),
        tuple(_texts(kept.get("sums"))),
        _day(kept.get("on")),
        tuple(_texts(kept.get("counted"))),
    )


def _day(written: Any) -> date | None:
    try:
        return date.fromisoformat(written)
    except (TypeError, ValueError):
        return None


def _texts(listed: Any) -> Sequence[str]:
    texts = listed if isinstance(listed, list) else []
    return [text for text in texts if isinstance(text, str)]


def _reasons(listed: Any) -> dict[str, str]:
    reasons = listed if isinstance(listed, Mapping) else {}
    return {str(sentence): str(why) for sentence, why in reasons.items()}


def _digest(text: str, message: str) -> str:
    both = f"{text.strip()}\0{message.strip()}"
    return sha256(both.encode("utf-8", "replace")).hexdigest()
