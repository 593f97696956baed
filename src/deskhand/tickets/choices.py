"""Choices of tickets: the views that every desk has, those that people keep, and their filters.

A choice is written as an address has it: `view=late&group=billing`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any
from urllib.parse import parse_qsl, urlencode

from deskhand.errors import NotFound
from deskhand.model.ticket import TicketView
from deskhand.model.ticket_state import TicketFilter, TicketOrder, TicketState, UrgencyLevel
from deskhand.ports.tickets import TicketStore

NOBODY = "-"
"""Stands for nobody, and for no group, in an address."""
SAVED = "saved:"
"""How the name of a view begins that people keep."""
SOON = 3600.0
VIEWS = ("open", "mine", "nobody", "late", "forgotten", "waiting", "over", "all")
"""What every desk has, by the name in an address."""
_WEEK = 7 * 86400.0
_LONGEST = 200
_DUE = ("late", "soon")


@dataclass(frozen=True, slots=True)
class TicketChoice:
    """What somebody wants to see; its fields are the names in the address."""

    view: str = "open"
    within: str = ""
    """Of a view that people keep: the one that every desk has and that it narrows."""
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
    within = kept.within or kept.view
    return replace(kept, view=f"{SAVED}{view.name}", within=within, desk=desk)


def built_in_views(
    me: str, now: float, forgotten_after: float
) -> dict[str, tuple[TicketFilter, TicketOrder]]:
    """The tickets of each of VIEWS, and their order.

    A ticket counts as forgotten that nobody touched for `forgotten_after` seconds.
    """
    running = (TicketState.ACTIVE, TicketState.OPEN)
    mine = TicketFilter((*running, TicketState.PENDING), assignee=me)
    over = TicketFilter((TicketState.SOLVED, TicketState.CLOSED), changed_after=now - _WEEK)
    return {
        "open": (TicketFilter(running), TicketOrder.DEADLINE),
        "mine": (mine, TicketOrder.DEADLINE),
        "nobody": (TicketFilter(running, assignee=""), TicketOrder.DEADLINE),
        "late": (TicketFilter(running, due_before=now), TicketOrder.DEADLINE),
        "forgotten": (forgotten(now, forgotten_after), TicketOrder.CHANGED),
        "waiting": (TicketFilter((TicketState.PENDING,)), TicketOrder.CHANGED),
        "over": (over, TicketOrder.CHANGED),
        "all": (TicketFilter(), TicketOrder.CHANGED),
    }


def forgotten(now: float, after: float) -> TicketFilter:
    """Tickets that are somebody's turn, but nobody touched them for so many seconds and no
    deadline runs any more."""
    return TicketFilter((TicketState.ACTIVE, TicketState.OPEN), quiet_since=now - after)


def wanted_by(
    choice: TicketChoice, me: str, now: float, forgotten_after: float
) -> tuple[TicketFilter, TicketOrder]:
    """Which tickets a choice means, and in which order."""
    views = built_in_views(me, now, forgotten_after)
    wanted, order = views.get(choice.within or choice.view, views["open"])
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
    if choice.due in _DUE:
        said["due_before"] = now + (SOON if choice.due == "soon" else 0.0)
    return said


async def view_named(
    store: TicketStore, name: str, me: str, now: float, forgotten_after: float
) -> tuple[TicketFilter, TicketOrder]:
    """The tickets of a view, which people keep or every desk has, and their order; NotFound for
    another name."""
    plain = name.removeprefix(SAVED)
    kept = await store.views()
    for view in kept:
        if view.name == plain:
            return wanted_by(saved_choice(view, ""), me, now, forgotten_after)
    if name not in VIEWS:
        names = ", ".join((*VIEWS, *(view.name for view in kept)))
        raise NotFound(f"there is no view {name!r}; there are {names}")
    return built_in_views(me, now, forgotten_after)[name]


def narrowed_by(wanted: TicketFilter, more: TicketFilter) -> TicketFilter:
    """A view's filter with what else was asked for, which counts where both say something."""
    said = {field.name: getattr(more, field.name) for field in fields(more)}
    given = {name: value for name, value in said.items() if value not in (None, ())}
    return replace(wanted, **given)


def choice_problems(query: str) -> Iterator[str]:
    """Why a choice that is to be kept means nothing, or not what it says."""
    filters = [field.name for field in fields(TicketChoice)]
    values: dict[str, tuple[str, ...]] = {
        "state": tuple(TicketState),
        "urgency": tuple(UrgencyLevel),
        "due": _DUE,
        "order": tuple(TicketOrder),
        "view": VIEWS,
        "within": VIEWS,
    }
    said = parse_qsl(query.removeprefix("?"), keep_blank_values=True)
    if not said:
        yield "write filters as an address has them: urgency=high&group=billing"
    for name, value in said:
        if name not in filters:
            yield f"there is no filter `{name}`; write one of {', '.join(filters)}"
        elif value and value not in values.get(name, (value,)):
            yield f"`{name}` is one of {', '.join(values[name])}, not `{value[:60]}`"
