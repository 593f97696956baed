"""The SQLite store: the hot path in plain statements, the rest from SqlStore."""

import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import Any

from deskhand.adapters.stores import leases
from deskhand.adapters.stores.attachments import files_of, keep_files
from deskhand.adapters.stores.chat_answers import joins_open_hand_over
from deskhand.adapters.stores.conversations import message_key
from deskhand.adapters.stores.review_decisions import open_review
from deskhand.adapters.stores.rows import pack, run_of, unpack
from deskhand.adapters.stores.search_index import drop_deleted_words
from deskhand.adapters.stores.sql_store import SqlStore
from deskhand.adapters.stores.sqlite_database import SqliteDatabase, Tx
from deskhand.adapters.stores.sqlite_lists import Read, SqliteLists, T
from deskhand.adapters.stores.statements import state_late_on_sqlite, state_on_sqlite
from deskhand.adapters.stores.totals import count_on_sqlite, counts_of
from deskhand.errors import Fenced, NotFound
from deskhand.model.audited import Kept, PrunedBatch
from deskhand.model.ids import new_id, random_bytes
from deskhand.model.message import Message
from deskhand.model.run import (
    Accepted,
    Claimed,
    Effect,
    EffectKey,
    EffectState,
    LlmCall,
    NewReview,
    ReviewKind,
    RunStatus,
    StepRow,
)
from deskhand.model.totals import CountedEffect

_CLAIM = """
SELECT r.id, r.desk, r.position, r.message_key, r.conversation, r.flow, r.status, r.reason,
  r.error_code, r.owner, r.crashes, r.flow_version, r.successor, r.created_at, r.updated_at,
  r.due_at, r.waits_for, m.body, m.body_digest,
  EXISTS(
    SELECT 1 FROM runs w
    WHERE w.conversation = r.conversation AND w.desk = r.desk AND w.status = 'waiting_user'),
  EXISTS(
    SELECT 1 FROM runs s
    WHERE s.conversation = r.conversation AND s.desk = r.desk AND s.successor = r.id),
  (SELECT taken_over_by FROM conversations c WHERE c.desk = r.desk AND c.id = r.conversation)
FROM runs r JOIN messages m ON m.run = r.position
WHERE r.id = ? AND r.desk = ?
"""


class SqliteStore(SqliteLists, SqlStore):
    def __init__(
        self,
        database: SqliteDatabase,
        desk: str,
        owner: str | None = None,
        now: Callable[[], float] = time.time,
        ids: Callable[[str], str] = new_id,
    ) -> None:
        super().__init__(database, desk, owner or new_id("own"), now)
        self._sqlite, self._ids = database, ids
        self._leased = False

    async def _look(self, read: Read[T]) -> T:
        return await self._sqlite.read(lambda tx: read(tx.raw))

    async def accept(self, message: Message, *, flow: str) -> Accepted:
        run_id, now = self._ids("run"), self._now()
        key = message_key(message.channel, message.id)
        body, salt = message.model_dump_json().encode(), random_bytes()
        digest, sender = sha256(salt + body).digest(), message.correspondent.strip().lower()
        desk, conversation = self.desk, message.conversation
        files = files_of(message, run_id, now)

        def op(tx: Tx) -> Accepted:
            inserted = tx.raw.execute(
                "INSERT INTO runs(id, desk, message_key, conversation, flow, status, crashes,"
                " created_at, updated_at) VALUES(?,?,?,?,?,'queued',0,?,?) ON CONFLICT(desk,"
                " message_key) DO NOTHING",
                (run_id, desk, key, conversation, flow, now, now),
            )
            if inserted.rowcount == 0:
                (earlier,) = tx.raw.execute(
                    "SELECT id FROM runs WHERE desk=? AND message_key=?", (desk, key)
                ).fetchone()
                return Accepted(earlier, duplicate=True)
            tx.raw.execute(
                "INSERT INTO messages(run, desk, sender, body, salt, body_digest)"
                " VALUES(?,?,?,?,?,?)",
                (inserted.lastrowid, desk, sender, body, salt, digest),
            )
            keep_files(tx.core, desk, inserted.lastrowid or 0, files)
            _supersede_drafts(tx, desk, conversation, sender, run_id, now)
            return Accepted(run_id, duplicate=False)

        return await self._sqlite.write(op)

    async def claim(self, run_id: str, versions: Mapping[str, str]) -> Claimed | None:
        def op(tx: Tx) -> Claimed | None:
            if self._leased:
                self._check_lease(tx)
            row = tx.raw.execute(_CLAIM, (run_id, self.desk)).fetchone()
            if row is None:
                raise NotFound(f"there is no run {run_id} on desk {self.desk}")
            *values, body, digest, customer_waited_for, supersedes, taken_over_by = row
            run = run_of(values)
            ours = run.status is RunStatus.RUNNING and run.owner == self.owner
            if run.status is not RunStatus.QUEUED and not ours:
                return None
            tx.raw.execute(
                "UPDATE runs SET status='running', owner=?, flow_version=?, updated_at=?,"
                " reason=NULL, error_code=NULL, due_at=NULL, waits_for=NULL WHERE position=?",
                (self.owner, versions.get(run.flow, ""), self._now(), run.position),
            )
            return Claimed(
                run, body, digest, bool(customer_waited_for), bool(supersedes), taken_over_by
            )

        return await self._sqlite.write(op, single=True)  # one statement writes, and it is the last

    async def append(self, *rows: StepRow) -> None:
        def op(tx: Tx) -> None:
            for row in rows:
                self._insert(tx, row)

        await self._sqlite.write(op, single=len(rows) == 1)

    def _insert(self, tx: Tx, row: StepRow) -> None:
        values = (
            row.seq,
            row.name,
            row.attempt,
            row.outcome,
            row.flow_version,
            row.started_at,
            row.latency_ms,
            row.body,
            row.salt,
            row.body_digest,
            row.chain,
            self.desk,
        )
        try:
            written = tx.raw.execute(
                "INSERT INTO steps(run, seq, name, attempt, outcome, flow_version, started_at,"
                " latency_ms, body, salt, body_digest, chain, desk) SELECT"
                " position,?,?,?,?,?,?,?,?,?,?,?,? FROM runs WHERE id=? AND desk=? AND owner=? AND"
                " status='running'",
                (*values, row.run_id, self.desk, self.owner),
            )
        except sqlite3.IntegrityError:
            raise Fenced(f"step {row.seq} of {row.run_id} is already written") from None
        if written.rowcount == 0:
            raise Fenced(f"run {row.run_id} is not ours any more")

    async def finish(
        self,
        run_id: str,
        status: RunStatus,
        *,
        reason: str | None = None,
        error_code: str | None = None,
        review: NewReview | None = None,
        rows: Sequence[StepRow] = (),
        due_at: float | None = None,
        waits_for: str | None = None,
    ) -> None:
        now = self._now()
        review_id = self._ids("rev") if review is not None else None
        rested = (status, reason, error_code, now, due_at, waits_for)

        def op(tx: Tx) -> None:
            for step in rows:
                self._insert(tx, step)
            ended = tx.raw.execute(
                "UPDATE runs SET status=?, reason=?, error_code=?, owner=NULL, updated_at=?,"
                " due_at=?, waits_for=? WHERE id=? AND desk=? AND owner=? AND status='running'"
                " RETURNING position, conversation",
                (*rested, run_id, self.desk, self.owner),
            ).fetchone()
            if ended is None:
                raise Fenced(f"run {run_id} is not ours any more")
            position, conversation = ended
            if review is not None and not self._joins(tx, position, conversation, review, now):
                open_review(tx.core, self.desk, position, conversation, review, now, review_id)
            state_on_sqlite(tx.raw, position, now)

        await self._sqlite.write(op)

    def _joins(
        self, tx: Tx, position: int, conversation: str, review: NewReview, now: float
    ) -> bool:
        """A chat has one hand-over open at a time."""
        if review.kind is not ReviewKind.HAND_OVER:
            return False
        return joins_open_hand_over(tx.core, self.desk, conversation, position, now)

    async def release(self, run_id: str) -> None:
        def op(tx: Tx) -> None:
            tx.raw.execute(
                "UPDATE runs SET status='queued', owner=NULL WHERE id=? AND desk=? AND owner=? AND"
                " status='running'",
                (run_id, self.desk, self.owner),
            )

        await self._sqlite.write(op, single=True)

    # --- effects and calls

    async def intend(
        self, key: EffectKey, tool: str, call_hash: str, counted: CountedEffect | None = None
    ) -> Effect:
        now = self._now()

        def op(tx: Tx) -> Effect:
            owned = tx.raw.execute(
                "SELECT position FROM runs WHERE id=? AND desk=? AND owner=? AND status='running'",
                (key.run_id, self.desk, self.owner),
            ).fetchone()
            if owned is None:
                raise Fenced(f"run {key.run_id} is not ours any more")
            (position,) = owned
            written = tx.raw.execute(
                "INSERT INTO effects(run, seq, call, desk, tool, call_hash, state, created_at,"
                " updated_at) VALUES(?,?,?,?,?,?,'intended',?,?) ON CONFLICT DO NOTHING",
                (position, key.seq, key.index, self.desk, tool, call_hash, now, now),
            )
            if written.rowcount == 1 and counted is not None:
                count_on_sqlite(tx.raw, self.desk, tool, counted)
                tx.raw.execute(
                    "INSERT INTO effect_counts(run, seq, call, desk, tool, at, body)"
                    " VALUES(?,?,?,?,?,?,?)",
                    (position, key.seq, key.index, self.desk, tool, now, counts_of(counted)),
                )
            tool_name, hashed, state, result, created_at, updated_at = tx.raw.execute(
                "SELECT tool, call_hash, state, result, created_at, updated_at FROM effects"
                " WHERE run=? AND seq=? AND call=?",
                (position, key.seq, key.index),
            ).fetchone()
            return Effect(
                key, tool_name, hashed, EffectState(state), unpack(result), created_at, updated_at
            )

        return await self._sqlite.write(op)

    async def settle(
        self, key: EffectKey, state: EffectState, result: dict[str, Any] | None
    ) -> None:
        body, now = None if result is None else pack(result), self._now()

        def op(tx: Tx) -> None:
            written = tx.raw.execute(
                "UPDATE effects SET state=?, result=?, updated_at=? WHERE seq=? AND call=?"
                " AND run=(SELECT position FROM runs WHERE id=? AND desk=?)",
                (state, body, now, key.seq, key.index, key.run_id, self.desk),
            )
            if written.rowcount == 0:
                raise NotFound(f"no effect {key} was intended")
            state_late_on_sqlite(tx.raw, key.run_id, now)

        await self._sqlite.write(op)

    async def record_call(self, call: LlmCall) -> None:
        values = {
            "desk": self.desk,
            "run_id": call.run_id,
            "stage": call.stage,
            "call_type": call.call_type,
            "model": call.model,
            "request_digest": call.request_digest,
            "prompt_tokens": call.prompt_tokens,
            "completion_tokens": call.completion_tokens,
            "cost": call.cost,
            "latency_ms": call.latency_ms,
            "error": call.error,
            "at": call.at or self._now(),
            "answer": None if call.answer is None else pack(call.answer),
            "cached_tokens": call.cached_tokens,
            "reasoning_tokens": call.reasoning_tokens,
        }
        if call.run_id is None:
            await self._record_desk_call(values)
            return

        def op(tx: Tx) -> None:
            tx.raw.execute(
                "INSERT INTO llm_calls(desk, run_id, stage, call_type, model, request_digest,"
                " prompt_tokens, completion_tokens, cost, latency_ms, error, at, answer,"
                " cached_tokens, reasoning_tokens) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
                tuple(values.values()),
            )
            state_late_on_sqlite(tx.raw, call.run_id, self._now())

        await self._sqlite.write(op)

    async def erase(self, address: str, by: str) -> int:
        """As SqlStore does it, with the write-ahead log emptied: freed space is overwritten
        anyhow."""
        try:
            return await super().erase(address, by)
        finally:
            await self._sqlite.write_core(drop_deleted_words)
            await self._sqlite.checkpoint()

    async def prune_old(
        self, kind: Kept, age: float, *, after: int, limit: int, key: bytes | None = None
    ) -> PrunedBatch:
        """As SqlStore does it; after the last batch no word of what went is left in the index."""
        pruned = await super().prune_old(kind, age, after=after, limit=limit, key=key)
        if pruned.last is None and kind in (Kept.RUNS, Kept.STEPS):
            await self._sqlite.write_core(drop_deleted_words)
        return pruned

    # --- the lease

    async def acquire(self, seconds: float) -> None:
        name = self._sqlite.name
        await self._sqlite.write_core(
            lambda core: leases.acquire(core, self.desk, self.owner, self._now(), seconds, name)
        )
        self._leased = True

    async def renew(self, seconds: float) -> None:
        name = self._sqlite.name
        await self._sqlite.write_core(
            lambda core: leases.renew(core, self.desk, self.owner, self._now(), seconds, name)
        )

    async def give_up(self) -> None:
        self._leased = False
        await self._sqlite.write_core(lambda core: leases.give_up(core, self.desk, self.owner))

    def _check_lease(self, tx: Tx) -> None:
        held = tx.raw.execute("SELECT owner FROM leases WHERE name=?", (self.desk,)).fetchone()
        if held is None or held[0] != self.owner:
            raise Fenced(f"another process serves desk {self.desk} in {self._sqlite.name} now")


def _supersede_drafts(
    tx: Tx, desk: str, conversation: str, sender: str, successor: str, now: float
) -> None:
    """A newer message of the same sender makes a draft that waits for approval stale; the new run
    answers both.

    Somebody else who writes into the conversation is never answered what another one asked.
    """
    stale = tx.raw.execute(
        "UPDATE reviews SET state='stale', version=version+1 WHERE desk=? AND conversation=? AND"
        " state='open' AND kind='reply' AND run IN (SELECT m.run FROM messages m WHERE m.run ="
        " reviews.run AND m.sender=?) RETURNING run",
        (desk, conversation, sender),
    ).fetchall()
    for (position,) in stale:
        tx.raw.execute(
            "UPDATE runs SET status='done', reason='a newer message is answered together with this"
            " one', successor=?, updated_at=? WHERE position=? AND status='waiting_review'",
            (successor, now, position),
        )
        state_on_sqlite(tx.raw, position, now)
