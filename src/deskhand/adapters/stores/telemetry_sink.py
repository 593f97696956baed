"""Telemetry as rows of a database: each event once, however often it is told."""

import json
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

import sqlalchemy as sa
from pydantic_core import to_json

from deskhand.adapters.stores import tables as t
from deskhand.adapters.stores.core_database import CoreDatabase
from deskhand.model.telemetry import TelemetryEvent, TelemetryLevel, TelemetryStage

_EVENTS = t.telemetry_events.c
_DESK = _EVENTS.desk == sa.bindparam("desk")
_OF_RUNS = sa.select(_EVENTS.id).where(
    _DESK, _EVENTS.run_id.in_(sa.bindparam("runs", expanding=True))
)
_LAST = sa.select(sa.func.max(_EVENTS.position)).where(_DESK)
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
        runs = list({event.run_id for event in events})
        stored_ids = set(core.execute(_OF_RUNS, {"desk": self.desk, "runs": runs}).scalars())
        last = core.execute(_LAST, {"desk": self.desk}).scalar() or 0
        new: dict[str, TelemetryEvent] = {}
        for event in events:
            if event.id not in stored_ids:
                new.setdefault(event.id, event)
        if new:
            rows = _rows(self.desk, new.values(), last + 1)
            _write(core, rows)

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


def _rows(desk: str, events: Iterable[TelemetryEvent], first: int) -> list[Values]:
    """The values of each row, in the order of the table's columns.

    An event is taken apart at once: to ask it for each field by its name takes twice as long.
    """
    rows: list[Values] = []
    for position, event in enumerate(events, first):
        timestamp, interaction, session, stage, level, payload, event_id, run_id = event[:8]
        said = payload if isinstance(payload, dict) else dict(payload)
        row = (
            desk,
            event_id,
            position,
            run_id,
            timestamp,
            interaction,
            session,
            str(stage),
            str(level),
            event.intent_id,
            to_json(said).decode(),
        )
        rows.append(row)
    return rows


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
