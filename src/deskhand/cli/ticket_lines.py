"""Tickets as documents, and as lines on a terminal."""

import json
from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING, Any

from deskhand.cli.terminal import console, moment, shortened
from deskhand.model.documents import document, with_times

if TYPE_CHECKING:
    from deskhand.model.ticket import Ticket, TicketEvent, TicketMessage
    from deskhand.tickets.service import Tickets


def ticket_document(
    ticket: "Ticket",
    messages: "Sequence[TicketMessage] | None" = None,
    events: "Sequence[TicketEvent]" = (),
) -> dict[str, Any]:
    """A ticket as JSON; with its messages and events where those are given."""
    fields = with_times(ticket.model_dump(mode="json"))
    fields |= {"customer_id": ticket.customer_id, "thread_id": ticket.thread_id}
    fields["notes"] = [with_times(note) for note in fields["notes"]]
    fields["asks"] = [_ask(ask) for ask in fields["asks"]]
    if messages is None:
        del fields["runs"], fields["notes"], fields["asks"]
        return fields
    fields["messages"] = [document(message) for message in messages]
    fields["events"] = [
        with_times(event.model_dump(mode="json", exclude_defaults=True)) for event in events
    ]
    return fields


def _ask(fields: dict[str, Any]) -> dict[str, Any]:
    """An ask as JSON; nobody settled an open one, so it has no time."""
    return with_times({**fields, "at": fields["at"] or None})


async def export_lines(tickets: "Tickets", customer: str | None) -> AsyncIterator[str]:
    """One JSON document for each ticket, with all that is known of it."""
    from deskhand.tickets.handling import every_ticket

    async for ticket, messages, events in every_ticket(tickets, customer):
        document = ticket_document(ticket, messages, events)
        yield json.dumps(document, ensure_ascii=False)


def print_ticket(
    ticket: "Ticket", messages: "Sequence[TicketMessage]", events: "Sequence[TicketEvent]"
) -> None:
    """A ticket with its messages, its notes and its history."""
    for name, value in _heading(ticket):
        if value:
            console().print(f"{name:<10}{shortened(value, 300)}", markup=False, soft_wrap=True)
    for line in ask_lines(ticket):
        console().print(line, markup=False, soft_wrap=True)
    for message in messages:
        head = f"\n{moment(message.at)} {message.channel} {message.sender}  {message.run}"
        console().print(shortened(head, 200), markup=False, style="dim")
        console().print(shortened(message.text, 1000), markup=False, soft_wrap=True)
        if message.reply:
            console().print("\nwe said", markup=False, style="dim")
            console().print(shortened(message.reply, 1000), markup=False, soft_wrap=True)
    for note in ticket.notes:
        head = f"\nnote {moment(note.at)} {shortened(note.by, 40)}"
        console().print(head, markup=False, style="dim")
        console().print(shortened(note.text, 1000), markup=False, soft_wrap=True)
    console().print("")
    for event in events:
        why = f": {event.why}" if event.why else ""
        line = f"{moment(event.at)} {event.kind} by {event.by}{why}"
        console().print(shortened(line, 200), markup=False, style="dim")


def ask_lines(ticket: "Ticket") -> list[str]:
    """What a ticket asks for, each with its number and what became of it."""
    lines: list[str] = []
    for number, ask in enumerate(ticket.asks, 1):
        where = f" in {ask.group}" if ask.group else ""
        by = f" by {ask.by}" if ask.by else ""
        words = shortened(" ".join(ask.text.split()), 160) or "(erased)"
        lines.append(f"ask {number:<6}{words}  [{ask.status}{by}{where}]")
    return lines


def _heading(ticket: "Ticket") -> list[tuple[str, str]]:
    state = f"{ticket.state}, part of {ticket.merged_into}" if ticket.merged_into else ticket.state
    return [
        ("ticket", ticket.id),
        ("subject", ticket.subject),
        ("customer", ticket.customer_id),
        ("state", str(state)),
        ("urgency", str(ticket.urgency or "")),
        ("due", "" if ticket.due_at is None else f"{ticket.due_for} {moment(ticket.due_at)}"),
        ("assignee", ticket.assignee or ""),
        ("group", ticket.group or ""),
        ("tags", " ".join(ticket.tags)),
        ("rated", str(ticket.rating or "")),
        ("opened", moment(ticket.opened_at)),
        ("changed", moment(ticket.changed_at)),
    ]
