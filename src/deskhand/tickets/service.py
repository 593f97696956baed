"""What people and stages do with tickets: the rules applied to the stores.

Every change is first a transaction of events and rows in the database. Then the active store
follows: it gets the checkpoint of a ticket that is active, and loses that of one that is archived.
What a crash leaves between the two is mended by whoever looks at the customer's tickets next.
"""

import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from typing import TypeVar

from deskhand.config.sections.tickets import TicketsSection
from deskhand.crashpoints import crash_point
from deskhand.errors import Conflict, NotFound, TicketsChanged
from deskhand.model.ticket import (
    Archived,
    CustomerTickets,
    Rebuilt,
    Ticket,
    TicketCheckpoint,
    TicketEvent,
    TicketEventKind,
    as_fields,
    new_ticket_id,
    ticket_id_of,
)
from deskhand.model.ticket_state import AskStatus, TicketState
from deskhand.ports import ActiveTickets, TicketStore
from deskhand.tickets import rules
from deskhand.tickets.checkpoints import build, read_checkpoint, told_of
from deskhand.tickets.deadlines import Deadline, DeadlineRules
from deskhand.tickets.fold import apply, fold
from deskhand.tickets.message_hints import facts_of
from deskhand.tickets.rebuilding import Rebuilding, clear_stray

T = TypeVar("T")
REOPEN_WITHIN = TicketsSection().reopen_seconds
"""Where no desk.yaml is at hand."""
_TRIES = 50
"""How often a change is tried anew when others change the same customer's tickets meanwhile."""


class Tickets:
    """One desk's tickets."""

    def __init__(
        self,
        store: TicketStore,
        active: ActiveTickets,
        *,
        now: Callable[[], float] = time.time,
        reopen_within: float = REOPEN_WITHIN,
        deadlines: DeadlineRules | None = None,
    ) -> None:
        """Without `deadlines`, those of changed tickets are counted by whoever serves the desk."""
        self.store, self.active, self.now = store, active, now
        self.reopen_within = reopen_within
        self.deadlines = deadlines

    # --- what people do

    async def find(self, written: str) -> Ticket:
        """The ticket with this id, merged or not; NotFound for what is no id of this desk."""
        ticket_id = ticket_id_of(written)
        if ticket_id is None:
            raise NotFound(f"{written!r} is no ticket: ids look like TKT-7Q2M4XK9")
        return await self.store.ticket(ticket_id)

    async def set_state(
        self,
        written: str,
        state: TicketState,
        by: str,
        why: str = "",
        rest: AskStatus | None = None,
    ) -> Ticket:
        """Close, solve or reopen a ticket, or give it to a person; `rest` is what becomes of asks
        that nobody settled."""
        return await self.changed(
            written, lambda ticket: rules.moved_to(ticket, state, by, why, self.now(), rest)
        )

    async def archive(self, written: str, events_of: rules.TicketRule) -> Archived:
        """Solve a ticket or give it to a person: the archive first, then the active store."""
        before = await self.find(written)
        held = await self.active.get_raw_checkpoint_data(before.customer, before.id)
        ticket = await self.changed(written, events_of)
        await self.mend(ticket.customer)
        left = await self.active.get_raw_checkpoint_data(ticket.customer, ticket.id)
        cleared = held is not None and left is None
        return Archived(messages=len(ticket.runs), cleared=int(cleared))

    async def assign(
        self, written: str, by: str, *, to: str | None, group: str | None = None, why: str = ""
    ) -> Ticket:
        return await self.changed(
            written, lambda ticket: rules.assigned(ticket, to, group, by, why, self.now())
        )

    async def tag(
        self, written: str, by: str, add: Sequence[str], remove: Sequence[str] = ()
    ) -> Ticket:
        return await self.changed(
            written, lambda ticket: rules.tagged(ticket, add, remove, by, self.now())
        )

    async def note(self, written: str, text: str, by: str) -> Ticket:
        return await self.changed(written, lambda ticket: rules.noted(ticket, text, by, self.now()))

    async def merge(self, source: str, target: str, by: str, why: str = "") -> Ticket:
        """Make one ticket part of another of the same customer; returns that other one."""

        async def attempt() -> Ticket:
            first, second = await self.find(source), await self.find(target)
            version = await self.store.version(first.customer)
            first, second = await self.find(source), await self.find(target)
            events = rules.merged(first, second, by, why, self.now())
            return (await self._record_full(version, [first, second], events))[second.id]

        return await self.retried(attempt)

    async def split(
        self, written: str, runs: Sequence[str], by: str, why: str = "", subject: str | None = None
    ) -> Ticket:
        """Make a new ticket of some of a ticket's messages; returns the new one."""

        async def attempt() -> Ticket:
            customer = (await self.find(written)).customer
            version = await self.store.version(customer)
            ticket = await self.find(written)
            title = ticket.subject if subject is None else subject
            new_id = new_ticket_id()
            events = rules.split(ticket, runs, new_id, title, by, why, self.now())
            fresh = Ticket(id=new_id, customer=customer, opened_at=events[-1].at)
            return (await self._record_full(version, [ticket, fresh], events))[new_id]

        return await self.retried(attempt)

    async def undo(self, written: str, by: str, why: str = "") -> Ticket:
        """Take the newest merge or split of a ticket back; Conflict where there is none."""

        async def attempt() -> Ticket:
            customer = (await self.find(written)).customer
            version = await self.store.version(customer)
            ticket = await self.find(written)
            last = rules.last_undoable(await self.store.events(ticket.id))
            if last is None or last.change is None:
                raise Conflict(f"{ticket.id} was neither merged nor split, or that is undone")
            moves = await self.store.change(last.change)
            now, before = await self._around(moves)
            by_ticket: dict[str, list[TicketEvent]] = {}
            for move in moves:
                by_ticket.setdefault(move.ticket, []).append(move)
            events = rules.undone(by_ticket, now, before, by, why, self.now())
            return (await self._record_full(version, list(now.values()), events))[ticket.id]

        return await self.retried(attempt)

    async def _around(
        self, moves: Sequence[TicketEvent]
    ) -> tuple[dict[str, Ticket], dict[str, Ticket]]:
        """The tickets of a change as they are now, and as they were just before it."""
        now: dict[str, Ticket] = {}
        before: dict[str, Ticket] = {}
        for move in moves:
            events = await self.store.events(move.ticket)
            now[move.ticket] = fold(events)
            earlier = [event for event in events if event.number < move.number]
            if earlier:
                before[move.ticket] = fold(earlier)
        return now, before

    # --- what stages do

    async def seen_by(
        self, customers: Sequence[str], conversation: str, sought: Collection[str] = ()
    ) -> CustomerTickets:
        return await self.store.of_customer(customers, conversation=conversation, sought=sought)

    async def record(
        self,
        customer: str,
        version: int,
        tickets: Sequence[Ticket],
        events: Sequence[TicketEvent],
        checkpoints: Mapping[str, TicketCheckpoint],
        vectors: Mapping[str, bytes] | None = None,
    ) -> dict[str, Ticket]:
        """Write events of tickets as they were read, and let the active store follow.

        TicketsChanged when the customer's tickets were changed since. Returns the tickets after
        the events.
        """
        numbered, after = _numbered(tickets, events)
        current = {name: told_of(checkpoints[name], ticket) for name, ticket in after.items()}
        crash_point("tickets.before_change")
        due = self._due(after.values())
        await self.store.write(customer, version, numbered, current, vectors, due)
        crash_point("tickets.after_change")
        for name, ticket in after.items():
            await self._follow(ticket, current[name])
        return after

    def _due(self, tickets: Iterable[Ticket]) -> dict[str, Deadline | None]:
        rules = self.deadlines
        if rules is None:
            return {}
        return {ticket.id: rules.next_of(ticket) for ticket in tickets}

    async def _follow(self, ticket: Ticket, checkpoint: TicketCheckpoint) -> int:
        """Let the active store hold what it should of a ticket; returns keys that were cleared."""
        if ticket.state.is_active:
            await self.active.put_checkpoint(ticket.customer, ticket.id, as_fields(checkpoint))
            crash_point("tickets.after_checkpoint")
            return 0
        crash_point("tickets.before_clear")
        cleared = await self.active.delete_ticket_checkpoints(ticket.customer, ticket.id)
        crash_point("tickets.after_clear")
        return cleared

    async def changed(
        self,
        written: str,
        events_of: rules.TicketRule,
        grown: Callable[[TicketCheckpoint], TicketCheckpoint] | None = None,
    ) -> Ticket:
        """A ticket after the events that a rule gives for it, tried until nobody is faster;
        `grown` gives its checkpoint after them."""

        async def attempt() -> Ticket:
            customer = (await self.find(written)).customer
            version = await self.store.version(customer)
            ticket = await self.find(written)
            events = events_of(ticket)
            if not events:
                return ticket
            held = await self.checkpoint(ticket)
            if grown is not None:
                held = grown(held)
            await self.record(customer, version, [ticket], events, {ticket.id: held})
            return await self.find(written)

        return await self.retried(attempt)

    async def _record_full(
        self, version: int, tickets: Sequence[Ticket], events: Sequence[TicketEvent]
    ) -> dict[str, Ticket]:
        """Record a change that moves messages: the checkpoints are built anew."""
        _, after = _numbered(tickets, events)
        built = {name: await self._built(ticket) for name, ticket in after.items()}
        return await self.record(tickets[0].customer, version, tickets, events, built)

    async def retried(self, attempt: Callable[[], Awaitable[T]]) -> T:
        """Try a change until nobody else changed the customer's tickets in the middle of it."""
        for _ in range(_TRIES - 1):
            try:
                return await attempt()
            except TicketsChanged:
                continue
        return await attempt()

    # --- checkpoints

    async def checkpoint(self, ticket: Ticket) -> TicketCheckpoint:
        """What is known of a ticket, from where it lies; told from its messages where that is
        missing or older than its events."""
        if ticket.state.is_active:
            raw = await self.active.get_raw_checkpoint_data(ticket.customer, ticket.id)
            held = read_checkpoint(raw)
        else:
            held = await self.store.checkpoint(ticket.id)
        if held is not None and held.number == ticket.number:
            return held
        return await self._built(await self.store.ticket(ticket.id))

    async def checkpoints(
        self, customers: Sequence[str], tickets: Sequence[Ticket], seen: CustomerTickets
    ) -> dict[str, TicketCheckpoint]:
        """The checkpoints of a customer's tickets. What the active store has too much or too
        little of is mended on the way: the events win."""
        held: dict[str, TicketCheckpoint | None] = dict(seen.archived)
        active = {ticket.id for ticket in seen.tickets if ticket.state.is_active}
        for customer in customers:
            for ticket_id, raw in (await self.active.checkpoints_of(customer)).items():
                if ticket_id in active:
                    held[ticket_id] = read_checkpoint(raw)
                else:
                    await clear_stray(self.store, self.active, customer, ticket_id)
        checkpoints: dict[str, TicketCheckpoint] = {}
        for ticket in tickets:
            checkpoint = held.get(ticket.id)
            if checkpoint is None or checkpoint.number != ticket.number:
                checkpoint = await self._mended(ticket)
            checkpoints[ticket.id] = checkpoint
        return checkpoints

    async def mend(self, customer: str) -> None:
        """Bring both stores to what the events of a customer's tickets say."""
        seen = await self.store.of_customer([customer])
        await self.checkpoints([customer], seen.tickets, seen)

    async def _mended(self, ticket: Ticket) -> TicketCheckpoint:
        whole = await self.store.ticket(ticket.id)
        checkpoint = await self._built(whole)
        if whole.number != ticket.number:
            raise TicketsChanged(f"{ticket.id} was changed meanwhile")
        await self.store.save_ticket(whole, checkpoint)
        if whole.state.is_active:
            await self.active.put_checkpoint(whole.customer, whole.id, as_fields(checkpoint))
        return checkpoint

    async def _built(self, ticket: Ticket) -> TicketCheckpoint:
        messages = await self.store.messages(ticket.runs)
        facts = (facts_of(run, message, raw) for run, message, raw in messages)
        return build(ticket, facts, await self._last_reply(ticket.runs))

    async def _last_reply(self, runs: Sequence[str]) -> list[tuple[str, float]]:
        """What we said last about these runs' messages, and when; nothing where nothing left."""
        newest = await self.store.last_answered(runs)
        if newest is None:
            return []
        run, at = newest
        return [(await self.store.reply_of(run), at)]

    # --- all tickets

    async def rebuild(self, progress: Callable[[int], None] | None = None) -> Rebuilt:
        """Make the rows, the archive and the active store again from the events and messages."""
        return await Rebuilding(self.store, self.active, self._built, self.retried).run(progress)


def _numbered(
    tickets: Sequence[Ticket], events: Sequence[TicketEvent]
) -> tuple[list[TicketEvent], dict[str, Ticket]]:
    """The events with their numbers, and the tickets after them."""
    after = {ticket.id: ticket for ticket in tickets}
    numbered: list[TicketEvent] = []
    for event in events:
        ticket = after[event.ticket]
        event = event.changed(number=ticket.number + 1)
        if event.kind is TicketEventKind.OPENED:
            ticket = ticket.changed(opened_at=event.at)
        after[event.ticket] = apply(ticket, event)
        numbered.append(event)
    return numbered, after
