"""The pharmacy desk's gate on a database, for tests of its reservations."""

from typing import Any

import sqlalchemy as sa

from deskhand.desks.pharmacy.catalogue import TABLES, stock
from deskhand.model.envelope import Envelope
from deskhand.model.message import Address
from deskhand.model.principal import Principal, PrincipalKind
from deskhand.ports import DeskDatabase
from deskhand.tools.gate import Gate
from deskhand.tools.gate_call import GateAnswer
from deskhand.tools.registry import ToolRegistry
from deskhand.tools.terms import terms_of
from deskhand.wiring import LoadedDesk
from tests.kit import a_message
from tests.memory_ledger import FixedContext, MemoryLedger

TOOL = "manage_reservation"


class Counter:
    """The desk's gate on a database; every call is a run of its own unless it says otherwise."""

    def __init__(self, loaded: LoadedDesk, database: DeskDatabase) -> None:
        self.own, self._ledger, self._runs = database, MemoryLedger(), 0
        registry = ToolRegistry(loaded.code.tools)
        terms = terms_of(loaded.spec, registry, loaded.code.message_facts)
        self._gate = Gate(
            registry,
            self._ledger,
            desk="pharmacy",
            terms=terms,
            resolvers=loaded.code.resolvers,
            database=database,
        )

    async def ask(
        self, who: Principal, body: str = "Please.", run: str | None = None, **arguments: Any
    ) -> GateAnswer:
        self._runs += 1
        run = run or f"run-{self._runs}"
        message = a_message(run, body=body).changed(
            principal=who, sender=Address(address=who.address or "x@y.example")
        )
        ctx = FixedContext(run_id=run, principal=who)
        ctx.envelope = Envelope.of(message, run_id=run)
        return await self._gate.call(TOOL, arguments, allowed=[TOOL], ctx=ctx)

    async def shelf(self, product: str = "D003", pharmacy: str = "PH01") -> int:
        query = sa.select(stock.c.packs).where(
            stock.c.product == product, stock.c.pharmacy == pharmacy
        )
        return int(await self.own.read(TABLES, lambda db: db.execute(query).scalar_one()))

    async def change(self, statement: Any) -> None:
        await self.own.write(TABLES, lambda db: db.execute(statement).rowcount)


def known(name: str, kind: PrincipalKind = PrincipalKind.SENDER) -> Principal:
    return Principal(kind=kind, address=f"{name}@example.com", how="a test")
