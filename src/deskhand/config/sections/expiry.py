"""How long something waits for a person, and what happens to it then, as written in desk.yaml."""

from typing import Any, Literal

from pydantic import Field

from deskhand.config.sections.outgoing import DurationText
from deskhand.config.sections.section import Section
from deskhand.measures import measure
from deskhand.model.frozen import Frozen
from deskhand.model.run import Decision, ReviewKind

Then = Literal["end", "hand_over", "assign"]


class ExpirySection(Section):
    """What becomes of a review that nobody decides: `{after: 3 days, then: hand_over}`."""

    after: DurationText
    """How long it waits, as `4 hours` or `3 days`."""
    then: Then = "end"
    """`end` rejects a reply or a call and closes a hand-over; `hand_over` makes it a hand-over,
    which waits for ever; `assign` gives it to somebody, for whom it waits for ever. Nothing ever
    leaves because of it. A reply that may have left always waits for a person."""
    to: str | None = Field(default=None, min_length=1, max_length=100)
    """With `assign`: to whom."""


class ExpirySpec(Frozen):
    after: float
    """Seconds."""
    then: Then = "end"
    to: str | None = None

    def fallback(self, kind: ReviewKind) -> Decision | None:
        """What is done with a review of this kind; None where it waits for ever."""
        if kind is ReviewKind.STOPPED:
            return None  # it waits for the desk
        if kind is ReviewKind.DELIVERY and self.then != "assign":
            return None  # time cannot tell whether it left
        if self.then == "assign":
            return Decision.REASSIGN
        if kind is ReviewKind.HAND_OVER:
            return Decision.CLOSE if self.then == "end" else None
        return Decision.REJECT if self.then == "end" else Decision.HAND_OVER


def expiry_spec(section: ExpirySection) -> ExpirySpec:
    return ExpirySpec(after=seconds_of(section.after), then=section.then, to=section.to)


def seconds_of(duration: str) -> float:
    measured: Any = measure(duration)
    return float(measured[1].total_seconds())
