"""Reviews of a ticket's messages stand in their queue by the ticket's next deadline."""

from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from deskhand.adapters.stores import tables as t
from deskhand.adapters.stores.record_values import queue_columns
from deskhand.adapters.stores.rows import pack, unpack
from deskhand.adapters.stores.statements import mark_run
from deskhand.model.run import DUE_AT, ReviewState

DUE_FOR = "due_for"
"""Among a review's facts: which deadline of its ticket `due_at` is. A time that a person named
stands without it, and stays."""

_PLACED_BY = tuple(
    t.reviews.c[name] for name in ("id", "run", "kind", "causes", "facts", "expires_at")
)


def order_reviews(core: sa.Connection, desk: str, runs: Sequence[str] | None = None) -> int:
    """Tell open reviews when their tickets are due; returns how many were told something new."""
    links, tickets, reviews = t.ticket_messages.c, t.tickets.c, t.reviews.c
    query = (
        sa.select(*_PLACED_BY, tickets.due_at, tickets.due_for)
        .join(t.ticket_messages, sa.and_(links.desk == reviews.desk, links.run == reviews.run))
        .join(t.tickets, sa.and_(tickets.desk == links.desk, tickets.id == links.ticket))
        .where(reviews.desk == desk, reviews.state == ReviewState.OPEN)
    )
    if runs is not None:
        query = query.join(t.runs, t.runs.c.position == reviews.run).where(t.runs.c.id.in_(runs))
    changed = 0
    for row in core.execute(query).all():
        facts = unpack(row.facts) or {}
        wanted = _with_deadline(facts, row.due_at, row.due_for)
        if wanted != facts:
            here = (reviews.id == row.id, reviews.state == ReviewState.OPEN)
            causes = (row.causes or "").split()
            place = queue_columns(row.kind, causes, wanted, row.expires_at)
            values = {"facts": pack(wanted), **place}
            core.execute(t.reviews.update().where(*here).values(values))
            mark_run(core, row.run)
            changed += 1
    return changed


def _with_deadline(
    facts: Mapping[str, Any], due_at: float | None, due_for: str | None
) -> dict[str, Any]:
    if facts.get(DUE_AT) is not None and DUE_FOR not in facts:
        return dict(facts)
    rest = {name: value for name, value in facts.items() if name not in (DUE_AT, DUE_FOR)}
    return rest if due_at is None else {**rest, DUE_AT: due_at, DUE_FOR: due_for}
