"""Thousands of open reviews, written at once."""

from typing import Any

import sqlalchemy as sa

from deskhand.model.run import Review

_COPY = sa.text(
    "INSERT INTO reviews(id, desk, run, seq, conversation, kind, reason, payload, payload_hash,"
    " state, version, created_at)"
    " SELECT :id, desk, run, seq, conversation, kind, reason, payload, payload_hash, state,"
    " version, created_at - 1 FROM reviews WHERE id = :like"
)


async def add_like(store: Any, review: Review, count: int) -> None:
    """Make many open reviews that are a second older."""
    rows = [{"id": f"rev_old{number}", "like": review.id} for number in range(count)]
    await store._database.write_core(lambda core: core.execute(_COPY, rows))
