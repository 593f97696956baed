"""What happened on a desk and is to be passed on: facts become deliveries, once, and deliveries
are taken by one process at a time."""

import time
from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any

import sqlalchemy as sa

from deskhand.adapters.stores import tables as t
from deskhand.adapters.stores.core_database import CoreDatabase, SqlDesk, insert_if_new
from deskhand.adapters.stores.review_decisions import record_event
from deskhand.adapters.stores.rows import (
    REVIEW_COLUMNS,
    RUN_COLUMNS,
    pack,
    review_of,
    run_of,
)
from deskhand.adapters.stores.ticket_rows import event_of, ticket_of
from deskhand.adapters.stores.webhook_endpoints import delivery_of, endpoint_of
from deskhand.model.documents import iso_at
from deskhand.model.message import Message
from deskhand.model.webhook import (
    REVIEW_CLOSED,
    REVIEW_OPENED,
    RUN_ENDED,
    Attempt,
    Delivery,
    DeliveryState,
    Describe,
    Endpoint,
    Happened,
    ToldEvent,
)

TAKEN_FOR = 120.0
"""Seconds after which another process tries what one took and never finished."""
AT_ONCE = 6
"""Deliveries of one address that are taken together; tried one after the other, they take less
time than they are taken for."""
_FACTS = 50
_EVENTS, _LOG, _ENDPOINTS = t.webhook_events.c, t.webhook_deliveries.c, t.webhook_endpoints.c


class SqlWebhookOutbox(SqlDesk):
    """One desk's events on their way to webhooks."""

    def __init__(
        self, database: CoreDatabase, desk: str, now: Callable[[], float] = time.time
    ) -> None:
        super().__init__(database, desk, now)
        due = (_LOG.desk == desk, _LOG.state == DeliveryState.DUE)
        self._facts = sa.select(_EVENTS.number).where(_EVENTS.desk == desk).limit(1)
        self._due = (
            sa.select(_LOG.id)
            .join(t.webhook_endpoints, _ENDPOINTS.id == _LOG.endpoint)
            .where(*due, _LOG.next_at <= sa.bindparam("now"), _ENDPOINTS.disabled_at.is_(None))
            .limit(1)
        )

    async def has_work(self) -> bool:
        """Whether something happened, or a delivery is due. Asked every other second."""
        if await self._database.look_up(self._facts, {}):
            return True
        return bool(await self._database.look_up(self._due, {"now": self._now()}))

    async def pass_on(self, describe: Describe) -> int:
        """Turn facts into deliveries; returns how many facts there were.

        Deliveries and the end of the fact are one transaction: none is missed, none made twice.
        """
        return await self._database.write_core(lambda core: self._pass_on(core, describe))

    def _pass_on(self, core: sa.Connection, describe: Describe) -> int:
        query = (
            sa.select(t.webhook_events)
            .where(_EVENTS.desk == self.desk)
            .order_by(_EVENTS.number)
            .limit(_FACTS)
            .with_for_update(skip_locked=True)
        )
        facts = core.execute(query).all()
        endpoints = self._endpoints(core)
        for fact in facts:
            happened = _happened(core, fact)
            if happened is None:
                continue
            for event in describe(happened):
                self._deliver(core, event, happened, endpoints)
        done = [fact.number for fact in facts]
        core.execute(t.webhook_events.delete().where(_EVENTS.number.in_(done)))
        return len(done)

    def _endpoints(self, core: sa.Connection) -> list[Endpoint]:
        query = sa.select(t.webhook_endpoints).where(_ENDPOINTS.disabled_at.is_(None))
        endpoints = [endpoint_of(row) for row in core.execute(query)]
        return [endpoint for endpoint in endpoints if endpoint.touches(self.desk)]

    def _deliver(
        self, core: sa.Connection, event: ToldEvent, happened: Happened, endpoints: list[Endpoint]
    ) -> None:
        now = self._now()
        for endpoint in endpoints:
            if not endpoint.wants(event.type, self.desk, happened.at):
                continue
            payload = event.payload(content=endpoint.content, timestamp=iso_at(event.at))
            values = {
                "endpoint": endpoint.id,
                "id": event.id,
                "desk": self.desk,
                "run_id": happened.run_id,
                "type": event.type,
                "payload": pack(payload),
                "state": DeliveryState.DUE,
                "attempts": 0,
                "next_at": now,
                "created_at": now,
            }
            insert_if_new(core, t.webhook_deliveries, values)

    async def take(self, without: Collection[str] = ()) -> dict[Endpoint, list[Delivery]]:
        """What is due now, by address, taken by the caller alone for a while. An address that fails
        is tried with one delivery at a time."""
        return await self._database.write_core(lambda core: self._take(core, without))

    def _take(
        self, core: sa.Connection, without: Collection[str]
    ) -> dict[Endpoint, list[Delivery]]:
        taken: dict[Endpoint, list[Delivery]] = {}
        wanted = [each for each in self._endpoints(core) if each.id not in without]
        for endpoint in wanted:
            limit = AT_ONCE if endpoint.failing_since is None else 1
            deliveries = self._take_for(core, endpoint.id, limit)
            if deliveries:
                taken[endpoint] = deliveries
        return taken

    def _take_for(self, core: sa.Connection, endpoint_id: str, limit: int) -> list[Delivery]:
        now = self._now()
        due = (
            sa.select(t.webhook_deliveries)
            .where(_LOG.desk == self.desk, _LOG.state == DeliveryState.DUE, _LOG.next_at <= now)
            .where(_LOG.endpoint == endpoint_id)
            .order_by(_LOG.next_at, _LOG.created_at)
            .limit(limit)
            .with_for_update(skip_locked=True)
        )
        taken: list[Delivery] = []
        for row in core.execute(due).all():
            delivery = delivery_of(row)
            values = {"next_at": now + TAKEN_FOR, "attempts": delivery.attempts + 1}
            this = (_LOG.endpoint == endpoint_id, _LOG.id == delivery.id)
            core.execute(t.webhook_deliveries.update().where(*this).values(**values))
            taken.append(replace(delivery, attempts=delivery.attempts + 1))
        return taken

    async def settle(
        self, delivery: Delivery, attempt: Attempt, state: DeliveryState, again_at: float | None
    ) -> None:
        """Write down what came of an attempt, and whether the address works."""

        def op(core: sa.Connection) -> None:
            values: dict[str, Any] = {
                "state": state,
                "status": attempt.status,
                "error": attempt.error[:500] or None,
                "tried_at": self._now(),
            }
            values |= {} if again_at is None else {"next_at": again_at}
            this = (_LOG.endpoint == delivery.endpoint, _LOG.id == delivery.id)
            core.execute(t.webhook_deliveries.update().where(*this).values(**values))
            _note_health(core, delivery.endpoint, attempt.arrived, self._now())
            if state is DeliveryState.FAILED:
                details = {"notice": delivery.id, "error": attempt.error[:500]}
                record_event(core, self.desk, "notice.failed", None, None, details, self._now())

        await self._database.write_core(op)

    async def give_back(self, delivery: Delivery, again_at: float) -> None:
        """A delivery that was taken and not tried."""
        this = (_LOG.endpoint == delivery.endpoint, _LOG.id == delivery.id)
        values = {"attempts": delivery.attempts - 1, "next_at": again_at}
        update = t.webhook_deliveries.update().where(*this).values(**values)
        await self._database.write_core(lambda core: core.execute(update).close())

    async def disable(self, endpoint_id: str, because: str) -> None:
        """Switch an address off that does not work; unless somebody was faster."""
        values = {"disabled_at": self._now(), "disabled_because": because}
        this = (_ENDPOINTS.id == endpoint_id, _ENDPOINTS.disabled_at.is_(None))

        def op(core: sa.Connection) -> None:
            update = t.webhook_endpoints.update().where(*this).values(**values)
            if core.execute(update).rowcount:
                details = {"webhook": endpoint_id, "because": because}
                record_event(core, self.desk, "webhook.disabled", None, None, details, self._now())

        await self._database.write_core(op)


def _note_health(core: sa.Connection, endpoint_id: str, arrived: bool, now: float) -> None:
    """Writes down since when nothing arrives at an address."""
    this = _ENDPOINTS.id == endpoint_id
    update = t.webhook_endpoints.update()
    if arrived:
        failing = _ENDPOINTS.failing_since.is_not(None)
        core.execute(update.where(this, failing).values(failing_since=None))
    else:
        fine = _ENDPOINTS.failing_since.is_(None)
        core.execute(update.where(this, fine).values(failing_since=now))


def forget_deliveries(core: sa.Connection, theirs: sa.ColumnElement[bool]) -> None:
    """Empty deliveries that tell of somebody who is erased. What is still on its way does not
    leave any more."""
    given_up = {"state": DeliveryState.FAILED, "error": "erased"}
    due = (theirs, _LOG.state == DeliveryState.DUE)
    core.execute(t.webhook_deliveries.update().where(*due).values(**given_up))
    core.execute(t.webhook_deliveries.update().where(theirs).values(payload=None))


def _happened(core: sa.Connection, fact: Any) -> Happened | None:
    """A fact with its record; None where that is gone by now."""
    kind, desk, reference = fact.kind, fact.desk, fact.reference
    said = (kind, desk, reference, fact.detail, fact.at)
    if kind in (REVIEW_OPENED, REVIEW_CLOSED):
        query = (
            sa.select(*REVIEW_COLUMNS, t.reviews.c.run, t.runs.c.id.label("run_id"))
            .join(t.runs, t.runs.c.position == t.reviews.c.run)
            .where(t.reviews.c.id == reference, t.reviews.c.desk == desk)
        )
        row = core.execute(query).one_or_none()
        if row is None:
            return None
        review = review_of(row.run_id, row)
        return Happened(*said, review, message=_message(core, row.run))
    if kind == RUN_ENDED:
        here = (t.runs.c.id == reference, t.runs.c.desk == desk)
        values = core.execute(sa.select(*RUN_COLUMNS).where(*here)).one_or_none()
        if values is None:
            return None
        run = run_of(values)
        return Happened(*said, run, message=_message(core, run.position))
    return _ticket_happened(core, fact)


def _ticket_happened(core: sa.Connection, fact: Any) -> Happened | None:
    here = (t.tickets.c.desk == fact.desk, t.tickets.c.id == fact.reference)
    row = core.execute(sa.select(t.tickets).where(*here)).one_or_none()
    event = core.execute(
        sa.select(t.ticket_events).where(
            t.ticket_events.c.desk == fact.desk,
            t.ticket_events.c.ticket == fact.reference,
            t.ticket_events.c.number == int(fact.detail),
        )
    ).one_or_none()
    if row is None or event is None:
        return None
    deadline = event_of(event).deadline or ""
    said = (fact.kind, fact.desk, fact.reference, fact.detail, fact.at)
    return Happened(*said, ticket_of(row), deadline=deadline)


def _message(core: sa.Connection, position: int) -> Message | None:
    query = sa.select(t.messages.c.body).where(t.messages.c.run == position)
    body = core.execute(query).scalar()
    return None if body is None else Message.model_validate_json(body)
