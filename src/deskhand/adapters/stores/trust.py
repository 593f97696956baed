"""What a desk's trust rests on: judgements and changes of mode, alike on both databases."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import sqlalchemy as sa

from deskhand.adapters.stores import judgements
from deskhand.adapters.stores import tables as t
from deskhand.adapters.stores.core_database import CoreDatabase
from deskhand.adapters.stores.review_decisions import record_event
from deskhand.adapters.stores.rows import Row, pack, unpack
from deskhand.adapters.stores.statements import mark_record
from deskhand.model.judgement import (
    AFTERWARDS,
    BY_PEOPLE,
    RETURNED,
    Figure,
    Judged,
    Judgement,
    ModeChange,
)

_NAMES = ("category", "language", "mode", "judged", "share", "facts", "counts", "at", "id")
_COLUMNS = (t.runs.c.id, *(t.judgements.c[name] for name in _NAMES))
_KINDS = {str(kind): kind for kind in Judged}
_CHANGES = (
    sa.select(t.mode_changes)
    .where(t.mode_changes.c.desk == sa.bindparam("desk"))
    .order_by(t.mode_changes.c.at, t.mode_changes.c.category, t.mode_changes.c.number)
)
_CHANGES_OF_CATEGORY = _CHANGES.where(t.mode_changes.c.category == sa.bindparam("of"))
"""Asked about every reply, so it is put together once."""


class SqlTrustStore:
    def __init__(
        self, database: CoreDatabase, desk: str, now: Callable[[], float] = time.time
    ) -> None:
        self.desk = desk
        self._database, self._now = database, now

    # --- modes

    async def mode_changes(self, category: str | None = None) -> list[ModeChange]:
        query = _CHANGES if category is None else _CHANGES_OF_CATEGORY
        parameters = {"desk": self.desk} | ({} if category is None else {"of": category})
        rows = await self._database.glance(lambda core: core.execute(query, parameters).all())
        return [_change(row) for row in rows]

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
        return [_judgement(row) for row in rows]

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
        query = (
            sa.select(*_COLUMNS)
            .join(t.runs, t.runs.c.position == t.judgements.c.run)
            .where(
                t.judgements.c.desk == self.desk,
                t.judgements.c.category == category,
                t.judgements.c.at > since,
            )
            .order_by(t.judgements.c.id.desc())
            .limit(newest)
        )
        rows = await self._database.read_core(lambda core: core.execute(query).all())
        return [_judgement(row) for row in reversed(rows)]

    async def figures(self) -> list[Figure]:
        """By category and language. A run that people decided about more than once counts as the
        worst of it."""
        people = [*BY_PEOPLE]
        rank = sa.case(
            {str(judged): number for number, judged in enumerate(people)},
            value=t.judgements.c.judged,
        )
        group = (t.judgements.c.category, t.judgements.c.language)
        worst = (
            sa.select(
                *group,
                sa.func.max(rank).label("rank"),
                sa.func.max(t.judgements.c.share).label("share"),
            )
            .where(
                t.judgements.c.desk == self.desk,
                t.judgements.c.judged.in_([str(judged) for judged in people]),
            )
            .group_by(t.judgements.c.run, *group)
            .subquery()
        )
        decided = sa.select(
            worst.c.category,
            worst.c.language,
            worst.c.rank,
            sa.func.count(),
            sa.func.sum(worst.c.share),
        ).group_by(worst.c.category, worst.c.language, worst.c.rank)
        others = (
            sa.select(
                *group, t.judgements.c.judged, sa.func.count(), sa.func.sum(t.judgements.c.share)
            )
            .where(
                t.judgements.c.desk == self.desk,
                t.judgements.c.judged.not_in([str(judged) for judged in people]),
            )
            .group_by(*group, t.judgements.c.judged)
        )

        def op(core: sa.Connection) -> Sequence[Sequence[object]]:
            named = [
                (row[0], row[1], people[row[2]], row[3], row[4]) for row in core.execute(decided)
            ]
            return [*named, *core.execute(others).all()]

        return _figures(await self._database.read_core(op))


def _figures(rows: Sequence[Sequence[object]]) -> list[Figure]:
    by_group: dict[tuple[str, str], dict[str, int]] = {}
    shares: dict[tuple[str, str, str], float] = {}
    for category, language, judged, count, share in rows:
        group = (str(category), str(language))
        by_group.setdefault(group, {})[str(judged)] = int(str(count))
        shares[(*group, str(judged))] = float(str(share)) / int(str(count))
    figures = []
    for group, counts in sorted(by_group.items()):
        category, language = group
        figure = Figure(
            category=category,
            language=language,
            counts={Judged(name): count for name, count in counts.items()},
            edited_share=shares.get((*group, Judged.EDITED), 0.0),
            compared_share=shares.get((*group, Judged.COMPARED), 0.0),
        )
        figures.append(figure)
    return figures


def _change(row: Row) -> ModeChange:
    return ModeChange(
        category=row.category,
        number=row.number,
        mode=row.mode,
        before=row.before,
        how=row.how,
        by=row.by,
        reason=row.reason,
        figures=unpack(row.figures) or {},
        at=row.at,
    )


def _judgement(row: Row) -> Judgement:
    """Rows selected by _COLUMNS, in that order; hundreds of them are read for a reply."""
    run_id, category, language, mode, judged, share, facts, counts, at, number = tuple[Any, ...](
        row
    )
    return Judgement(
        run_id,
        category,
        language,
        mode,
        _KINDS[judged],
        share,
        bool(facts),
        bool(counts),
        at,
        number,
    )
