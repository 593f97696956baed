"""Trying many runs again that ended with a person for the same cause."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

from deskhand.errors import Conflict, NotFound
from deskhand.model.causes import Cause
from deskhand.model.queue import ReviewFilter
from deskhand.model.run import Review, ReviewKind, ReviewState
from deskhand.ports import Store


@dataclass(frozen=True, slots=True)
class RetryChoice:
    """Runs that were handed over for a cause within a time, both ends included."""

    cause: Cause
    since: float
    until: float = float("inf")


@dataclass(frozen=True, slots=True)
class Retried:
    """What became of the chosen runs, oldest first."""

    runs: tuple[str, ...]
    """Queued again; with a trial run, those that would be."""
    skipped: tuple[str, ...] = ()
    """Somebody decided about them meanwhile, or they owe the customer an answer."""


async def retry_many(store: Store, choice: RetryChoice, by: str, *, dry_run: bool) -> Retried:
    """Queue all chosen runs again, each in a transaction of its own; none with `dry_run`.

    Runs that people have decided about are left alone.
    """
    chosen = [review.run_id async for review in _handed_over(store, choice)]
    if dry_run:
        return Retried(tuple(chosen))
    retried: list[str] = []
    skipped: list[str] = []
    for run_id in chosen:
        try:
            await store.requeue(run_id, by)
            retried.append(run_id)
        except (Conflict, NotFound):
            skipped.append(run_id)
    return Retried(tuple(retried), tuple(skipped))


async def _handed_over(store: Store, choice: RetryChoice) -> AsyncIterator[Review]:
    wanted = ReviewFilter(state=ReviewState.OPEN, cause=choice.cause)
    after: tuple[float, str] | None = (choice.since, "")
    while reviews := await store.find_reviews(wanted, after=after):
        for review in reviews:
            if review.created_at > choice.until:
                return
            if review.kind is ReviewKind.HAND_OVER:
                yield review
        after = (reviews[-1].created_at, reviews[-1].id)
