"""Records that belong to a desk, or to a whole database, and to no run: what their digests are made
of."""

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from deskhand.adapters.stores import tables as t

LATER_COLUMNS = {t.llm_calls.name: 2}
"""By table, how many of its last columns came when statements covered it already (migration
0050). They are empty in the rows of before, and never in others."""


def as_stated(values: list[Any], later: int) -> list[Any]:
    """What a record's digest is made of. One that has none of the later columns was stated
    without them."""
    if later and values[-later:] == [None] * later:
        return values[:-later]
    return values


def values_of(
    core: sa.Connection, desk: str, table: sa.Table, key: Sequence[Any]
) -> list[Any] | None:
    """What a record of a desk is now; None where it is gone."""
    if table is t.ticket_events:
        return _events_of_tickets(core, desk, key[0]).get(key[0])
    same = [column == value for column, value in zip(table.primary_key.columns, key, strict=True)]
    row = core.execute(sa.select(table).where(*same)).first()
    return None if row is None else as_stated(list(row), LATER_COLUMNS.get(table.name, 0))


def _events_of_tickets(
    core: sa.Connection, desk: str, ticket: str | None = None
) -> dict[str, list[Any]]:
    """The events of each ticket of a desk, or of one, in their order."""
    here = t.ticket_events.c
    query = sa.select(t.ticket_events).where(here.desk == desk)
    if ticket is not None:
        query = query.where(here.ticket == ticket)
    events: dict[str, list[Any]] = {}
    for row in core.execute(query.order_by(here.ticket, here.number)):
        events.setdefault(row.ticket, []).append(list(row))
    return events


def desk_record_name(table: sa.Table, key: Sequence[Any]) -> str:
    return f"{table.name} {'/'.join(map(str, key))}"


def rows_as_stated(
    core: sa.Connection, table: sa.Table, *which: sa.ColumnElement[bool]
) -> dict[str, list[Any]]:
    """Rows of a table as records that belong to no run, each by its name."""
    keys = [column.name for column in table.primary_key.columns]
    later = LATER_COLUMNS.get(table.name, 0)
    records: dict[str, list[Any]] = {}
    for row in core.execute(sa.select(table).where(*which)):
        key = [getattr(row, name) for name in keys]
        records[desk_record_name(table, key)] = as_stated(list(row), later)
    return records


_DESKS_OWN = (t.events, t.llm_calls, t.mode_changes, t.stops)


def read_desk_records(core: sa.Connection, desk: str) -> dict[str, list[Any]]:
    """The records that belong to the desk and to no run, as they are."""
    records: dict[str, list[Any]] = {}
    for table in _DESKS_OWN:
        own = [table.c.desk == desk]
        if "run_id" in table.c:
            own.append(table.c.run_id.is_(None))
        records |= rows_as_stated(core, table, *own)
    for ticket, events in _events_of_tickets(core, desk).items():
        records[desk_record_name(t.ticket_events, [ticket])] = events
    return records
