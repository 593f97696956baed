"""What a desk's trust rests on: judgements and changes of mode, alike on both databases."""

import time
from collections.abc import Callable
from dataclasses import replace

import sqlalchemy as sa

from deskhand.adapters.stores import judgements, plain_reads
from deskhand.adapters.stores import tables as t
from deskhand.adapters.stores.core_database import CoreDatabase
from deskhand.adapters.stores.review_decisions import record_event
from deskhand.adapters.stores.rows import pack
from deskhand.adapters.stores.statements import mark_record
from deskhand.model.judgement import (
    AFTERWARDS,
    RETURNED,
    Figure,
    Judged,
    Judgement,
    ModeChange,
)

_COLUMNS = (
    t.runs.c.id,
    *(
        t.judgements.c[name]
        for name in (
            "category",
            "language",
            "mode",
            "judged",
            "share",
            "facts",
            "counts",
            "at",
            "id",
        )
    ),
)
"""What `judgement_of` reads, in that order."""


class SqlTrustStore:
    def __init__(
        self, database: CoreDatabase, desk: str, now: Callable[[], float] = time.time
    ) -> None:
        self.desk = desk
        self._database, self._now = database, now

    # --- modes

    async def mode_changes(self, category: str | None = None) -> list[ModeChange]:
        return await plain_reads.mode_changes(self._database.ask_quickly, self.desk, category)

    async def change_mode(self, change: ModeChange) -> bool:
        def op(core: sa.Connection) -> bool:
            now = self._now()
            values = {
                name: getattr(change, name)
                for name in ("category", "number", "mode", "before", "how", "by")
            }
            values |= {
                "desk": self.desk,
                "reason": change.reason,
                "figures": pack(change.figures),
                "at": now,
            }
            try:
                with core.begin_nested():
                    core.execute(t.mode_changes.insert().values(**values))
            except sa.exc.IntegrityError:
                return False
            mark_record(core, self.desk, t.mode_changes, self.desk, change.category, change.number)
            payload = {
                name: getattr(change, name)
                for name in ("category", "before", "mode", "how", "reason")
            }
            record_event(
                core,
                self.desk,
                "mode.changed",
                None,
                change.by,
                payload | {"figures": change.figures},
                now,
            )
            return True

        return await self._database.write_core(op)

    # --- judgements

    async def judge(self, judgement: Judgement) -> bool:
        judgement = replace(judgement, at=judgement.at or self._now())
        return await self._database.write_core(
            lambda core: judgements.keep(core, self.desk, judgement)
        )

    async def left_alone(self, judgement: Judgement) -> bool:
        def op(core: sa.Connection) -> bool:
            run = (
                sa.select(t.runs.c.position)
                .where(t.runs.c.id == judgement.run_id)
                .scalar_subquery()
            )
            if core.execute(
                sa.select(t.judgements.c.id).where(t.judgements.c.run == run).limit(1)
            ).first():
                return False
            return judgements.keep(
                core, self.desk, replace(judgement, judged=Judged.SENT, at=self._now())
            )

        return await self._database.write_core(op)

    async def complained(self, conversation: str, by_run: str, since: float) -> str | None:
        def op(core: sa.Connection) -> str | None:
            run_id: str | None = core.execute(
                sa.select(t.runs.c.id)
                .join(t.judgements, t.judgements.c.run == t.runs.c.position)
                .where(
                    t.runs.c.desk == self.desk,
                    t.runs.c.conversation == conversation,
                    t.runs.c.id != by_run,
                    t.judgements.c.judged == Judged.SENT,
                    t.judgements.c.at >= since,
                )
                .order_by(t.judgements.c.id.desc())
                .limit(1)
            ).scalar()
            if run_id is None or not judgements.note_afterwards(
                core, self.desk, run_id, Judged.COMPLAINED, self._now()
            ):
                return None
            record_event(
                core, self.desk, "reply.complained", run_id, None, {"in": by_run}, self._now()
            )
            return run_id

        return await self._database.write_core(op)

    async def not_looked_at(self, category: str | None = None) -> list[Judgement]:
        later = t.judgements.alias("later")
        looked_at = (
            sa.select(later.c.id)
            .where(
                later.c.run == t.judgements.c.run,
                later.c.judged.in_([str(judged) for judged in (*AFTERWARDS, *RETURNED)]),
            )
            .exists()
        )
        query = (
            sa.select(*_COLUMNS)
            .join(t.runs, t.runs.c.position == t.judgements.c.run)
            .where(
                t.judgements.c.desk == self.desk,
                t.judgements.c.judged == str(Judged.SENT),
                ~looked_at,
            )
            .order_by(t.judgements.c.id)
        )
        if category is not None:
            query = query.where(t.judgements.c.category == category)
        rows = await self._database.read_core(lambda core: core.execute(query).all())
        return [plain_reads.judgement_of(row) for row in rows]

    async def look_back(self, run_id: str, judged: Judged, *, drawn: bool, by: str) -> bool:
        def op(core: sa.Connection) -> bool:
            now = self._now()
            kept = judgements.note_afterwards(core, self.desk, run_id, judged, now, drawn=drawn)
            if kept:
                said = {"judged": str(judged), "drawn": drawn}
                record_event(core, self.desk, "reply.looked_at", run_id, by, said, now)
            return kept

        return await self._database.write_core(op)

    async def judgements(
        self, category: str, *, since: float = 0.0, newest: int | None = None
    ) -> list[Judgement]:
        return await plain_reads.judgements(self._database.ask, self.desk, category, since, newest)

    async def figures(self) -> list[Figure]:
        return await plain_reads.figures(self._database.ask, self.desk)
