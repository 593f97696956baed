"""A desk's store in SQLAlchemy Core: all that is not on the hot path, on every database."""

import time
from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Any, TypeVar

import sqlalchemy as sa

from deskhand.adapters.stores import audit_records, plain_reads, pruning, review_decisions
from deskhand.adapters.stores import tables as t
from deskhand.adapters.stores.agent_views import read_agent_runs, read_email_events
from deskhand.adapters.stores.attachments import SqlFiles
from deskhand.adapters.stores.console_actions import read_log
from deskhand.adapters.stores.conversation_store import SqlConversations
from deskhand.adapters.stores.core_database import CoreDatabase
from deskhand.adapters.stores.erasure import erase_person
from deskhand.adapters.stores.reopened_effects import reopen_effect
from deskhand.adapters.stores.retention import prune_desk
from deskhand.adapters.stores.review_store import SqlReviews
from deskhand.adapters.stores.rows import (
    call_of,
    effect_of,
    event_of,
)
from deskhand.adapters.stores.run_store import SqlRuns
from deskhand.adapters.stores.statements import account_records, mark_record
from deskhand.adapters.stores.totals import TOTALS_AT, name_digest, resume_desk, stop_desk
from deskhand.adapters.stores.waiting_runs import SqlWaitingRuns
from deskhand.errors import Conflict, Fenced
from deskhand.model.audited import (
    ConsoleLog,
    DeskRecords,
    Journaled,
    Kept,
    LoweredTotal,
    PrunedBatch,
    Seal,
)
from deskhand.model.run import (
    Effect,
    EffectKey,
    EffectState,
    Event,
    LlmCall,
)
from deskhand.model.totals import Pruned, Scope, Stop, Total, TotalKey

T = TypeVar("T")

_EFFECTS = (
    sa.select(t.effects, t.runs.c.id.label("run_id"))
    .join(t.runs, t.runs.c.position == t.effects.c.run)
    .where(t.effects.c.desk == sa.bindparam("desk"))
    .order_by(t.effects.c.run, t.effects.c.seq, t.effects.c.call)
)
_EFFECTS_OF_RUN = _EFFECTS.where(t.runs.c.id == sa.bindparam("of_run"))
"""Asked in every run, so they are put together once."""


class SqlStore(SqlRuns, SqlWaitingRuns, SqlConversations, SqlReviews, SqlFiles):
    """Bound to one desk.

    Each database adds the hot path itself: accept, claim, append, finish and effects.
    """

    def __init__(
        self, database: CoreDatabase, desk: str, owner: str, now: Callable[[], float] = time.time
    ) -> None:
        super().__init__(database, desk, now)
        self.owner = owner

    # --- records

    async def effects(
        self, run_id: str | None = None, state: EffectState | None = None
    ) -> list[Effect]:
        parameters = {"desk": self.desk}
        if run_id is not None:
            rows = await self._database.look_up(_EFFECTS_OF_RUN, {**parameters, "of_run": run_id})
            effects = [effect_of(row.run_id, row) for row in rows]
            return [effect for effect in effects if state is None or effect.state == state]
        query = _EFFECTS if state is None else _EFFECTS.where(t.effects.c.state == state)
        rows = await self._database.read_core(lambda core: core.execute(query, parameters).all())
        return [effect_of(row.run_id, row) for row in rows]

    async def reopen(self, key: EffectKey) -> None:
        def op(core: sa.Connection) -> bool:
            return reopen_effect(core, self.desk, self.owner, key, self._now())

        if not await self._database.write_core(op):
            raise Fenced(f"run {key.run_id} is not ours any more")

    async def spent(self, since: float) -> float:
        """What models have cost from this moment on."""
        query = sa.select(sa.func.sum(t.llm_calls.c.cost)).where(
            t.llm_calls.c.desk == self.desk, t.llm_calls.c.at >= since
        )
        return await self._database.read_core(lambda core: core.execute(query).scalar() or 0.0)

    async def totals(self, places: Mapping[Scope, TotalKey]) -> list[Total]:
        totals: list[Total] = []
        for scope, (name, day) in places.items():
            values = {"desk": self.desk, "scope": scope, "name": name_digest(name), "day": day}
            for tool, unit, amount in await self._database.look_up(TOTALS_AT, values):
                totals.append(Total(scope, tool, unit, amount))
        return totals

    async def stop(self, by: str, reason: str = "") -> Stop:
        return await self._database.write_core(
            lambda core: stop_desk(core, self.desk, by, reason, self._now())
        )

    async def resume(self, by: str) -> int:
        return await self._database.write_core(
            lambda core: resume_desk(core, self.desk, by, self._now())
        )

    async def stopped(self) -> Stop | None:
        return await plain_reads.stop_of(self._database.ask_quickly, self.desk)

    async def _record_desk_call(self, values: Mapping[str, Any]) -> None:
        """A call that belongs to no run is stated in the desk's own chain."""

        def op(core: sa.Connection) -> None:
            made = core.execute(t.llm_calls.insert().values(**values))
            assert made.inserted_primary_key is not None
            mark_record(core, self.desk, t.llm_calls, *made.inserted_primary_key)

        await self._database.write_core(op)

    async def calls(self, run_id: str | None = None) -> list[LlmCall]:
        query = (
            sa.select(t.llm_calls).where(t.llm_calls.c.desk == self.desk).order_by(t.llm_calls.c.id)
        )
        if run_id is not None:
            query = query.where(t.llm_calls.c.run_id == run_id)
        return await self._database.read_core(
            lambda core: [call_of(row) for row in core.execute(query)]
        )

    async def record_event(self, event: Event) -> None:
        at = event.at or self._now()
        await self._database.write_core(
            lambda core: review_decisions.record_event(
                core, self.desk, event.kind, event.run_id, event.by, event.payload, at
            )
        )

    async def events(
        self, *, run_id: str | None = None, after: int = 0, limit: int = 1000
    ) -> list[Event]:
        query = (
            sa.select(t.events)
            .where(t.events.c.desk == self.desk, t.events.c.id > after)
            .order_by(t.events.c.id)
            .limit(limit)
        )
        if run_id is not None:
            query = query.where(t.events.c.run_id == run_id)
        return await self._database.read_core(
            lambda core: [event_of(row) for row in core.execute(query)]
        )

    async def erase(self, address: str, by: str) -> int:
        return await self._database.write_core(
            lambda core: erase_person(core, self.desk, address, by, self._now())
        )

    # --- audit

    async def agent_runs(self, run_id: str | None = None, limit: int = 100) -> list[dict[str, Any]]:
        return await self._database.read_core(
            lambda core: read_agent_runs(core, self.desk, run_id, limit)
        )

    async def email_events(self, run_id: str, limit: int = 1000) -> list[dict[str, Any]]:
        return await self._database.read_core(
            lambda core: read_email_events(core, self.desk, run_id, limit)
        )

    async def journals(self, *, after: int = 0, limit: int = 200) -> list[Journaled]:
        return await self._database.read_in_transaction(
            lambda core: audit_records.journals(core, self.desk, after, limit)
        )

    async def desk_records(self) -> DeskRecords:
        return await self._database.read_in_transaction(
            lambda core: audit_records.desk_records(core, self.desk)
        )

    async def account_records(self) -> DeskRecords:
        return await self._at_one_moment(account_records)

    async def changed_files(self) -> list[tuple[str, str]]:
        return await self._database.read_core(
            lambda core: audit_records.changed_files(core, self.desk)
        )

    async def changed_projections(self) -> list[tuple[str, str]]:
        # those who never verify need none of what this reads
        from deskhand.adapters.stores import projections

        problems: list[tuple[str, str]] = []
        run: int | None = 0
        while run is not None:
            page = partial(projections.changed_in_runs, desk=self.desk, after=run)
            wrong, run = await self._at_one_moment(page)
            problems += wrong
        ticket: str | None = ""
        while ticket is not None:
            some = partial(projections.changed_tickets, desk=self.desk, after=ticket)
            wrong, ticket = await self._at_one_moment(some)
            problems += wrong
        beside = partial(projections.changed_beside, desk=self.desk)
        return problems + await self._at_one_moment(beside)

    async def _at_one_moment(self, read: Callable[[sa.Connection], T]) -> T:
        return await self._database.read_in_transaction(
            lambda core: audit_records.at_one_moment(core, read)
        )

    async def console_log(self, numbers: Collection[int] = ()) -> ConsoleLog:
        return await self._database.read_core(lambda core: read_log(core, numbers))

    async def lowered_totals(self, since: float) -> list[LoweredTotal]:
        return await self._database.read_in_transaction(
            lambda core: audit_records.lowered_totals(core, self.desk, since)
        )

    async def save_seal(self, at: float, heads: bytes, mac: str) -> Seal:
        return await self._database.write_core(
            lambda core: audit_records.save_seal(core, self.desk, at, heads, mac)
        )

    async def seals(self) -> list[Seal]:
        return await self._database.read_core(lambda core: audit_records.seals(core, self.desk))

    async def prune_old(
        self, kind: Kept, age: float, *, after: int, limit: int, key: bytes | None = None
    ) -> PrunedBatch:
        now = self._now()
        return await self._database.write_core(
            lambda core: pruning.prune_old(core, self.desk, kind, now - age, after, limit, now, key)
        )

    async def count_old(self, kind: Kept, age: float) -> int:
        before = self._now() - age
        return await self._database.read_core(
            lambda core: pruning.count_old(core, self.desk, kind, before)
        )

    async def check_writes(self) -> None:
        await self._database.check_writes()

    # --- the API's memory

    async def prune(self, responses: float, totals: float) -> Pruned:
        return await self._database.write_core(
            lambda core: prune_desk(core, self.desk, self._now(), responses, totals)
        )

    async def remember_response(
        self, key: str, request_digest: str, response: bytes
    ) -> bytes | None:
        def op(core: sa.Connection) -> bytes | None:
            here = sa.and_(t.responses.c.desk == self.desk, t.responses.c.key == key)
            values: dict[str, Any] = {
                "desk": self.desk,
                "key": key,
                "request_digest": request_digest,
            }
            try:
                with core.begin_nested():
                    core.execute(
                        t.responses.insert().values(**values, response=response, at=self._now())
                    )
            except sa.exc.IntegrityError:
                stored = core.execute(
                    sa.select(t.responses.c.request_digest, t.responses.c.response).where(here)
                ).one()
                if stored.request_digest != request_digest:
                    raise Conflict(
                        "this Idempotency-Key was used with another request; choose a new key"
                    ) from None
                return bytes(stored.response)
            return None

        return await self._database.write_core(op)
