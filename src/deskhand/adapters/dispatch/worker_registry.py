"""Which workers serve a database, which fell silent, and whose runs are taken back."""

import json
import os
import socket
from collections.abc import Mapping, Sequence

import sqlalchemy as sa

from deskhand.adapters.stores import leases
from deskhand.adapters.stores import tables as t
from deskhand.adapters.stores.core_database import CoreDatabase
from deskhand.errors import Fenced
from deskhand.model.run import RunStatus
from deskhand.model.totals import Stop
from deskhand.model.workers import Depth, Member

ALL_WORKERS = "workers"
"""The owner of the lease that all workers of a desk hold together against a process that serves
it alone."""
_LEASE_HOST = "the workers' side (deskhand workers list)"

_now = sa.text("extract(epoch from clock_timestamp())")
_later = sa.text("extract(epoch from clock_timestamp()) + :seconds")
"""Heartbeats and leases are stamped by the database: no two machines need agree on the time."""


class WorkerRegistry:
    """The table of workers, with the heartbeat of each."""

    def __init__(self, database: CoreDatabase, name: str) -> None:
        self._database, self._name = database, name

    async def sign_on(
        self, worker_id: str, desks: Sequence[str], versions: Mapping[str, str], lease: float
    ) -> None:
        """Register a worker before it takes its first run.

        Raises AlreadyServed while one process alone serves one of the desks.
        """

        def op(core: sa.Connection) -> None:
            for desk in sorted(desks):
                leases.acquire(
                    core, desk, ALL_WORKERS, leases.database_time(core), lease, self._name
                )
                core.execute(
                    t.leases.update().where(t.leases.c.name == desk).values(host=_LEASE_HOST, pid=0)
                )
            core.execute(
                t.workers.insert().values(
                    id=worker_id,
                    host=socket.gethostname(),
                    pid=os.getpid(),
                    desks=" ".join(desks),
                    versions=json.dumps(dict(versions)),
                    started_at=_now,
                    beat_at=_now,
                    running=0,
                )
            )

        await self._database.write_core(op)

    async def beat(
        self, worker_id: str, desks: Sequence[str], running: int, lease: float
    ) -> dict[str, float]:
        """Record our heartbeat; returns everybody's, by worker.

        Raises Fenced when the others took us for dead.
        """

        def op(core: sa.Connection) -> dict[str, float]:
            mine = (
                t.workers.update()
                .where(t.workers.c.id == worker_id)
                .values(beat_at=_now, running=running)
            )
            if core.execute(mine).rowcount == 0:
                raise Fenced(
                    "this worker was silent for longer than its lease; others have taken up its"
                    " runs"
                )
            held = sa.and_(t.leases.c.name.in_(desks), t.leases.c.owner == ALL_WORKERS)
            core.execute(
                t.leases.update().where(held).values(expires_at=_later.bindparams(seconds=lease))
            )
            return {
                row.id: row.beat_at
                for row in core.execute(sa.select(t.workers.c.id, t.workers.c.beat_at))
            }

        return await self._database.write_core(op)

    async def strike_off(self, silent: Mapping[str, float]) -> list[str]:
        """Remove workers whose heartbeat is still the given one; returns whom we removed.

        Of several workers that try, one succeeds.
        """

        def op(core: sa.Connection) -> list[str]:
            struck = []
            for worker_id, beat in sorted(silent.items()):
                row = t.workers.delete().where(
                    t.workers.c.id == worker_id, t.workers.c.beat_at == beat
                )
                if core.execute(row).rowcount:
                    struck.append(worker_id)
            return struck

        return await self._database.write_core(op)

    async def recover(self, desks: Sequence[str]) -> int:
        """Queue again the runs of workers that are no longer registered; returns how many.

        Each run counts one crash more.
        """

        def op(core: sa.Connection) -> int:
            registered = sa.select(t.workers.c.id).where(t.workers.c.id == t.runs.c.owner).exists()
            running = t.runs.c.status == RunStatus.RUNNING
            left = sa.and_(running, t.runs.c.desk.in_(desks), ~registered)
            values = {"status": RunStatus.QUEUED, "owner": None, "crashes": t.runs.c.crashes + 1}
            return core.execute(t.runs.update().where(left).values(**values)).rowcount

        return await self._database.write_core(op)

    async def sign_off(self, worker_id: str, desks: Sequence[str]) -> None:
        """Leave in good order; the last worker of a desk gives up its lease."""

        def op(core: sa.Connection) -> None:
            core.execute(t.workers.delete().where(t.workers.c.id == worker_id))
            others = core.execute(sa.select(t.workers.c.desks)).scalars().all()
            served = {desk for names in others for desk in names.split()}
            for desk in sorted(set(desks) - served):
                leases.give_up(core, desk, ALL_WORKERS)

        await self._database.write_core(op)

    async def ids(self) -> set[str]:
        query = sa.select(t.workers.c.id)
        return await self._database.read_core(lambda core: set(core.execute(query).scalars()))

    async def time(self) -> float:
        """The database's clock, which all workers share."""
        return await self._database.read_core(leases.database_time)

    async def members(self) -> list[Member]:
        """All registered workers, oldest first, with the runs each has at work."""

        def op(core: sa.Connection) -> list[Member]:
            running: dict[str, list[str]] = {}
            at_work = sa.select(t.runs.c.owner, t.runs.c.id).where(
                t.runs.c.status == RunStatus.RUNNING
            )
            for row in core.execute(at_work.order_by(t.runs.c.position)):
                running.setdefault(row.owner, []).append(row.id)
            now = leases.database_time(core)
            rows = core.execute(
                sa.select(t.workers).order_by(t.workers.c.started_at, t.workers.c.id)
            )
            return [
                Member(
                    row.id,
                    row.host,
                    row.pid,
                    tuple(row.desks.split()),
                    json.loads(row.versions),
                    row.started_at,
                    max(0.0, now - row.beat_at),
                    tuple(running.get(row.id, ())),
                )
                for row in rows
            ]

        return await self._database.read_core(op)

    async def stops(self) -> dict[str, Stop]:
        """The desks that somebody has stopped."""
        query = sa.select(t.stops.c.desk, t.stops.c.by, t.stops.c.reason, t.stops.c.at).order_by(
            t.stops.c.desk
        )
        rows = await self._database.read_core(lambda core: core.execute(query).all())
        return {row.desk: Stop(row.by, row.reason, row.at) for row in rows}

    async def depths(self) -> list[Depth]:
        """The desks on which something is queued."""
        query = (
            sa.select(
                t.runs.c.desk,
                sa.func.count().label("queued"),
                sa.func.min(t.runs.c.updated_at).label("oldest"),
            )
            .where(t.runs.c.status == RunStatus.QUEUED)
            .group_by(t.runs.c.desk)
            .order_by(t.runs.c.desk)
        )
        rows = await self._database.read_core(lambda core: core.execute(query).all())
        now = await self.time()
        return [Depth(row.desk, row.queued, max(0.0, now - row.oldest)) for row in rows]


class SilenceWatch:
    """Finds silent workers by its own looks: neither clocks that jump nor our absence prove any."""

    def __init__(self, looks: int) -> None:
        self._looks = looks
        self._seen: dict[str, tuple[float, int]] = {}

    def look(self, beats: Mapping[str, float]) -> dict[str, float]:
        """Those whose heartbeat did not change for as many looks in a row as make a lease."""
        before = self._seen
        self._seen = {}
        for worker_id, beat in beats.items():
            last, count = before.get(worker_id, (beat, -1))
            self._seen[worker_id] = (beat, count + 1 if last == beat else 0)
        return {
            worker_id: beat
            for worker_id, (beat, count) in self._seen.items()
            if count >= self._looks
        }
