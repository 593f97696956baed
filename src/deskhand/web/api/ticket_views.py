"""What the API shows of tickets. Fields may be added, never renamed."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Self

from deskhand.model.ticket import Ticket, TicketAsk, TicketEvent, TicketMessage
from deskhand.model.ticket_state import AskStatus, Rating, TicketState, UrgencyLevel
from deskhand.web.api.views import View, moment


class TicketView(View):
    ticket_id: str
    thread_id: str
    customer_id: str
    state: TicketState
    subject: str
    assignee: str | None
    group: str | None
    tags: list[str]
    messages: int
    merged_into: str | None
    """The ticket that it is part of."""
    opened_at: datetime
    changed_at: datetime
    solved_at: datetime | None
    urgency: UrgencyLevel | None
    category: str | None
    language: str | None
    plan: str | None
    answered_at: datetime | None
    """When the first answer left."""
    due_at: datetime | None
    """The next deadline."""
    due_for: str | None
    """What is due then: `first_response`, `next_response` or `resolution`."""
    rating: Rating | None
    """What the customer says of how it was handled."""

    @classmethod
    def of(cls, ticket: Ticket) -> Self:
        return cls(**_fields(ticket))


class TicketNoteView(View):
    text: str
    by: str
    at: datetime


class TicketAskView(View):
    """One thing that the ticket asks for."""

    id: str
    run: str
    text: str
    status: AskStatus
    group: str
    article: str | None
    by: str
    why: str
    at: datetime | None
    """When it was settled."""


class TicketMessageView(View):
    run: str
    status: str
    conversation: str
    channel: str
    sender: str
    subject: str
    text: str
    at: datetime
    erased: bool
    reply: str
    """What we said to it last; empty while nothing has left."""


class TicketEventView(View):
    number: int
    kind: str
    by: str
    why: str
    at: datetime
    details: dict[str, Any]
    """What changed."""


class BulkView(View):
    """What became of a change of many tickets."""

    changed: list[str]
    failed: dict[str, str]
    """Why not, by the id that was given."""


class SavedViewView(View):
    """A choice of tickets that people keep under a name."""

    name: str
    query: str
    """The filters, as the console's address has them: `urgency=high&group=billing`."""
    made_by: str
    made_at: datetime


class TicketDocument(TicketView):
    """A ticket with all that people need to work on it."""

    timeline: list[TicketMessageView]
    notes: list[TicketNoteView]
    asks: list[TicketAskView]
    events: list[TicketEventView]

    @classmethod
    def with_history(
        cls, ticket: Ticket, messages: Sequence[TicketMessage], events: Sequence[TicketEvent]
    ) -> Self:
        notes = [TicketNoteView(text=n.text, by=n.by, at=moment(n.at)) for n in ticket.notes]
        timeline = [_message(message) for message in messages]
        history = [_event(event) for event in events]
        asks = [_ask(ask) for ask in ticket.asks]
        return cls(**_fields(ticket), timeline=timeline, notes=notes, asks=asks, events=history)


def _fields(ticket: Ticket) -> dict[str, Any]:
    return {
        "ticket_id": ticket.id,
        "thread_id": ticket.thread_id,
        "customer_id": ticket.customer_id,
        "state": ticket.state,
        "subject": ticket.subject,
        "assignee": ticket.assignee,
        "group": ticket.group,
        "tags": list(ticket.tags),
        "messages": ticket.messages,
        "merged_into": ticket.merged_into,
        "opened_at": moment(ticket.opened_at),
        "changed_at": moment(ticket.changed_at),
        "solved_at": _moment(ticket.solved_at),
        "urgency": ticket.urgency,
        "category": ticket.category,
        "language": ticket.language,
        "plan": ticket.plan,
        "answered_at": _moment(ticket.answered_at),
        "due_at": _moment(ticket.due_at),
        "due_for": ticket.due_for,
        "rating": ticket.rating,
    }


def _moment(at: float | None) -> datetime | None:
    return None if at is None else moment(at)


def _ask(ask: TicketAsk) -> TicketAskView:
    return TicketAskView(
        id=ask.id,
        run=ask.run,
        text=ask.text,
        status=ask.status,
        group=ask.group,
        article=ask.article,
        by=ask.by,
        why=ask.why,
        at=_moment(ask.at or None),
    )


def _message(message: TicketMessage) -> TicketMessageView:
    return TicketMessageView(
        run=message.run,
        status=message.status,
        conversation=message.conversation,
        channel=message.channel,
        sender=message.sender,
        subject=message.subject,
        text=message.text,
        at=moment(message.at),
        erased=message.erased,
        reply=message.reply,
    )


def _event(event: TicketEvent) -> TicketEventView:
    shown = {"ticket", "kind", "by", "why", "at", "number"}
    details = event.model_dump(mode="json", exclude_defaults=True, exclude=shown)
    return TicketEventView(
        number=event.number,
        kind=event.kind,
        by=event.by,
        why=event.why,
        at=moment(event.at),
        details=details,
    )
