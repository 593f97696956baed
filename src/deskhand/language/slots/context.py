"""What an extractor knows beside the text."""

from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple, Protocol

from deskhand.language.slots.text import Scan
from deskhand.language.slots.value import SlotMatch


class Context(NamedTuple):
    language: str | None
    """The text's language as a code, perhaps with a region, as `en-GB`."""
    now: datetime
    """With its zone."""


class Extractor(Protocol):
    """Finds one kind of value; pure, and never raises whatever the text."""

    def find(self, scan: Scan, context: Context) -> Iterator[SlotMatch]: ...
