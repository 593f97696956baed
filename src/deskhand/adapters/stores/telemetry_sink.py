"""Telemetry as rows of a database: each event once, however often it is told."""

import json
from collections.abc import Sequence
from functools import cache
from typing import Any

import sqlalchemy as sa
from pydantic_core import to_json

from deskhand.adapters.stores import tables as t
from deskhand.adapters.stores.core_database import CoreDatabase
from deskhand.model.telemetry import TelemetryEvent, TelemetryLevel, TelemetryStage

_EVENTS = t.telemetry_events.c
Values = tuple[str | int | None, ...]
_COLUMNS = tuple(column.name for column in t.telemetry_events.columns)


class SqlSink:
    """Keeps the events of one desk in the table `telemetry_events`."""

    def __init__(self, database: CoreDatabase, desk: str) -> None:
        self._database = database
        self.desk = desk

    async def record(self, *events: TelemetryEvent) -> None:
        if events:
            await self._database.write_core(lambda core: self._insert(core, events))

    def _insert(self, core: sa.Connection, events: Sequence[TelemetryEvent]) -> None:
        runs = {event.run_id for event in events}
        of_runs = sa.select(_EVENTS.id).where(_EVENTS.desk == self.desk, _EVENTS.run_id.in_(runs))
        known = set(core.execute(of_runs).scalars())
        last = sa.select(sa.func.max(_EVENTS.position)).where(_EVENTS.desk == self.desk)
        position = core.execute(last).scalar() or 0
        new: list[Values] = []
        for event in events:
            if event.id not in known:
                known.add(event.id)
                position += 1
                new.append(self._row(event, position))
        if new:
            _write(core, new)

    def _row(self, event: TelemetryEvent, position: int) -> Values:
        """The values of a row, in the order of the table's columns."""
        return (
            self.desk,
            event.id,
            position,
            event.run_id,
            event.timestamp,
            event.interaction_id,
            event.session_id,
            event.stage.value,
            event.level.value,
            event.intent_id,
            to_json(dict(event.payload)).decode(),
        )

    async def events(
        self, *, session: str | None = None, after: int = 0, limit: int = 1000
    ) -> list[TelemetryEvent]:
        """What is kept, in the order in which it was told."""
        query = (
            sa.select(t.telemetry_events)
            .where(_EVENTS.desk == self.desk, _EVENTS.position > after)
            .order_by(_EVENTS.position)
            .limit(limit)
        )
        if session is not None:
            query = query.where(_EVENTS.session_id == session)
        return await self._database.read_core(
            lambda core: [_event_of(row) for row in core.execute(query)]
        )


@cache
def _positional_insert(dialect: sa.Dialect) -> str:
    """The statement whose values stand in the order of the columns."""
    return str(t.telemetry_events.insert().compile(dialect=dialect))


def _write(core: sa.Connection, rows: list[Values]) -> None:
    """One statement for all rows. SQLite is given their values as they are: making and unmaking a
    mapping for each takes as long as SQLite does."""
    if core.dialect.name == "sqlite":
        core.exec_driver_sql(_positional_insert(core.dialect), rows)
        return
    named = [dict(zip(_COLUMNS, values, strict=True)) for values in rows]
    core.execute(t.telemetry_events.insert(), named)


def _event_of(row: sa.Row[Any]) -> TelemetryEvent:
    return TelemetryEvent(
        timestamp=row.timestamp,
        interaction_id=row.interaction_id,
        session_id=row.session_id,
        stage=TelemetryStage(row.stage),
        level=TelemetryLevel(row.level),
        payload=json.loads(row.payload),
        id=row.id,
        run_id=row.run_id,
    )
