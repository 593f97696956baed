"""Where a ticket stands, and which tickets are wanted.

Apart from the ticket itself, so that the command line knows both without what reads tickets.
"""

from dataclasses import dataclass
from enum import StrEnum


class UrgencyLevel(StrEnum):
    """How soon somebody must look."""

    CRITICAL = "critical"
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


URGENCIES = tuple(UrgencyLevel)
"""The strictest first."""


class TicketState(StrEnum):
    """In whose hands a ticket is."""

    ACTIVE = "active"
    """The desk works it."""
    PENDING = "pending"
    """It waits for the customer."""
    OPEN = "open"
    """A person has it."""
    SOLVED = "solved"
    """Answered; a further message of the customer may reopen it."""
    CLOSED = "closed"
    """Over for good; a person may still reopen it."""
    MERGED = "merged"
    """Part of another ticket, which its id leads to."""

    @property
    def is_active(self) -> bool:
        """It lies in the active store; all others lie in the archive."""
        return self in (TicketState.ACTIVE, TicketState.PENDING)

    @property
    def is_waited_for(self) -> bool:
        """It is the desk's or a person's turn: its deadlines run."""
        return self in (TicketState.ACTIVE, TicketState.OPEN)


class AskStatus(StrEnum):
    """What became of something that a customer asks for in a ticket."""

    OPEN = "open"
    """Nothing yet: the ticket can be neither solved nor closed."""
    ANSWERED = "answered"
    DEFERRED = "deferred"
    """The customer was told that an answer comes later, or will not come here."""
    ESCALATED = "escalated"
    """A person has it."""


class Rating(StrEnum):
    """What a customer says of how a matter was handled."""

    GOOD = "good"
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class TicketFilter:
    """Which tickets are wanted; what is None does not matter."""

    states: tuple[TicketState, ...] = ()
    customer: str | None = None
    assignee: str | None = None
    """Empty: tickets that are nobody's."""
    group: str | None = None
    tag: str | None = None
    search: str | None = None
    """Words that subject and messages must hold, in any order."""
    conversation: str | None = None
    urgency: str | None = None
    category: str | None = None
    due_before: float | None = None
    """Only those with a deadline before this moment."""
    opened_after: float | None = None
    changed_after: float | None = None
    quiet_since: float | None = None
    """Only those that nobody touched since, and that have no deadline after it."""


class TicketOrder(StrEnum):
    """What stands first in a list."""

    CHANGED = "changed"
    """The latest changed."""
    DEADLINE = "deadline"
    """What is due first; what is never due comes last."""
