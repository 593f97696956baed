"""The list of tickets: which view and filters somebody chose, and what a row shows."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any
from urllib.parse import parse_qsl, urlencode

from deskhand.engine.ticket_keeper import forgotten
from deskhand.model.run import RunStatus
from deskhand.model.ticket import NewestMessage, Ticket, TicketView
from deskhand.model.ticket_state import TicketFilter, TicketOrder, TicketState, UrgencyLevel
from deskhand.web.console.labels import age
from deskhand.web.console.translation import Phrase

PLACE = "/tickets/"
PAGE = 50
NOBODY = "-"
"""Stands for nobody, and for no group, in an address."""
SOON = 3600.0
_WEEK = 7 * 86400.0
_LONGEST = 200

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


@dataclass(frozen=True, slots=True)
class TicketChoice:
    """What somebody wants to see; its fields are the names in the address."""

    view: str = "open"
    desk: str = ""
    words: str = ""
    state: str = ""
    urgency: str = ""
    group: str = ""
    assignee: str = ""
    category: str = ""
    tag: str = ""
    customer: str = ""
    due: str = ""
    order: str = ""

    def query(self, **more: str) -> str:
        """The part of an address that means this choice."""
        values = {field.name: str(getattr(self, field.name)) for field in fields(self)} | more
        said = {name: value for name, value in values.items() if value}
        if said.get("view") == "open":
            del said["view"]
        return f"?{urlencode(said)}" if said else ""

    def without(self, name: str) -> "TicketChoice":
        return replace(self, **{name: ""})

    @property
    def filters(self) -> dict[str, str]:
        """What narrows the view, by name."""
        names = ("words", "state", "urgency", "group", "assignee", "category", "tag", "customer")
        given = {name: str(getattr(self, name)) for name in (*names, "due")}
        return {name: value for name, value in given.items() if value}


def read_choice(params: Mapping[str, str]) -> TicketChoice:
    names = [field.name for field in fields(TicketChoice)]
    given = {name: params.get(name, "")[:_LONGEST].strip() for name in names}
    return TicketChoice(**{**given, "view": given["view"] or "open"})


def saved_choice(view: TicketView, desk: str) -> TicketChoice:
    """What a saved view means."""
    kept = read_choice(dict(parse_qsl(view.query)))
    return replace(kept, view=f"saved:{view.name}", desk=desk)


def built_in_views(
    me: str, now: float, forgotten_after: float
) -> dict[str, tuple[str, TicketFilter, TicketOrder]]:
    """What every desk has, by the name in the address: the words, the tickets and their order.

    A ticket counts as forgotten that nobody touched for `forgotten_after` seconds.
    """
    running = (TicketState.ACTIVE, TicketState.OPEN)
    mine = TicketFilter((*running, TicketState.PENDING), assignee=me)
    over = TicketFilter((TicketState.SOLVED, TicketState.CLOSED), changed_after=now - _WEEK)
    return {
        "open": ("Open by deadline", TicketFilter(running), TicketOrder.DEADLINE),
        "mine": ("Mine", mine, TicketOrder.DEADLINE),
        "nobody": ("Nobody's", TicketFilter(running, assignee=""), TicketOrder.DEADLINE),
        "late": ("Late", TicketFilter(running, due_before=now), TicketOrder.DEADLINE),
        "forgotten": ("Forgotten", forgotten(now, forgotten_after), TicketOrder.CHANGED),
        "waiting": (
            "Waiting for the customer",
            TicketFilter((TicketState.PENDING,)),
            TicketOrder.CHANGED,
        ),
        "over": ("Solved, 7 days", over, TicketOrder.CHANGED),
        "all": ("All", TicketFilter(), TicketOrder.CHANGED),
    }


def wanted_by(
    choice: TicketChoice, me: str, now: float, forgotten_after: float
) -> tuple[TicketFilter, TicketOrder]:
    """Which tickets a choice means, and in which order."""
    views = built_in_views(me, now, forgotten_after)
    _, wanted, order = views.get(choice.view, views["all"])
    wanted = replace(wanted, **_narrowing(choice, now))
    if choice.order in list(TicketOrder):
        order = TicketOrder(choice.order)
    return wanted, order


def _narrowing(choice: TicketChoice, now: float) -> dict[str, Any]:
    """The fields of a filter that the choice says something about."""
    said: dict[str, Any] = {}
    for name in ("urgency", "category", "tag", "customer", "group", "assignee"):
        if value := getattr(choice, name):
            said[name] = "" if value == NOBODY else value
    if choice.state in list(TicketState):
        said["states"] = (TicketState(choice.state),)
    if choice.words:
        said["search"] = choice.words
    if choice.due in ("late", "soon"):
        said["due_before"] = now + (SOON if choice.due == "soon" else 0.0)
    return said


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
