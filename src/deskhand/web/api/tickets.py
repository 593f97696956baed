"""Tickets: find them, read them, and do with them what people do."""

import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime
from typing import Annotated, TypeVar

from fastapi import APIRouter, Depends, Path, Query, Request
from pydantic import AfterValidator, Field, ValidationError

from deskhand.errors import NotFound
from deskhand.model.access import Scope
from deskhand.model.frozen import Frozen, in_utc
from deskhand.model.ticket import LONGEST_NOTE, Ticket
from deskhand.model.ticket_state import (
    AskStatus,
    TicketFilter,
    TicketOrder,
    TicketState,
    UrgencyLevel,
)
from deskhand.tickets.choices import narrowed_by, view_named
from deskhand.tickets.handling import messages_with_replies
from deskhand.tickets.service import Tickets
from deskhand.web.api.access import Caller, may
from deskhand.web.api.cursors import review_place, ticket_cursor
from deskhand.web.api.problems import FieldProblem, invalid, invalid_fields
from deskhand.web.api.request_body import json_body, parse_json, read_body
from deskhand.web.api.ticket_views import TicketDocument, TicketView
from deskhand.web.api.views import Page

router = APIRouter(prefix="/api/tickets", tags=["tickets"])

Reader = Annotated[Caller, Depends(may(Scope.TICKETS_READ))]
Writer = Annotated[Caller, Depends(may(Scope.TICKETS_WRITE))]
TicketId = Annotated[str, Path(max_length=200)]
Word = Annotated[str | None, Query(max_length=1000)]
When = Annotated[datetime, AfterValidator(in_utc)]
"""A time; in UTC where it names no zone."""
MAX_BODY = 100_000
Body = TypeVar("Body", bound=Frozen)
T = TypeVar("T")


class ReasonBody(Frozen):
    why: str = Field(default="", max_length=2000)
    """The reason, for colleagues."""


class AssignTicketBody(ReasonBody):
    """Whose it is; what is left out stays as it is, and null clears it."""

    to: str | None = Field(default=None, max_length=200)
    group: str | None = Field(default=None, max_length=200)


class TicketNoteBody(Frozen):
    """A note for colleagues; no customer and no model reads it."""

    text: str = Field(min_length=1, max_length=LONGEST_NOTE, pattern=r"\S")


class TagsBody(Frozen):
    """Tags are single words."""

    add: list[str] = Field(default_factory=list, max_length=50)
    remove: list[str] = Field(default_factory=list, max_length=50)


class MergeBody(ReasonBody):
    into: str = Field(min_length=1, max_length=200)
    """The ticket of the same customer that it becomes part of."""


class SplitBody(ReasonBody):
    runs: list[str] = Field(min_length=1, max_length=1000)
    """The runs of the messages that make the new ticket."""
    subject: str | None = Field(default=None, max_length=500)


class CloseBody(ReasonBody):
    solved: bool = False
    """Only solved: a further message of the customer reopens it."""
    rest: Annotated[AskStatus | None, Field(strict=False)] = None
    """What became of asks that are still open; without it they keep the ticket from being
    closed."""


class ReopenBody(ReasonBody):
    to_person: bool = False
    """For a person to work on, not for the desk."""


@router.get("")
async def list_tickets(
    caller: Reader,
    desk: str | None = None,
    state: Annotated[list[TicketState] | None, Query()] = None,
    customer: Word = None,
    assignee: Word = None,
    group: Word = None,
    tag: Word = None,
    words: Annotated[str, Query(max_length=200)] = "",
    conversation: Word = None,
    urgency: UrgencyLevel | None = None,
    category: Word = None,
    due_before: When | None = None,
    quiet_since: When | None = None,
    view: Annotated[str | None, Query(max_length=100)] = None,
    order: TicketOrder | None = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    cursor: str | None = None,
) -> Page[TicketView]:
    """The latest changed first, or by deadline. An empty `assignee` or `group` stands for none;
    `words` are searched for in id, subject, messages and numbers. `quiet_since` finds what nobody
    touched since, unless a deadline still runs. `view` is one that people keep, or `open`, `mine`,
    `nobody`, `late`, `forgotten`, `waiting`, `over` or `all`; the other filters narrow it, and
    without `order` its own counts."""
    wanted = TicketFilter(
        tuple(state or ()), customer, assignee, group, tag, words or None, conversation
    )
    due = None if due_before is None else due_before.timestamp()
    quiet = None if quiet_since is None else quiet_since.timestamp()
    wanted = replace(wanted, urgency=urgency, category=category, due_before=due, quiet_since=quiet)
    served = caller.desk(desk)
    usual = TicketOrder.CHANGED
    if view is not None:
        quiet_after = served.spec.tickets.forgotten_seconds
        of_view, usual = await view_named(
            served.tickets.store, view, caller.key.name, time.time(), quiet_after
        )
        wanted = narrowed_by(of_view, wanted)
    ordered = order or usual
    after = review_place(cursor)
    tickets = await served.tickets.store.find(wanted, limit=limit + 1, after=after, order=ordered)
    shown = tickets[:limit]
    following = ticket_cursor(shown[-1], ordered) if len(tickets) > limit else None
    return Page[TicketView](
        items=[TicketView.of(ticket) for ticket in shown], next_cursor=following
    )


@router.get("/{ticket_id}")
async def show_ticket(caller: Reader, ticket_id: TicketId) -> TicketDocument:
    """A ticket with its messages of all channels and our replies, its notes and its history."""

    async def read(tickets: Tickets) -> TicketDocument:
        ticket = await tickets.find(ticket_id)
        messages = await messages_with_replies(tickets, ticket.id)
        return TicketDocument.with_history(ticket, messages, await tickets.store.events(ticket.id))

    return await _look(caller, ticket_id, read)


@router.post("/{ticket_id}/assign", openapi_extra=json_body(AssignTicketBody))
async def assign_ticket(request: Request, caller: Writer, ticket_id: TicketId) -> TicketView:
    """Give it to a colleague or to a group's queue."""
    body = await read_ticket_body(request, AssignTicketBody)
    said = body.model_fields_set
    if not said & {"to", "group"}:
        raise invalid(FieldProblem("to", "name a colleague, a group, or null for nobody"))
    to = (body.to or "") if "to" in said else None
    group = (body.group or "") if "group" in said else None
    return await ticket_changed(
        caller,
        ticket_id,
        lambda tickets: tickets.assign(
            ticket_id, caller.key.name, to=to, group=group, why=body.why
        ),
    )


@router.post("/{ticket_id}/notes", openapi_extra=json_body(TicketNoteBody))
async def note_ticket(request: Request, caller: Writer, ticket_id: TicketId) -> TicketView:
    """Write a note for colleagues."""
    body = await read_ticket_body(request, TicketNoteBody)
    return await ticket_changed(
        caller, ticket_id, lambda tickets: tickets.note(ticket_id, body.text, caller.key.name)
    )


@router.post("/{ticket_id}/tags", openapi_extra=json_body(TagsBody))
async def tag_ticket(request: Request, caller: Writer, ticket_id: TicketId) -> TicketView:
    """Add and remove tags; 409 for what is no tag."""
    body = await read_ticket_body(request, TagsBody)
    return await ticket_changed(
        caller,
        ticket_id,
        lambda tickets: tickets.tag(ticket_id, caller.key.name, body.add, body.remove),
    )


@router.post("/{ticket_id}/merge", openapi_extra=json_body(MergeBody))
async def merge_ticket(request: Request, caller: Writer, ticket_id: TicketId) -> TicketView:
    """Make it part of another ticket of the same customer; answers that other one.

    409 where they belong to different customers, or one is part of another already.
    """
    body = await read_ticket_body(request, MergeBody)
    return await ticket_changed(
        caller,
        ticket_id,
        lambda tickets: tickets.merge(ticket_id, body.into, caller.key.name, body.why),
    )


@router.post("/{ticket_id}/split", openapi_extra=json_body(SplitBody))
async def split_ticket(request: Request, caller: Writer, ticket_id: TicketId) -> TicketView:
    """Make a new ticket of some of its messages; answers the new one."""
    body = await read_ticket_body(request, SplitBody)
    return await ticket_changed(
        caller,
        ticket_id,
        lambda tickets: tickets.split(
            ticket_id, body.runs, caller.key.name, body.why, body.subject
        ),
    )


@router.post("/{ticket_id}/undo", openapi_extra=json_body(ReasonBody))
async def undo_ticket(request: Request, caller: Writer, ticket_id: TicketId) -> TicketView:
    """Take its latest merge or split back; 409 where there is none."""
    body = await read_ticket_body(request, ReasonBody)
    return await ticket_changed(
        caller, ticket_id, lambda tickets: tickets.undo(ticket_id, caller.key.name, body.why)
    )


@router.post("/{ticket_id}/close", openapi_extra=json_body(CloseBody))
async def close_ticket(request: Request, caller: Writer, ticket_id: TicketId) -> TicketView:
    """Close it for good, or until the customer writes again; 409 while something that it asks for
    is neither answered, deferred nor escalated, unless `rest` says which."""
    body = await read_ticket_body(request, CloseBody)
    state = TicketState.SOLVED if body.solved else TicketState.CLOSED
    return await _moved(caller, ticket_id, state, body.why, body.rest)


@router.post("/{ticket_id}/reopen", openapi_extra=json_body(ReopenBody))
async def reopen_ticket(request: Request, caller: Writer, ticket_id: TicketId) -> TicketView:
    """Take it up again."""
    body = await read_ticket_body(request, ReopenBody)
    state = TicketState.OPEN if body.to_person else TicketState.ACTIVE
    return await _moved(caller, ticket_id, state, body.why)


async def _moved(
    caller: Caller, ticket_id: str, state: TicketState, why: str, rest: AskStatus | None = None
) -> TicketView:
    return await ticket_changed(
        caller,
        ticket_id,
        lambda tickets: tickets.set_state(ticket_id, state, caller.key.name, why, rest),
    )


async def ticket_changed(
    caller: Caller, ticket_id: str, change: Callable[[Tickets], Awaitable[Ticket]]
) -> TicketView:
    return TicketView.of(await _look(caller, ticket_id, change))


async def _look(caller: Caller, ticket_id: str, work: Callable[[Tickets], Awaitable[T]]) -> T:
    """What `work` finds on the first of the caller's desks that has this ticket."""
    for desk in caller.desks.values():
        try:
            await desk.tickets.find(ticket_id)
        except NotFound:
            continue
        return await work(desk.tickets)
    raise NotFound(f"there is no ticket {ticket_id}")


async def read_ticket_body(request: Request, body: type[Body]) -> Body:
    try:
        return body.model_validate(parse_json(await read_body(request, MAX_BODY)))
    except ValidationError as error:
        raise invalid_fields(error.errors(include_url=False)) from None
