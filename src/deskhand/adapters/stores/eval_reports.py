"""Reports of evals that somebody started in the console: the newest few of each desk."""

import json
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from deskhand.adapters.stores import tables as t
from deskhand.adapters.stores.core_database import CoreDatabase
from deskhand.ports.run_bench import KeptEval

KEPT = 10
"""Reports of a desk that stay; older ones go."""


class SqlEvalReports:
    def __init__(self, database: CoreDatabase) -> None:
        self._database = database

    async def add(self, desk: str, at: float, by: str, report: Mapping[str, Any]) -> None:
        here = t.eval_reports.c
        body = json.dumps(report, ensure_ascii=False, default=str)
        row = {"desk": desk, "at": at, "made_by": by, "body": body}
        newest = sa.select(here.at).where(here.desk == desk).order_by(here.at.desc()).limit(KEPT)

        def op(core: sa.Connection) -> None:
            core.execute(sa.insert(t.eval_reports).values(row))
            kept = core.execute(newest).scalars()
            old = sa.delete(t.eval_reports).where(here.desk == desk, here.at < min(kept))
            core.execute(old)

        await self._database.write_core(op)

    async def newest(self, desk: str, limit: int) -> list[KeptEval]:
        here = t.eval_reports.c
        query = (
            sa.select(t.eval_reports).where(here.desk == desk).order_by(here.at.desc()).limit(limit)
        )
        rows = await self._database.read_core(lambda core: core.execute(query).all())
        return [KeptEval(row.at, row.made_by, json.loads(row.body)) for row in rows]
