"""One matter from its first message to a person's desk, worked to its end after any crash.

Used in process (a crash abandons the work) and as a process of its own that kills itself
(`tests/forked.py`).
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from deskhand.adapters.stores.redis_tickets import open_redis_tickets
from deskhand.model.ticket_state import TicketFilter, TicketState
from deskhand.wiring import open_database
from tests.tickets_kit import Moments, accepted, mail, placing_of, tickets_of

with suppress(ImportError):  # an extra, which the store asks for late: processes begin with it
    import_module("redis.asyncio")

MESSAGES = (
    mail(1, "Order 48213 is late", conversation="a"),
    mail(2, "Hello?", conversation="a"),
    mail(3, "Order 48213 again", conversation="b", channel="chat"),
)
CUSTOMER = "address:ann@example.com"
Step = Callable[[], Awaitable[Any]]


class TicketScene:
    """One process's life in the scenario: new objects on the same stores."""

    def __init__(self, store: Any, active: Any = None) -> None:
        self.store = store
        self.tickets = tickets_of(store, active, Moments())

    def steps(self) -> list[Step]:
        return [
            lambda: self._place(0),
            lambda: self._place(1),
            lambda: self._move(TicketState.SOLVED),
            lambda: self._place(2),
            lambda: self._move(TicketState.OPEN),
        ]

    async def _place(self, number: int) -> None:
        message = MESSAGES[number]
        await placing_of(self.tickets).place(await accepted(self.store, message), message)

    async def _move(self, state: TicketState) -> None:
        [ticket] = await self.tickets.store.find(TicketFilter())
        await self.tickets.set_state(ticket.id, state, "eve", "as asked")

    async def check(self, messages: int | None = None) -> None:
        """One ticket, in one place, as its events say."""
        await self.tickets.mend(CUSTOMER)
        found = await self.tickets.store.find(TicketFilter())
        assert len(found) <= 1, found
        for row in found:
            ticket = await self.tickets.find(row.id)
            events = await self.tickets.store.events(row.id)
            assert [event.number for event in events] == list(range(1, len(events) + 1))
            assert (row.state, row.number, row.messages) == (
                ticket.state,
                ticket.number,
                len(ticket.runs),
            )
            active = await self.tickets.active.scan_activated_ticket_ids(CUSTOMER)
            archived = await self.tickets.store.checkpoint(row.id)
            assert (active == [row.id]) is ticket.state.is_active, (active, ticket)
            assert (archived is None) is ticket.state.is_active, (archived, ticket)
            assert messages is None or len(ticket.runs) == messages
        assert (await self.tickets.rebuild()).mended == 0


@asynccontextmanager
async def opened_scene(url: str, redis: str | None = None) -> AsyncIterator[TicketScene]:
    """The scene on a database, with its active tickets in Redis where that is named."""
    active = None if redis is None else open_redis_tickets(redis, "desk")
    async with open_database(url) as database:
        yield TicketScene(database.store("desk"), active)
        if active is not None:
            await active.close()


async def main(folder: str, url: str, redis: str | None = None) -> None:
    async with opened_scene(url, redis) as scene:
        await _played(Path(folder) / "done", scene)


async def _played(done: Path, scene: TicketScene) -> None:
    begun = int(done.read_text()) if done.exists() else 0
    for number, step in enumerate(scene.steps()[begun:], begun):
        await step()
        done.write_text(str(number + 1))
