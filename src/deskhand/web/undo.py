"""Stops a reply that is about to leave, also just before its time to be stopped begins."""

import asyncio
from typing import Protocol

from deskhand.errors import Conflict
from deskhand.model.run import LETS_GO, Review
from deskhand.ports import Dispatcher, Store

PATIENCE = 10.0
"""Seconds that an approved run may take to come to where its reply waits."""


class Undoable(Protocol):
    @property
    def store(self) -> Store: ...
    @property
    def dispatcher(self) -> Dispatcher: ...


async def undo(desk: Undoable, review_id: str, by: str) -> Review:
    """Named by the review that was approved, or by the one that says when the reply leaves."""
    try:
        return await desk.store.hold_back(review_id, by)
    except Conflict:
        review = await desk.store.review(review_id)
        if (
            review.decision not in LETS_GO
            or not (await desk.store.run(review.run_id)).status.is_active
        ):
            raise
    try:
        async with asyncio.timeout(PATIENCE):
            await desk.dispatcher.wait(review.run_id)
    except TimeoutError:
        raise Conflict(f"run {review.run_id} is still at work; try again in a moment") from None
    return await desk.store.hold_back(review_id, by)
