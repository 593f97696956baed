"""The PostgreSQL store: the hot path through the group-commit writer, the rest from SqlStore."""

import asyncio
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from typing import Any

from deskhand.adapters.stores import leases
from deskhand.adapters.stores import postgres_writes as writes
from deskhand.adapters.stores.postgres_database import PostgresDatabase
from deskhand.adapters.stores.rows import pack
from deskhand.adapters.stores.sql_store import SqlStore
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
    RunStatus,
    StepRow,
    canonical_hash,
)
from deskhand.model.totals import Counted

_ANY_CRASHES = 2**31 - 1


class PostgresStore(SqlStore):
    def __init__(
        self,
        database: PostgresDatabase,
        desk: str,
        owner: str | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        super().__init__(database, desk, owner or new_id("own"), now)
        self._postgres = database
        self._leased = False
        self._in_order = False
        self._max_crashes = _ANY_CRASHES
        self._admitted: set[str] = set()

    def among_many(self, suspect_after: int) -> None:
        """From now on claim as one worker of many: the first active run of a conversation only,
        suspects when admitted.

        Whatever goes wrong with a queue, the order within a conversation is kept here.
        """
        self._in_order, self._max_crashes = True, suspect_after - 1

    @contextmanager
    def admitting(self, run_id: str) -> Iterator[None]:
        """Let this run be claimed although it is a suspect."""
        self._admitted.add(run_id)
        try:
            yield
        finally:
            self._admitted.discard(run_id)

    async def accept(self, message: Message, *, flow: str) -> Accepted:
        key = sha256(f"{message.channel}\0{message.id}".encode()).digest()[:16]
        body, salt = message.model_dump_json().encode(), random_bytes()
        digest, sender = sha256(salt + body).digest(), message.correspondent.strip().lower()
        values = (
            new_id("run"),
            self.desk,
            key,
            message.conversation,
            flow,
            self._now(),
            sender,
            body,
            salt,
            digest,
        )
        accepted: Accepted = await self._postgres.write(writes.accept, values)
        return accepted

    async def claim(self, run_id: str, versions: Mapping[str, str]) -> Claimed | None:
        crashes = _ANY_CRASHES if run_id in self._admitted else self._max_crashes
        known = json.dumps(dict(versions))
        values = (
            run_id,
            self.desk,
            self.owner,
            known,
            self._now(),
            self._in_order,
            crashes,
            self._leased,
        )
        claimed: Claimed | None = await self._postgres.write(writes.claim, values)
        return claimed

    async def append(self, *rows: StepRow) -> None:
        """Handed in at the same moment, they are in the same transaction."""
        await asyncio.gather(
            *(self._postgres.write(writes.append, self._values(row)) for row in rows)
        )

    def _values(self, row: StepRow) -> tuple[Any, ...]:
        return (
            row.run_id,
            self.desk,
            self.owner,
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
        )

    async def finish(
        self,
        run_id: str,
        status: RunStatus,
        *,
        reason: str | None = None,
        error_code: str | None = None,
        review: NewReview | None = None,
        rows: Sequence[StepRow] = (),
    ) -> None:
        now = self._now()
        opened = None if review is None else self._review_values(review, now)
        last = tuple(self._values(row) for row in rows)
        await self._postgres.write(
            writes.finish,
            (run_id, self.desk, self.owner, str(status), reason, error_code, now, opened, last),
        )

    def _review_values(self, review: NewReview, now: float) -> tuple[Any, ...]:
        return (
            new_id("rev", at=now),
            self.desk,
            str(review.kind),
            review.reason,
            pack(review.payload),
            canonical_hash(review.payload),
            review.seq,
            now,
            review.expires_at,
            None if review.fallback is None else str(review.fallback),
            " ".join(review.causes),
            pack(review.facts),
        )

    async def release(self, run_id: str) -> None:
        await self._postgres.write(writes.release, (run_id, self.desk, self.owner))

    # --- effects and calls

    async def intend(
        self, key: EffectKey, tool: str, call_hash: str, counted: Counted | None = None
    ) -> Effect:
        values = (
            key.run_id,
            self.desk,
            self.owner,
            key.seq,
            key.index,
            tool,
            call_hash,
            self._now(),
            counted,
        )
        effect: Effect = await self._postgres.write(writes.intend, values)
        return effect

    async def settle(
        self, key: EffectKey, state: EffectState, result: dict[str, Any] | None
    ) -> None:
        body = None if result is None else pack(result)
        await self._postgres.write(
            writes.settle,
            (key.run_id, self.desk, key.seq, key.index, str(state), body, self._now()),
        )

    async def record_call(self, call: LlmCall) -> None:
        values = (
            self.desk,
            call.run_id,
            call.stage,
            call.call_type,
            call.model,
            call.request_digest,
            call.prompt_tokens,
            call.completion_tokens,
            call.cost,
            call.latency_ms,
            call.error,
            call.at or self._now(),
            None if call.answer is None else pack(call.answer),
        )
        await self._postgres.write(writes.record_call, values)

    # --- the lease

    async def acquire(self, seconds: float) -> None:
        name = self._postgres.name
        await self._postgres.write_core(
            lambda core: leases.acquire(
                core, self.desk, self.owner, leases.database_time(core), seconds, name
            )
        )
        self._leased = True

    async def renew(self, seconds: float) -> None:
        name = self._postgres.name
        await self._postgres.write_core(
            lambda core: leases.renew(
                core, self.desk, self.owner, leases.database_time(core), seconds, name
            )
        )

    async def give_up(self) -> None:
        self._leased = False
        await self._postgres.write_core(lambda core: leases.give_up(core, self.desk, self.owner))
