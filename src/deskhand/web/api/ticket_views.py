"""What the API shows of tickets. Fields may be added, never renamed."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Self

from deskhand.model.ticket import Ticket, TicketEvent, TicketMessage
from deskhand.model.ticket_state import TicketState
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

    @classmethod
    def of(cls, ticket: Ticket) -> Self:
        return cls(**_fields(ticket))


class TicketNoteView(View):
    text: str
    by: str
    at: datetime


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


class TicketEventView(View):
    number: int
    kind: str
    by: str
    why: str
    at: datetime
    details: dict[str, Any]
    """What changed."""


class TicketDocument(TicketView):
    """A ticket with all that people need to work on it."""

    timeline: list[TicketMessageView]
    notes: list[TicketNoteView]
    events: list[TicketEventView]

    @classmethod
    def told(
        cls, ticket: Ticket, messages: Sequence[TicketMessage], events: Sequence[TicketEvent]
    ) -> Self:
        notes = [TicketNoteView(text=n.text, by=n.by, at=moment(n.at)) for n in ticket.notes]
        timeline = [_message(message) for message in messages]
        history = [_event(event) for event in events]
        return cls(**_fields(ticket), timeline=timeline, notes=notes, events=history)


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
        "solved_at": None if ticket.solved_at is None else moment(ticket.solved_at),
    }


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
