"""The effect ledger on PostgreSQL: intentions and outcomes, many of a kind in a few statements."""

from collections.abc import Sequence
from typing import Any

from deskhand.adapters.stores.postgres_database import Connection
from deskhand.adapters.stores.postgres_rows import Intention, Settlement, columns_of
from deskhand.adapters.stores.postgres_statements import state_late_on_postgres
from deskhand.adapters.stores.postgres_writes import not_ours
from deskhand.adapters.stores.rows import unpack
from deskhand.adapters.stores.totals import count_on_postgres, counts_of
from deskhand.errors import EffectRefused, NotFound
from deskhand.model.run import Effect, EffectKey, EffectState

_INTEND = """
WITH owned AS (
  SELECT r.position, u.*
  FROM unnest(
      $1::text[], $2::text[], $3::text[], $4::int[], $5::int[], $6::text[], $7::text[],
      $8::float8[])
    AS u(id, desk, owner, seq, call, tool, hash, now)
  JOIN runs r ON r.id = u.id AND r.desk = u.desk AND r.owner = u.owner AND r.status = 'running'
  FOR SHARE OF r
), written AS (
  INSERT INTO effects(run, seq, call, desk, tool, call_hash, state, created_at, updated_at)
  SELECT position, seq, call, desk, tool, hash, 'intended', now, now FROM owned
  ON CONFLICT DO NOTHING
  RETURNING run, seq, call, tool, call_hash, state, result, created_at, updated_at
)
SELECT o.id, o.seq, o.call, w.tool, w.call_hash, w.state, w.result, w.created_at, w.updated_at
FROM owned o JOIN written w ON w.run = o.position AND w.seq = o.seq AND w.call = o.call
UNION ALL
SELECT o.id, o.seq, o.call, e.tool, e.call_hash, e.state, e.result, e.created_at, e.updated_at
FROM owned o JOIN effects e ON e.run = o.position AND e.seq = o.seq AND e.call = o.call
"""

_RECORD_COUNTS = """
INSERT INTO effect_counts(run, seq, call, desk, tool, at, body)
SELECT r.position, u.seq, u.call, u.desk, u.tool, u.now, u.body
FROM unnest(
    $1::text[], $2::text[], $3::int[], $4::int[], $5::text[], $6::float8[], $7::text[])
  AS u(id, desk, seq, call, tool, now, body)
JOIN runs r ON r.id = u.id AND r.desk = u.desk
"""

_ALREADY = """
SELECT u.n FROM unnest($1::text[], $2::text[], $3::text[], $4::int[], $5::int[])
  WITH ORDINALITY AS u(id, desk, owner, seq, call, n)
LEFT JOIN runs r ON r.id = u.id AND r.desk = u.desk AND r.owner = u.owner AND r.status = 'running'
LEFT JOIN effects e ON e.run = r.position AND e.seq = u.seq AND e.call = u.call
WHERE r.id IS NULL OR e.run IS NOT NULL
"""


async def intend(
    connection: Connection, intentions: Sequence[Intention]
) -> list[Effect | Exception]:
    """Each effect as it is recorded: as intended now, or as it was intended before.

    Only the owner of a run writes its effects, so one that is not there yet is new when it is
    written here.
    """
    refusals = await _count(connection, intentions)
    admitted = [
        intention.effect for number, intention in enumerate(intentions) if number not in refusals
    ]
    rows = await connection.fetch(_INTEND, *columns_of(admitted)) if admitted else []
    recorded = {(row["id"], row["seq"], row["call"]): row for row in rows}

    results: list[Effect | Exception] = []
    for number, intention in enumerate(intentions):
        effect = intention.effect
        row = recorded.get((effect.run_id, effect.seq, effect.call))
        if number in refusals:
            results.append(refusals[number])
        elif row is None:
            results.append(not_ours(effect.run_id))
        else:
            results.append(_effect(row))
    return results


async def _count(
    connection: Connection, intentions: Sequence[Intention]
) -> dict[int, EffectRefused]:
    """Add new effects to the totals; returns the refused ones, by their place in the batch."""
    if all(intention.counted is None for intention in intentions):
        return {}
    keys = [
        (effect.run_id, effect.desk, effect.owner, effect.seq, effect.call)
        for effect, _ in intentions
    ]
    rows = await connection.fetch(_ALREADY, *columns_of(keys))
    already = {row["n"] - 1 for row in rows}

    numbers: list[int] = []
    wanted = []
    for number, (effect, counted) in enumerate(intentions):
        if counted is not None and number not in already:
            numbers.append(number)
            wanted.append((effect.desk, effect.tool, counted))
    outcomes = await count_on_postgres(connection, wanted) if wanted else []
    refusals: dict[int, EffectRefused] = {}
    counts = []
    for number, refusal in zip(numbers, outcomes, strict=True):
        effect, counted = intentions[number]
        if refusal is not None:
            refusals[number] = refusal
        elif counted is not None:
            key = (effect.run_id, effect.desk, effect.seq, effect.call)
            counts.append((*key, effect.tool, effect.now, counts_of(counted)))
    if counts:
        await connection.execute(_RECORD_COUNTS, *columns_of(counts))
    return refusals


def _effect(row: Any) -> Effect:
    return Effect(
        EffectKey(row["id"], row["seq"], row["call"]),
        row["tool"],
        row["call_hash"],
        EffectState(row["state"]),
        unpack(row["result"]),
        row["created_at"],
        row["updated_at"],
    )


_SETTLE = """
UPDATE effects e SET state = u.state, result = u.result, updated_at = u.now
FROM unnest($1::text[], $2::text[], $3::int[], $4::int[], $5::text[], $6::bytea[], $7::float8[])
  AS u(id, desk, seq, call, state, result, now)
JOIN runs r ON r.id = u.id AND r.desk = u.desk
WHERE e.run = r.position AND e.seq = u.seq AND e.call = u.call
RETURNING u.id, u.seq, u.call
"""


async def settle(
    connection: Connection, settlements: Sequence[Settlement]
) -> list[Exception | None]:
    rows = await connection.fetch(_SETTLE, *columns_of(settlements))
    run_ids = (effect.run_id for effect in settlements)
    await state_late_on_postgres(connection, run_ids, settlements[0].now)
    settled = {(row["id"], row["seq"], row["call"]) for row in rows}
    results: list[Exception | None] = []
    for effect in settlements:
        if (effect.run_id, effect.seq, effect.call) in settled:
            results.append(None)
        else:
            results.append(NotFound(f"no effect of {effect.run_id} was intended"))
    return results
