"""What an extractor knows beside the text."""

from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple, Protocol

from deskhand.language.slots.folded_text import Scan
from deskhand.language.slots.slot_value import SlotMatch


class SlotContext(NamedTuple):
    language: str | None
    """The text's language as a code, perhaps with a region, as `en-GB`."""
    now: datetime
    """The moment that relative dates count from, with its zone."""


class Extractor(Protocol):
    """Finds one kind of value; pure, and never raises whatever the text."""

    def find(self, scan: Scan, context: SlotContext) -> Iterator[SlotMatch]: ...
