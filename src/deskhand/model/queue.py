"""Which part of the review queue somebody looks at, and what there is to choose from."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from deskhand.model.causes import Cause
from deskhand.model.run import ReviewState

QueuePosition = tuple[bool, float, str]
"""Where a review stands among open ones: emergencies first, then the oldest; `Review.place`."""


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
    emergency: bool | None = None


ALL_REVIEWS = ReviewFilter()


@dataclass(frozen=True, slots=True)
class Facets:
    """What stands in the open reviews of a desk, with how many of them say so."""

    categories: Mapping[str, int] = field(default_factory=dict[str, int])
    languages: Mapping[str, int] = field(default_factory=dict[str, int])
    assignees: Mapping[str, int] = field(default_factory=dict[str, int])
    """Under the empty text those that are nobody's."""
