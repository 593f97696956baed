"""Handing in a message: durable when it answers, and once however often it is sent."""

import asyncio
import json
from contextlib import suppress
from hashlib import sha256
from typing import Annotated, Any, cast

from fastapi import APIRouter, Depends, Header, Query, Request, Response
from pydantic import AwareDatetime, BaseModel, Field
from starlette.types import Receive, Send
from starlette.types import Scope as Connection

from deskhand.errors import StoreUnavailable
from deskhand.mail.message_files import MessageInvalid, message_from
from deskhand.mail.threads import in_own_conversation
from deskhand.model.access import ApiKey, Scope
from deskhand.model.contact import CustomerInfo
from deskhand.model.message import Message, iso
from deskhand.model.principal import PrincipalKind
from deskhand.model.run import RunStatus
from deskhand.web.api.access import Caller, ServedDesk, may
from deskhand.web.api.problems import RETRY_AFTER, FieldProblem, Refused, invalid
from deskhand.web.api.request_body import Turns, json_body, parse_json, read_body, too_large
from deskhand.web.api.views import AcceptedView

router = APIRouter(prefix="/api/messages", tags=["messages"])

_writer = may(Scope.MESSAGES_WRITE)
Writer = Annotated[Caller, Depends(_writer)]
IdempotencyKey = Annotated[
    str | None, Header(min_length=1, max_length=255, pattern=r"^[\x21-\x7e]+$")
]
Wait = Annotated[float, Query(ge=0, le=30, allow_inf_nan=False)]

_TELLING_WHO = ("authentication-results", "arc-", "dkim-", "received-spf", "x-deskhand-")
"""Headers by which a receiving mail server says who the sender is; only somebody who may say so
may send them."""


class MessageBody(BaseModel):
    """A message as it is handed in; for the OpenAPI document."""

    desk: str = Field(
        default="", description="May be left out by a key that touches one desk only."
    )
    id: str = Field(default="", description="The same id on the same channel is the same message.")
    channel: str = "api"
    conversation: str = Field(
        default="",
        description="Messages of one conversation are worked in order. It belongs to the sender who"
        " began it; a message of anybody else goes to a conversation of his own.",
    )
    sender: str = Field(
        alias="from", description="The customer's address: `ann@example.com`, on a chat a handle."
    )
    name: str = Field(default="", description="The customer's name.")
    subject: str = ""
    body: str = ""
    recipients: list[str] = []
    cc: list[str] = []
    reply_to: str = Field(
        default="", description="Where the customer asks for answers; it proves nothing."
    )
    headers: dict[str, str] = {}
    received_at: AwareDatetime | None = None
    customer_id: str | None = Field(
        default=None, description="Ignored unless the key holds `customers:assert`."
    )
    customer_tier: str | None = Field(default=None, description="Likewise.")
    customer_info: CustomerInfo | None = Field(default=None, description="Likewise.")


@router.post(
    "",
    status_code=202,
    openapi_extra=json_body(MessageBody),
    responses={200: {"description": "The run is at rest."}},
)
async def hand_in(
    request: Request,
    response: Response,
    caller: Writer,
    wait: Wait = 0,
    idempotency_key: IdempotencyKey = None,
) -> AcceptedView:
    """Accept a message for good.

    With `wait` the answer is 200 once its run is at rest, 202 when that takes longer.
    """
    body = await read_body(request, _largest(caller))
    fields = parse_json(body)
    if not isinstance(fields, dict):
        raise invalid(
            FieldProblem("", 'write one message: {"from": "ann@example.com", "body": "..."}')
        )
    desk = _desk(caller, fields)
    if len(body) > desk.spec.limits.max_message_bytes:
        raise too_large(desk.spec.limits.max_message_bytes)
    if desk.dispatcher.full:
        raise Refused(
            429, "too many messages wait to be worked; try again later", headers=RETRY_AFTER
        )
    fields = _sayable(fields, caller.key)
    if idempotency_key is None:
        accepted = await _accept(desk, _message(fields, caller.key))
    else:
        turns = cast(Turns, request.app.state.turns)
        async with turns[key := f"{caller.key.id}:{idempotency_key}"]:
            accepted = await _accept_once(desk, fields, caller.key, key, sha256(body).hexdigest())
    if wait:
        stopping = cast(asyncio.Event, request.app.state.stopping)
        accepted = await _at_rest(desk, accepted, wait, stopping)
        response.status_code = 202 if accepted.status.is_active else 200
    response.headers["Location"] = f"/api/runs/{accepted.run}"
    return accepted


async def hand_in_directly(scope: Connection, receive: Receive, send: Send) -> None:
    """`hand_in` of a request without parameters.

    Programs hand in messages by the thousand, and FastAPI's way to the function takes longer than
    the function.
    """
    request = Request(scope, receive)
    response = Response(status_code=202, media_type="application/json")
    accepted = await hand_in(request, response, await _writer(request))
    response.body = accepted.model_dump_json().encode()
    response.headers["Content-Length"] = str(len(response.body))
    await response(scope, receive, send)


def is_plain(scope: Connection) -> bool:
    """Whether a request hands in a message and says no more than that."""
    if scope["method"] != "POST" or scope["path"] != router.prefix or scope["query_string"]:
        return False
    return all(name != b"idempotency-key" for name, _ in scope["headers"])


def _largest(caller: Caller) -> int:
    """Which desk the message is for stands in its body; until then the largest limit counts."""
    if not caller.desks:
        caller.desk(None)
    return max(desk.spec.limits.max_message_bytes for desk in caller.desks.values())


def _desk(caller: Caller, fields: dict[str, Any]) -> ServedDesk:
    name = fields.pop("desk", None)
    if name is not None and not isinstance(name, str):
        raise invalid(FieldProblem("desk", "write the desk's name"))
    return caller.desk(name)


def _sayable(fields: dict[str, Any], key: ApiKey) -> dict[str, Any]:
    """Without what only a key that may assert customers can say: who the sender really is."""
    if key.may(Scope.CUSTOMERS_ASSERT):
        return fields
    allowed = {
        name: value
        for name, value in fields.items()
        if name not in ("customer_id", "customer_tier", "customer_info")
    }
    headers = allowed.get("headers")
    if isinstance(headers, dict):
        allowed["headers"] = {
            name: value
            for name, value in headers.items()
            if not name.strip().lower().startswith(_TELLING_WHO)
        }
    return allowed


def _message(fields: dict[str, Any], key: ApiKey) -> Message:
    """The message; one that names no customer remembers the key that it came by."""
    vouched_by = f"API key {key.name}" if key.may(Scope.CUSTOMERS_ASSERT) else None
    try:
        message = message_from(fields, vouched_by=vouched_by)
    except MessageInvalid as error:
        raise invalid(FieldProblem(error.field, error.problem)) from None
    if message.principal.kind is not PrincipalKind.ANONYMOUS:
        return message
    return message.changed(principal=message.principal.changed(via=key.id))


async def _accept(desk: ServedDesk, message: Message) -> AcceptedView:
    message = await in_own_conversation(message, desk.store)
    accepted = await desk.dispatcher.submit(message)
    conversation, status = message.conversation, RunStatus.QUEUED
    if accepted.duplicate:
        run = await desk.store.run(accepted.run_id)
        conversation, status = run.conversation, run.status
    return AcceptedView(
        run=accepted.run_id,
        conversation=conversation,
        status=status,
        duplicate=accepted.duplicate,
    )


async def _accept_once(
    desk: ServedDesk, fields: dict[str, Any], caller_key: ApiKey, key: str, digest: str
) -> AcceptedView:
    """Store the message's id and time before handing it in, so that a repetition is the same one.

    A request repeated after a crash finds them again; nothing else of the message is kept here.
    """
    message = _message(fields, caller_key)  # before the key is used up
    given = json.dumps({"id": message.id, "received_at": iso(message.received_at)}).encode()
    fixed = await desk.store.remember_response(f"request:{key}", digest, given)
    if fixed is not None:
        message = _message({**json.loads(fixed), **fields}, caller_key)
    accepted = await _accept(desk, message)
    answer = accepted.model_dump_json().encode()
    first = await desk.store.remember_response(f"response:{key}", digest, answer) or answer
    return AcceptedView.model_validate_json(first)


async def _at_rest(
    desk: ServedDesk, accepted: AcceptedView, seconds: float, stopping: asyncio.Event
) -> AcceptedView:
    """The answer with the run's status after at most so many seconds, or once we stop."""
    at_rest = asyncio.ensure_future(desk.dispatcher.wait(accepted.run))
    stopped = asyncio.ensure_future(stopping.wait())
    await asyncio.wait({at_rest, stopped}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    stopped.cancel()
    if not at_rest.cancel() and not at_rest.cancelled():
        at_rest.exception()  # seen: the store says the same below
    with suppress(StoreUnavailable):
        return accepted.model_copy(update={"status": (await desk.store.run(accepted.run)).status})
    return accepted
