"""A desk's answered messages: found by likeness, counted by sentence, forgotten with the person."""

import time
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, cast

import sqlalchemy as sa

from deskhand.adapters.stores import tables as t
from deskhand.adapters.stores.core_database import insert_if_new
from deskhand.model.exchanges import Exchange, ExchangeQuery, FoundExchange, How, LearnedExchange
from deskhand.model.run import RunStatus

if TYPE_CHECKING:
    from deskhand.adapters.stores.postgres_database import PostgresDatabase
    from deskhand.adapters.stores.sqlite_database import SqliteDatabase
    from deskhand.knowledge.snapshot import Vectors

MOST_COMPARED = 20_000
"""How many of the latest exchanges a message is compared to; older answers were repeated since."""

LATE = 500
"""How far below the newest position one may still turn up: of two written side by side the later
may commit first."""


class SqlExchanges:
    """Vectors are held in memory and brought up to date before each search; texts are always
    read from their rows."""

    def __init__(
        self,
        database: "SqliteDatabase | PostgresDatabase",
        desk: str,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._database, self.desk, self._now = database, desk, now
        self._held: tuple[list[int], Vectors] | None = None

    async def unlearned(self, *, after: int = 0, limit: int = 50) -> list[tuple[int, str]]:
        """Positions and ids of runs that sent a reply nobody has learned from yet, oldest first."""
        query = (
            sa.select(t.runs.c.position, t.runs.c.id)
            .outerjoin(t.exchanges, t.exchanges.c.run == t.runs.c.position)
            .where(
                t.runs.c.desk == self.desk,
                t.runs.c.status == RunStatus.SENT,
                t.runs.c.position > after,
                t.exchanges.c.position.is_(None),
            )
            .order_by(t.runs.c.position)
            .limit(limit)
        )
        return await self._database.read_core(
            lambda core: [(row[0], row[1]) for row in core.execute(query)]
        )

    async def keep(self, learned: LearnedExchange) -> bool:
        """Once; False when it is known already, or its run was erased meanwhile."""
        return await self._database.write_core(lambda core: self._keep(core, learned))

    def _keep(self, core: sa.Connection, learned: LearnedExchange) -> bool:
        exchange = learned.exchange
        run = core.execute(
            sa.select(t.runs.c.position)
            .join(t.messages, t.messages.c.run == t.runs.c.position)
            .where(
                t.runs.c.desk == self.desk,
                t.runs.c.id == exchange.run_id,
                t.messages.c.body.is_not(None),
            )
        ).scalar()
        if run is None:
            return False
        values = {
            "desk": self.desk,
            "run": run,
            "person": exchange.person,
            "owner": exchange.owner,
            "category": exchange.category,
            "language": exchange.language,
            "how": exchange.how,
            "question": exchange.question,
            "answer": exchange.answer,
            "vector": learned.vector,
            "answered_at": exchange.answered_at,
        }
        if not insert_if_new(core, t.exchanges, values):
            return False
        if learned.sentences:
            rows = [
                {"desk": self.desk, "sentence": digest, "run": run, "person": exchange.person}
                for digest in learned.sentences
            ]
            core.execute(t.told_sentences.insert(), rows)
        return True

    async def similar(self, query: ExchangeQuery) -> list[FoundExchange]:
        """The likest exchanges that a person let go, of other people."""
        return await self._database.read_core(lambda core: self._similar(core, query))

    def _similar(self, core: sa.Connection, query: ExchangeQuery) -> list[FoundExchange]:
        import numpy as np

        from deskhand.knowledge.snapshot import best

        positions, vectors = self._renewed(core)
        if not positions:
            return []
        scored = best(np.array(positions, dtype=np.int64), vectors @ query.vector, 20 * query.limit)
        cosines = dict(scored)
        rows = core.execute(
            _exchanges().where(
                t.exchanges.c.position.in_(list(cosines)),
                t.exchanges.c.person != query.person,
                t.exchanges.c.how != "sent",
                sa.or_(t.exchanges.c.owner.is_(None), t.exchanges.c.owner != (query.owner or "")),
            )
        ).all()
        hits = [FoundExchange(_exchange(row), round(cosines[row.position], 4)) for row in rows]
        return sorted(hits, key=lambda hit: -hit.similarity)[: query.limit]

    def _renewed(self, core: sa.Connection) -> "tuple[list[int], Vectors]":
        """Rows are only added and, with a person, removed: a removed one is missed when its text
        is read."""
        import numpy as np

        from deskhand.knowledge.snapshot import vectors_of

        held, vectors = self._held or ([], vectors_of([]))
        latest = core.execute(
            sa.select(t.exchanges.c.position)
            .where(
                t.exchanges.c.desk == self.desk,
                t.exchanges.c.position > max(held, default=0) - LATE,
            )
            .order_by(t.exchanges.c.position.desc())
            .limit(MOST_COMPARED)
        )
        missing = sorted({*latest.scalars()} - {*held[-LATE:]} if held else {*latest.scalars()})
        if not missing:
            return held, vectors
        added: list[bytes] = []
        for some in (missing[start : start + 500] for start in range(0, len(missing), 500)):
            rows = core.execute(
                sa.select(t.exchanges.c.position, t.exchanges.c.vector).where(
                    t.exchanges.c.position.in_(some)
                )
            )
            blobs = {row[0]: row[1] for row in rows}
            added += [blobs[position] for position in some]
        fresh = vectors_of(added)
        joined = np.concatenate([vectors, fresh]) if held else fresh
        self._held = ([*held, *missing][-MOST_COMPARED:], joined[-MOST_COMPARED:])
        return self._held

    async def of_owner(self, owner: str, limit: int = 5) -> list[Exchange]:
        """Those of somebody who was proven to be himself, newest first."""
        query = (
            _exchanges()
            .where(t.exchanges.c.desk == self.desk, t.exchanges.c.owner == owner)
            .order_by(t.exchanges.c.position.desc())
            .limit(limit)
        )
        return await self._database.read_core(
            lambda core: [_exchange(row) for row in core.execute(query)]
        )

    async def of_runs(self, run_ids: Sequence[str]) -> dict[str, Exchange]:
        query = _exchanges().where(t.exchanges.c.desk == self.desk, t.runs.c.id.in_(list(run_ids)))
        return await self._database.read_core(
            lambda core: {row.run_id: _exchange(row) for row in core.execute(query)}
        )

    async def told_to(self, sentences: Iterable[str]) -> dict[str, int]:
        """How many different people were told each sentence, by its digest.

        Only those count of whom it was proven who they are: anybody can write from three
        addresses.
        """
        sentence_table, exchanges = t.told_sentences, t.exchanges
        query = (
            sa.select(sentence_table.c.sentence, sa.func.count(exchanges.c.owner.distinct()))
            .join(exchanges, exchanges.c.run == sentence_table.c.run)
            .where(
                sentence_table.c.desk == self.desk,
                sentence_table.c.sentence.in_(list(sentences)),
                exchanges.c.owner.is_not(None),
            )
            .group_by(sentence_table.c.sentence)
        )
        return await self._database.read_core(
            lambda core: {row[0]: row[1] for row in core.execute(query)}
        )


def forget_exchanges(core: sa.Connection, run: int) -> None:
    core.execute(t.told_sentences.delete().where(t.told_sentences.c.run == run))
    core.execute(t.exchanges.delete().where(t.exchanges.c.run == run))


def _exchanges() -> sa.Select[Any]:
    return sa.select(t.exchanges, t.runs.c.id.label("run_id")).join(
        t.runs, t.runs.c.position == t.exchanges.c.run
    )


def _exchange(row: Any) -> Exchange:
    return Exchange(
        row.run_id,
        row.person,
        row.owner,
        row.category,
        row.language,
        cast(How, row.how),
        row.question,
        row.answer,
        row.answered_at,
    )
