"""What people do with tickets on the console: each is one of the service's changes."""

from collections.abc import Awaitable, Callable, Mapping

from deskhand.errors import Conflict
from deskhand.model.ticket import Ticket
from deskhand.model.ticket_state import AskStatus, TicketState, UrgencyLevel
from deskhand.tickets.handling import (
    BulkResult,
    in_bulk,
    mark_asks,
    merge_all,
    set_urgency,
    use_macro,
)
from deskhand.web.api.access import ServedDesk
from deskhand.web.api.problems import Refused
from deskhand.web.console.session import Visit

ASK = "a:"
"""How the names of fields begin that say what became of an ask."""
CHOSEN = "t:"
"""How the names of fields begin that choose a ticket, or a message of one."""

Form = Mapping[str, str]
Action = Callable[[ServedDesk, str, Form, str], Awaitable[Ticket]]


async def act_on(desk: ServedDesk, action: str, ticket_id: str, visit: Visit) -> Ticket:
    """The ticket to show afterwards; Conflict, NotFound or Refused say why not."""
    if action not in ACTIONS:
        raise Refused(404, f"there is no action {action!r}")
    return await ACTIONS[action](desk, ticket_id, visit.form, visit.name)


async def act_on_many(desk: ServedDesk, visit: Visit) -> BulkResult:
    form, me = visit.form, visit.name
    chosen = chosen_in(form)
    if not chosen:
        raise Conflict("choose a ticket first")
    action = form.get("do", "")
    if action == "merge":
        return await merge_all(desk.tickets, chosen, me, "joined in the list")
    if action not in IN_BULK:
        raise Refused(404, f"there is no action {action!r} for many tickets")
    return await in_bulk(chosen, lambda ticket_id: ACTIONS[action](desk, ticket_id, form, me))


def chosen_in(form: Form) -> list[str]:
    """What was ticked in a form."""
    return [name.removeprefix(CHOSEN) for name in form if name.startswith(CHOSEN)]


async def _assign(desk: ServedDesk, ticket_id: str, form: Form, me: str) -> Ticket:
    to = form.get("to")
    group = form.get("group")
    whose = None if to is None else to.strip()
    where = None if group is None else group.strip()
    return await desk.tickets.assign(ticket_id, me, to=whose, group=where)


async def _take(desk: ServedDesk, ticket_id: str, form: Form, me: str) -> Ticket:
    return await desk.tickets.assign(ticket_id, me, to=me)


async def _urgency(desk: ServedDesk, ticket_id: str, form: Form, me: str) -> Ticket:
    level = form.get("urgency", "")
    if level not in list(UrgencyLevel):
        raise Refused(422, "say how urgent it is")
    why = form.get("why", "").strip()[:500]
    return await set_urgency(desk.tickets, ticket_id, UrgencyLevel(level), me, why)


async def _note(desk: ServedDesk, ticket_id: str, form: Form, me: str) -> Ticket:
    return await desk.tickets.note(ticket_id, form.get("note", ""), me)


async def _tags(desk: ServedDesk, ticket_id: str, form: Form, me: str) -> Ticket:
    add = form.get("add", "").replace(",", " ").split()
    remove = form.get("remove", "").split()
    return await desk.tickets.tag(ticket_id, me, add, remove)


async def _merge(desk: ServedDesk, ticket_id: str, form: Form, me: str) -> Ticket:
    why = form.get("why", "").strip()[:500]
    return await desk.tickets.merge(ticket_id, form.get("into", ""), me, why)


async def _split(desk: ServedDesk, ticket_id: str, form: Form, me: str) -> Ticket:
    subject = form.get("subject", "").strip()[:500] or None
    why = form.get("why", "").strip()[:500]
    return await desk.tickets.split(ticket_id, chosen_in(form), me, why, subject)


async def _undo(desk: ServedDesk, ticket_id: str, form: Form, me: str) -> Ticket:
    return await desk.tickets.undo(ticket_id, me)


def _becomes(state: TicketState) -> Action:
    async def change(desk: ServedDesk, ticket_id: str, form: Form, me: str) -> Ticket:
        why = form.get("why", "").strip()[:500]
        await _mark_chosen(desk, ticket_id, form, me)
        return await desk.tickets.set_state(ticket_id, state, me, why, _rest(form))

    return change


async def _asks(desk: ServedDesk, ticket_id: str, form: Form, me: str) -> Ticket:
    await _mark_chosen(desk, ticket_id, form, me)
    return await desk.tickets.find(ticket_id)


async def _mark_chosen(desk: ServedDesk, ticket_id: str, form: Form, me: str) -> None:
    """What the form says of single asks: fields `a:ID` with what became of each."""
    for name, value in form.items():
        if name.startswith(ASK) and value in list(AskStatus):
            ask = name.removeprefix(ASK)
            await mark_asks(desk.tickets, ticket_id, AskStatus(value), me, [ask])


def _rest(form: Form) -> AskStatus | None:
    value = form.get("rest", "")
    return AskStatus(value) if value in list(AskStatus) else None


async def _macro(desk: ServedDesk, ticket_id: str, form: Form, me: str) -> Ticket:
    name = form.get("macro", "")
    macro = desk.spec.tickets.macros.get(name)
    if macro is None:
        raise Refused(404, f"there is no macro {name!r}")
    return await use_macro(desk.tickets, ticket_id, name, macro, me)


ACTIONS: dict[str, Action] = {
    "assign": _assign,
    "take": _take,
    "urgency": _urgency,
    "note": _note,
    "tags": _tags,
    "merge": _merge,
    "split": _split,
    "undo": _undo,
    "solve": _becomes(TicketState.SOLVED),
    "close": _becomes(TicketState.CLOSED),
    "reopen": _becomes(TicketState.OPEN),
    "wait": _becomes(TicketState.PENDING),
    "macro": _macro,
    "asks": _asks,
}
IN_BULK = ("assign", "take", "urgency", "tags", "solve", "close", "macro")
"""What can be done with many at once, beside joining them."""
