"""Webhooks: which addresses are told of events, and what became of each delivery."""

from datetime import datetime
from typing import Annotated, Any, Self, cast

from fastapi import APIRouter, Depends, Path, Query, Request
from pydantic import Field

from deskhand.errors import Conflict, NotFound
from deskhand.model.access import ANY_DESK, Scope
from deskhand.model.frozen import Frozen
from deskhand.model.webhook import Delivery, DeliveryState, Endpoint
from deskhand.ports.webhooks import TriesWebhook, Webhooks
from deskhand.web.api.access import Caller, may
from deskhand.web.api.problems import Refused, refusing_what_cannot_be
from deskhand.web.api.request_body import json_body
from deskhand.web.api.tickets import read_ticket_body
from deskhand.web.api.views import Page, View, moment

router = APIRouter(prefix="/api/webhooks", tags=["webhooks"])

Keeper = Annotated[Caller, Depends(may(Scope.WEBHOOKS_WRITE))]
WebhookId = Annotated[str, Path(max_length=200)]


class WebhookView(View):
    id: str
    url: str
    events: list[str]
    desks: list[str]
    content: bool
    """Whether it is told who wrote, the subject, and the reason in words."""
    created_at: datetime
    created_by: str
    disabled_at: datetime | None
    disabled_because: str
    failing_since: datetime | None
    """Since when nothing has arrived."""

    @classmethod
    def of(cls, endpoint: Endpoint) -> Self:
        return cls(**_fields(endpoint))


class NewWebhookView(WebhookView):
    secret: str
    """`whsec_...`, shown only now."""


class DeliveryView(View):
    id: str
    """The event's id, sent as `webhook-id` with every attempt."""
    type: str
    desk: str
    state: DeliveryState
    attempts: int
    created_at: datetime
    next_at: datetime | None
    """When it is tried next; null once it arrived or was given up."""
    status: int | None
    error: str | None

    @classmethod
    def of(cls, delivery: Delivery) -> Self:
        due = delivery.state is DeliveryState.DUE
        return cls(
            id=delivery.id,
            type=delivery.type,
            desk=delivery.desk,
            state=delivery.state,
            attempts=delivery.attempts,
            created_at=moment(delivery.created_at),
            next_at=moment(delivery.next_at) if due else None,
            status=delivery.status,
            error=delivery.error,
        )


class TrialView(View):
    arrived: bool
    status: int | None
    error: str


class NewWebhookBody(Frozen):
    url: str = Field(min_length=1, max_length=2000)
    events: list[str] = Field(min_length=1, max_length=20)
    desks: list[str] = Field(min_length=1, max_length=100)
    content: bool = False


class ChangedWebhookBody(Frozen):
    disabled: bool


@router.get("")
async def list_webhooks(request: Request, caller: Keeper) -> Page[WebhookView]:
    """All addresses, those of a desk.yaml too."""
    webhooks = [each for each in await _webhooks(request).list() if _is_seen(caller, each)]
    return Page[WebhookView](items=[WebhookView.of(each) for each in webhooks], next_cursor=None)


@router.post("", status_code=201, openapi_extra=json_body(NewWebhookBody))
async def add_webhook(request: Request, caller: Keeper) -> NewWebhookView:
    """Tell an address of events. Its secret is answered once."""
    body = await read_ticket_body(request, NewWebhookBody)
    everywhere = ANY_DESK in caller.key.desks
    foreign = [desk for desk in body.desks if not caller.key.touches(desk)]
    if foreign and not everywhere:
        raise Refused(403, f"the key {caller.key.name!r} may not touch {foreign[0]}")
    with refusing_what_cannot_be():
        endpoint, secret = await _webhooks(request).add(
            body.url, body.events, body.desks, caller.key.name, content=body.content
        )
    return NewWebhookView(**_fields(endpoint), secret=secret)


@router.patch("/{webhook}", openapi_extra=json_body(ChangedWebhookBody))
async def change_webhook(request: Request, caller: Keeper, webhook: WebhookId) -> WebhookView:
    """Switch an address off or on."""
    body = await read_ticket_body(request, ChangedWebhookBody)
    await _seen(request, caller, webhook)
    store = _webhooks(request)
    changed = await (store.disable(webhook) if body.disabled else store.enable(webhook))
    return WebhookView.of(changed)


@router.delete("/{webhook}")
async def remove_webhook(request: Request, caller: Keeper, webhook: WebhookId) -> WebhookView:
    """Tell an address nothing any more; its log goes with it."""
    await _seen(request, caller, webhook)
    removed = await _webhooks(request).remove(webhook)
    return WebhookView.of(removed)


@router.post("/{webhook}/rotate")
async def rotate_secret(request: Request, caller: Keeper, webhook: WebhookId) -> NewWebhookView:
    """The next secret; the earlier one is signed with for a day beside it."""
    await _seen(request, caller, webhook)
    with refusing_what_cannot_be():
        endpoint, secret = await _webhooks(request).rotate(webhook)
    return NewWebhookView(**_fields(endpoint), secret=secret)


@router.post("/{webhook}/test")
async def send_test(request: Request, caller: Keeper, webhook: WebhookId) -> TrialView:
    """Send a test event now; says what came of it."""
    endpoint = await _seen(request, caller, webhook)
    desks = [name for name in sorted(caller.desks) if endpoint.touches(name)]
    trial = cast(TriesWebhook | None, request.app.state.webhook_trial)
    if trial is None or not desks:
        raise Conflict("no desk is served here of which this address is told")
    attempt = await trial(webhook, desks[0])
    return TrialView(arrived=attempt.arrived, status=attempt.status, error=attempt.error)


@router.get("/{webhook}/deliveries")
async def list_deliveries(
    request: Request,
    caller: Keeper,
    webhook: WebhookId,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
) -> Page[DeliveryView]:
    """The newest first."""
    await _seen(request, caller, webhook)
    deliveries = await _webhooks(request).deliveries(webhook, limit=limit)
    return Page[DeliveryView](
        items=[DeliveryView.of(each) for each in deliveries], next_cursor=None
    )


@router.post("/{webhook}/deliveries/{event}/retry")
async def retry_delivery(
    request: Request,
    caller: Keeper,
    webhook: WebhookId,
    event: Annotated[str, Path(max_length=200)],
) -> DeliveryView:
    """Send an event again, under the same id."""
    await _seen(request, caller, webhook)
    delivery = await _webhooks(request).retry(webhook, event)
    return DeliveryView.of(delivery)


def _webhooks(request: Request) -> Webhooks:
    webhooks = request.app.state.webhooks
    if webhooks is None:
        raise NotFound("this server keeps no webhooks")
    return cast(Webhooks, webhooks)


def _is_seen(caller: Caller, endpoint: Endpoint) -> bool:
    """A key for some desks sees only what is told of those."""
    return all(caller.key.touches(desk) for desk in endpoint.desks)


async def _seen(request: Request, caller: Caller, webhook: str) -> Endpoint:
    endpoint = await _webhooks(request).find(webhook)
    if not _is_seen(caller, endpoint):
        raise NotFound(f"there is no webhook {webhook}")
    return endpoint


def _fields(endpoint: Endpoint) -> dict[str, Any]:
    times = {}
    for name in ("created_at", "disabled_at", "failing_since"):
        at = getattr(endpoint, name)
        times[name] = None if at is None else moment(at)
    return times | {
        "id": endpoint.id,
        "url": endpoint.url,
        "events": list(endpoint.events),
        "desks": list(endpoint.desks),
        "content": endpoint.content,
        "created_by": endpoint.created_by,
        "disabled_because": endpoint.disabled_because,
    }
