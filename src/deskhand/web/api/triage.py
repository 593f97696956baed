"""Triage over HTTP: a ticket in, its triage result back."""

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import Field, ValidationError

from deskhand.engine.triage_service import TriageAnswer, TriageService
from deskhand.errors import IncompleteDecision, NotFound
from deskhand.model.access import Scope
from deskhand.model.contact import Contact, CustomerInfo
from deskhand.model.frozen import Frozen
from deskhand.model.ticket import Ticket
from deskhand.model.ticket_request import TicketRequest
from deskhand.model.triage import as_document
from deskhand.web.api.access import Caller, ServedDesk, may
from deskhand.web.api.problems import (
    RETRY_AFTER,
    FieldProblem,
    Refused,
    invalid,
    invalid_fields,
)
from deskhand.web.api.request_body import json_body, parse_json, read_body
from deskhand.web.api.ticket_views import TicketView

router = APIRouter(prefix="/api", tags=["triage"])

Writer = Annotated[Caller, Depends(may(Scope.MESSAGES_WRITE))]
Reader = Annotated[Caller, Depends(may(Scope.TICKETS_READ))]
RunReader = Annotated[Caller, Depends(may(Scope.RUNS_READ))]
_MOST_TICKETS = 100
Wait = Annotated[float, Query(ge=0, le=30, allow_inf_nan=False)]


class SentBody(Frozen):
    """What the caller sent; the answer as it was handed back if absent."""

    text: str | None = Field(default=None, min_length=1, max_length=100_000, pattern=r"\S")


@router.post(
    "/triage",
    openapi_extra=json_body(TicketRequest),
    responses={202: {"description": "The run goes on: its `run_id`."}},
)
async def triage(
    request: Request,
    response: Response,
    caller: Writer,
    desk: str | None = None,
    wait: Wait = 30,
) -> dict[str, Any]:
    """Triage a ticket.

    Answers the triage result once its run is at rest, else 202 with `run_id` after `wait` seconds.
    `delivery` is `handed_back` where the answer is yours to give (`response`), or `waits` while it
    waits for a person in `review`; nothing else leaves. `customer_id` and `customer_info` count
    only from a key with `customers:assert`; else `ignored` names them, and nothing is known of the
    customer. Messages that were taken before are not taken again.
    """
    served = caller.desk(desk)
    body = await read_body(request, served.spec.limits.max_message_bytes)
    try:
        ticket = TicketRequest.model_validate(parse_json(body))
    except ValidationError as error:
        raise invalid_fields(error.errors(include_url=False)) from None
    if served.dispatcher.full:
        raise Refused(429, "too many messages wait to be worked", headers=RETRY_AFTER)
    answer = await _service(caller, served).triage_ticket(ticket, wait)
    return _shown(answer, response)


@router.get("/triage/{run_id}", responses={202: {"description": "The run goes on: its `run_id`."}})
async def show_triage(
    response: Response, caller: RunReader, run_id: str, desk: str | None = None
) -> dict[str, Any]:
    """What is known of a ticket by now, as `POST /api/triage` answers it."""
    return _shown(await _service(caller, caller.desk(desk)).answer_of(run_id), response)


@router.post("/triage/{run_id}/sent", openapi_extra=json_body(SentBody))
async def report_sent(
    request: Request,
    response: Response,
    caller: Writer,
    run_id: str,
    desk: str | None = None,
    wait: Wait = 30,
) -> dict[str, Any]:
    """Say that you have sent the answer that waits: nobody need decide about it any more, and the
    ticket is filed.

    `text` is what you sent, where that was not the answer as it was handed back. 409 where no
    answer waits.
    """
    served = caller.desk(desk)
    raw = await read_body(request, served.spec.limits.max_message_bytes)
    try:
        body = SentBody.model_validate(parse_json(raw) if raw.strip() else {})
    except ValidationError as error:
        raise invalid_fields(error.errors(include_url=False)) from None
    try:
        answer = await _service(caller, served).report_sent(run_id, body.text, wait)
    except IncompleteDecision as error:
        raise invalid(FieldProblem("text", str(error))) from None
    return _shown(answer, response)


@router.get("/customers/{customer_id:path}")
async def show_customer(
    caller: Reader, customer_id: str, desk: str | None = None
) -> dict[str, Any]:
    """A customer: what is known of his plan, and the tickets that are his, the latest changed
    first."""
    served = caller.desk(desk)
    people = await served.contacts.of_customer(customer_id)
    names = [f"customer:{customer_id}", *(f"address:{person.address}" for person in people)]
    seen = await served.tickets.store.of_customer(names, limit=_MOST_TICKETS)
    if not seen.tickets and not people:
        raise NotFound(f"there is no customer {customer_id!r}")
    shown = [TicketView.of(ticket).model_dump(mode="json") for ticket in seen.tickets]
    info = _known_info(people, seen.tickets)
    return {"customer_id": customer_id, "customer_info": info, "tickets": shown}


def _known_info(people: Sequence[Contact], tickets: Sequence[Ticket]) -> dict[str, Any]:
    """What the contacts say; of a customer whom only a program named, the plan of his tickets."""
    described = [person for person in people if person.plan is not None]
    for person in described or people:
        said = {name: getattr(person, name) for name in CustomerInfo.model_fields}
        return {name: value for name, value in said.items() if value is not None}
    plans = [ticket.plan for ticket in tickets if ticket.plan is not None]
    return {"plan": plans[0]} if plans else {}


def _service(caller: Caller, desk: ServedDesk) -> TriageService:
    """Triage for this caller: who may not assert customers is remembered by his key."""
    key = caller.key
    via = None if key.may(Scope.CUSTOMERS_ASSERT) else key.id
    return TriageService(desk, f"API key {key.name}", via)


def _shown(answer: TriageAnswer, response: Response) -> dict[str, Any]:
    """The triage result with what it belongs to, in one object; 202 while there is none."""
    if answer.result is None and answer.status.is_active:
        response.status_code = 202
    response.headers["Location"] = f"/api/triage/{answer.run_id}"
    fields = as_document(answer)
    result = fields.pop("result")
    return {**(result or {}), **fields}
