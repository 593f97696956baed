"""A desk's tickets in SQLAlchemy Core, on every database."""

import time
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from deskhand.adapters.stores import tables as t
from deskhand.adapters.stores.core_database import CoreDatabase
from deskhand.adapters.stores.customer_tickets import (
    BY_CHANGE,
    checkpoint_of,
    seen_tickets,
    version_of,
)
from deskhand.adapters.stores.search_index import SqlSearchIndex
from deskhand.adapters.stores.taken_turns import turns_taken, turns_waiting, write_turns
from deskhand.adapters.stores.ticket_queues import TicketQueues, by_deadline, narrowed
from deskhand.adapters.stores.ticket_rows import (
    event_of,
    next_version,
    row_of,
    ticket_of,
    write_events,
    write_row,
)
from deskhand.adapters.stores.ticket_search import with_words
from deskhand.adapters.stores.ticket_take_up import join_hand_over, take_up
from deskhand.errors import NotFound
from deskhand.model.message import Message
from deskhand.model.run import ConversationTurn, Run
from deskhand.model.ticket import (
    CustomerTickets,
    Ticket,
    TicketCheckpoint,
    TicketEvent,
    TicketEventKind,
    TicketMessage,
)
from deskhand.model.ticket_request import TakenTurn, TicketTurn
from deskhand.model.ticket_state import TicketFilter, TicketOrder
from deskhand.ports.tickets import TicketDeadline
from deskhand.tickets.fold import fold

_LONGEST_CHAIN = 50
"""Merged tickets that lead on, at most; there are no circles, so this is never reached."""


class SqlTickets(TicketQueues):
    """Events are the truth; `tickets` and `ticket_messages` are told from them."""

    def __init__(self, database: CoreDatabase, desk: str) -> None:
        super().__init__(database, desk)
        self._here = t.tickets.c.desk == desk

    # --- one customer

    async def version(self, customer: str) -> int:
        return await self._database.glance(lambda core: version_of(core, self.desk, customer))

    async def of_customer(
        self,
        customers: Sequence[str],
        *,
        conversation: str = "",
        sought: Collection[str] = (),
        limit: int = 200,
    ) -> CustomerTickets:
        return await self._database.read_core(
            lambda core: seen_tickets(core, self.desk, customers, conversation, sought, limit)
        )

    async def write(
        self,
        customer: str,
        version: int,
        events: Sequence[TicketEvent],
        checkpoints: Mapping[str, TicketCheckpoint],
        vectors: Mapping[str, bytes] | None = None,
        deadlines: Mapping[str, TicketDeadline | None] | None = None,
    ) -> None:
        def op(core: sa.Connection) -> None:
            next_version(core, self.desk, customer, version)
            write_events(core, self.desk, events, checkpoints, vectors or {}, deadlines or {})

        await self._database.write_core(op)

    # --- one ticket

    async def ticket(self, ticket_id: str) -> Ticket:
        here = t.tickets.c
        due = sa.select(here.due_at, here.due_for).where(self._here, here.id == ticket_id)

        def op(core: sa.Connection) -> Ticket:
            ticket = fold(self._events(core, ticket_id))
            row = core.execute(due).one_or_none()
            return ticket if row is None else ticket.changed(due_at=row.due_at, due_for=row.due_for)

        return await self._database.read_core(op)

    async def events(self, ticket_id: str) -> list[TicketEvent]:
        return await self._database.read_core(lambda core: self._events(core, ticket_id))

    def _events(self, core: sa.Connection, ticket_id: str) -> list[TicketEvent]:
        here = t.ticket_events.c
        query = (
            sa.select(here.number, here.body)
            .where(here.desk == self.desk, here.ticket == ticket_id)
            .order_by(here.number)
        )
        rows = core.execute(query).all()
        if not rows:
            raise NotFound(f"there is no ticket {ticket_id} on desk {self.desk}")
        return [event_of(row) for row in rows]

    async def change(self, change: str) -> list[TicketEvent]:
        here = t.ticket_events.c
        query = (
            sa.select(here.number, here.body)
            .where(here.desk == self.desk, here.change == change)
            .order_by(here.ticket, here.number)
        )
        rows = await self._database.read_core(lambda core: core.execute(query).all())
        return [event_of(row) for row in rows]

    async def ticket_of_run(self, run_id: str) -> str | None:
        links = t.ticket_messages.c
        query = (
            sa.select(links.ticket)
            .join(t.runs, t.runs.c.position == links.run)
            .where(links.desk == self.desk, t.runs.c.id == run_id)
        )
        return await self._database.glance(lambda core: core.execute(query).scalar())

    async def customers_of(self, run_ids: Sequence[str]) -> list[str]:
        """Whose tickets these runs' messages belong to."""
        links = t.ticket_messages.c
        same = sa.and_(t.tickets.c.desk == links.desk, t.tickets.c.id == links.ticket)
        query = (
            sa.select(t.tickets.c.customer)
            .distinct()
            .join(t.ticket_messages, same)
            .join(t.runs, t.runs.c.position == links.run)
            .where(self._here, t.runs.c.id.in_(run_ids))
        )
        return await self._database.read_core(lambda core: list(core.execute(query).scalars()))

    async def ids_of(self, customers: Collection[str]) -> set[str]:
        """The ids of all tickets of these customers."""
        query = sa.select(t.tickets.c.id).where(self._here, t.tickets.c.customer.in_(customers))
        return await self._database.read_core(lambda core: set(core.execute(query).scalars()))

    async def lead(self, ticket_ids: Sequence[str]) -> dict[str, Ticket]:
        return await self._database.read_core(lambda core: self._lead(core, ticket_ids))

    def _lead(self, core: sa.Connection, ticket_ids: Sequence[str]) -> dict[str, Ticket]:
        leading_tickets: dict[str, Ticket] = {}
        leads_to = {ticket_id: ticket_id for ticket_id in ticket_ids}
        for _ in range(_LONGEST_CHAIN):
            asked = set(leads_to.values())
            query = sa.select(t.tickets).where(self._here, t.tickets.c.id.in_(asked))
            rows = {row.id: ticket_of(row) for row in core.execute(query)}
            following: dict[str, str] = {}
            for first, current in leads_to.items():
                ticket = rows.get(current)
                if ticket is not None and ticket.merged_into:
                    following[first] = ticket.merged_into
                elif ticket is not None:
                    leading_tickets[first] = ticket
            if not following:
                break
            leads_to = following
        return leading_tickets

    # --- many tickets

    async def find(
        self,
        wanted: TicketFilter,
        *,
        limit: int = 100,
        after: tuple[float, str] | None = None,
        order: TicketOrder = TicketOrder.CHANGED,
    ) -> list[Ticket]:
        here = t.tickets.c
        query = self._matching(sa.select(t.tickets), wanted)
        if order is TicketOrder.DEADLINE:
            ordered = by_deadline(query, after).limit(limit)
            return [ticket_of(row) for row in await self._rows_with_words(ordered, wanted)]
        if after is not None:
            at, ticket_id = after
            same_time = sa.and_(here.changed_at == at, here.id > ticket_id)
            query = query.where(sa.or_(here.changed_at < at, same_time))
        is_few = wanted.customer is not None or wanted.conversation is not None
        changed = BY_CHANGE if is_few else here.changed_at
        query = query.order_by(changed.desc(), here.id).limit(limit)
        return [ticket_of(row) for row in await self._rows_with_words(query, wanted)]

    async def count(self, wanted: TicketFilter) -> int:
        query = self._matching(sa.select(sa.func.count()).select_from(t.tickets), wanted)
        [[count]] = await self._rows_with_words(query, wanted)
        return int(count)

    async def _rows_with_words(
        self, query: sa.Select[Any], wanted: TicketFilter
    ) -> Sequence[sa.Row[Any]]:
        """The rows of a query of tickets, of those that have the words that are searched for."""
        written = wanted.search or ""
        if written:
            await SqlSearchIndex(self._database, self.desk).index_unless_kept_up()

        def op(core: sa.Connection) -> Sequence[sa.Row[Any]]:
            return core.execute(with_words(query, core, self.desk, written)).all()

        return await self._database.read_core(op)

    def _matching(self, query: sa.Select[Any], wanted: TicketFilter) -> sa.Select[Any]:
        here = t.tickets.c
        query = narrowed(query.where(self._here), wanted)
        if wanted.states:
            query = query.where(here.state.in_(wanted.states))
        if wanted.customer is not None:
            query = query.where(here.customer.in_(_customer_keys(wanted.customer)))
        for column, value in ((here.assignee, wanted.assignee), (here.group, wanted.group)):
            if value is not None:
                query = query.where(column == value if value else column.is_(None))
        if wanted.tag is not None:
            query = query.where(here.tags.contains(f" {wanted.tag} ", autoescape=True))
        if wanted.conversation is not None:
            links = t.ticket_messages.c
            met = sa.select(links.ticket).where(
                links.desk == self.desk, links.conversation == wanted.conversation
            )
            query = query.where(here.id.in_(met))
        return query

    async def ids(self, *, after: str = "", limit: int = 500) -> list[str]:
        here = t.ticket_events.c
        query = (
            sa.select(here.ticket)
            .distinct()
            .where(here.desk == self.desk, here.ticket > after)
            .order_by(here.ticket)
            .limit(limit)
        )
        return await self._database.read_core(lambda core: list(core.execute(query).scalars()))

    # --- messages

    async def messages(self, runs: Sequence[str]) -> list[tuple[str, Message, bytes | None]]:
        joined = sa.and_(
            t.ticket_events.c.run == t.runs.c.position,
            t.ticket_events.c.kind == TicketEventKind.JOINED,
        )
        query = (
            sa.select(t.runs.c.id, t.messages.c.body, t.ticket_events.c.vector)
            .join(t.messages, t.messages.c.run == t.runs.c.position)
            .outerjoin(t.ticket_events, joined)
            .where(
                t.runs.c.desk == self.desk, t.runs.c.id.in_(runs), t.messages.c.body.is_not(None)
            )
            .order_by(t.runs.c.position)
        )
        rows = await self._database.read_core(lambda core: core.execute(query).all())
        return [(row.id, Message.model_validate_json(row.body), row.vector) for row in rows]

    async def turns_taken(
        self, customers: Sequence[str], turns: Sequence[TicketTurn], *, ticket: str | None = None
    ) -> list[TakenTurn]:
        return await self._database.read_core(
            lambda core: turns_taken(core, self.desk, customers, turns, ticket)
        )

    async def turns_waiting(self, sender: Message, turns: Sequence[TicketTurn]) -> list[TakenTurn]:
        return await self._database.read_core(
            lambda core: turns_waiting(core, self.desk, sender, turns)
        )

    async def timeline(self, ticket_id: str) -> list[TicketMessage]:
        links = t.ticket_messages.c
        query = (
            sa.select(t.runs.c.id, t.runs.c.status, t.runs.c.conversation, t.messages.c.body)
            .add_columns(t.runs.c.created_at)
            .join(t.runs, t.runs.c.position == links.run)
            .join(t.messages, t.messages.c.run == links.run)
            .where(links.desk == self.desk, links.ticket == ticket_id)
            .order_by(links.run)
        )
        rows = await self._database.read_core(lambda core: core.execute(query).all())
        return [_ticket_message(row) for row in rows]

    # --- what waits in other conversations

    async def take_up(
        self, run_id: str, runs: Sequence[str]
    ) -> tuple[Run | None, list[ConversationTurn]]:
        now = time.time()
        return await self._database.write_core(
            lambda core: take_up(core, self.desk, run_id, runs, now)
        )

    async def join_hand_over(self, run_id: str, runs: Sequence[str], by: str) -> str | None:
        now = time.time()
        return await self._database.write_core(
            lambda core: join_hand_over(core, self.desk, run_id, runs, by, now)
        )

    # --- the archive

    async def checkpoint(self, ticket_id: str) -> TicketCheckpoint | None:
        query = sa.select(t.tickets.c.checkpoint).where(self._here, t.tickets.c.id == ticket_id)
        held = await self._database.read_core(lambda core: core.execute(query).scalar())
        return None if held is None else checkpoint_of(held)

    async def save_ticket(self, ticket: Ticket, checkpoint: TicketCheckpoint) -> bool:
        here = t.tickets.c
        mine = (self._here, here.id == ticket.id, here.number == checkpoint.number)
        row = row_of(ticket, checkpoint)
        values = {name: row[name] for name in ("search_text", "checkpoint")}
        statement = t.tickets.update().where(*mine, here.state == ticket.state).values(**values)
        return bool(await self._database.write_core(lambda core: core.execute(statement).rowcount))

    async def save_messages(self, ticket: Ticket) -> int:
        return await self._database.write_core(lambda core: self._save_messages(core, ticket))

    def _save_messages(self, core: sa.Connection, ticket: Ticket) -> int:
        links = t.ticket_messages
        query = sa.select(t.runs.c.position, t.runs.c.conversation).where(
            t.runs.c.desk == self.desk, t.runs.c.id.in_(ticket.runs)
        )
        wanted = {row.position: row.conversation for row in core.execute(query)}
        mine = (links.c.desk == self.desk, links.c.ticket == ticket.id)
        held = set(core.execute(sa.select(links.c.run).where(*mine)).scalars())
        strays = held - wanted.keys()
        if strays:
            core.execute(links.delete().where(*mine, links.c.run.in_(strays)))
        for position in wanted.keys() - held:
            elsewhere = (links.c.desk == self.desk, links.c.run == position)
            core.execute(links.delete().where(*elsewhere))
            row = {"desk": self.desk, "ticket": ticket.id, "conversation": wanted[position]}
            core.execute(links.insert().values(**row, run=position))
        write_turns(core, self.desk, ticket.customer, list(wanted))
        return len(wanted)

    async def restore(self, ticket: Ticket, checkpoint: TicketCheckpoint, version: int) -> bool:
        def op(core: sa.Connection) -> bool:
            next_version(core, self.desk, ticket.customer, version)
            before = self._row(core, ticket.id)
            self._save_messages(core, ticket)
            write_row(core, self.desk, ticket, checkpoint)
            return before != self._row(core, ticket.id)

        return await self._database.write_core(op)

    def _row(self, core: sa.Connection, ticket_id: str) -> tuple[Any, ...] | None:
        row = core.execute(
            sa.select(t.tickets).where(self._here, t.tickets.c.id == ticket_id)
        ).one_or_none()
        return None if row is None else tuple(row)


def _customer_keys(customer: str) -> list[str]:
    """The names that a customer may stand under: people leave out what kind of name it is."""
    return [customer, f"customer:{customer}", f"address:{customer.strip().lower()}"]


def _ticket_message(row: Any) -> TicketMessage:
    if row.body is None:
        return TicketMessage(
            row.id, row.status, row.conversation, "", "", "", "", row.created_at, True
        )
    message = Message.model_validate_json(row.body)
    return TicketMessage(
        run=row.id,
        status=row.status,
        conversation=row.conversation,
        channel=message.channel,
        sender=str(message.writer),
        subject=message.subject,
        text=message.words,
        at=message.received_at.timestamp(),
    )
