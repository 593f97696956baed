"""Webhooks in processes that are killed, on a copied database, and of tickets' deadlines."""

import asyncio
import signal
from functools import partial
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from deskhand.adapters.stores import tables as t
from deskhand.adapters.stores.database_copy import copy_database
from deskhand.adapters.stores.postgres_backend import PostgresBackend
from deskhand.adapters.stores.sqlite_backend import SqliteBackend
from deskhand.adapters.stores.webhook_endpoints import SqlWebhookEndpoints
from deskhand.adapters.stores.webhook_outbox import TAKEN_FOR, SqlWebhookOutbox
from deskhand.adapters.webhook_addresses import AllowedAddresses
from deskhand.adapters.webhook_secrets import WebhookSecrets
from deskhand.adapters.webhooks import post_of_endpoint
from deskhand.crashpoints import VARIABLE
from deskhand.engine.clock import SystemClock
from deskhand.engine.webhook_courier import WebhookCourier
from deskhand.model.run import NewReview, ReviewKind, RunStatus
from deskhand.model.ticket import TicketEventKind
from deskhand.model.webhook import CHOSEN, Endpoint
from deskhand.tickets import rules
from tests.conformance.adapters import ADAPTERS
from tests.forked import run_forked
from tests.kit import TestClock, a_message
from tests.servers import new_database, postgres_programs
from tests.tickets_kit import NOW, Moments, accepted, mail, placing_of, tickets_of
from tests.webhook_receiver import receiving

KEY = "a key of at least thirty-two characters"
SECRETS = WebhookSecrets(KEY)
LOOPBACK = AllowedAddresses([ip_network("127.0.0.0/8")])


async def waiting(store: Any) -> str:
    """The id of a run whose review waits."""
    run_id = str((await store.accept(a_message(1), flow="flow")).run_id)
    await store.claim(run_id, {"flow": "v1"})
    review = NewReview(ReviewKind.REPLY, "unsure", {"n": 1})
    await store.finish(run_id, RunStatus.WAITING_REVIEW, review=review)
    return run_id


def run(database: Path, crash_at: str | None) -> int:
    environment = {"DESKHAND_SECRET_KEY": KEY, "DESKHAND_WEBHOOK_NETWORKS": "127.0.0.0/8"}
    if crash_at is not None:
        environment[VARIABLE] = crash_at
    ended = run_forked("tests.webhook_scenario", str(database), environment=environment)
    assert ended.code in (0, -signal.SIGKILL), ended.errors
    return ended.code


@pytest.mark.parametrize(
    ("point", "posted"),
    [
        ("webhooks.after_pass_on", 0),
        ("webhooks.after_take", 0),
        ("webhooks.after_post", 1),
    ],
)
async def test_a_killed_process_delivers_again_under_the_same_id(
    point: str, posted: int, tmp_path: Path
) -> None:
    path = tmp_path / "desk.db"
    database = await SqliteBackend.open(path)
    async with receiving() as receiver:
        endpoints = SqlWebhookEndpoints(database, SECRETS, LOOPBACK)
        endpoint, secret = await endpoints.add(receiver.url, ["review.opened"], ["*"], "ada")
        await waiting(database.store("desk"))
        assert await asyncio.to_thread(run, path, point) == -signal.SIGKILL
        assert len(receiver.heard) == posted
        # the two minutes for which the dead process has taken it are over
        earlier = t.webhook_deliveries.c.next_at - TAKEN_FOR - 1
        over = t.webhook_deliveries.update().values(next_at=earlier)
        await database.write_core(lambda core: core.execute(over).close())
        assert await asyncio.to_thread(run, path, None) == 0
        assert len(receiver.heard) == posted + 1
        assert len({heard.id for heard in receiver.heard}) == 1
        assert all(heard.is_signed_with(secret) for heard in receiver.heard)
        [delivery] = await endpoints.deliveries(endpoint.id)
        assert (delivery.state, delivery.status) == ("done", 204)
    await database.close()


@pytest.mark.parametrize("adapter", sorted(ADAPTERS))
async def test_deadlines_that_are_near_or_passed_are_told_once(
    adapter: str, tmp_path: Path
) -> None:
    clock = Moments()
    async with ADAPTERS[adapter](tmp_path) as stores, receiving() as receiver:
        store = await stores(now=clock.now)
        endpoints = SqlWebhookEndpoints(store._database, SECRETS, LOOPBACK, clock.now)
        await endpoints.add(receiver.url, CHOSEN, ["*"], "ada")
        tickets = tickets_of(store, clock=clock)
        message = mail(1, "My order is late", address="ann@example.com", subject="Late")
        run_id = await accepted(store, message)
        placed = await placing_of(tickets).place(run_id, message)
        due = f"resolution {NOW + 600:.0f}"
        for kind in (TicketEventKind.WARNED, TicketEventKind.BREACHED):
            told = partial(rules.deadline_told, kind=kind, deadline=due, by="desk", at=NOW + 1)
            for _ in range(2):
                await tickets.changed(placed.ticket_id, told)
        outbox = SqlWebhookOutbox(store._database, "desk", clock.now)

        def post_of(endpoint: Endpoint) -> Any:
            return post_of_endpoint(endpoint, SECRETS, LOOPBACK).post

        await WebhookCourier("desk", outbox, post_of, TestClock(NOW)).once()
        assert receiver.types == ["ticket.sla_warning", "ticket.sla_breached"]
        data = receiver.heard[1].data
        assert (data["ticket"], data["deadline"]) == (placed.ticket_id, "resolution")
        assert "Late" not in receiver.heard[1].body.decode()


@pytest.mark.skipif(postgres_programs() is None, reason="PostgreSQL's server is not installed")
async def test_a_copied_database_tells_what_was_on_its_way_and_nothing_twice(
    tmp_path: Path,
) -> None:
    source = await SqliteBackend.open(tmp_path / "d.db")
    async with receiving() as receiver:
        await SqlWebhookEndpoints(source, SECRETS, LOOPBACK).add(receiver.url, CHOSEN, ["*"], "ada")
        await waiting(source.store("desk"))
        target = await PostgresBackend.open(await asyncio.to_thread(new_database))
        counts = await copy_database(source, target, lambda *progress: None)
        assert (counts["webhook_events"], counts["webhook_endpoints"]) == (1, 1)
        outbox = SqlWebhookOutbox(target, "desk")

        def post_of(endpoint: Endpoint) -> Any:
            return post_of_endpoint(endpoint, SECRETS, LOOPBACK).post

        await WebhookCourier("desk", outbox, post_of, SystemClock()).once()
        assert receiver.types == ["review.opened"]
        left = sa.select(sa.func.count()).select_from(t.webhook_events)
        assert await target.read_core(lambda core: core.execute(left).scalar()) == 0
        await target.close()
    await source.close()
