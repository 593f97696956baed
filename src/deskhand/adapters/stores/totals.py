"""Totals of effects and the stop switch, in the transaction that writes an intention."""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from functools import lru_cache
from hashlib import sha256
from itertools import chain
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from deskhand.adapters.stores import tables as t
from deskhand.adapters.stores.review_decisions import record_event, release_stopped
from deskhand.adapters.stores.statements import mark_record
from deskhand.crashpoints import crash_point
from deskhand.errors import EffectRefused
from deskhand.model.totals import CountedEffect, Stop, Sums, objection_to

if TYPE_CHECKING:  # SQLite does without the driver, which takes long to import
    from deskhand.adapters.stores.postgres_database import Connection

_Row = tuple[str, str, str, str, str, str, int]
"""desk, scope, name, day, tool, unit, amount"""


def name_digest(name: str) -> str:
    """A conversation or a principal without its name: totals need to tell them apart, not to
    know them."""
    return sha256(name.encode()).hexdigest()[:32] if name else ""


def refusal(
    stop: Stop | None, sums: Sums, tool: str, counted: CountedEffect
) -> EffectRefused | None:
    """What stands in the way of one more effect."""
    objection = objection_to(stop, sums, tool, counted)
    if objection is None:
        return None
    return EffectRefused(objection.rule, objection.reason, liftable=objection.liftable)


def counts_of(counted: CountedEffect) -> str:
    """What an effect adds, as it is recorded with the effect."""
    rows: list[tuple[str, str, str, str, int]] = []
    for scope, (name, day) in counted.places.items():
        digest = name_digest(name)
        rows += [(scope, digest, day, unit, amount) for unit, amount in counted.units.items()]
    return json.dumps(rows)


def added(desk: str, tool: str, counted: CountedEffect) -> Iterator[_Row]:
    for scope, (name, day) in counted.places.items():
        digest = name_digest(name)
        for unit, amount in counted.units.items():
            yield desk, scope, digest, day, tool, unit, amount


# --- SQLite: one writer, so what is read here is what is written on


def count_on_sqlite(raw: sqlite3.Connection, desk: str, tool: str, counted: CountedEffect) -> None:
    """EffectRefused undoes the intention that was written before it in the same operation."""
    stop = raw.execute('SELECT "by", reason, at FROM stops WHERE desk=?', (desk,)).fetchone()
    sums = Sums()
    if counted.limits:
        places: list[str] = []
        for scope, (name, day) in counted.places.items():
            places += (desk, scope, name_digest(name), day)
        rows = raw.execute(_sums_of(len(counted.places)), places)
        sums.rows |= {(scope, of, unit): amount for scope, of, unit, amount in rows}
    refused = refusal(Stop(*stop) if stop else None, sums, tool, counted)
    if refused is not None:
        raise refused
    grown = list(added(desk, tool, counted))
    raw.execute(_grow(len(grown)), list(chain.from_iterable(grown)))
    crash_point("totals.after_count")


@lru_cache(maxsize=16)
def _sums_of(places: int) -> str:
    """The totals of so many places in one statement, each found by its key."""
    of_place = (
        "SELECT scope, tool, unit, amount FROM totals WHERE desk=? AND scope=? AND name=? AND day=?"
    )
    return " UNION ALL ".join([of_place] * places)


@lru_cache(maxsize=64)
def _grow(rows: int) -> str:
    """So many totals in one statement: each by itself would give the interpreter up once more."""
    insert = "INSERT INTO totals(desk, scope, name, day, tool, unit, amount) VALUES "
    grow = (
        " ON CONFLICT(desk, scope, name, day, tool, unit)"
        " DO UPDATE SET amount = totals.amount + excluded.amount"
    )
    return insert + ", ".join(["(?,?,?,?,?,?,?)"] * rows) + grow


# --- PostgreSQL: many workers, so one at a time a desk

_LOCK = "SELECT pg_advisory_xact_lock(hashtextextended('deskhand totals ' || $1, 0))"
_GROW = """
INSERT INTO totals(desk, scope, name, day, tool, unit, amount)
SELECT * FROM unnest(
  $1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[])
ON CONFLICT (desk, scope, name, day, tool, unit)
DO UPDATE SET amount = totals.amount + excluded.amount
"""
_READ = """
SELECT t.scope, t.name, t.day, t.tool, t.unit, t.amount FROM totals t
JOIN unnest($2::text[], $3::text[], $4::text[]) AS u(scope, name, day)
  ON t.scope = u.scope AND t.name = u.name AND t.day = u.day
WHERE t.desk = $1
"""


async def count_on_postgres(
    connection: "Connection", wanted: Sequence[tuple[str, str, CountedEffect]]
) -> list[EffectRefused | None]:
    """(desk, tool, counted) of effects that are new: who may go on, in order, the totals grown by
    those who may.

    The lock is kept until the transaction ends, so that nobody else counts on totals that are about
    to grow.
    """
    refused: dict[int, EffectRefused | None] = {}
    rows: dict[tuple[str, str, str, str, str, str], int] = {}
    for desk in sorted({desk for desk, _, _ in wanted}):
        await connection.execute(_LOCK, desk)
        stop = await connection.fetchrow('SELECT "by", reason, at FROM stops WHERE desk = $1', desk)
        own = [
            (number, tool, counted)
            for number, (of, tool, counted) in enumerate(wanted)
            if of == desk
        ]
        amounts = await _read_amounts(
            connection, desk, [counted for _, _, counted in own if counted.limits]
        )
        for number, tool, counted in own:
            sums = Sums(
                {
                    key: amount
                    for place in _keys(counted)
                    for key, amount in amounts.get(place, {}).items()
                }
            )
            refused[number] = refusal(Stop(*stop) if stop else None, sums, tool, counted)
            if refused[number] is None:
                for _, scope, name, day, _, unit, amount in added(desk, tool, counted):
                    row = (desk, scope, name, day, tool, unit)
                    rows[row] = rows.get(row, 0) + amount
                    place = (scope, name, day)
                    if place in amounts:
                        grown = amounts[place]
                        key = (scope, tool, unit)
                        grown[key] = grown.get(key, 0) + amount
    if rows:
        columns = zip(*((*key, amount) for key, amount in sorted(rows.items())), strict=True)
        await connection.execute(_GROW, *(list(column) for column in columns))
        crash_point("totals.after_count")
    return [refused[number] for number in range(len(wanted))]


def _keys(counted: CountedEffect) -> list[tuple[str, str, str]]:
    return [(scope, name_digest(name), day) for scope, (name, day) in counted.places.items()]


async def _read_amounts(
    connection: "Connection", desk: str, limited: Sequence[CountedEffect]
) -> dict[tuple[str, str, str], dict[Any, int]]:
    places = sorted({place for counted in limited for place in _keys(counted)})
    if not places:
        return {}
    amounts: dict[tuple[str, str, str], dict[Any, int]] = {place: {} for place in places}
    for row in await connection.fetch(
        _READ, desk, *(list(column) for column in zip(*places, strict=True))
    ):
        amounts[row["scope"], row["name"], row["day"]][row["scope"], row["tool"], row["unit"]] = (
            row["amount"]
        )
    return amounts


# --- the same on both


TOTALS_AT = sa.select(t.totals.c.tool, t.totals.c.unit, t.totals.c.amount).where(
    t.totals.c.desk == sa.bindparam("desk"),
    t.totals.c.scope == sa.bindparam("scope"),
    t.totals.c.name == sa.bindparam("name"),
    t.totals.c.day == sa.bindparam("day"),
)
"""Asked about every effect, so it is put together once."""


def read_stop(core: sa.Connection, desk: str) -> Stop | None:
    row = core.execute(
        sa.select(t.stops.c.by, t.stops.c.reason, t.stops.c.at).where(t.stops.c.desk == desk)
    ).first()
    return None if row is None else Stop(*row)


def stop_desk(core: sa.Connection, desk: str, by: str, reason: str, now: float) -> Stop:
    stop = read_stop(core, desk)
    if stop is not None:
        return stop
    core.execute(t.stops.insert().values(desk=desk, by=by, reason=reason, at=now))
    mark_record(core, desk, t.stops, desk)
    record_event(core, desk, "desk.stopped", None, by, {"reason": reason}, now)
    return Stop(by, reason, now)


def resume_desk(core: sa.Connection, desk: str, by: str, now: float) -> int:
    if core.execute(t.stops.delete().where(t.stops.c.desk == desk)).rowcount == 0:
        return 0
    mark_record(core, desk, t.stops, desk)
    record_event(core, desk, "desk.resumed", None, by, {}, now)
    return release_stopped(core, desk, by, now)
