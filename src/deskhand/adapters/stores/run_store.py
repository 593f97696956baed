"""A desk's runs, their messages and their journals in SQLAlchemy Core."""

from collections.abc import Sequence

import sqlalchemy as sa

from deskhand.adapters.stores import plain_reads, review_decisions
from deskhand.adapters.stores import tables as t
from deskhand.adapters.stores.core_database import SqlDesk
from deskhand.adapters.stores.rows import (
    RUN_COLUMNS,
    STEP_COLUMNS,
    run_of,
    step_of,
)
from deskhand.adapters.stores.statements import mark_run
from deskhand.adapters.stores.waiting_runs import ready
from deskhand.errors import Conflict, NotFound
from deskhand.model.causes import Cause
from deskhand.model.codes import ErrorCode
from deskhand.model.message import Message
from deskhand.model.run import (
    BEFORE_ALL_STEPS,
    ConversationTurn,
    Decision,
    NewReview,
    ReviewKind,
    ReviewState,
    Run,
    RunStatus,
    StepRow,
    Verdict,
)

_SCREENED = (
    t.runs.c.status == RunStatus.DONE.value,
    t.runs.c.error_code == ErrorCode.AUTOMATIC_MAIL.value,
)
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
_QUEUED = (
    sa.select(*RUN_COLUMNS)
    .where(
        t.runs.c.desk == sa.bindparam("desk"),
        t.runs.c.status == RunStatus.QUEUED,
        t.runs.c.pruned_at.is_(None),  # said so that the index of runs by status is used
        t.runs.c.position > sa.bindparam("after"),
    )
    .order_by(t.runs.c.position)
    .limit(sa.bindparam("most"))
)
_READY = _QUEUED.where(*ready(sa.bindparam("ready_at")))
_FEW = 50
"""Queued runs that are read at once; where there are more, they are read in another thread."""
_FORGOTTEN = (
    sa.select(t.conversations.c.forgotten_before)
    .where(
        t.conversations.c.desk == sa.bindparam("desk"),
        t.conversations.c.id == sa.bindparam("conversation"),
    )
    .scalar_subquery()
)
_REMEMBERED = _TURNS.where(t.runs.c.position > sa.func.coalesce(_FORGOTTEN, 0))


class SqlRuns(SqlDesk):
    """What a store says about runs; the hot path is each database's own."""

    owner: str

    async def run(self, run_id: str) -> Run:
        return await self._database.read_core(lambda core: self._run(core, run_id))

    async def runs(
        self,
        *,
        status: RunStatus | None = None,
        conversation: str | None = None,
        screened: bool = False,
        limit: int = 100,
        before: int | None = None,
    ) -> list[Run]:
        query = sa.select(*RUN_COLUMNS).where(
            t.runs.c.desk == self.desk, t.runs.c.pruned_at.is_(None)
        )
        if screened:
            query = query.where(*_SCREENED)
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

    async def count_runs(self, status: RunStatus, most: int) -> int:
        return await plain_reads.count_runs(self._database.ask, self.desk, status.value, most)

    async def count_screened(self, since: float) -> int:
        return await plain_reads.count_screened(self._database.ask, self.desk, since)

    async def queued(
        self, *, after: int = 0, limit: int = 1000, ready_at: float | None = None
    ) -> list[Run]:
        query = _QUEUED if ready_at is None else _READY
        values = {"desk": self.desk, "after": after, "ready_at": ready_at}
        if ready_at is None:
            del values["ready_at"]
        few = {**values, "most": min(limit, _FEW)}
        rows = await self._database.look_up(query, few)
        if len(rows) == _FEW < limit:
            many = {**values, "most": limit}
            rows = await self._database.read_core(lambda core: core.execute(query, many).all())
        return [run_of(row) for row in rows]

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
        query = sa.select(sa.func.count()).where(*self._queued())
        return await self._database.read_core(lambda core: core.execute(query).scalar_one())

    def _queued(self) -> tuple[sa.ColumnElement[bool], ...]:
        """What is queued was never pruned; said so that the index of runs by status is used."""
        here = t.runs.c
        return here.desk == self.desk, here.status == RunStatus.QUEUED, here.pruned_at.is_(None)

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
        parameters = {"desk": self.desk, "run_id": run_id}
        rows = await self._database.look_up(_MESSAGE, parameters)
        body = rows[0][0] if rows else None
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
        self, conversation: str, *, before: int, limit: int = 20, remembered: bool = False
    ) -> list[ConversationTurn]:
        query = _REMEMBERED if remembered else _TURNS
        parameters = {
            "desk": self.desk,
            "conversation": conversation,
            "before": before,
            "most": limit,
        }
        rows = await self._database.look_up(query, parameters)
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
            mark_run(core, parked.id)
            return parked

        return await self._database.write_core(op)

    async def superseded(self, run_id: str, conversation: str) -> list[ConversationTurn]:
        def op(core: sa.Connection) -> list[ConversationTurn]:
            turns_by_position: dict[int, ConversationTurn] = {}
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
                turns_by_position |= {turn.run.position: turn for turn in turns}
                newer = [turn.run.id for turn in turns]
            return [turns_by_position[position] for position in sorted(turns_by_position)]

        return await self._database.read_core(op)

    async def requeue(self, run_id: str, by: str) -> Run:
        def op(core: sa.Connection) -> Run:
            run = self._run(core, run_id, lock=True)
            if run.was_screened_out:
                self._hand_over(core, run)
            elif run.status not in (RunStatus.NEEDS_REVIEW, RunStatus.FAILED):
                raise Conflict(
                    f"run {run_id} is {run.status}; only needs_review and failed runs can be"
                    " retried, and those that were screened out"
                )
            review = core.execute(
                sa.select(t.reviews.c.id, t.reviews.c.version, t.reviews.c.kind).where(
                    t.reviews.c.run == run.position,
                    t.reviews.c.state == ReviewState.OPEN,
                    t.reviews.c.kind.in_((ReviewKind.HAND_OVER, ReviewKind.FOLLOW_UP)),
                )
            ).one()
            if review.kind == ReviewKind.FOLLOW_UP:
                raise Conflict(
                    f"run {run_id} has sent its reply and owes the customer an answer; answer or"
                    f" close {review.id}"
                )
            verdict = Verdict(Decision.RETRY, by=by, version=review.version)
            review_decisions.decide_review(core, self.desk, review.id, verdict, self._now())
            return self._run(core, run_id)

        return await self._database.write_core(op)

    def _hand_over(self, core: sa.Connection, run: Run) -> None:
        """Make a person's of a run that was screened out, so that it can be decided about."""
        values = {"status": RunStatus.NEEDS_REVIEW}
        core.execute(t.runs.update().where(t.runs.c.position == run.position).values(**values))
        review = NewReview(
            ReviewKind.HAND_OVER,
            run.reason or "",
            {"error": {"code": run.error_code, "message": run.reason}},
            BEFORE_ALL_STEPS,
            causes=(Cause.AUTOMATIC,),
        )
        review_decisions.open_review(
            core, self.desk, run.position, run.conversation, review, self._now()
        )

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
                "due_at": None,
                "waits_for": None,
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


def desk_names(core: sa.Connection) -> list[str]:
    """The desks that have runs in this database."""
    query = sa.select(t.runs.c.desk).distinct().order_by(t.runs.c.desk)
    return list(core.execute(query).scalars())
