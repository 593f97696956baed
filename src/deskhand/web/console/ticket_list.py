"""The list of tickets: what views, columns and states are called, and what a row shows."""

from collections.abc import Mapping
from typing import Any

from deskhand.model.run import RunStatus
from deskhand.model.ticket import NewestMessage, Ticket
from deskhand.model.ticket_state import TicketState, UrgencyLevel
from deskhand.tickets.choices import SOON
from deskhand.web.console.labels import age
from deskhand.web.console.translation import Phrase

PLACE = "/tickets/"
PAGE = 50
VIEWS = {
    "open": "Open by deadline",
    "mine": "Mine",
    "nobody": "Nobody's",
    "late": "Late",
    "forgotten": "Forgotten",
    "waiting": "Waiting for the customer",
    "over": "Solved, 7 days",
    "all": "All",
}
"""What the views that every desk has are called."""

URGENCIES: dict[str, tuple[str, str]] = {
    UrgencyLevel.CRITICAL: ("urgent", "bad"),
    UrgencyLevel.HIGH: ("high", "bad"),
    UrgencyLevel.MEDIUM: ("normal", "warn"),
    UrgencyLevel.LOW: ("low", "dim"),
}
"""The sign and the colour of an urgency."""
TARGETS = {
    "first_response": "First response",
    "next_response": "Next response",
    "resolution": "Resolution",
}
STATES: dict[TicketState, tuple[str, str, str]] = {
    TicketState.ACTIVE: ("reply due", "s-new", "dim"),
    TicketState.PENDING: ("customer's turn", "s-wait", "dim"),
    TicketState.OPEN: ("a person's", "s-person", "acc"),
    TicketState.SOLVED: ("solved", "done", "good"),
    TicketState.CLOSED: ("closed", "done", "dim"),
    TicketState.MERGED: ("merged", "merge", "dim"),
}
"""What a state is called, with its sign and colour."""


COLUMNS = {
    "status": "Status",
    "deadline": "Deadline",
    "who": "Who",
    "group": "Group",
    "category": "Category",
    "way": "Way",
    "last": "Last word",
}
"""What the table shows beside urgency, number and subject; each can be left out."""
SHOWN, COLUMN = "columns", "column:"
"""The field of a form that chooses columns, and how those begin that name one to show."""


def hidden_columns(cookies: Mapping[str, str]) -> frozenset[str]:
    """The columns that somebody left out in this browser."""
    return frozenset(cookies.get(f"deskhand_{SHOWN}", "").split(".")) & frozenset(COLUMNS)


def chosen_columns(form: Mapping[str, str]) -> str | None:
    """What the cookie is to say: those that were not ticked; None where nobody was asked."""
    if SHOWN not in form:
        return None
    return ".".join(name for name in COLUMNS if f"{COLUMN}{name}" not in form) or "none"


def row_of(ticket: Ticket, newest: NewestMessage | None, now: float) -> dict[str, Any]:
    """What a row of the table shows."""
    sign, colour = URGENCIES.get(ticket.urgency or "", ("low", "dim"))
    status, mark, look = status_of(ticket, newest)
    message = None if newest is None else newest.message
    who, channel = ticket.customer_id, ""
    if message is not None:
        who, channel = message.named or str(message.writer), message.channel
    return {
        "ticket": ticket,
        "sign": sign,
        "colour": colour,
        "status": status,
        "mark": mark,
        "look": look,
        "deadline": deadline_of(ticket, now),
        "who": who,
        "channel": channel,
        "ago": age(now - (ticket.heard_at or ticket.changed_at)),
    }


def status_of(ticket: Ticket, newest: NewestMessage | None) -> tuple[str, str, str]:
    """Whose turn it is, in words, with a sign and a colour."""
    waits = newest is not None and newest.status is RunStatus.WAITING_REVIEW
    if waits and ticket.state.is_waited_for:
        return "in approval", "s-hold", "warn"
    if ticket.state.is_waited_for and ticket.asked_at is None and ticket.answered_at is not None:
        return "answered", "done", "good"
    return STATES[ticket.state]


def deadline_of(ticket: Ticket, now: float) -> dict[str, Any] | None:
    """How long there is yet: in words, and how it looks."""
    if ticket.due_at is None or not ticket.state.is_waited_for:
        return None
    left = ticket.due_at - now
    words, look = _length(left), "soon" if left < SOON else ""
    if left < 0:
        words, look = Phrase("{length} over", length=_length(-left)), "over"
    return {"words": words, "look": look, "at": ticket.due_at, "target": ticket.due_for or ""}


def _length(seconds: float) -> Phrase:
    minutes = int(seconds // 60)
    if minutes < 60:
        return Phrase("{count} min", count=minutes)
    if minutes < 24 * 60:
        hours, rest = divmod(minutes, 60)
        return Phrase("{hours} h {minutes}", hours=hours, minutes=f"{rest:02d}")
    return age(seconds)
