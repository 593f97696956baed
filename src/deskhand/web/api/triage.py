"""Triage over HTTP: a ticket in, its triage result back."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import ValidationError

from deskhand.engine.triage_service import TicketRequest, TriageAnswer, TriageService
from deskhand.errors import NotFound
from deskhand.model.access import Scope
from deskhand.model.ticket_state import TicketFilter
from deskhand.model.triage import as_document
from deskhand.web.api.access import Caller, may
from deskhand.web.api.problems import RETRY_AFTER, Refused, invalid_fields
from deskhand.web.api.request_body import json_body, parse_json, read_body
from deskhand.web.api.ticket_views import TicketView

router = APIRouter(prefix="/api", tags=["triage"])

Writer = Annotated[Caller, Depends(may(Scope.MESSAGES_WRITE))]
Reader = Annotated[Caller, Depends(may(Scope.TICKETS_READ))]
Wait = Annotated[float, Query(ge=0, le=30, allow_inf_nan=False)]


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
    Only a key with `customers:assert` may say who the customer is; others get 403. `delivery` is
    `sent`, or `waits` while the answer waits for a person in `review`.
    """
    if not caller.key.may(Scope.CUSTOMERS_ASSERT):
        raise Refused(403, f"the key {caller.key.name!r} lacks the scope customers:assert")
    served = caller.desk(desk)
    body = await read_body(request, served.spec.limits.max_message_bytes)
    try:
        ticket = TicketRequest.model_validate(parse_json(body))
    except ValidationError as error:
        raise invalid_fields(error.errors(include_url=False)) from None
    if served.dispatcher.full:
        raise Refused(429, "too many messages wait to be worked", headers=RETRY_AFTER)
    service = TriageService(served, f"API key {caller.key.name}")
    answer = await service.triage_ticket(ticket, wait)
    if answer.result is None:
        response.status_code = 202
    response.headers["Location"] = f"/api/runs/{answer.run_id}"
    return _shown(answer)


@router.get("/customers/{customer_id}")
async def show_customer(
    caller: Reader, customer_id: str, desk: str | None = None
) -> dict[str, Any]:
    """A customer: the tickets that are his, the latest changed first."""
    tickets = caller.desk(desk).tickets
    wanted = TicketFilter(customer=f"customer:{customer_id}")
    found = await tickets.store.find(wanted, limit=100)
    if not found:
        raise NotFound(f"there is no customer {customer_id!r}")
    shown = [TicketView.of(ticket).model_dump(mode="json") for ticket in found]
    return {"customer_id": customer_id, "tickets": shown}


def _shown(answer: TriageAnswer) -> dict[str, Any]:
    """The triage result with what it belongs to, in one object."""
    fields = as_document(answer)
    result = fields.pop("result")
    return {**(result or {}), **fields}
