"""Addresses that are told of events, and the log of what they were sent."""

import re
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import sqlalchemy as sa

from deskhand.adapters.stores import tables as t
from deskhand.adapters.stores.api_keys import checked_desks
from deskhand.adapters.stores.core_database import CoreDatabase, insert_if_new
from deskhand.adapters.stores.rows import pack, unpack
from deskhand.adapters.webhook_addresses import AllowedAddresses
from deskhand.adapters.webhook_secrets import WebhookSecrets
from deskhand.errors import ConfigError, Conflict, NotFound
from deskhand.model.ids import new_id
from deskhand.model.webhook import (
    CHOSEN,
    FROM_DESK_FILE,
    Delivery,
    DeliveryState,
    Endpoint,
    ToldEvent,
)

_ID = re.compile(r"[A-Za-z0-9._:-]{1,200}")
BY_HAND = "somebody switched it off"
_ENDPOINTS, _LOG = t.webhook_endpoints.c, t.webhook_deliveries.c


class SqlWebhookEndpoints:
    """The addresses of a database, whichever of its desks they are told of."""

    def __init__(
        self,
        database: CoreDatabase,
        secrets: WebhookSecrets,
        allowed: AllowedAddresses,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._database = database
        self._secrets = secrets
        self._allowed = allowed
        self._now = now

    async def add(
        self,
        url: str,
        events: Iterable[str],
        desks: Iterable[str],
        by: str,
        *,
        content: bool = False,
    ) -> tuple[Endpoint, str]:
        """A new address and its secret, readable only now; ConfigError says what to write
        instead."""
        endpoint = Endpoint(
            new_id("whe"),
            self._allowed.check_url(url.strip()),
            checked_desks(desks),
            _events(events),
            content,
            1,
            self._now(),
            by,
        )
        secret = self._secrets.secret_of(endpoint.id, 1)
        endpoint = replace(endpoint, key_check=self._secrets.check_of(endpoint.id, 1))
        insert = t.webhook_endpoints.insert().values(**_values(endpoint))
        await self._database.write_core(lambda core: core.execute(insert).close())
        return endpoint, secret

    async def set_desk_file(self, desk: str, url: str | None, content: bool) -> None:
        """Write down what a desk.yaml says; None where it names no address any more."""
        endpoint_id = f"{FROM_DESK_FILE}{desk}"
        events = ("review.opened", "review.closed")
        now = self._now()
        endpoint = Endpoint(endpoint_id, url or "", (desk,), events, content, 0, now, "desk.yaml")

        def op(core: sa.Connection) -> None:
            if url is None:
                _delete(core, endpoint_id)
            elif not insert_if_new(core, t.webhook_endpoints, _values(endpoint)):
                same = {"url": url, "content": int(content), "disabled_at": None}
                this = _ENDPOINTS.id == endpoint_id
                core.execute(t.webhook_endpoints.update().where(this).values(**same))

        await self._database.write_core(op)

    async def list(self) -> Sequence[Endpoint]:
        """Every endpoint, the oldest first."""
        query = sa.select(t.webhook_endpoints).order_by(_ENDPOINTS.created_at, _ENDPOINTS.id)
        return await self._database.read_core(
            lambda core: [endpoint_of(row) for row in core.execute(query)]
        )

    async def find(self, endpoint_id: str) -> Endpoint:
        if _ID.fullmatch(endpoint_id) is None:
            raise NotFound("there is no such webhook")
        return await self._database.read_core(lambda core: find_endpoint(core, endpoint_id))

    async def rotate(self, endpoint_id: str) -> tuple[Endpoint, str]:
        """The next secret, readable only now; the earlier one counts for a day beside it."""
        before = await self._own(endpoint_id)
        generation = before.generation + 1
        secret = self._secrets.secret_of(endpoint_id, generation)
        values = {
            "generation": generation,
            "rotated_at": self._now(),
            "key_check": self._secrets.check_of(endpoint_id, generation),
        }
        return await self._change(endpoint_id, values), secret

    async def disable(self, endpoint_id: str, because: str = BY_HAND) -> Endpoint:
        """It is told nothing from now on; what is on its way waits."""
        await self._own(endpoint_id)
        values = {"disabled_at": self._now(), "disabled_because": because}
        return await self._change(endpoint_id, values)

    async def enable(self, endpoint_id: str) -> Endpoint:
        """It is told again: what waits, and what happens from now on."""
        await self._own(endpoint_id)
        values = {"disabled_at": None, "disabled_because": "", "failing_since": None}
        return await self._change(endpoint_id, values)

    async def remove(self, endpoint_id: str) -> Endpoint:
        """It goes with its log."""
        endpoint = await self._own(endpoint_id)
        await self._database.write_core(lambda core: _delete(core, endpoint_id))
        return endpoint

    async def _own(self, endpoint_id: str) -> Endpoint:
        endpoint = await self.find(endpoint_id)
        if endpoint.is_from_desk_file:
            raise Conflict("this address stands in desk.yaml; change it there")
        return endpoint

    async def _change(self, endpoint_id: str, values: dict[str, Any]) -> Endpoint:
        update = t.webhook_endpoints.update().where(_ENDPOINTS.id == endpoint_id).values(**values)

        def op(core: sa.Connection) -> Endpoint:
            core.execute(update)
            return find_endpoint(core, endpoint_id)

        return await self._database.write_core(op)

    # --- deliveries

    async def deliveries(
        self, endpoint_id: str, *, limit: int = 100, before: float | None = None
    ) -> Sequence[Delivery]:
        """An endpoint's deliveries, the newest first."""
        query = (
            sa.select(t.webhook_deliveries)
            .where(_LOG.endpoint == endpoint_id)
            .order_by(_LOG.created_at.desc(), _LOG.id.desc())
            .limit(limit)
        )
        if before is not None:
            query = query.where(_LOG.created_at < before)
        return await self._database.read_core(
            lambda core: [delivery_of(row) for row in core.execute(query)]
        )

    async def retry(self, endpoint_id: str, event_id: str) -> Delivery:
        """Send an event again, under the same id; Conflict where nothing is left of it."""
        if _ID.fullmatch(event_id) is None:
            raise NotFound("there is no such delivery")
        this = (_LOG.endpoint == endpoint_id, _LOG.id == event_id)
        values = {"state": DeliveryState.DUE, "attempts": 0, "next_at": self._now()}

        def op(core: sa.Connection) -> Delivery:
            row = core.execute(sa.select(t.webhook_deliveries).where(*this)).one_or_none()
            if row is None:
                raise NotFound(f"there is no delivery {event_id}")
            if row.payload is None:
                raise Conflict("what it said was erased; it cannot be sent again")
            if find_endpoint(core, endpoint_id).disabled_at is not None:
                raise Conflict("the webhook is switched off; switch it on first")
            core.execute(t.webhook_deliveries.update().where(*this).values(**values))
            return delivery_of(core.execute(sa.select(t.webhook_deliveries).where(*this)).one())

        return await self._database.write_core(op)

    async def put(
        self, endpoint_id: str, desk: str, event: ToldEvent, payload: dict[str, Any], hold: float
    ) -> Delivery:
        """Journal an event that the caller posts itself now; whoever delivers leaves it alone for
        `hold` seconds."""
        values = {
            "endpoint": endpoint_id,
            "id": event.id,
            "desk": desk,
            "type": event.type,
            "payload": pack(payload),
            "state": DeliveryState.DUE,
            "attempts": 1,
            "next_at": self._now() + hold,
            "created_at": event.at,
        }
        insert = t.webhook_deliveries.insert().values(**values)
        await self._database.write_core(lambda core: core.execute(insert).close())
        return delivery_of_values(values)


def find_endpoint(core: sa.Connection, endpoint_id: str) -> Endpoint:
    query = sa.select(t.webhook_endpoints).where(_ENDPOINTS.id == endpoint_id)
    row = core.execute(query).one_or_none()
    if row is None:
        raise NotFound(f"there is no webhook {endpoint_id}")
    return endpoint_of(row)


def endpoint_of(row: Any) -> Endpoint:
    fields = dict(row._mapping)
    fields["desks"] = tuple(row.desks.split())
    fields["events"] = tuple(row.events.split())
    fields["content"] = bool(row.content)
    return Endpoint(**fields)


def _values(endpoint: Endpoint) -> dict[str, Any]:
    names = [column.name for column in t.webhook_endpoints.columns]
    values = {name: getattr(endpoint, name) for name in names}
    values |= {"desks": " ".join(endpoint.desks), "events": " ".join(endpoint.events)}
    return values | {"content": int(endpoint.content)}


def delivery_of(row: Any) -> Delivery:
    return delivery_of_values(dict(row._mapping))


def delivery_of_values(values: dict[str, Any]) -> Delivery:
    fields = {name: value for name, value in values.items() if name != "run_id"}
    fields["state"] = DeliveryState(fields["state"])
    fields["payload"] = unpack(fields["payload"])
    return Delivery(**fields)


def _delete(core: sa.Connection, endpoint_id: str) -> None:
    core.execute(t.webhook_deliveries.delete().where(_LOG.endpoint == endpoint_id))
    core.execute(t.webhook_endpoints.delete().where(_ENDPOINTS.id == endpoint_id))


def _events(events: Iterable[str]) -> tuple[str, ...]:
    wanted = tuple(dict.fromkeys(events))
    unknown = [event for event in wanted if event not in CHOSEN]
    if unknown or not wanted:
        problem = f"there is no event {unknown[0]!r}" if unknown else "it would be told nothing"
        raise ConfigError(problem, fix=f"choose from {', '.join(CHOSEN)}")
    return wanted
