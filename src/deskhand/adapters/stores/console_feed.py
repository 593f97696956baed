"""What open consoles follow, read from the database: every process sees what any process wrote."""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, tzinfo

import sqlalchemy as sa

from deskhand.adapters.stores import tables as t
from deskhand.adapters.stores.console_search import search_desks
from deskhand.adapters.stores.core_database import CoreDatabase, insert_if_new
from deskhand.adapters.stores.figure_sums import (
    count_open,
    figures_by,
    figures_by_day,
    figures_by_day_and,
    list_runs,
    values_of,
)
from deskhand.adapters.stores.search_index import SqlSearchIndex
from deskhand.model.figures import CountedRun, Dimension, FigureFilter, Figures
from deskhand.model.run import ReviewState
from deskhand.ports.console import Look, Looker, Place, RecordChange, SearchHit

MOST_CHANGES = 1000
"""Changes of one look; the next one goes on from there."""
GONE_AFTER = 60.0
"""Seconds after which a window is gone that did not say it is still open."""
LATE = 10.0
"""Seconds. SQLite has one writer, so its numbers are seen in their order."""
_CHANGES = t.console_changes.c
_LOOKERS = t.console_lookers.c


class SqlConsoleFeed:
    def __init__(
        self,
        database: CoreDatabase,
        now: Callable[[], float] = time.time,
        zones: Mapping[str, tzinfo] | None = None,
    ) -> None:
        """`zones` are those of desks, by name: their days are counted in them."""
        self._database = database
        self._now = now
        self._zones = zones or {}

    async def newest(self) -> int:
        query = sa.select(sa.func.max(_CHANGES.id))
        return await self._database.glance(lambda core: core.execute(query).scalar() or 0)

    async def look(self, after: int, watched: Collection[Place]) -> Look:
        return await self._database.glance(
            lambda core: Look(
                _changes(core, after),
                _lookers(core, self._now() - GONE_AFTER),
                frozenset(core.execute(sa.select(t.stops.c.desk)).scalars()),
                _states(core, watched),
                LATE if core.dialect.name == "postgresql" else 0.0,
            )
        )

    async def figures_by_day(self, wanted: FigureFilter) -> dict[int, Figures]:
        await self._count_due(wanted.desks)
        return await self._database.read_core(lambda core: figures_by_day(core, wanted))

    async def figures_by(self, wanted: FigureFilter, dimension: Dimension) -> dict[str, Figures]:
        return await self._database.read_core(lambda core: figures_by(core, wanted, dimension))

    async def figures_by_day_and(
        self, wanted: FigureFilter, dimension: Dimension
    ) -> tuple[dict[int, Figures], dict[str, Figures]]:
        await self._count_due(wanted.desks)
        return await self._database.read_core(
            lambda core: figures_by_day_and(core, wanted, dimension)
        )

    async def figure_values(self, wanted: FigureFilter) -> dict[Dimension, list[str]]:
        return await self._database.read_core(lambda core: values_of(core, wanted))

    async def count_open(self, wanted: FigureFilter) -> int:
        return await self._database.read_core(lambda core: count_open(core, wanted))

    async def counted_runs(
        self, wanted: FigureFilter, before: int | None, limit: int
    ) -> list[CountedRun]:
        await self._count_due(wanted.desks)
        return await self._database.read_core(lambda core: list_runs(core, wanted, before, limit))

    async def _count_due(self, desks: Collection[str]) -> None:
        """What changed is counted and found, as long as not much is due; a moment later where the
        desk is served."""
        for desk in desks:
            zone = self._zones.get(desk, UTC)
            await SqlSearchIndex(self._database, desk, zone).index_unless_kept_up()

    async def search(
        self, desks: Collection[str], words: Sequence[str], limit: int
    ) -> list[SearchHit]:
        await self._count_due(desks)
        return await self._database.read_core(
            lambda core: search_desks(core, list(desks), words, limit)
        )

    async def not_searchable(self, desks: Collection[str], most: int) -> int:
        counts = [
            await SqlSearchIndex(self._database, desk).count_due(most) for desk in sorted(desks)
        ]
        return min(most, sum(counts))

    async def enter(self, looker: Looker) -> None:
        now = self._now()
        old = _LOOKERS.seen_at < now - GONE_AFTER
        desk, kind, reference = looker.place
        values = {
            "window": looker.window,
            "desk": desk,
            "kind": kind,
            "reference": reference,
            "person": looker.person,
            "seen_at": now,
        }

        def write(core: sa.Connection) -> None:
            core.execute(t.console_lookers.delete().where(old))
            insert_if_new(core, t.console_lookers, values)

        await self._database.write_core(write)

    async def stay(self, windows: Collection[str]) -> None:
        update = (
            t.console_lookers.update()
            .where(_LOOKERS.window.in_(list(windows)))
            .values(seen_at=self._now())
        )
        await self._database.write_core(lambda core: core.execute(update).close())

    async def leave(self, window: str) -> None:
        gone = t.console_lookers.delete().where(_LOOKERS.window == window)
        await self._database.write_core(lambda core: core.execute(gone).close())


def _changes(core: sa.Connection, after: int) -> list[RecordChange]:
    query = (
        sa.select(t.console_changes, t.reviews.c.state)
        .outerjoin(t.reviews, t.reviews.c.id == _CHANGES.reference)
        .where(_CHANGES.id > after)
        .order_by(_CHANGES.id)
        .limit(MOST_CHANGES)
    )
    return [
        RecordChange(
            row.id, row.desk, row.kind, row.reference, row.at, row.state == ReviewState.OPEN
        )
        for row in core.execute(query)
    ]


def _lookers(core: sa.Connection, since: float) -> list[Looker]:
    query = sa.select(t.console_lookers).where(_LOOKERS.seen_at >= since)
    return [
        Looker(Place(row.desk, row.kind, row.reference), row.person, row.window)
        for row in core.execute(query)
    ]


def _states(core: sa.Connection, watched: Collection[Place]) -> dict[Place, str]:
    """How far each watched run, and the runs of each watched conversation, have come."""
    runs = t.runs.c
    newest_step = (
        sa.select(sa.func.max(t.steps.c.seq))
        .where(t.steps.c.run == runs.position)
        .scalar_subquery()
    )
    states: dict[Place, str] = {}
    for kind, column in (("run", runs.id), ("conversation", runs.conversation)):
        places = {(place.desk, place.reference): place for place in watched if place.kind == kind}
        if not places:
            continue
        desks = {place.desk for place in places.values()}
        query = (
            sa.select(runs.desk, column, runs.updated_at, newest_step)
            .where(column.in_([reference for _, reference in places]))
            .where(runs.desk.in_(desks))
            .order_by(runs.position)
        )
        for desk, reference, changed_at, steps in core.execute(query):
            place = places.get((desk, reference))
            if place is not None:
                states[place] = f"{states.get(place, '')} {changed_at}:{steps}"
    return states


def prune_changes(core: sa.Connection, desk: str, before: float) -> int:
    """Delete what every open console has been told long ago; returns how much that was."""
    old = sa.and_(_CHANGES.desk == desk, _CHANGES.at < before)
    return core.execute(t.console_changes.delete().where(old)).rowcount
