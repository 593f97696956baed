"""Tickets worked on in one go: urgency, macros, many at once, and saved views."""

from collections.abc import AsyncIterator
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Path, Query, Request
from fastapi.responses import StreamingResponse
from pydantic import Field

from deskhand.errors import NotFound
from deskhand.model.access import Scope
from deskhand.model.frozen import Frozen
from deskhand.model.ticket import LONGEST_NOTE, Ticket
from deskhand.model.ticket_state import AskStatus, TicketState, UrgencyLevel
from deskhand.tickets.choices import choice_problems
from deskhand.tickets.handling import (
    LONGEST_CUSTOMER,
    LONGEST_SUBJECT,
    MOST_AT_ONCE,
    every_ticket,
    in_bulk,
    mark_asks,
    merge_all,
    open_ticket,
    set_urgency,
    use_macro,
)
from deskhand.tickets.service import Tickets
from deskhand.web.api.access import Caller, ServedDesk, may
from deskhand.web.api.problems import FieldProblem, invalid
from deskhand.web.api.request_body import json_body
from deskhand.web.api.ticket_views import BulkView, SavedViewView, TicketDocument, TicketView
from deskhand.web.api.tickets import ReasonBody, TicketId, read_ticket_body, ticket_changed
from deskhand.web.api.views import Page, moment

router = APIRouter(prefix="/api/tickets", tags=["tickets"])

Reader = Annotated[Caller, Depends(may(Scope.TICKETS_READ))]
Writer = Annotated[Caller, Depends(may(Scope.TICKETS_WRITE))]
NDJSON = "application/x-ndjson"
ViewName = Annotated[str, Path(max_length=60)]


class UrgencyBody(ReasonBody):
    urgency: Annotated[UrgencyLevel, Field(strict=False)]


class AsksBody(ReasonBody):
    status: Annotated[AskStatus, Field(strict=False)]
    asks: list[Annotated[str, Field(max_length=200)]] = Field(default_factory=list, max_length=200)
    """Their ids; all that are open where none is named."""


class MacroBody(Frozen):
    macro: str = Field(max_length=60)
    """The name of a macro in desk.yaml."""


class BulkBody(ReasonBody):
    """One change of many tickets of one desk; each is changed or says why not."""

    tickets: list[str] = Field(min_length=1, max_length=MOST_AT_ONCE)
    do: Literal["assign", "urgency", "tag", "macro", "solve", "close", "merge"]
    to: str | None = Field(default=None, max_length=200)
    group: str | None = Field(default=None, max_length=200)
    urgency: Annotated[UrgencyLevel | None, Field(strict=False)] = None
    tags: list[str] = Field(default_factory=list, max_length=50)
    macro: str | None = Field(default=None, max_length=60)
    rest: Annotated[AskStatus | None, Field(strict=False)] = None
    """With `solve` and `close`: what became of asks that are still open."""


class OpenTicketBody(Frozen):
    """A ticket for what a customer said elsewhere, on the telephone for example."""

    customer: str = Field(min_length=1, max_length=LONGEST_CUSTOMER)
    """A mail address or a customer number."""
    subject: str = Field(min_length=1, max_length=LONGEST_SUBJECT)
    note: str = Field(default="", max_length=LONGEST_NOTE)
    """For colleagues; no customer and no model reads it."""
    urgency: Annotated[UrgencyLevel | None, Field(strict=False)] = None


class SaveViewBody(Frozen):
    query: str = Field(max_length=1000)
    """The filters, as the console's address has them."""


@router.post("", status_code=201, openapi_extra=json_body(OpenTicketBody))
async def open_for_customer(
    request: Request, caller: Writer, desk: str | None = None
) -> TicketView:
    """Open a ticket for a customer; 409 for a customer or subject that says nothing."""
    body = await read_ticket_body(request, OpenTicketBody)
    ticket = await open_ticket(
        caller.desk(desk).tickets,
        body.customer,
        body.subject,
        caller.key.name,
        urgency=body.urgency,
        note=body.note,
    )
    return TicketView.of(ticket)


@router.get("/views", operation_id="list_ticket_views")
async def list_views(caller: Reader, desk: str | None = None) -> Page[SavedViewView]:
    """The views that people keep on a desk."""
    views = await caller.desk(desk).tickets.store.views()
    items = [
        SavedViewView(
            name=view.name, query=view.query, made_by=view.made_by, made_at=moment(view.made_at)
        )
        for view in views
    ]
    return Page[SavedViewView](items=items, next_cursor=None)


@router.get(
    "/export",
    response_class=StreamingResponse,
    responses={200: {"content": {NDJSON: {}}, "description": "One ticket a line."}},
)
async def export_tickets(
    caller: Reader, desk: str | None = None, customer: Annotated[str | None, Query()] = None
) -> StreamingResponse:
    """All tickets with messages, notes and history, one JSON document a line; of one customer id or
    address where it is named."""
    lines = _exported(caller.desk(desk).tickets, customer)
    return StreamingResponse(lines, media_type=NDJSON)


async def _exported(tickets: Tickets, customer: str | None) -> AsyncIterator[str]:
    async for ticket, messages, events in every_ticket(tickets, customer):
        yield TicketDocument.with_history(ticket, messages, events).model_dump_json() + "\n"


@router.put("/views/{name}", openapi_extra=json_body(SaveViewBody))
async def save_view(
    request: Request, caller: Writer, name: ViewName, desk: str | None = None
) -> SavedViewView:
    """Keep a choice of tickets under a name, in place of one that has it; `GET
    /api/tickets?view=NAME` lists its tickets."""
    body = await read_ticket_body(request, SaveViewBody)
    problems = [FieldProblem("query", words) for words in choice_problems(body.query)]
    if problems:
        raise invalid(*problems)
    store = caller.desk(desk).tickets.store
    view = await store.save_view(name, body.query.removeprefix("?"), caller.key.name)
    return SavedViewView(
        name=view.name, query=view.query, made_by=view.made_by, made_at=moment(view.made_at)
    )


@router.delete("/views/{name}", status_code=204)
async def remove_view(caller: Writer, name: ViewName, desk: str | None = None) -> None:
    await caller.desk(desk).tickets.store.remove_view(name)


@router.post("/bulk", openapi_extra=json_body(BulkBody))
async def change_many(request: Request, caller: Writer, desk: str | None = None) -> BulkView:
    """Change many tickets; those that cannot be changed keep none of the others back."""
    body = await read_ticket_body(request, BulkBody)
    served = caller.desk(desk)
    by = caller.key.name
    if body.do == "merge":
        done = await merge_all(served.tickets, body.tickets, by, body.why)
    else:
        _check(body, served)
        done = await in_bulk(body.tickets, lambda ticket_id: _change(served, ticket_id, body, by))
    return BulkView(changed=[ticket.id for ticket in done.changed], failed=dict(done.failed))


def _check(body: BulkBody, desk: ServedDesk) -> None:
    """Refuse what lacks its value before anything is changed."""
    if body.do == "assign" and not body.model_fields_set & {"to", "group"}:
        raise invalid(FieldProblem("to", "name a colleague, a group, or null for nobody"))
    if body.do == "urgency" and body.urgency is None:
        raise invalid(FieldProblem("urgency", "say how urgent they are"))
    if body.do == "tag" and not body.tags:
        raise invalid(FieldProblem("tags", "name a tag"))
    if body.do == "macro" and body.macro not in desk.spec.tickets.macros:
        raise invalid(FieldProblem("macro", "name a macro of desk.yaml"))


async def _change(desk: ServedDesk, ticket_id: str, body: BulkBody, by: str) -> Ticket:
    tickets = desk.tickets
    match body.do:
        case "assign":
            said = body.model_fields_set
            to = (body.to or "") if "to" in said else None
            group = (body.group or "") if "group" in said else None
            return await tickets.assign(ticket_id, by, to=to, group=group, why=body.why)
        case "urgency" if body.urgency is not None:
            return await set_urgency(tickets, ticket_id, body.urgency, by, body.why)
        case "tag":
            return await tickets.tag(ticket_id, by, body.tags)
        case "macro" if body.macro is not None:
            macro = desk.spec.tickets.macros[body.macro]
            return await use_macro(tickets, ticket_id, body.macro, macro, by)
        case _:
            state = TicketState.CLOSED if body.do == "close" else TicketState.SOLVED
            return await tickets.set_state(ticket_id, state, by, body.why, body.rest)


@router.post("/{ticket_id}/urgency", openapi_extra=json_body(UrgencyBody))
async def judge_ticket(request: Request, caller: Writer, ticket_id: TicketId) -> TicketView:
    """Say how urgent it is; its deadlines follow."""
    body = await read_ticket_body(request, UrgencyBody)
    return await ticket_changed(
        caller,
        ticket_id,
        lambda tickets: set_urgency(tickets, ticket_id, body.urgency, caller.key.name, body.why),
    )


@router.post("/{ticket_id}/asks", openapi_extra=json_body(AsksBody))
async def mark_ticket_asks(request: Request, caller: Writer, ticket_id: TicketId) -> TicketView:
    """Say what became of things that it asks for; 409 for one that it does not ask."""
    body = await read_ticket_body(request, AsksBody)
    by = caller.key.name
    return await ticket_changed(
        caller,
        ticket_id,
        lambda tickets: mark_asks(tickets, ticket_id, body.status, by, body.asks, body.why),
    )


@router.post("/{ticket_id}/macro", openapi_extra=json_body(MacroBody))
async def use_ticket_macro(request: Request, caller: Writer, ticket_id: TicketId) -> TicketView:
    """Do what a macro of desk.yaml says, step by step."""
    body = await read_ticket_body(request, MacroBody)
    for desk in caller.desks.values():
        try:
            await desk.tickets.find(ticket_id)
        except NotFound:
            continue
        macro = desk.spec.tickets.macros.get(body.macro)
        if macro is None:
            raise invalid(FieldProblem("macro", "name a macro of desk.yaml"))
        by = caller.key.name
        return TicketView.of(await use_macro(desk.tickets, ticket_id, body.macro, macro, by))
    raise NotFound(f"there is no ticket {ticket_id}")
