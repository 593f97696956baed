"""The hot path on PostgreSQL: many writes of one kind in a few statements.

Every function takes all writes of its kind in a batch and returns one result, or one exception,
for each, in the same order.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from deskhand.adapters.stores.chat_answers import (
    HAND_OVER_ON_POSTGRES,
    JOIN_ON_POSTGRES,
    JOINED,
)
from deskhand.adapters.stores.postgres_database import Connection
from deskhand.adapters.stores.postgres_rows import (
    Acceptance,
    Claim,
    Finish,
    LlmCallRow,
    OwnedRun,
    ReviewRow,
    StepWrite,
    columns_of,
)
from deskhand.adapters.stores.postgres_statements import state_late_on_postgres, state_on_postgres
from deskhand.adapters.stores.review_texts import text_of
from deskhand.adapters.stores.rows import run_of
from deskhand.errors import Fenced, NotFound
from deskhand.model.run import Accepted, Claimed, ReviewKind

# --- accepting messages

_ACCEPT = """
INSERT INTO runs(
  id, desk, message_key, conversation, flow, status, crashes, created_at, updated_at)
SELECT u.id, u.desk, u.key, u.conversation, u.flow, 'queued', 0, u.now, u.now
FROM unnest($1::text[], $2::text[], $3::bytea[], $4::text[], $5::text[], $6::float8[])
  WITH ORDINALITY AS u(id, desk, key, conversation, flow, now, n)
ORDER BY u.n
ON CONFLICT (desk, message_key) DO NOTHING
RETURNING id, position
"""

_MESSAGES = """
INSERT INTO messages(run, desk, sender, body, salt, body_digest)
SELECT * FROM unnest(
  $1::bigint[], $2::text[], $3::text[], $4::bytea[], $5::bytea[], $6::bytea[])
"""

_DUPLICATES = """
SELECT r.id, r.desk, r.message_key
FROM runs r
JOIN unnest($1::text[], $2::bytea[]) AS u(desk, key)
  ON r.desk = u.desk AND r.message_key = u.key
"""


async def accept(
    connection: Connection, acceptances: Sequence[Acceptance]
) -> list[Accepted | Exception]:
    inserted = await connection.fetch(_ACCEPT, *columns_of(new.run for new in acceptances))
    positions = {row["id"]: row["position"] for row in inserted}

    fresh = [new for new in acceptances if new.run.id in positions]
    if fresh:
        messages = [new.message_at(positions[new.run.id]) for new in fresh]
        await connection.execute(_MESSAGES, *columns_of(messages))
        await _keep_files(connection, fresh, positions)
        await _supersede_drafts(connection, fresh)

    accepted: list[Accepted | Exception] = []
    earlier = await _accepted_before(
        connection, [new for new in acceptances if new.run.id not in positions]
    )
    for new in acceptances:
        if new.run.id in positions:
            accepted.append(Accepted(new.run.id, duplicate=False))
        else:
            run_id = earlier[new.run.desk, new.run.message_key]
            accepted.append(Accepted(run_id, duplicate=True))
    return accepted


_FILES = """
INSERT INTO attachments(run, desk, id, origin, number, name, type, size, digest, at, content)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
"""


async def _keep_files(
    connection: Connection, fresh: Sequence[Acceptance], positions: Mapping[str, int]
) -> None:
    rows = [(positions[new.run.id], new.run.desk, *file) for new in fresh for file in new.files]
    if rows:
        await connection.executemany(_FILES, rows)


async def _accepted_before(
    connection: Connection, duplicates: Sequence[Acceptance]
) -> dict[tuple[str, bytes], str]:
    """The runs that these messages gave when they first came, by desk and message key."""
    if not duplicates:
        return {}
    keys = [(duplicate.run.desk, duplicate.run.message_key) for duplicate in duplicates]
    rows = await connection.fetch(_DUPLICATES, *columns_of(keys))
    return {(row["desk"], bytes(row["message_key"])): row["id"] for row in rows}


_STALE = """
UPDATE reviews v SET state = 'stale', version = v.version + 1
FROM unnest($1::text[], $2::text[], $3::text[]) AS u(desk, conversation, sender), messages m
WHERE v.desk = u.desk AND v.conversation = u.conversation
  AND v.state = 'open' AND v.kind = 'reply'
  AND m.run = v.run AND m.sender = u.sender
RETURNING v.run, v.desk, v.conversation, m.sender
"""

_SUPERSEDED = """
UPDATE runs
SET status = 'done', reason = 'a newer message is answered together with this one',
  successor = $1, updated_at = $2
WHERE position = $3 AND status = 'waiting_review'
"""


async def _supersede_drafts(connection: Connection, fresh: Sequence[Acceptance]) -> None:
    """Make drafts stale that wait for approval when their sender has written again.

    The new run answers both messages. A message of somebody else in the same conversation
    supersedes nothing: nobody is answered what another person asked.
    """
    senders = [(new.run.desk, new.run.conversation, new.sender) for new in fresh]
    stale = await connection.fetch(_STALE, *columns_of(senders))
    if not stale:
        return
    successors = {
        (new.run.desk, new.run.conversation, new.sender): new.run for new in reversed(fresh)
    }
    for row in stale:
        successor = successors[row["desk"], row["conversation"], row["sender"]]
        await connection.execute(_SUPERSEDED, successor.id, successor.now, row["run"])
    positions = sorted({row["run"] for row in stale})
    await state_on_postgres(connection, positions, fresh[0].run.now)


# --- claiming runs

_CLAIM = """
WITH wanted AS (
  SELECT u.id, u.desk, u.owner, u.versions::jsonb AS versions, u.now, u.in_order, u.max_crashes
  FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::float8[], $6::bool[], $7::int[])
    AS u(id, desk, owner, versions, now, in_order, max_crashes)
), old AS (
  SELECT r.*, w.owner AS new_owner, w.versions, w.now
  FROM runs r JOIN wanted w ON r.id = w.id AND r.desk = w.desk
  WHERE (r.status = 'queued' OR (r.status = 'running' AND r.owner = w.owner))
    AND r.crashes <= w.max_crashes
    AND (NOT w.in_order OR NOT EXISTS(
      SELECT 1 FROM runs e
      WHERE e.conversation = r.conversation AND e.desk = r.desk AND e.position < r.position
        AND e.status IN ('queued', 'running')))
  ORDER BY r.position FOR UPDATE OF r
), taken AS (
  UPDATE runs r SET status = 'running', owner = old.new_owner, updated_at = old.now,
    flow_version = coalesce(old.versions ->> old.flow, ''), reason = NULL, error_code = NULL,
    due_at = NULL, waits_for = NULL
  FROM old WHERE r.position = old.position
)
SELECT o.id, o.desk, o.position, o.message_key, o.conversation, o.flow, o.status, o.reason,
  o.error_code, o.owner, o.crashes, o.flow_version, o.successor, o.created_at, o.updated_at,
  o.due_at, o.waits_for, m.body, m.body_digest,
  EXISTS(
    SELECT 1 FROM runs w
    WHERE w.conversation = o.conversation AND w.desk = o.desk AND w.status = 'waiting_user'),
  EXISTS(
    SELECT 1 FROM runs s
    WHERE s.conversation = o.conversation AND s.desk = o.desk AND s.successor = o.id),
  (SELECT taken_over_by FROM conversations c WHERE c.desk = o.desk AND c.id = o.conversation)
FROM old o JOIN messages m ON m.run = o.position
"""


async def claim(
    connection: Connection, claims: Sequence[Claim]
) -> Sequence[Claimed | Exception | None]:
    """None where a run is not to be had now: another has it, or an earlier one comes first."""
    if not await _leases_hold(connection, claims):
        return [Fenced("another process serves this desk now")] * len(claims)

    rows = await connection.fetch(_CLAIM, *columns_of(claim.wanted for claim in claims))
    claimed = {row["id"]: _claimed(row) for row in rows}
    missing = [claim.wanted.run_id for claim in claims if claim.wanted.run_id not in claimed]
    if not missing:
        return [claimed[claim.wanted.run_id] for claim in claims]

    existing = await connection.fetch("SELECT id FROM runs WHERE id = ANY($1)", missing)
    existing_ids = {row["id"] for row in existing}
    results: list[Claimed | Exception | None] = []
    for claim in claims:
        run_id = claim.wanted.run_id
        if run_id in claimed or run_id in existing_ids:
            results.append(claimed.get(run_id))
        else:
            results.append(NotFound(f"there is no run {run_id}"))
    return results


async def _leases_hold(connection: Connection, claims: Sequence[Claim]) -> bool:
    leased = [claim.wanted for claim in claims if claim.leased]
    if not leased:
        return True
    desks = list({wanted.desk for wanted in leased})
    rows = await connection.fetch("SELECT name, owner FROM leases WHERE name = ANY($1)", desks)
    owners = {row["name"]: row["owner"] for row in rows}
    return all(wanted.owner == owners.get(wanted.desk) for wanted in leased)


def _claimed(row: Any) -> Claimed:
    *run, body, body_digest, customer_waited_for, supersedes, taken_over_by = row
    return Claimed(
        run_of(run),
        None if body is None else bytes(body),
        bytes(body_digest),
        customer_waited_for,
        supersedes,
        taken_over_by,
    )


# --- a run's steps, and its end

_APPEND = """
INSERT INTO steps(
  run, seq, name, attempt, outcome, flow_version, started_at, latency_ms, body, salt, body_digest,
  chain, desk)
SELECT r.position, u.seq, u.name, u.attempt, u.outcome, u.version, u.started, u.latency, u.body,
  u.salt, u.digest, u.chain, u.desk
FROM unnest(
    $1::text[], $2::text[], $3::text[], $4::int[], $5::text[], $6::int[], $7::text[], $8::text[],
    $9::float8[], $10::float8[], $11::bytea[], $12::bytea[], $13::bytea[], $14::bytea[])
  AS u(id, desk, owner, seq, name, attempt, outcome, version, started, latency, body, salt, digest,
    chain)
JOIN runs r ON r.id = u.id AND r.desk = u.desk AND r.owner = u.owner AND r.status = 'running'
FOR SHARE OF r
ON CONFLICT (run, seq) DO NOTHING
RETURNING seq, chain
"""


async def append(connection: Connection, steps: Sequence[StepWrite]) -> list[Exception | None]:
    """The run's row is locked while its step is written.

    A new owner either waits for this step or has fenced it off.
    """
    rows = await connection.fetch(_APPEND, *columns_of(steps))
    written = {(row["seq"], bytes(row["chain"])) for row in rows}
    results: list[Exception | None] = []
    for step in steps:
        if (step.seq, step.chain) in written:
            results.append(None)
        else:
            lost = f"run {step.run_id} is not ours any more, or its step {step.seq} is written"
            results.append(Fenced(lost))
    return results


_FINISH = """
UPDATE runs r
SET status = u.status, reason = u.reason, error_code = u.code, owner = NULL, updated_at = u.now,
  due_at = u.due_at, waits_for = u.waits_for
FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::float8[],
    $8::float8[], $9::text[])
  AS u(id, desk, owner, status, reason, code, now, due_at, waits_for)
WHERE r.id = u.id AND r.desk = u.desk AND r.owner = u.owner AND r.status = 'running'
RETURNING r.id, r.position, r.conversation
"""

_REVIEW = """
INSERT INTO reviews(
  id, desk, kind, reason, payload, payload_hash, seq, created_at, expires_at, fallback, causes,
  facts, rank, deadline, category, language, run, conversation, search_text, state, version)
VALUES($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19,
  'open', 1)
"""


async def _open_review(connection: Connection, review: ReviewRow, run: Any) -> None:
    body = await connection.fetchval("SELECT body FROM messages WHERE run = $1", run["position"])
    text = text_of(review.id, run["id"], review.reason, None, review.payload, body)
    await connection.execute(_REVIEW, *review, run["position"], run["conversation"], text)


async def _joins(connection: Connection, finish: Finish, run: Any) -> bool:
    """A chat has one hand-over open at a time."""
    review = finish.review
    if review is None or review.kind != ReviewKind.HAND_OVER:
        return False
    place = (review.desk, run["conversation"])
    if await connection.fetchval(HAND_OVER_ON_POSTGRES, *place) is None:
        return False
    await connection.execute(JOIN_ON_POSTGRES, run["position"], JOINED, finish.end.now)
    return True


async def finish(connection: Connection, finishes: Sequence[Finish]) -> list[Exception | None]:
    steps = [step for finish in finishes for step in finish.steps]
    failures = await append(connection, steps) if steps else []
    lost = {
        step.run_id for step, failure in zip(steps, failures, strict=True) if failure is not None
    }

    ends = [finish.end for finish in finishes if finish.end.run_id not in lost]
    rows = await connection.fetch(_FINISH, *columns_of(ends)) if ends else []
    ended = {row["id"]: row for row in rows}

    results: list[Exception | None] = []
    for finish in finishes:
        run = ended.get(finish.end.run_id)
        if run is None:
            results.append(not_ours(finish.end.run_id))
            continue
        if finish.review is not None and not await _joins(connection, finish, run):
            await _open_review(connection, finish.review, run)
        results.append(None)
    if ended:
        positions = sorted(run["position"] for run in ended.values())
        await state_on_postgres(connection, positions, ends[0].now)
    return results


_RELEASE = """
UPDATE runs r SET status = 'queued', owner = NULL
FROM unnest($1::text[], $2::text[], $3::text[]) AS u(id, desk, owner)
WHERE r.id = u.id AND r.desk = u.desk AND r.owner = u.owner AND r.status = 'running'
"""


async def release(connection: Connection, runs: Sequence[OwnedRun]) -> list[None]:
    await connection.execute(_RELEASE, *columns_of(runs))
    return [None] * len(runs)


def not_ours(run_id: str) -> Fenced:
    """The answer to a process that has lost the run."""
    return Fenced(f"run {run_id} is not ours any more")


# --- calls of language models

_CALLS = """
INSERT INTO llm_calls(
  desk, run_id, stage, call_type, model, request_digest, prompt_tokens, completion_tokens, cost,
  latency_ms, error, at, answer, cached_tokens, reasoning_tokens)
SELECT * FROM unnest(
  $1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::int[], $8::int[],
  $9::float8[], $10::float8[], $11::text[], $12::float8[], $13::bytea[], $14::int[], $15::int[])
"""


async def record_call(connection: Connection, calls: Sequence[LlmCallRow]) -> list[None]:
    await connection.execute(_CALLS, *columns_of(calls))
    await state_late_on_postgres(connection, (call.run_id for call in calls), calls[0].at)
    return [None] * len(calls)
