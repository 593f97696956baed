"""The hot path on PostgreSQL: many writes of one kind in a few statements, one result for each."""

from collections.abc import Sequence
from typing import Any

from deskhand.adapters.stores.postgres_database import Connection
from deskhand.adapters.stores.rows import unpack
from deskhand.adapters.stores.totals import count_on_postgres
from deskhand.errors import EffectRefused, Fenced, NotFound
from deskhand.model.run import Accepted, Claimed, Effect, EffectKey, EffectState, Run, RunStatus


def _columns(values: Sequence[Sequence[Any]]) -> list[list[Any]]:
    return [list(column) for column in zip(*values, strict=True)]


async def accept(connection: Connection, values: Sequence[Any]) -> Sequence[Any]:
    """(id, desk, message_key, conversation, flow, now, sender, body, salt, digest)"""
    columns = _columns(values)
    inserted = await connection.fetch(
        "INSERT INTO runs(id, desk, message_key, conversation, flow, status, crashes, created_at,"
        " updated_at) SELECT u.id, u.desk, u.key, u.conversation, u.flow, 'queued', 0, u.now, u.now"
        " FROM unnest($1::text[], $2::text[], $3::bytea[], $4::text[], $5::text[], $6::float8[])"
        " WITH ORDINALITY AS u(id, desk, key, conversation, flow, now, n) ORDER BY u.n ON CONFLICT"
        " (desk, message_key) DO NOTHING RETURNING id, position",
        *columns[:6],
    )
    positions = {row["id"]: row["position"] for row in inserted}
    fresh = [value for value in values if value[0] in positions]
    if fresh:
        rows = [(positions[value[0]], value[1], *value[6:]) for value in fresh]
        await connection.execute(
            "INSERT INTO messages(run, desk, sender, body, salt, body_digest) SELECT * FROM"
            " unnest($1::bigint[], $2::text[], $3::text[], $4::bytea[], $5::bytea[], $6::bytea[])",
            *_columns(rows),
        )
        await _supersede_drafts(connection, fresh)
    known = await _known(connection, [value for value in values if value[0] not in positions])
    return [
        (
            Accepted(value[0], duplicate=False)
            if value[0] in positions
            else Accepted(known[value[1], bytes(value[2])], duplicate=True)
        )
        for value in values
    ]


async def _known(connection: Connection, values: Sequence[Any]) -> dict[tuple[str, bytes], str]:
    if not values:
        return {}
    rows = await connection.fetch(
        "SELECT r.id, r.desk, r.message_key FROM runs r JOIN unnest($1::text[], $2::bytea[]) AS"
        " u(desk, key) ON r.desk = u.desk AND r.message_key = u.key",
        [value[1] for value in values],
        [value[2] for value in values],
    )
    return {(row["desk"], bytes(row["message_key"])): row["id"] for row in rows}


async def _supersede_drafts(connection: Connection, fresh: Sequence[Any]) -> None:
    """A newer message of the same sender makes a draft that waits for approval stale; the new run
    answers both.

    Somebody else who writes into the conversation is never answered what another one asked.
    """
    stale = await connection.fetch(
        "UPDATE reviews v SET state = 'stale', version = v.version + 1 FROM unnest($1::text[],"
        " $2::text[], $3::text[]) AS u(desk, conversation, sender), messages m WHERE v.desk ="
        " u.desk AND v.conversation = u.conversation AND v.state = 'open' AND v.kind = 'reply' AND"
        " m.run = v.run AND m.sender = u.sender RETURNING v.run, v.desk, v.conversation, m.sender",
        [value[1] for value in fresh],
        [value[3] for value in fresh],
        [value[6] for value in fresh],
    )
    successors = {(value[1], value[3], value[6]): (value[0], value[5]) for value in reversed(fresh)}
    for row in stale:
        successor, now = successors[row["desk"], row["conversation"], row["sender"]]
        await connection.execute(
            "UPDATE runs SET status = 'done', reason = 'a newer message is answered together with"
            " this one', successor = $1, updated_at = $2 WHERE position = $3 AND status ="
            " 'waiting_review'",
            successor,
            now,
            row["run"],
        )


_CLAIM = """
WITH wanted AS (
  SELECT u.id, u.desk, u.owner, u.versions::jsonb AS versions, u.now, u.in_order, u.max_crashes
  FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::float8[], $6::bool[], $7::int[])
    AS u(id, desk, owner, versions, now, in_order, max_crashes)
), old AS (
  SELECT r.*, w.owner AS new_owner, w.versions, w.now FROM runs r JOIN wanted w ON r.id = w.id AND r.desk = w.desk
  WHERE (r.status = 'queued' OR (r.status = 'running' AND r.owner = w.owner)) AND r.crashes <= w.max_crashes
    AND (NOT w.in_order OR NOT EXISTS(
      SELECT 1 FROM runs e WHERE e.conversation = r.conversation AND e.desk = r.desk AND e.position < r.position
        AND e.status IN ('queued', 'running')))
  ORDER BY r.position FOR UPDATE OF r
), taken AS (
  UPDATE runs r SET status = 'running', owner = old.new_owner, updated_at = old.now,
    flow_version = coalesce(old.versions ->> old.flow, '')
  FROM old WHERE r.position = old.position
)
SELECT o.id, o.desk, o.position, o.message_key, o.conversation, o.flow, o.status, o.reason, o.error_code, o.owner,
  o.crashes, o.flow_version, o.successor, o.created_at, o.updated_at, m.body, m.body_digest,
  EXISTS(SELECT 1 FROM runs w WHERE w.conversation = o.conversation AND w.desk = o.desk AND w.status = 'waiting_user'),
  EXISTS(SELECT 1 FROM runs s WHERE s.conversation = o.conversation AND s.desk = o.desk AND s.successor = o.id),
  (SELECT taken_over_by FROM conversations c WHERE c.desk = o.desk AND c.id = o.conversation)
FROM old o JOIN messages m ON m.run = o.position
"""  # noqa: E501


async def claim(connection: Connection, values: Sequence[Any]) -> Sequence[Any]:
    """(id, desk, owner, versions as JSON, now, in_order, max_crashes, leased)

    In order: a run that another active one of its conversation goes before is not given.
    """
    if leased := {value[1] for value in values if value[7]}:
        rows = await connection.fetch(
            "SELECT name, owner FROM leases WHERE name = ANY($1)", list(leased)
        )
        held = {row["name"]: row["owner"] for row in rows}
        if any(value[7] and value[2] != held.get(value[1]) for value in values):
            return [Fenced("another process serves this desk now")] * len(values)
    rows = await connection.fetch(_CLAIM, *_columns([value[:7] for value in values]))
    taken = {row[0]: _claimed(row) for row in rows}
    missing = [value[0] for value in values if value[0] not in taken]
    known = (
        {
            row[0]
            for row in await connection.fetch("SELECT id FROM runs WHERE id = ANY($1)", missing)
        }
        if missing
        else set()
    )
    return [
        (
            taken.get(value[0])
            if value[0] in taken or value[0] in known
            else NotFound(f"there is no run {value[0]}")
        )
        for value in values
    ]


def _claimed(row: Any) -> Claimed:
    values = list(row)
    values[3], values[6] = bytes(values[3]).hex(), RunStatus(values[6])
    body = None if values[15] is None else bytes(values[15])
    return Claimed(Run(*values[:15]), body, bytes(values[16]), *values[17:20])


_APPEND = """
INSERT INTO steps(run, seq, name, attempt, outcome, flow_version, started_at, latency_ms, body, salt, body_digest,
  chain, desk)
SELECT r.position, u.seq, u.name, u.attempt, u.outcome, u.version, u.started, u.latency, u.body, u.salt, u.digest,
  u.chain, u.desk
FROM unnest($1::text[], $2::text[], $3::text[], $4::int[], $5::text[], $6::int[], $7::text[], $8::text[], $9::float8[],
    $10::float8[], $11::bytea[], $12::bytea[], $13::bytea[], $14::bytea[])
  AS u(id, desk, owner, seq, name, attempt, outcome, version, started, latency, body, salt, digest, chain)
JOIN runs r ON r.id = u.id AND r.desk = u.desk AND r.owner = u.owner AND r.status = 'running' FOR SHARE OF r
ON CONFLICT (run, seq) DO NOTHING RETURNING seq, chain
"""  # noqa: E501


async def append(connection: Connection, values: Sequence[Any]) -> Sequence[Any]:
    """(run, desk, owner, seq, name, attempt, outcome, version, started_at, latency_ms, body, salt,
    digest, chain)

    The run's row is locked while its step is written: a new owner either waits for this row or has
    fenced it off.
    """
    rows = await connection.fetch(_APPEND, *_columns(values))
    written = {(row["seq"], bytes(row["chain"])) for row in rows}
    return [
        (
            None
            if (value[3], value[13]) in written
            else Fenced(
                f"run {value[0]} is not ours any more, or its step {value[3]} is already written"
            )
        )
        for value in values
    ]


_FINISH = """
UPDATE runs r SET status = u.status, reason = u.reason, error_code = u.code, owner = NULL, updated_at = u.now
FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::float8[])
  AS u(id, desk, owner, status, reason, code, now)
WHERE r.id = u.id AND r.desk = u.desk AND r.owner = u.owner AND r.status = 'running'
RETURNING r.id, r.position, r.conversation
"""  # noqa: E501


async def finish(connection: Connection, values: Sequence[Any]) -> Sequence[Any]:
    """(id, desk, owner, status, reason, error_code, now, review values or None, values of its
    last rows)"""
    steps = [step for value in values for step in value[8]]
    written = await append(connection, steps) if steps else ()
    lost = {step[0] for step, fenced in zip(steps, written, strict=True) if fenced is not None}
    going = [value[:7] for value in values if value[0] not in lost]
    rows = await connection.fetch(_FINISH, *_columns(going)) if going else []
    ended = {row["id"]: row for row in rows}
    for value in values:
        if value[7] is not None and value[0] in ended:
            await connection.execute(
                "INSERT INTO reviews(id, desk, kind, reason, payload, payload_hash, seq,"
                " created_at, expires_at, fallback, causes, facts, run, conversation, state,"
                " version) VALUES($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13,$14,'open',1)",
                *value[7],
                ended[value[0]]["position"],
                ended[value[0]]["conversation"],
            )
    return [
        None if value[0] in ended else Fenced(f"run {value[0]} is not ours any more")
        for value in values
    ]


_RELEASE = """
UPDATE runs r SET status = 'queued', owner = NULL
FROM unnest($1::text[], $2::text[], $3::text[]) AS u(id, desk, owner)
WHERE r.id = u.id AND r.desk = u.desk AND r.owner = u.owner AND r.status = 'running'
"""


async def release(connection: Connection, values: Sequence[Any]) -> Sequence[Any]:
    """(id, desk, owner)"""
    await connection.execute(_RELEASE, *_columns(values))
    return [None] * len(values)


_INTEND = """
WITH owned AS (
  SELECT r.position, u.*
  FROM unnest($1::text[], $2::text[], $3::text[], $4::int[], $5::int[], $6::text[], $7::text[], $8::float8[])
    AS u(id, desk, owner, seq, call, tool, hash, now)
  JOIN runs r ON r.id = u.id AND r.desk = u.desk AND r.owner = u.owner AND r.status = 'running' FOR SHARE OF r
), written AS (
  INSERT INTO effects(run, seq, call, desk, tool, call_hash, state, created_at, updated_at)
  SELECT position, seq, call, desk, tool, hash, 'intended', now, now FROM owned
  ON CONFLICT DO NOTHING RETURNING run, seq, call, tool, call_hash, state, result, created_at, updated_at
)
SELECT o.id, o.seq, o.call, w.tool, w.call_hash, w.state, w.result, w.created_at, w.updated_at
FROM owned o JOIN written w ON w.run = o.position AND w.seq = o.seq AND w.call = o.call
UNION ALL
SELECT o.id, o.seq, o.call, e.tool, e.call_hash, e.state, e.result, e.created_at, e.updated_at
FROM owned o JOIN effects e ON e.run = o.position AND e.seq = o.seq AND e.call = o.call
"""  # noqa: E501


_ALREADY = """
SELECT u.n FROM unnest($1::text[], $2::text[], $3::text[], $4::int[], $5::int[])
  WITH ORDINALITY AS u(id, desk, owner, seq, call, n)
LEFT JOIN runs r ON r.id = u.id AND r.desk = u.desk AND r.owner = u.owner AND r.status = 'running'
LEFT JOIN effects e ON e.run = r.position AND e.seq = u.seq AND e.call = u.call
WHERE r.id IS NULL OR e.run IS NOT NULL
"""


async def intend(connection: Connection, values: Sequence[Any]) -> Sequence[Any]:
    """(run_id, desk, owner, seq, index, tool, call_hash, now, counted or None)

    Only the owner of a run writes its effects, so one that is not there yet is new when it is
    written below.
    """
    refused = await _counted(connection, values)
    going = [value[:8] for number, value in enumerate(values) if number not in refused]
    rows = await connection.fetch(_INTEND, *_columns(going)) if going else []
    known = {(row[0], row[1], row[2]): row for row in rows}
    return [
        (
            refused[number]
            if number in refused
            else (
                _effect(known[value[0], value[3], value[4]])
                if (value[0], value[3], value[4]) in known
                else Fenced(f"run {value[0]} is not ours any more")
            )
        )
        for number, value in enumerate(values)
    ]


async def _counted(connection: Connection, values: Sequence[Any]) -> dict[int, EffectRefused]:
    """Those that may not be written; all others that are new are in the totals."""
    if not any(value[8] is not None for value in values):
        return {}
    already = {
        row["n"] - 1
        for row in await connection.fetch(_ALREADY, *_columns([value[:5] for value in values]))
    }
    new = [
        number
        for number, value in enumerate(values)
        if value[8] is not None and number not in already
    ]
    wanted = [(values[number][1], values[number][5], values[number][8]) for number in new]
    answers = await count_on_postgres(connection, wanted) if wanted else []
    return {
        number: answer for number, answer in zip(new, answers, strict=True) if answer is not None
    }


def _effect(row: Any) -> Effect:
    key = EffectKey(row[0], row[1], row[2])
    return Effect(key, row[3], row[4], EffectState(row[5]), unpack(row[6]), row[7], row[8])


_SETTLE = """
UPDATE effects e SET state = u.state, result = u.result, updated_at = u.now
FROM unnest($1::text[], $2::text[], $3::int[], $4::int[], $5::text[], $6::bytea[], $7::float8[])
  AS u(id, desk, seq, call, state, result, now)
JOIN runs r ON r.id = u.id AND r.desk = u.desk
WHERE e.run = r.position AND e.seq = u.seq AND e.call = u.call RETURNING u.id, u.seq, u.call
"""


async def settle(connection: Connection, values: Sequence[Any]) -> Sequence[Any]:
    """(run_id, desk, seq, index, state, result, now)"""
    rows = await connection.fetch(_SETTLE, *_columns(values))
    settled = {(row[0], row[1], row[2]) for row in rows}
    return [
        (
            None
            if (value[0], value[2], value[3]) in settled
            else NotFound(f"no effect of {value[0]} was intended")
        )
        for value in values
    ]


async def record_call(connection: Connection, values: Sequence[Any]) -> Sequence[Any]:
    """(desk, run_id, stage, call_type, model, digest, prompt_tokens, completion_tokens, cost,
    latency, error, at)"""
    await connection.execute(
        "INSERT INTO llm_calls(desk, run_id, stage, call_type, model, request_digest,"
        " prompt_tokens, completion_tokens, cost, latency_ms, error, at, answer) SELECT * FROM"
        " unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::int[],"
        " $8::int[], $9::float8[], $10::float8[], $11::text[], $12::float8[], $13::bytea[])",
        *_columns(values),
    )
    return [None] * len(values)
