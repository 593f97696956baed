"""What people and the desk do with tickets in one go: judge them, use a macro, keep deadlines."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from deskhand.config.sections.tickets import MacroSection
from deskhand.errors import Conflict, NotFound
from deskhand.model.run import RunStatus
from deskhand.model.ticket import (
    Ticket,
    TicketEvent,
    TicketEventKind,
    TicketMessage,
    new_ticket_id,
)
from deskhand.model.ticket_state import AskStatus, TicketFilter, TicketState, UrgencyLevel
from deskhand.tickets import rules
from deskhand.tickets.asks import escalated_asks, open_asks, settled
from deskhand.tickets.checkpoints import build, replied
from deskhand.tickets.service import Tickets

MOST_AT_ONCE = 200
LONGEST_SUBJECT = 500
LONGEST_CUSTOMER = 320
_PORTION = 500
ME = "me"
"""In a macro: whoever uses it."""


async def open_ticket(
    tickets: Tickets,
    customer: str,
    subject: str,
    by: str,
    *,
    urgency: UrgencyLevel | None = None,
    note: str = "",
) -> Ticket:
    """Open a ticket for a customer, named by address or customer number, who said something
    elsewhere; Conflict where the customer or the subject is missing."""
    whose = _customer_named(customer)
    title = " ".join(subject.split())[:LONGEST_SUBJECT]
    if not title:
        raise Conflict("say in a few words what it is about")

    async def attempt() -> Ticket:
        version = await tickets.store.version(whose)
        ticket = Ticket(id=new_ticket_id(), customer=whose, opened_at=tickets.now())
        events = rules.opened_by_person(
            ticket.id, whose, title, by, tickets.now(), urgency=urgency, note=note
        )
        begun = {ticket.id: build(ticket, ())}
        return (await tickets.record(whose, version, [ticket], events, begun))[ticket.id]

    return await tickets.retried(attempt)


def _customer_named(written: str) -> str:
    """The customer as tickets know him."""
    name = written.strip()
    if not name or len(name) > LONGEST_CUSTOMER or not name.isprintable():
        raise Conflict("name the customer: a mail address or a customer number")
    return f"address:{name.lower()}" if "@" in name else f"customer:{name}"


async def every_ticket(
    tickets: Tickets, customer: str | None = None
) -> AsyncIterator[tuple[Ticket, list[TicketMessage], list[TicketEvent]]]:
    """All tickets, or one customer's, with their messages and events, the latest changed first."""
    after: tuple[float, str] | None = None
    wanted = TicketFilter(customer=customer)
    while portion := await tickets.store.find(wanted, limit=_PORTION, after=after):
        for row in portion:
            whole = await tickets.store.ticket(row.id)
            messages = await messages_with_replies(tickets, row.id)
            yield whole, messages, await tickets.store.events(row.id)
        after = (portion[-1].changed_at, portion[-1].id)


async def messages_with_replies(tickets: Tickets, ticket_id: str) -> list[TicketMessage]:
    """A ticket's messages of all channels, each with what we said to it."""
    messages = await tickets.store.timeline(ticket_id)
    replies = await tickets.store.replies_of([message.run for message in messages])
    return [replace(message, reply=replies.get(message.run, "")) for message in messages]


async def mend_all(tickets: Tickets, customers: Sequence[str]) -> None:
    """Bring both stores to what the events of these customers' tickets say."""
    for customer in customers:
        await tickets.mend(customer)


async def judge(
    tickets: Tickets, written: str, by: str, judgement: Mapping[str, str | None], why: str = ""
) -> Ticket:
    """Say how urgent a ticket is and what it is about; what is None stays as it is."""
    return await tickets.changed(
        written, lambda ticket: rules.triaged(ticket, judgement, by, why, tickets.now())
    )


async def set_urgency(
    tickets: Tickets, written: str, urgency: UrgencyLevel, by: str, why: str = ""
) -> Ticket:
    return await judge(tickets, written, by, {"urgency": urgency}, why)


async def person_has(tickets: Tickets, ticket: Ticket) -> bool:
    """Whether a person has the ticket: it is `open`, or it holds something that was given to a
    person and that nobody has settled, such as after a merge."""
    if ticket.state is TicketState.OPEN:
        return True
    if await tickets.store.waits_for_person(ticket.runs):
        return True
    if all(ask.status is not AskStatus.ESCALATED for ask in ticket.asks):
        return False
    return bool(escalated_asks(ticket, await tickets.store.events(ticket.id)))


async def mark_asks(
    tickets: Tickets,
    written: str,
    status: AskStatus,
    by: str,
    asks: Sequence[str] | None = None,
    why: str = "",
) -> Ticket:
    """Say what became of asks with these ids or numbers, of all that are open where none is
    named; Conflict for one that the ticket does not have."""

    def events_of(ticket: Ticket) -> Sequence[TicketEvent]:
        if ticket.merged_into:
            raise Conflict(f"{ticket.id} is part of {ticket.merged_into}; work on that one")
        wanted = asks or [ask.id for ask in open_asks(ticket)]
        return settled(ticket, wanted, status, by, why, tickets.now())

    return await tickets.changed(written, events_of)


async def use_macro(
    tickets: Tickets, written: str, name: str, macro: MacroSection, by: str
) -> Ticket:
    """Do what a macro says, step by step: what is done stays done where a later step cannot be."""
    ticket = await tickets.find(written)
    if macro.assign is not None or macro.group is not None:
        to = by if macro.assign == ME else macro.assign
        ticket = await tickets.assign(written, by, to=to, group=macro.group, why=f"macro {name}")
    if macro.urgency is not None:
        ticket = await set_urgency(tickets, written, macro.urgency, by, f"macro {name}")
    if macro.tags:
        ticket = await tickets.tag(written, by, macro.tags)
    if macro.note is not None:
        ticket = await tickets.note(written, macro.note, by)
    if macro.state is not None:
        why = f"macro {name}"
        ticket = await tickets.set_state(written, macro.state, by, why, macro.asks)
    return ticket


@dataclass(frozen=True, slots=True)
class BulkResult:
    """What became of a change of many tickets."""

    changed: tuple[Ticket, ...]
    failed: Mapping[str, str]
    """Why not, by the id that was given."""


async def in_bulk(written: Sequence[str], change: Callable[[str], Awaitable[Ticket]]) -> BulkResult:
    """Change tickets one after the other; one that cannot be changed keeps none of the others
    back."""
    if len(written) > MOST_AT_ONCE:
        raise Conflict(f"choose at most {MOST_AT_ONCE} tickets at once")
    changed: list[Ticket] = []
    failed: dict[str, str] = {}
    for ticket_id in dict.fromkeys(written):
        try:
            changed.append(await change(ticket_id))
        except (Conflict, NotFound) as error:
            failed[ticket_id] = str(error)
    return BulkResult(tuple(changed), failed)


async def merge_all(tickets: Tickets, written: Sequence[str], by: str, why: str) -> BulkResult:
    """Make several tickets part of the one that was opened first."""
    merged = [await tickets.find(ticket_id) for ticket_id in dict.fromkeys(written)]
    if len(merged) < 2:
        raise Conflict("choose two tickets or more to join them")
    first = min(merged, key=lambda ticket: (ticket.opened_at, ticket.id))
    others = [ticket.id for ticket in merged if ticket.id != first.id]
    return await in_bulk(others, lambda ticket_id: tickets.merge(ticket_id, first.id, by, why))


# --- deadlines


async def note_answers(tickets: Tickets, by: str, runs: Sequence[str] | None = None) -> int:
    """Tell each ticket which of its messages were answered, and that it waits for the customer
    where the answer was a question; returns how many answers were new."""
    left = await tickets.store.answers_left(runs)
    for ticket_id, run, status, at in left:
        await _note_answer(tickets, ticket_id, run, by, at)
        if status is RunStatus.WAITING_USER:
            await _wait_for_customer(tickets, ticket_id, by)
    return len(left)


async def _note_answer(tickets: Tickets, ticket_id: str, run: str, by: str, at: float) -> None:
    answered_runs = {
        event.run
        for event in await tickets.store.events(ticket_id)
        if event.kind is TicketEventKind.ANSWERED
    }
    if run in answered_runs:
        return
    reply = await tickets.store.reply_of(run)

    def events_of(ticket: Ticket) -> Sequence[TicketEvent]:
        deadlines = [] if tickets.deadlines is None else tickets.deadlines.running(ticket)
        owed = [deadline for deadline in deadlines if deadline.target != "resolution"]
        return rules.answered(ticket, run, by, at, owed[0].name if owed else None)

    await tickets.changed(
        ticket_id,
        events_of,
        lambda checkpoint: replied(checkpoint, reply, at),
    )


async def _wait_for_customer(tickets: Tickets, ticket_id: str, by: str) -> None:
    def events_of(ticket: Ticket) -> Sequence[TicketEvent]:
        if ticket.state is not TicketState.ACTIVE or ticket.asked_at is not None:
            return []
        why = "the customer was asked"
        return rules.moved_to(ticket, TicketState.PENDING, by, why, tickets.now())

    await tickets.changed(ticket_id, events_of)


async def count_deadlines(tickets: Tickets) -> int:
    """Count the deadlines of tickets that changed where the rules were not known."""
    deadlines = tickets.deadlines
    if deadlines is None:
        return 0
    stale = await tickets.store.untimed()
    for ticket in stale:
        await tickets.store.keep_deadline(ticket, deadlines.next_of(ticket))
    return len(stale)


async def tell_deadlines(tickets: Tickets, by: str) -> list[TicketEvent]:
    """Note each deadline that is near or has passed, once; returns what is new."""
    new_events: list[TicketEvent] = []
    for ticket in await tickets.store.near_deadlines(tickets.now()):
        event = _deadline_event(tickets, ticket, by)
        if event is None:
            continue
        current = await tickets.changed(ticket.id, partial(_tell_again, tickets, by))
        if current.told == f"{event.kind} {event.deadline}":
            new_events.append(event)
    return new_events


def _deadline_event(tickets: Tickets, ticket: Ticket, by: str) -> TicketEvent | None:
    """What is to be told of a ticket's next deadline; None where it is far off or told."""
    now = tickets.now()
    deadline = None if tickets.deadlines is None else tickets.deadlines.next_of(ticket)
    if deadline is None or deadline.warn_at > now:
        return None
    kind = TicketEventKind.BREACHED if deadline.at <= now else TicketEventKind.WARNED
    events = rules.deadline_told(ticket, kind, deadline.name, by, now)
    return events[0] if events else None


def _tell_again(tickets: Tickets, by: str, ticket: Ticket) -> Sequence[TicketEvent]:
    event = _deadline_event(tickets, ticket, by)
    return [] if event is None else [event]
