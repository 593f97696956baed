"""Runs that wait in the queue for a model that is away."""

import sqlalchemy as sa

from deskhand.adapters.stores import plain_reads
from deskhand.adapters.stores import tables as t
from deskhand.adapters.stores.core_database import SqlDesk
from deskhand.model.run import RunStatus
from deskhand.model.waiting import AwayModel

_EARLIER = t.runs.alias("earlier")


def ready(now: float | sa.BindParameter[float]) -> tuple[sa.ColumnElement[bool], ...]:
    """Holds of queued runs that wait for nothing, and stand behind none that waits."""
    not_waiting = sa.or_(t.runs.c.due_at.is_(None), t.runs.c.due_at <= now)
    waits_before = sa.exists().where(
        _EARLIER.c.desk == t.runs.c.desk,
        _EARLIER.c.conversation == t.runs.c.conversation,
        _EARLIER.c.position < t.runs.c.position,
        _EARLIER.c.status == RunStatus.QUEUED,
        _EARLIER.c.due_at > now,
    )
    return not_waiting, ~waits_before


class SqlWaitingRuns(SqlDesk):
    """What a store says about runs whose model is away."""

    async def waiting(self, now: float) -> set[str]:
        query = sa.select(t.runs.c.id).where(*self._waiting(), t.runs.c.due_at > now)
        return await self._database.read_core(lambda core: set(core.execute(query).scalars()))

    async def wake_waiting(self, model: str, now: float) -> int:
        due = t.runs.update().where(
            *self._waiting(), t.runs.c.waits_for == model, t.runs.c.due_at > now
        )
        return await self._database.write_core(
            lambda core: core.execute(due.values(due_at=now)).rowcount
        )

    async def models_away(self) -> list[AwayModel]:
        return await plain_reads.models_away(self._database.ask, self.desk)

    def _waiting(self) -> tuple[sa.ColumnElement[bool], ...]:
        return (
            t.runs.c.desk == self.desk,
            t.runs.c.due_at.is_not(None),
            t.runs.c.status == RunStatus.QUEUED,
        )
