"""Erasing a person wherever a desk keeps anything: the database, the desk's own tables, the store
of active tickets."""

from typing import NamedTuple

from deskhand.adapters.stores.erasure import known_as, ticket_customers
from deskhand.adapters.stores.mentions import find_mentions
from deskhand.adapters.stores.tickets import SqlTickets
from deskhand.wiring.databases import Database
from deskhand.wiring.tickets import open_tickets


class Erased(NamedTuple):
    """How much of a person was erased, and where the database still names them."""

    runs: int
    own_rows: int
    """In the desk's own tables."""
    mentions: list[str]
    tickets: int = 0
    """Also those that a colleague opened for the person, without a message."""

    @property
    def is_anything(self) -> bool:
        return bool(self.runs or self.own_rows or self.tickets)


async def erase_person(database: Database, desk: str, address: str, by: str) -> Erased:
    """Erase what a desk keeps about a person; returns how much that was.

    The desk's own tables come first: only the engine's tables, which go after them, tell which
    of their rows are the person's. StoreUnavailable, and nothing erased, while the store of active
    tickets is away.
    """
    names, run_ids = await database.read_in_transaction(lambda core: known_as(core, desk, address))
    customers = await database.read_in_transaction(
        lambda core: ticket_customers(core, names, run_ids)
    )
    store = SqlTickets(database, desk)
    customers.update(await store.customers_of(run_ids))
    async with open_tickets(database, desk) as tickets:
        for customer in sorted(customers):
            await tickets.active.scan_activated_ticket_ids(customer)
        before = await store.ids_of(customers)
        own_rows = await database.own_tables(desk).erase(names, run_ids)
        runs = await database.store(desk).erase(address, by)
        for customer in sorted(customers):
            await tickets.mend(customer)
        gone = before - await store.ids_of(customers)
    mentions = await database.read_in_transaction(lambda core: find_mentions(core, desk, address))
    return Erased(runs, own_rows, mentions, len(gone))
