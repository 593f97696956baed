"""A new message and the tickets that it may continue, as they are compared."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from deskhand.model.ticket import Ticket, TicketCheckpoint
from deskhand.tickets.checkpoints import direction

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Incoming:
    """What a new message brings to the comparison."""

    conversation: str
    is_proven: bool
    """Whether somebody vouched for the sender: else only his own conversation counts."""
    named: str | None = None
    """The ticket that a program which may say so names as the message's own."""
    cited: tuple[str, ...] = ()
    """Tickets that it names; a merged one stands as the ticket that it became part of."""
    references: tuple[str, ...] = ()
    follow_up: str | None = None
    answered: str | None = None
    """The ticket that the mail of ours was about which this message answers."""
    vector: "NDArray[np.float32] | None" = None
    comes_back: float | None = None
    """How much it sounds as if it came back to something: log odds. None where nobody can tell."""
    text: str = ""
    """Its words, as its meaning is judged by."""

    @property
    def tickets_named(self) -> frozenset[str]:
        """The tickets that it is said to continue, in whichever way."""
        return frozenset(filter(None, (self.named, self.answered, *self.cited)))


@dataclass(frozen=True, slots=True)
class Candidate:
    """One of the customer's tickets that the message may continue."""

    ticket: Ticket
    checkpoint: TicketCheckpoint
    in_conversation: bool = False
    """Whether one of its messages came in the same conversation."""
    continued: float | None = None
    """How likely the message continues it, as the reading model sees both; None where nobody
    read them."""


def likeness(incoming: Incoming, candidate: Candidate) -> float | None:
    """How near the message lies to the ticket's messages; None where one has no vector."""
    held = direction(candidate.checkpoint)
    if incoming.vector is None or held is None or held.shape != incoming.vector.shape:
        return None
    return float(held @ incoming.vector)


def names_others(incoming: Incoming, candidate: Candidate) -> bool:
    """Whether the message names numbers, and none of those that the ticket knows."""
    held = set(candidate.checkpoint.references)
    return bool(incoming.references) and bool(held) and held.isdisjoint(incoming.references)
