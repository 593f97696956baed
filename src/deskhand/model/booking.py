"""Time that is taken, and time that a conversation holds."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple


class Span(NamedTuple):
    """From a moment up to, not including, another; both carry a zone."""

    start: datetime
    end: datetime

    def overlaps(self, other: "Span") -> bool:
        return self.start < other.end and other.start < self.end


OFFERED = "offered"
"""The metadata of a run under which the times stand that its conversation was offered before."""
ANOTHER, ERASED = "another time was held instead", "erased"
DECLINES = "the reply declines it"
REPLACED = (ANOTHER, ERASED, DECLINES)
"""Why a time was released that nobody will ever want back."""


class BookingState(StrEnum):
    TENTATIVE = "tentative"
    """Held while a reply that speaks of it waits."""
    CONFIRMED = "confirmed"
    """The reply was let go: the time is the customer's."""
    RELEASED = "released"


@dataclass(frozen=True, slots=True)
class NewBooking:
    """A time to be held; `key` is the key of the effect that holds it."""

    key: str
    run_id: str
    span: Span
    holder: str | None
    """Whose it is, as far as that is known: a customer's id or address."""
    expires_at: float
    uid: str | None = None
    """The uid of the invitation that it answers."""


@dataclass(frozen=True, slots=True)
class Booking:
    """A time that a conversation holds or held."""

    key: str
    run_id: str
    conversation: str
    span: Span
    holder: str | None
    state: BookingState
    expires_at: float | None
    reason: str = ""
    """Why it is in this state."""
    written: str = ""
    """The state that the calendar outside shows; empty when it shows nothing."""
    uid: str | None = None
    """The uid of the invitation that it answers."""
