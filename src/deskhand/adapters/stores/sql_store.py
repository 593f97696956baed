"""A desk's store in SQLAlchemy Core: everything that is not on the hot path, the same on every
database."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from deskhand.adapters.stores import audit_records, conversations, replies, review_decisions
from deskhand.adapters.stores import tables as t
from deskhand.adapters.stores.agent_views import read_agent_runs, read_email_events
from deskhand.adapters.stores.erasure import erase_person
from deskhand.adapters.stores.retention import prune_desk
from deskhand.adapters.stores.review_store import CoreDatabase as CoreDatabase
from deskhand.adapters.stores.review_store import SqlReviews
from deskhand.adapters.stores.rows import (
    RUN_COLUMNS,
    STEP_COLUMNS,
    call_of,
    effect_of,
    event_of,
    run_of,
    step_of,
)
from deskhand.adapters.stores.totals import read_stop, read_totals, resume_desk, stop_desk
from deskhand.errors import Conflict, NotFound
from deskhand.model.message import Message
from deskhand.model.run import (
    ConversationTurn,
    Decision,
    Effect,
    EffectKey,
    EffectState,
    Event,
    Journaled,
    LlmCall,
    ReviewKind,
    ReviewState,
    Run,
    RunStatus,
    Seal,
    StepRow,
    Verdict,
)
from deskhand.model.totals import Pruned, Scope, Stop, Total, TotalKey
from deskhand.tools.delivery import DELIVER, KEEP_DRAFT

_STALE_DRAFT = sa.exists().where(
    t.reviews.c.run == t.runs.c.position, t.reviews.c.state == ReviewState.STALE
)

_MESSAGE = (
    sa.select(t.messages.c.body)
    .join(t.runs, t.runs.c.position == t.messages.c.run)
    .where(t.runs.c.id == sa.bindparam("run_id"), t.runs.c.desk == sa.bindparam("desk"))
)
_TURNS = (
    sa.select(*RUN_COLUMNS, t.messages.c.body)
    .join(t.messages, t.messages.c.run == t.runs.c.position)
    .where(
        t.runs.c.conversation == sa.bindparam("conversation"),
        t.runs.c.desk == sa.bindparam("desk"),
        t.runs.c.position < sa.bindparam("before"),
        t.messages.c.body.is_not(None),
    )
    .order_by(t.runs.c.position.desc())
    .limit(sa.bindparam("most"))
)
_EFFECTS = (
    sa.select(t.effects, t.runs.c.id.label("run_id"))
    .join(t.runs, t.runs.c.position == t.effects.c.run)
    .where(t.effects.c.desk == sa.bindparam("desk"))
    .order_by(t.effects.c.run, t.effects.c.seq, t.effects.c.call)
)
_EFFECTS_OF_RUN = _EFFECTS.where(t.runs.c.id == sa.bindparam("of_run"))
"""Asked in every run, so they are put together once."""


class SqlStore(SqlReviews):
    """Bound to one desk; the hot path (accept, claim, append, finish, effects) is added by the
    database's own store."""

    def __init__(
        self, database: CoreDatabase, desk: str, owner: str, now: Callable[[], float] = time.time
    ) -> None:
        super().__init__(database, desk, now)
        self.owner = owner

    # --- runs

    async def run(self, run_id: str) -> Run:
        return await self._database.read_core(lambda core: self._run(core, run_id))

    async def runs(
        self,
        *,
        status: RunStatus | None = None,
        conversation: str | None = None,
        limit: int = 100,
        before: int | None = None,
    ) -> list[Run]:
        query = sa.select(*RUN_COLUMNS).where(t.runs.c.desk == self.desk)
        if status is not None:
            query = query.where(t.runs.c.status == status)
        if conversation is not None:
            query = query.where(t.runs.c.conversation == conversation)
        if before is not None:
            query = query.where(t.runs.c.position < before)
        query = query.order_by(t.runs.c.position.desc()).limit(limit)
        return await self._database.read_core(
            lambda core: [run_of(row) for row in core.execute(query)]
        )

    async def queued(self, *, after: int = 0, limit: int = 1000) -> list[Run]:
        query = (
            sa.select(*RUN_COLUMNS)
            .where(
                t.runs.c.desk == self.desk,
                t.runs.c.status == RunStatus.QUEUED,
                t.runs.c.position > after,
            )
            .order_by(t.runs.c.position)
            .limit(limit)
        )
        return await self._database.read_core(
            lambda core: [run_of(row) for row in core.execute(query)]
        )

    async def ahead(self, run_id: str) -> list[Run]:
        """The active runs of a run's conversation up to and with itself, in order of acceptance."""
        this = sa.select(t.runs.c.conversation, t.runs.c.position).where(
            t.runs.c.id == run_id, t.runs.c.desk == self.desk
        )
        here = this.cte("this")
        query = (
            sa.select(*RUN_COLUMNS)
            .where(
                t.runs.c.desk == self.desk,
                t.runs.c.conversation == here.c.conversation,
                t.runs.c.position <= here.c.position,
                t.runs.c.status.in_((RunStatus.QUEUED, RunStatus.RUNNING)),
            )
            .order_by(t.runs.c.position)
        )
        return await self._database.read_core(
            lambda core: [run_of(row) for row in core.execute(query)]
        )

    async def statuses(self, run_ids: Sequence[str]) -> dict[str, RunStatus]:
        """Where these runs stand; those of other desks are left out."""
        query = sa.select(t.runs.c.id, t.runs.c.status).where(
            t.runs.c.id.in_(run_ids), t.runs.c.desk == self.desk
        )
        rows = await self._database.read_core(lambda core: core.execute(query).all())
        return {row.id: RunStatus(row.status) for row in rows}

    async def backlog(self) -> int:
        """How many runs are queued."""
        query = sa.select(sa.func.count()).where(
            t.runs.c.desk == self.desk, t.runs.c.status == RunStatus.QUEUED
        )
        return await self._database.read_core(lambda core: core.execute(query).scalar_one())

    async def recover(self) -> int:
        """Queue what another owner left running, one crash counted for each."""

        def op(core: sa.Connection) -> int:
            left = sa.and_(
                t.runs.c.desk == self.desk,
                t.runs.c.status == RunStatus.RUNNING,
                t.runs.c.owner != self.owner,
            )
            values = {"status": RunStatus.QUEUED, "owner": None, "crashes": t.runs.c.crashes + 1}
            return core.execute(t.runs.update().where(left).values(**values)).rowcount

        return await self._database.write_core(op)

    async def message(self, run_id: str) -> Message | None:
        known = {"desk": self.desk, "run_id": run_id}
        body = await self._database.glance(lambda core: core.execute(_MESSAGE, known).scalar())
        return None if body is None else Message.model_validate_json(body)

    async def messages(self, run_ids: Sequence[str]) -> dict[str, Message]:
        query = (
            sa.select(t.runs.c.id, t.messages.c.body)
            .join(t.runs, t.runs.c.position == t.messages.c.run)
            .where(
                t.runs.c.id.in_(run_ids), t.runs.c.desk == self.desk, t.messages.c.body.is_not(None)
            )
        )
        rows = await self._database.read_core(lambda core: core.execute(query).all())
        return {run_id: Message.model_validate_json(body) for run_id, body in rows}

    async def conversation(
        self, conversation: str, *, before: int, limit: int = 20
    ) -> list[ConversationTurn]:
        known = {"desk": self.desk, "conversation": conversation, "before": before, "most": limit}
        rows = await self._database.glance(lambda core: core.execute(_TURNS, known).all())
        return [
            ConversationTurn(run_of(row[:-1]), Message.model_validate_json(row[-1]))
            for row in reversed(rows)
        ]

    async def adopt(self, run_id: str, conversation: str, before: int) -> Run | None:
        def op(core: sa.Connection) -> Run | None:
            here = (t.runs.c.conversation == conversation, t.runs.c.desk == self.desk)
            # a stale draft has us as its successor, too, but never waited for the customer
            again = sa.select(*RUN_COLUMNS).where(
                *here, t.runs.c.successor == run_id, ~_STALE_DRAFT
            )
            asked, asking = t.messages.alias(), t.runs.alias()
            sender = (
                sa.select(t.messages.c.sender)
                .join(asking, asking.c.position == t.messages.c.run)
                .where(asking.c.id == run_id)
                .scalar_subquery()
            )
            same_person = sa.exists().where(
                asked.c.run == t.runs.c.position, asked.c.sender == sender
            )
            waits = (
                sa.select(*RUN_COLUMNS)
                .where(
                    *here,
                    t.runs.c.position < before,
                    t.runs.c.status == RunStatus.WAITING_USER,
                    same_person,
                )
                .order_by(t.runs.c.position.desc())
                .limit(1)
                .with_for_update()
            )
            row = core.execute(again).first() or core.execute(waits).first()
            if row is None:
                return None
            parked = run_of(row)
            values = {"status": RunStatus.DONE, "successor": run_id, "updated_at": self._now()}
            core.execute(t.runs.update().where(t.runs.c.id == parked.id).values(**values))
            return parked

        return await self._database.write_core(op)

    async def superseded(self, run_id: str, conversation: str) -> list[ConversationTurn]:
        def op(core: sa.Connection) -> list[ConversationTurn]:
            found: dict[int, ConversationTurn] = {}
            newer = [run_id]
            while newer:
                rows = core.execute(
                    sa.select(*RUN_COLUMNS, t.messages.c.body)
                    .join(t.messages, t.messages.c.run == t.runs.c.position)
                    .where(
                        t.runs.c.conversation == conversation,
                        t.runs.c.desk == self.desk,
                        t.runs.c.successor.in_(newer),
                        t.messages.c.body.is_not(None),
                        _STALE_DRAFT,
                    )
                ).all()
                turns = [
                    ConversationTurn(run_of(row[:-1]), Message.model_validate_json(row[-1]))
                    for row in rows
                ]
                found |= {turn.run.position: turn for turn in turns}
                newer = [turn.run.id for turn in turns]
            return [found[position] for position in sorted(found)]

        return await self._database.read_core(op)

    async def requeue(self, run_id: str, by: str) -> Run:
        def op(core: sa.Connection) -> Run:
            run = self._run(core, run_id, lock=True)
            if run.status not in (RunStatus.NEEDS_REVIEW, RunStatus.FAILED):
                raise Conflict(
                    f"run {run_id} is {run.status}; only needs_review and failed runs can be"
                    " retried"
                )
            review = core.execute(
                sa.select(t.reviews.c.id, t.reviews.c.version).where(
                    t.reviews.c.run == run.position,
                    t.reviews.c.state == ReviewState.OPEN,
                    t.reviews.c.kind == ReviewKind.HAND_OVER,
                )
            ).one()
            verdict = Verdict(Decision.RETRY, by=by, version=review.version)
            review_decisions.decide_review(core, self.desk, review.id, verdict, self._now())
            return self._run(core, run_id)

        return await self._database.write_core(op)

    async def cancel(self, run_id: str, by: str) -> Run:
        def op(core: sa.Connection) -> Run:
            run = self._run(core, run_id, lock=True)
            if run.status is RunStatus.RUNNING or (
                run.status.is_final and run.status is not RunStatus.FAILED
            ):
                raise Conflict(f"run {run_id} is {run.status} and cannot be cancelled")
            values = {
                "status": RunStatus.CANCELLED,
                "reason": f"cancelled by {by}",
                "updated_at": self._now(),
            }
            core.execute(t.runs.update().where(t.runs.c.position == run.position).values(**values))
            review_decisions.close_reviews(core, run.position)
            review_decisions.record_event(
                core, self.desk, "run.cancelled", run_id, by, {}, self._now()
            )
            return self._run(core, run_id)

        return await self._database.write_core(op)

    def _run(self, core: sa.Connection, run_id: str, *, lock: bool = False) -> Run:
        query = sa.select(*RUN_COLUMNS).where(t.runs.c.id == run_id, t.runs.c.desk == self.desk)
        row = core.execute(query.with_for_update() if lock else query).one_or_none()
        if row is None:
            raise NotFound(f"there is no run {run_id} on desk {self.desk}")
        return run_of(row)

    # --- journal

    async def rows(self, run_id: str) -> list[StepRow]:
        query = (
            sa.select(*STEP_COLUMNS)
            .join(t.runs, t.runs.c.position == t.steps.c.run)
            .where(t.runs.c.id == run_id, t.runs.c.desk == self.desk)
            .order_by(t.steps.c.seq)
        )
        return await self._database.read_core(
            lambda core: [step_of(run_id, row) for row in core.execute(query)]
        )

    # --- conversations

    async def take_over(self, conversation: str, by: str) -> None:
        await self._database.write_core(
            lambda core: review_decisions.take_over(core, self.desk, conversation, by, self._now())
        )

    async def give_back(self, conversation: str, by: str) -> bool:
        def op(core: sa.Connection) -> bool:
            held = sa.and_(
                t.conversations.c.desk == self.desk,
                t.conversations.c.id == conversation,
                t.conversations.c.taken_over_by.is_not(None),
            )
            given = (
                core.execute(
                    t.conversations.update().where(held).values(taken_over_by=None)
                ).rowcount
                == 1
            )
            if given:
                payload = {"conversation": conversation}
                review_decisions.record_event(
                    core, self.desk, "conversation.given_back", None, by, payload, self._now()
                )
            return given

        return await self._database.write_core(op)

    async def taken_over_by(self, conversation: str) -> str | None:
        query = sa.select(t.conversations.c.taken_over_by).where(
            t.conversations.c.desk == self.desk, t.conversations.c.id == conversation
        )
        return await self._database.read_core(lambda core: core.execute(query).scalar())

    async def message_known(self, channel: str, message_id: str) -> ConversationTurn | None:
        return await self._database.read_core(
            lambda core: conversations.message_known(core, self.desk, channel, message_id)
        )

    async def reply_sent(self, key: EffectKey) -> ConversationTurn | None:
        tools = (DELIVER, KEEP_DRAFT)
        return await self._database.read_core(
            lambda core: conversations.reply_sent(core, self.desk, key, tools)
        )

    async def messages_from(
        self, address: str, *, since: float, limit: int = 20
    ) -> list[ConversationTurn]:
        return await self._database.read_core(
            lambda core: conversations.messages_from(core, self.desk, address, since, limit)
        )

    async def replies_since(
        self, conversation: str, tool: str, since: float, *, beside: str
    ) -> int:
        return await self._database.glance(
            lambda core: replies.replies_since(core, self.desk, conversation, tool, since, beside)
        )

    async def replies_to(self, sender: str, tool: str, since: float, *, beside: str) -> int:
        return await self._database.read_core(
            lambda core: replies.replies_to(core, self.desk, sender, beside, tool, since)
        )

    async def answered_by_person(
        self, conversation: str, by: str, *, silence: bool, text: str | None = None
    ) -> int:
        return await self._database.write_core(
            lambda core: replies.answered_by_person(
                core, self.desk, conversation, by, silence, self._now(), text
            )
        )

    async def note_bounce(self, run_id: str, reason: str) -> bool:
        return await self._database.write_core(
            lambda core: replies.note_bounce(core, self.desk, run_id, reason, self._now())
        )

    # --- records

    async def effects(
        self, run_id: str | None = None, state: EffectState | None = None
    ) -> list[Effect]:
        query = _EFFECTS if run_id is None else _EFFECTS_OF_RUN
        if state is not None:
            query = query.where(t.effects.c.state == state)
        known = {"desk": self.desk} | ({} if run_id is None else {"of_run": run_id})
        read = self._database.read_core if run_id is None else self._database.glance
        rows = await read(lambda core: core.execute(query, known).all())
        return [effect_of(row.run_id, row) for row in rows]

    async def spent(self, since: float) -> float:
        """What models have cost from this moment on."""
        query = sa.select(sa.func.sum(t.llm_calls.c.cost)).where(
            t.llm_calls.c.desk == self.desk, t.llm_calls.c.at >= since
        )
        return await self._database.read_core(lambda core: core.execute(query).scalar() or 0.0)

    async def totals(self, places: Mapping[Scope, TotalKey]) -> list[Total]:
        return await self._database.glance(lambda core: read_totals(core, self.desk, places))

    async def stop(self, by: str, reason: str = "") -> Stop:
        return await self._database.write_core(
            lambda core: stop_desk(core, self.desk, by, reason, self._now())
        )

    async def resume(self, by: str) -> int:
        return await self._database.write_core(
            lambda core: resume_desk(core, self.desk, by, self._now())
        )

    async def stopped(self) -> Stop | None:
        return await self._database.glance(lambda core: read_stop(core, self.desk))

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
        return await self._database.read_core(
            lambda core: audit_records.journals(core, self.desk, after, limit)
        )

    async def save_seal(self, at: float, heads: bytes, mac: str) -> Seal:
        return await self._database.write_core(
            lambda core: audit_records.save_seal(core, self.desk, at, heads, mac)
        )

    async def seals(self) -> list[Seal]:
        return await self._database.read_core(lambda core: audit_records.seals(core, self.desk))

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
                known = core.execute(
                    sa.select(t.responses.c.request_digest, t.responses.c.response).where(here)
                ).one()
                if known.request_digest != request_digest:
                    raise Conflict(
                        "this Idempotency-Key was used with another request; choose a new key"
                    ) from None
                return bytes(known.response)
            return None

        return await self._database.write_core(op)
