"""What only helps for a while is deleted after it: answers kept for repeated requests, and what
was counted a day."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

import sqlalchemy as sa

from deskhand.adapters.stores import tables as t
from deskhand.adapters.stores.console_feed import prune_changes
from deskhand.adapters.stores.totals import name_digest
from deskhand.model.totals import Pruned

DAY = 24 * 3600.0
CHUNK = 500
FOLLOWED = 3600.0
"""Seconds for which changes are kept that open consoles follow."""


def prune_desk(
    core: sa.Connection, desk: str, now: float, responses: float, totals: float
) -> Pruned:
    """Ages in seconds. A day's totals go with the day; a conversation's once nothing happened in
    it for so long."""
    prune_changes(core, desk, now - FOLLOWED)
    old = sa.and_(t.responses.c.desk == desk, t.responses.c.at < now - responses)
    gone = core.execute(t.responses.delete().where(old)).rowcount
    first = (
        datetime.fromtimestamp(now - totals - DAY, UTC).date().isoformat()
    )  # a day begins earlier in the east
    days = sa.and_(t.totals.c.desk == desk, t.totals.c.day != "", t.totals.c.day < first)
    counted = core.execute(t.totals.delete().where(days)).rowcount
    return Pruned(gone, counted + _prune_conversations(core, desk, now - totals))


def _prune_conversations(core: sa.Connection, desk: str, since: float) -> int:
    """Totals know conversations by a digest alone, so those still alive are asked for first."""
    here = sa.and_(t.totals.c.desk == desk, t.totals.c.scope == "conversation")
    counted = set(core.execute(sa.select(t.totals.c.name).where(here).distinct()).scalars())
    if not counted:
        return 0
    living = (
        sa.select(t.runs.c.conversation)
        .where(t.runs.c.desk == desk, t.runs.c.updated_at >= since)
        .distinct()
    )
    over = sorted(
        counted - {name_digest(conversation) for conversation in core.execute(living).scalars()}
    )
    return sum(
        core.execute(t.totals.delete().where(here, t.totals.c.name.in_(some))).rowcount
        for some in _in(over)
    )


def _in(names: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(names), CHUNK):
        yield names[start : start + CHUNK]
