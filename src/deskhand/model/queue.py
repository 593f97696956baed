"""Which part of the review queue somebody looks at, what there is to choose from, and who is at
work on what."""

from dataclasses import dataclass
from typing import Any

from deskhand.model.causes import Cause, Rank
from deskhand.model.run import ConversationTurn, ReviewState

QueuePosition = tuple[int, float, float, str]
"""Where a review stands among open ones: the most dangerous first, then the nearest deadline, then
the oldest; `Review.place`."""


@dataclass(frozen=True, slots=True)
class ReviewFilter:
    """Reviews that have all that is named here."""

    state: ReviewState | None = None
    run_id: str | None = None
    cause: Cause | None = None
    category: str | None = None
    language: str | None = None
    assignee: str | None = None
    """Whose it is to look at; the empty text for nobody's."""
    snoozed: bool | None = None
    """Snoozed right now, or not."""
    leaving: bool | None = None
    """A reply that leaves by itself, or anything else."""
    rank: Rank | None = None
    """How dangerous it is."""
    terms: tuple[str, ...] = ()
    """Folded pieces of text, as `terms_of` makes them; a review must have all of them."""


ALL_REVIEWS = ReviewFilter()


@dataclass(frozen=True, slots=True)
class AlikeReviews:
    """Open reviews that are alike in all that the queue is narrowed by, counted."""

    rank: Rank
    category: str | None
    language: str | None
    assignee: str | None
    snoozed: bool
    leaving: bool
    count: int
    late: int
    """How many of them are past their deadline."""
    soon: int
    """How many reach it before the moment that was asked for."""
    before: int
    """How many stand before the place that was asked for."""


@dataclass(frozen=True, slots=True)
class TakenOver:
    """A conversation in which the desk is silent, because a person answers."""

    conversation: str
    by: str
    at: float
    turn: ConversationTurn | None
    """The newest message of it; None once it was erased."""

    @property
    def run_id(self) -> str | None:
        return None if self.turn is None else self.turn.run.id

    @property
    def sender(self) -> str | None:
        return None if self.turn is None else str(self.turn.message.writer)

    @property
    def subject(self) -> str | None:
        return None if self.turn is None else self.turn.message.subject


@dataclass(frozen=True, slots=True)
class BegunEdit:
    """What a reviewer has typed so far; kept until the person is erased whose matter it is."""

    by: str
    edit: dict[str, Any]
    at: float
