"""The checkpoints of active tickets in the desk's own database."""

import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

import sqlalchemy as sa

from deskhand.adapters.stores import tables as t
from deskhand.adapters.stores.core_database import CoreDatabase, insert_if_new
from deskhand.model.ticket import customer_named

_PORTION = 500


class SqlActiveTickets:
    def __init__(self, database: CoreDatabase, desk: str) -> None:
        self._database, self._desk = database, desk

    async def scan_activated_ticket_ids(self, customer_id: str) -> list[str]:
        return sorted(await self.checkpoints_of(customer_id))

    async def get_raw_checkpoint_data(
        self, customer_id: str, ticket_id: str
    ) -> dict[str, Any] | None:
        query = sa.select(t.active_tickets.c.checkpoint).where(*self._at(customer_id, ticket_id))
        held = await self._database.read_core(lambda core: core.execute(query).scalar())
        return None if held is None else json.loads(held)

    async def checkpoints_of(self, customer_id: str) -> dict[str, dict[str, Any]]:
        here = t.active_tickets.c
        query = sa.select(here.ticket, here.checkpoint).where(
            here.desk == self._desk, here.customer == customer_named(customer_id)
        )
        rows = await self._database.read_core(lambda core: core.execute(query).all())
        return {row.ticket: json.loads(row.checkpoint) for row in rows}

    async def put_checkpoint(
        self, customer_id: str, ticket_id: str, data: Mapping[str, Any]
    ) -> None:
        checkpoint = json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode()
        customer = customer_named(customer_id)
        row = {"desk": self._desk, "customer": customer, "ticket": ticket_id}

        def op(core: sa.Connection) -> None:
            if insert_if_new(core, t.active_tickets, {**row, "checkpoint": checkpoint}):
                return
            here = self._at(customer_id, ticket_id)
            core.execute(t.active_tickets.update().where(*here).values(checkpoint=checkpoint))

        await self._database.write_core(op)

    async def delete_ticket_checkpoints(self, customer_id: str, ticket_id: str) -> int:
        statement = t.active_tickets.delete().where(*self._at(customer_id, ticket_id))
        return await self._database.write_core(lambda core: core.execute(statement).rowcount)

    async def all_checkpoints(self) -> AsyncIterator[tuple[str, str]]:
        here = t.active_tickets.c
        after = ("", "")
        while True:
            query = (
                sa.select(here.customer, here.ticket)
                .where(here.desk == self._desk, sa.tuple_(here.customer, here.ticket) > after)
                .order_by(here.customer, here.ticket)
                .limit(_PORTION)
            )
            rows = await self._read(query)
            for row in rows:
                yield row[0], row[1]
            if len(rows) < _PORTION:
                return
            after = (rows[-1][0], rows[-1][1])

    async def foreign_keys(self) -> list[str]:
        """None: the table is ours."""
        return []

    async def _read(self, query: sa.Select[Any]) -> list[tuple[str, str]]:
        rows = await self._database.read_core(lambda core: core.execute(query).all())
        return [(row.customer, row.ticket) for row in rows]

    def _at(self, customer_id: str, ticket_id: str) -> tuple[sa.ColumnElement[bool], ...]:
        here = t.active_tickets.c
        mine = here.customer == customer_named(customer_id)
        return (here.desk == self._desk, mine, here.ticket == ticket_id)

    async def close(self) -> None:
        """The database is closed by whoever opened it."""
