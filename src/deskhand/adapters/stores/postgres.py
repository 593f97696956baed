"""The PostgreSQL store: the hot path through the group-commit writer, the rest from SqlStore."""

import asyncio
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from typing import Any

from deskhand.adapters.stores import leases
from deskhand.adapters.stores import postgres_effects as effects
from deskhand.adapters.stores import postgres_writes as writes
from deskhand.adapters.stores.attachments import files_of
from deskhand.adapters.stores.conversations import message_key
from deskhand.adapters.stores.postgres_database import PostgresDatabase
from deskhand.adapters.stores.postgres_rows import (
    Acceptance,
    Claim,
    ClaimRow,
    EffectRow,
    Finish,
    FinishRow,
    Intention,
    LlmCallRow,
    OwnedRun,
    ReviewRow,
    RunRow,
    Settlement,
    StepWrite,
)
from deskhand.adapters.stores.record_values import queue_columns
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
from deskhand.model.totals import CountedEffect

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
        body = message.model_dump_json().encode()
        salt = random_bytes()
        run = RunRow(
            id=new_id("run"),
            desk=self.desk,
            message_key=message_key(message.channel, message.id),
            conversation=message.conversation,
            flow=flow,
            now=self._now(),
        )
        acceptance = Acceptance(
            run=run,
            sender=message.correspondent.strip().lower(),
            body=body,
            salt=salt,
            body_digest=sha256(salt + body).digest(),
            files=files_of(message, run.id, run.now),
        )
        accepted: Accepted = await self._postgres.write(writes.accept, acceptance)
        return accepted

    async def claim(self, run_id: str, versions: Mapping[str, str]) -> Claimed | None:
        wanted = ClaimRow(
            run_id=run_id,
            desk=self.desk,
            owner=self.owner,
            versions=json.dumps(dict(versions)),
            now=self._now(),
            in_order=self._in_order,
            max_crashes=_ANY_CRASHES if run_id in self._admitted else self._max_crashes,
        )
        claim = Claim(wanted, self._leased)
        claimed: Claimed | None = await self._postgres.write(writes.claim, claim)
        return claimed

    async def append(self, *rows: StepRow) -> None:
        """Handed in at the same moment, they are in the same transaction."""
        await asyncio.gather(
            *(self._postgres.write(writes.append, self._step(row)) for row in rows)
        )

    def _step(self, row: StepRow) -> StepWrite:
        return StepWrite(
            run_id=row.run_id,
            desk=self.desk,
            owner=self.owner,
            seq=row.seq,
            name=row.name,
            attempt=row.attempt,
            outcome=row.outcome,
            flow_version=row.flow_version,
            started_at=row.started_at,
            latency_ms=row.latency_ms,
            body=row.body,
            salt=row.salt,
            body_digest=row.body_digest,
            chain=row.chain,
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
        due_at: float | None = None,
        waits_for: str | None = None,
    ) -> None:
        now = self._now()
        end = FinishRow(
            run_id=run_id,
            desk=self.desk,
            owner=self.owner,
            status=str(status),
            reason=reason,
            error_code=error_code,
            now=now,
            due_at=due_at,
            waits_for=waits_for,
        )
        opened = None if review is None else self._review(review, now)
        steps = tuple(self._step(row) for row in rows)
        await self._postgres.write(writes.finish, Finish(end, opened, steps))

    def _review(self, review: NewReview, now: float) -> ReviewRow:
        return ReviewRow(
            id=new_id("rev", at=now),
            desk=self.desk,
            kind=str(review.kind),
            reason=review.reason,
            payload=pack(review.payload),
            payload_hash=canonical_hash(review.payload),
            seq=review.seq,
            created_at=now,
            expires_at=review.expires_at,
            fallback=None if review.fallback is None else str(review.fallback),
            causes=" ".join(review.causes),
            facts=pack(review.facts),
            **queue_columns(review.kind, review.causes, review.facts, review.expires_at),
        )

    async def release(self, run_id: str) -> None:
        await self._postgres.write(writes.release, OwnedRun(run_id, self.desk, self.owner))

    # --- effects and calls

    async def intend(
        self, key: EffectKey, tool: str, call_hash: str, counted: CountedEffect | None = None
    ) -> Effect:
        row = EffectRow(
            run_id=key.run_id,
            desk=self.desk,
            owner=self.owner,
            seq=key.seq,
            call=key.index,
            tool=tool,
            call_hash=call_hash,
            now=self._now(),
        )
        effect: Effect = await self._postgres.write(effects.intend, Intention(row, counted))
        return effect

    async def settle(
        self, key: EffectKey, state: EffectState, result: dict[str, Any] | None
    ) -> None:
        settlement = Settlement(
            run_id=key.run_id,
            desk=self.desk,
            seq=key.seq,
            call=key.index,
            state=str(state),
            result=None if result is None else pack(result),
            now=self._now(),
        )
        await self._postgres.write(effects.settle, settlement)

    async def record_call(self, call: LlmCall) -> None:
        row = LlmCallRow(
            desk=self.desk,
            run_id=call.run_id,
            stage=call.stage,
            call_type=call.call_type,
            model=call.model,
            request_digest=call.request_digest,
            prompt_tokens=call.prompt_tokens,
            completion_tokens=call.completion_tokens,
            cost=call.cost,
            latency_ms=call.latency_ms,
            error=call.error,
            at=call.at or self._now(),
            answer=None if call.answer is None else pack(call.answer),
            cached_tokens=call.cached_tokens,
            reasoning_tokens=call.reasoning_tokens,
        )
        if call.run_id is None:
            await self._record_desk_call(row._asdict())
            return
        await self._postgres.write(writes.record_call, row)

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
