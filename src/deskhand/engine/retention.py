"""Deletes what desk.yaml keeps for a limited time, a little at a time."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from deskhand.model.audited import Ages, Kept
from deskhand.ports import Store

log = logging.getLogger("deskhand.housekeeping")

BATCH = 50
"""Runs, or other rows, in one transaction: others write in between."""

Forgotten = Callable[[Sequence[str]], Awaitable[None]]
"""Told whose tickets lost messages: what is kept of them outside the database follows."""
Progress = Callable[[Kept, int], None]
"""Told what is deleted, and how much of it so far."""


@dataclass(slots=True)
class RetentionReport:
    """How much went, by what it was."""

    deleted: dict[Kept, int] = field(default_factory=dict[Kept, int])
    journal_rows: int = 0
    """Rows of the journals of runs that went."""
    damaged: list[str] = field(default_factory=list[str])
    """Runs that stay because their records are not as they were written."""


async def prune_by_age(
    store: Store,
    ages: Ages,
    *,
    key: bytes | None = None,
    pause: float = 0.0,
    progress: Progress = lambda kind, count: None,
    forgotten: Forgotten | None = None,
) -> RetentionReport:
    """Delete all that is older than its age and not open any more; `pause` is between batches.

    What is at work, waits for somebody, or owes an answer stays whatever its age. Runs go last:
    what they have goes with them.
    """
    report = RetentionReport()
    for kind in reversed(Kept):
        age = ages.get(kind)
        if age is None:
            continue
        after: int | None = 0
        while after is not None:
            batch = await store.prune_old(kind, age, after=after, limit=BATCH, key=key)
            report.deleted[kind] = report.deleted.get(kind, 0) + batch.deleted
            report.journal_rows += batch.rows
            report.damaged += batch.damaged
            if forgotten is not None and batch.customers:
                await forgotten(batch.customers)
            progress(kind, report.deleted[kind])
            after = batch.last
            await asyncio.sleep(pause)
    if report.damaged:
        log.error(
            "%d old run(s) stay, their records were changed: %s; see `deskhand audit verify`",
            len(report.damaged),
            ", ".join(report.damaged[:5]),
        )
    return report


async def count_by_age(store: Store, ages: Ages) -> dict[Kept, int]:
    """How much pruning would delete now."""
    return {kind: await store.count_old(kind, age) for kind, age in ages.items()}
