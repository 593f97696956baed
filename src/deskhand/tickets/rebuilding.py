"""Making tickets again: their rows, the archive and the active store, from events and messages."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TypeAlias

from deskhand.errors import ForeignKey, NotFound
from deskhand.model.ticket import Rebuilt, Ticket, TicketCheckpoint, as_fields
from deskhand.ports import ActiveTickets, TicketStore
from deskhand.tickets.checkpoints import read_checkpoint

BuildCheckpoint: TypeAlias = Callable[[Ticket], Awaitable[TicketCheckpoint]]
"""Tells a ticket's checkpoint from its messages."""
Mend: TypeAlias = Callable[[], Awaitable[Rebuilt]]
Retry: TypeAlias = Callable[[Mend], Awaitable[Rebuilt]]
"""Tries until nobody else changes the customer's tickets meanwhile."""


class Rebuilding:
    """One pass over a desk's tickets. A key of another program keeps none of the others back."""

    def __init__(
        self, store: TicketStore, active: ActiveTickets, build: BuildCheckpoint, retry: Retry
    ) -> None:
        self._store, self._active = store, active
        self._build, self._retry = build, retry
        self._foreign: set[str] = set()

    async def run(self, progress: Callable[[int], None] | None = None) -> Rebuilt:
        done = Rebuilt()
        after = ""
        while ids := await self._store.ids(after=after):
            for ticket_id in ids:
                done = await self._retry(partial(self._mend, ticket_id, done))
                if progress is not None:
                    progress(done.tickets)
            after = ids[-1]
        cleared = await self._clear_strays()
        self._foreign.update(await self._active.foreign_keys())
        foreign = tuple(sorted(self._foreign))
        return Rebuilt(done.tickets, done.active, done.archived, done.mended, cleared, foreign)

    async def _mend(self, ticket_id: str, so_far: Rebuilt) -> Rebuilt:
        customer = (await self._store.ticket(ticket_id)).customer
        version = await self._store.version(customer)
        ticket = await self._store.ticket(ticket_id)
        checkpoint = await self._build(ticket)
        mended = await self._store.restore(ticket, checkpoint, version)
        is_active = ticket.state.is_active
        if is_active and await self._refill(ticket, checkpoint):
            mended = True
        return Rebuilt(
            tickets=so_far.tickets + 1,
            active=so_far.active + is_active,
            archived=so_far.archived + (not is_active),
            mended=so_far.mended + mended,
        )

    async def _refill(self, ticket: Ticket, checkpoint: TicketCheckpoint) -> bool:
        """Put a checkpoint into the active store; whether something else was there."""
        try:
            raw = await self._active.get_raw_checkpoint_data(ticket.customer, ticket.id)
            await self._active.put_checkpoint(ticket.customer, ticket.id, as_fields(checkpoint))
        except ForeignKey as error:
            self._foreign.add(error.key)
            return False
        return read_checkpoint(raw) != checkpoint

    async def _clear_strays(self) -> int:
        cleared = 0
        strays = [stray async for stray in self._active.all_checkpoints()]
        for customer, ticket_id in strays:
            cleared += await clear_stray(self._store, self._active, customer, ticket_id)
        return cleared


async def clear_stray(
    store: TicketStore, active: ActiveTickets, customer: str, ticket_id: str
) -> int:
    """Clear a checkpoint unless its ticket is active after all; returns how many keys went."""
    try:
        ticket = await store.ticket(ticket_id)
    except NotFound:
        return await active.delete_ticket_checkpoints(customer, ticket_id)
    if ticket.state.is_active and ticket.customer == customer:
        return 0
    return await active.delete_ticket_checkpoints(customer, ticket_id)
