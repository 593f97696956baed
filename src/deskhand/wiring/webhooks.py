"""Webhooks: the addresses of a database, who delivers to them, and trying one by hand."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from deskhand.adapters.webhook_addresses import AllowedAddresses
from deskhand.adapters.webhook_secrets import WebhookSecrets
from deskhand.config.desk import DeskSpec
from deskhand.engine.clock import SystemClock
from deskhand.engine.webhook_courier import Post, WebhookCourier
from deskhand.engine.webhook_events import trial_event
from deskhand.model.documents import iso_at
from deskhand.model.ids import new_id
from deskhand.model.webhook import FROM_DESK_FILE, Attempt, Endpoint
from deskhand.ports import Clock

if TYPE_CHECKING:
    from deskhand.adapters.stores.webhook_endpoints import SqlWebhookEndpoints
    from deskhand.wiring.databases import Database


def webhook_endpoints(database: "Database") -> "SqlWebhookEndpoints":
    """The addresses that are told of events in this database; ConfigError where the environment
    names no network."""
    from deskhand.adapters.stores.webhook_endpoints import SqlWebhookEndpoints

    secrets = WebhookSecrets.from_environment()
    return SqlWebhookEndpoints(database, secrets, AllowedAddresses.from_environment())


def webhook_courier(
    database: "Database", desk: str, spec: DeskSpec | None = None, clock: Clock | None = None
) -> WebhookCourier:
    """Delivers what happens on a desk; at rest until it is started. Without its spec, it does not
    know the secret of the address in its desk.yaml."""
    from deskhand.adapters.stores.webhook_outbox import SqlWebhookOutbox

    secrets = WebhookSecrets.from_environment()
    allowed = AllowedAddresses.from_environment()
    clock = clock or SystemClock()
    written = None if spec is None else spec.reviews.notify.webhook

    def post_of(endpoint: Endpoint) -> Post:
        from deskhand.adapters.webhooks import post_of_desk_file, post_of_endpoint

        if endpoint.id == f"{FROM_DESK_FILE}{desk}" and written is not None:
            return post_of_desk_file(written).post
        return post_of_endpoint(endpoint, secrets, allowed).post

    return WebhookCourier(desk, SqlWebhookOutbox(database, desk, clock.now), post_of, clock)


async def keep_desk_file_webhook(database: "Database", spec: DeskSpec) -> None:
    """Let events be written down for the address that the desk.yaml names, or not any more."""
    written = spec.reviews.notify.webhook
    url = None if written is None else written.url
    content = written is not None and written.content
    await webhook_endpoints(database).set_desk_file(spec.name, url, content)


class WebhookTrial:
    """Sends a test event, at once, and says what came of it."""

    def __init__(
        self,
        database: "Database",
        specs: Mapping[str, DeskSpec] | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._database = database
        self._specs = specs or {}
        self._clock = clock or SystemClock()

    async def __call__(self, endpoint_id: str, desk: str) -> Attempt:
        from deskhand.adapters.stores.webhook_outbox import TAKEN_FOR

        endpoints = webhook_endpoints(self._database)
        endpoint = await endpoints.find(endpoint_id)
        event = trial_event(new_id("evt"), desk, endpoint_id, self._clock.now())
        payload = event.payload(content=False, timestamp=iso_at(event.at))
        delivery = await endpoints.put(endpoint_id, desk, event, payload, TAKEN_FOR)
        courier = webhook_courier(self._database, desk, self._specs.get(desk), self._clock)
        return await courier.attempt(endpoint, delivery)
