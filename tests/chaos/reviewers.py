"""Reviewers who clear the queue while processes die around them, and get into each other's way."""

import asyncio
import contextlib
import random
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from deskhand.errors import Conflict, StoreUnavailable
from deskhand.model.queue import ReviewFilter
from deskhand.model.run import Decision, Review, ReviewState, Verdict
from deskhand.wiring import DeskStore, open_database, open_store

EDITED = "It is on its way to you."
_LOOK_EVERY = 0.2


@asynccontextmanager
async def reviewing(url: str, desk: str, *names: str) -> AsyncIterator[Counter[str]]:
    """Until the block ends, each of them decides every draft there is; who was told yes how
    often, and no."""
    told: Counter[str] = Counter()
    async with open_database(url) as database:
        store = open_store(database, desk)
        working = [asyncio.create_task(_clear(store, name, told)) for name in names]
        try:
            yield told
        finally:
            for task in working:
                task.cancel()
            for outcome in await asyncio.gather(*working, return_exceptions=True):
                if not isinstance(outcome, asyncio.CancelledError):
                    told[f"broken: {outcome!r}"] += 1


async def _clear(store: DeskStore, name: str, told: Counter[str]) -> None:
    order = random.Random(name)
    while True:
        with contextlib.suppress(StoreUnavailable):
            waiting = [
                one
                for one in await store.find_reviews(ReviewFilter(state=ReviewState.OPEN), limit=200)
                if _is_draft(one)
            ]
            order.shuffle(waiting)
            for review in waiting:
                await _decide(store, review, name, told)
        await asyncio.sleep(_LOOK_EVERY)


def _is_draft(review: Review) -> bool:
    return review.payload.get("waits") == "draft"


async def _decide(store: DeskStore, review: Review, name: str, told: Counter[str]) -> None:
    """One in five is edited; who comes second is refused."""
    edits = int(review.payload_hash, 16) % 5 == 0
    verdict = Verdict(Decision.APPROVE, name, review.version, review.payload_hash)
    if edits:
        verdict = replace(verdict, decision=Decision.EDIT, edit={"text": EDITED})
    try:
        await store.decide(review.id, verdict)
        told["decided"] += 1
        told["edited"] += edits
    except Conflict:
        told["too late"] += 1
