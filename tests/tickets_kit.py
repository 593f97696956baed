"""What tests of tickets share: a desk's tickets on a store, and messages of several customers."""

from datetime import UTC, datetime
from typing import Any

import numpy as np

from deskhand.adapters.stores.active_tickets import SqlActiveTickets
from deskhand.adapters.stores.tickets import SqlTickets
from deskhand.model.message import Address, Message
from deskhand.model.principal import ANONYMOUS, Principal, PrincipalKind
from deskhand.model.ticket import Ticket, TicketAsk
from deskhand.tickets.asks import asked
from deskhand.tickets.placing import TicketPlacing
from deskhand.tickets.service import Tickets

NOW = 1_800_000_000.0


class WordVectors:
    """Two texts are as near as the words that they share: enough to tell matters apart."""

    def embed(self, texts: Any, kind: str = "query", *, keep: bool = False) -> Any:
        rows = []
        for text in texts:
            row = np.zeros(512, dtype=np.float32)
            for word in text.lower().split():
                row[sum(word.encode()) % 512] += 1
            length = float(np.linalg.norm(row))
            rows.append(row / length if length else row)
        return np.stack(rows)


class Moments:
    """Time that a test moves."""

    def __init__(self, at: float = NOW) -> None:
        self.at = at

    def now(self) -> float:
        return self.at


def tickets_of(store: Any, active: Any = None, clock: Moments | None = None) -> Tickets:
    active = active or SqlActiveTickets(store._database, store.desk)
    moments = clock or Moments()
    return Tickets(SqlTickets(store._database, store.desk), active, now=moments.now)


def placing_of(tickets: Tickets) -> TicketPlacing:
    return TicketPlacing(tickets, embedder=WordVectors())


def proven(address: str) -> Principal:
    return Principal(kind=PrincipalKind.SENDER, address=address, how="a test")


def mail(
    number: int | str,
    body: str,
    *,
    address: str = "ann@example.com",
    conversation: str | None = None,
    subject: str = "",
    principal: Principal | None = None,
    channel: str = "api",
    headers: dict[str, str] | None = None,
) -> Message:
    return Message(
        id=f"m{number}",
        channel=channel,
        conversation=conversation or f"c{number}",
        sender=Address(address=address),
        subject=subject,
        body=body,
        headers=headers or {},
        received_at=datetime.fromtimestamp(NOW, UTC),
        principal=proven(address) if principal is None else principal,
    )


def unproven(number: int | str, body: str, **fields: Any) -> Message:
    return mail(number, body, principal=ANONYMOUS, **fields)


async def accepted(store: Any, message: Message) -> str:
    """The run of a message that has just come."""
    return str((await store.accept(message, flow="flow")).run_id)


async def asking(tickets: Tickets, ticket_id: str, *texts: str) -> Ticket:
    """The ticket, of which the first message asks for these."""
    run = (await tickets.find(ticket_id)).runs[0]
    asks = [TicketAsk(run=run, place=place, text=text) for place, text in enumerate(texts, 1)]
    return await tickets.changed(ticket_id, lambda one: asked(one, asks, "desk", NOW))
