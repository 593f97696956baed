"""Active tickets in a real Redis: away, emptied, and shared with other programs."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from deskhand.adapters.stores.redis_tickets import open_redis_tickets
from deskhand.adapters.stores.sqlite_backend import SqliteBackend
from deskhand.engine.retention import prune_by_age
from deskhand.errors import ConfigError, StoreUnavailable
from deskhand.model.audited import Kept
from deskhand.model.principal import asserted
from deskhand.model.run import RunStatus
from deskhand.model.ticket_state import TicketState
from deskhand.tickets.handling import mend_all, open_ticket
from deskhand.wiring.erasing import erase_person
from deskhand.wiring.tickets import ACTIVE_TICKETS, active_tickets, open_tickets
from tests.servers import RedisServer, free_port, redis
from tests.tickets_kit import accepted, mail, placing_of, tickets_of

pytest.importorskip("redis", reason="the extra `redis` is not installed")

from redis.asyncio import Redis

pytestmark = pytest.mark.skipif(
    shutil.which("redis-server") is None, reason="Redis is not installed"
)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Any]:
    database = await SqliteBackend.open(tmp_path / "desk.db")
    yield database.store("desk")
    await database.close()


async def placed(store: Any, tickets: Any, message: Any) -> Any:
    return await placing_of(tickets).place(await accepted(store, message), message)


async def test_keys_follow_the_pattern_and_are_cleared_when_a_ticket_is_archived(
    store: Any, tmp_path: Path
) -> None:
    server = await asyncio.to_thread(redis)
    prefix = f"langgraph:{tmp_path.name}"
    active = open_redis_tickets(f"{server.url}?prefix={prefix}", "desk")
    tickets = tickets_of(store, active)
    first = await placed(store, tickets, mail(1, "Order 48213 is late"))
    async with Redis.from_url(server.url, decode_responses=True) as raw:
        keys = await raw.keys(f"{prefix}:*")
        assert keys == [f"{prefix}:address%3Aann@example.com:{first.ticket_id}:desk"]
        await tickets.set_state(first.ticket_id, TicketState.SOLVED, "eve")
        assert await raw.keys(f"{prefix}*") == []
    await active.close()


@pytest.mark.parametrize(
    ("customer", "written"),
    [("CUST-001", "CUST-001"), ("a:b *", "a%3Ab%20%2A"), ("address:x", "customer%3Aaddress%3Ax")],
)
async def test_a_customer_stands_in_the_key_by_his_number(
    store: Any, tmp_path: Path, customer: str, written: str
) -> None:
    server = await asyncio.to_thread(redis)
    prefix = f"langgraph:{tmp_path.name}"
    active = open_redis_tickets(f"{server.url}?prefix={prefix}", "desk")
    tickets = tickets_of(store, active)
    principal = asserted(customer, by="a test")
    first = await placed(store, tickets, mail(1, "Order 48213 is late", principal=principal))
    async with Redis.from_url(server.url, decode_responses=True) as raw:
        keys = await raw.keys(f"{prefix}:*")
        assert keys == [f"{prefix}:{written}:{first.ticket_id}:desk"]
    held = [pair async for pair in active.all_checkpoints()]
    assert held == [(f"customer:{customer}", first.ticket_id)]
    await tickets.set_state(first.ticket_id, TicketState.SOLVED, "eve")
    await active.close()


async def test_keys_of_the_form_before_are_cleared_when_all_is_made_again(
    store: Any, tmp_path: Path
) -> None:
    server = await asyncio.to_thread(redis)
    prefix = tmp_path.name
    active = open_redis_tickets(f"{server.url}?prefix={prefix}", "desk")
    tickets = tickets_of(store, active)
    principal = asserted("CUST-001", by="a test")
    first = await placed(store, tickets, mail(1, "Order 48213 is late", principal=principal))
    async with Redis.from_url(server.url, decode_responses=True) as raw:
        now = sorted(await raw.keys(f"{prefix}*"))
        await raw.sadd(f"{prefix}.customers:desk:customer%3ACUST-001", first.ticket_id)
        await raw.set(f"{prefix}:customer%3ACUST-001:{first.ticket_id}:desk", "{}")
        assert len(await raw.keys(f"{prefix}*")) == len(now) + 2
        assert (await tickets.rebuild()).foreign == ()
        assert sorted(await raw.keys(f"{prefix}*")) == now
    await active.close()


async def test_what_redis_lost_is_told_from_the_events(store: Any) -> None:
    server = await asyncio.to_thread(RedisServer)
    try:
        active = open_redis_tickets(server.url, "desk")
        tickets = tickets_of(store, active)
        first = await placed(store, tickets, mail(1, "Order 48213 is late"))
        async with Redis.from_url(server.url) as raw:
            await raw.flushall()
        again = await placed(store, tickets, mail(2, "Order 48213 please"))
        assert again.ticket_id == first.ticket_id
        assert await active.scan_activated_ticket_ids("address:ann@example.com") == [
            first.ticket_id
        ]
        async with Redis.from_url(server.url) as raw:
            await raw.flushall()
        assert (await tickets.rebuild()).mended == 1
        assert (await tickets.rebuild()).mended == 0
        await active.close()
    finally:
        await asyncio.to_thread(server.remove)


async def test_while_redis_is_away_whoever_needs_it_waits(store: Any) -> None:
    server = await asyncio.to_thread(RedisServer)
    active = open_redis_tickets(server.url, "desk")
    tickets = tickets_of(store, active)
    message = mail(1, "Order 48213 is late")
    run = await accepted(store, message)
    await asyncio.to_thread(server.remove)
    with pytest.raises(StoreUnavailable, match="Redis"):
        await placing_of(tickets).place(run, message)
    await active.close()
    back = await asyncio.to_thread(RedisServer)
    try:
        elsewhere = open_redis_tickets(back.url, "desk")
        mended = tickets_of(store, elsewhere)
        first = await placing_of(mended).place(run, message)
        assert len((await mended.find(first.ticket_id)).runs) == 1
        assert await elsewhere.scan_activated_ticket_ids("address:ann@example.com") == [
            first.ticket_id
        ]
        await elsewhere.close()
    finally:
        await asyncio.to_thread(back.remove)


async def test_other_programs_keys_are_left_alone(store: Any, tmp_path: Path) -> None:
    server = await asyncio.to_thread(redis)
    prefix = tmp_path.name
    active = open_redis_tickets(f"{server.url}?prefix={prefix}", "desk")
    tickets = tickets_of(store, active)
    first = await placed(store, tickets, mail(1, "Order 48213 is late"))
    key = f"{prefix}:address%3Aann@example.com:{first.ticket_id}:desk"
    async with Redis.from_url(server.url, decode_responses=True) as raw:
        foreign = f"{prefix}:address%3Aann@example.com:{first.ticket_id}:other"
        await raw.set(foreign, "theirs")
        await raw.set(key, "not ours either")
        again = await placed(store, tickets, mail(2, "Order 48213 please"))
        assert again.ticket_id == first.ticket_id
        await tickets.set_state(first.ticket_id, TicketState.CLOSED, "eve")
        await tickets.rebuild()
        assert await raw.get(foreign) == "theirs"
        await raw.set(f"{prefix}.customers:desk:X", "a string, not a set")
        with pytest.raises(ConfigError, match="another program"):
            await active.scan_activated_ticket_ids("customer:X")
    await active.close()


async def test_another_programs_key_keeps_nobody_else_from_being_rebuilt(
    store: Any, tmp_path: Path
) -> None:
    server = await asyncio.to_thread(redis)
    prefix = tmp_path.name
    active = open_redis_tickets(f"{server.url}?prefix={prefix}", "desk")
    tickets = tickets_of(store, active)
    for number, who in enumerate(("ann", "bob", "cid", "dan")):
        message = mail(number, f"Order {number}8213 is late", address=f"{who}@example.com")
        await placed(store, tickets, message)
    sets = f"{prefix}.customers:desk:"
    of_ann, of_nobody = f"{sets}address%3Aann@example.com", f"{sets}ZZ"
    async with Redis.from_url(server.url, decode_responses=True) as raw:
        [of_bob] = await raw.keys(f"{prefix}:address%3Abob*")
        for key in await raw.keys(f"{prefix}*"):
            await raw.delete(key)
        await raw.set(of_ann, "theirs")
        await raw.set(of_nobody, "theirs")
        await raw.rpush(of_bob, "theirs")
        done = await tickets.rebuild()
        assert (done.tickets, done.mended) == (4, 2)
        assert done.foreign == tuple(sorted((of_ann, of_nobody, of_bob)))
        assert [await raw.get(key) for key in (of_ann, of_nobody)] == ["theirs", "theirs"]
        assert await raw.lrange(of_bob, 0, -1) == ["theirs"]
        assert await raw.keys(f"{prefix}:address%3Aann*") == []
        held = {customer async for customer, _ in active.all_checkpoints()}
        assert held == {"address:cid@example.com", "address:dan@example.com"}
        with pytest.raises(ConfigError, match=of_ann):
            await active.scan_activated_ticket_ids("address:ann@example.com")
        await raw.delete(of_ann, of_nobody, of_bob)
    done = await tickets.rebuild()
    assert (done.mended, done.foreign) == (2, ())
    await active.close()


@pytest.mark.parametrize(
    "url", ["http://localhost", "redis://localhost?prefix=a*b", "redis://localhost?db=x", "/tmp/x"]
)
async def test_an_address_that_is_none_is_refused(store: Any, url: str) -> None:
    with pytest.raises(ConfigError):
        active_tickets(store._database, "desk", url)


async def test_a_port_where_nobody_listens_says_what_is_away(store: Any) -> None:
    active = open_redis_tickets(f"redis://127.0.0.1:{free_port()}/0", "desk")
    with pytest.raises(StoreUnavailable, match="active tickets"):
        await active.scan_activated_ticket_ids("customer:X")
    await active.close()


async def test_an_erased_person_is_gone_from_redis_too(
    store: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = await asyncio.to_thread(redis)
    url = f"{server.url}?prefix={tmp_path.name}"
    monkeypatch.setenv(ACTIVE_TICKETS, url)
    async with open_tickets(store._database, "desk") as tickets:
        message = mail(1, "Order 48213 is late")
        first = await placed(store, tickets, message)
        [run] = await store.runs()
        await store.claim(run.id, {"flow": "v"})
        await store.finish(run.id, RunStatus.DONE)
        ann = "address:ann@example.com"
        assert await tickets.active.scan_activated_ticket_ids(ann) == [first.ticket_id]
        await erase_person(store._database, "desk", "ann@example.com", "eve")
    async with Redis.from_url(server.url, decode_responses=True) as raw:
        assert await raw.keys(f"{tmp_path.name}*") == []


@pytest.mark.parametrize("customer", ["ann@example.com", "CUST-777"])
async def test_an_erased_ticket_without_a_message_is_gone_from_redis_too(
    store: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, customer: str
) -> None:
    server = await asyncio.to_thread(redis)
    monkeypatch.setenv(ACTIVE_TICKETS, f"{server.url}?prefix={tmp_path.name}")
    async with open_tickets(store._database, "desk") as tickets:
        ticket = await open_ticket(tickets, customer, "Swordfish", "eve", note="she called")
        await tickets.set_state(ticket.id, TicketState.ACTIVE, "eve")
        async with Redis.from_url(server.url, decode_responses=True) as raw:
            assert len(await raw.keys(f"{tmp_path.name}*")) == 2
            erased = await erase_person(store._database, "desk", customer, "eve")
            assert (erased.tickets, erased.mentions) == (1, [])
            assert await raw.keys(f"{tmp_path.name}*") == []


async def test_what_went_for_its_age_is_gone_from_redis_too(store: Any, tmp_path: Path) -> None:
    server = await asyncio.to_thread(redis)
    active = open_redis_tickets(f"{server.url}?prefix={tmp_path.name}", "desk")
    tickets = tickets_of(store, active)
    old = mail(1, "Order 48213 is late")
    await placed(store, tickets, old)
    kept = mail(2, "Reset my password", address="bob@example.com")
    second = await placed(store, tickets, kept)
    first_run = (await store.runs())[-1]
    assert (await store.message(first_run.id)).id == "m1"
    await store.claim(first_run.id, {"flow": "v"})
    await store.finish(first_run.id, RunStatus.DONE)
    report = await prune_by_age(store, {Kept.RUNS: -1.0}, forgotten=partial(mend_all, tickets))
    assert report.deleted == {Kept.RUNS: 1}
    left = [one async for one in active.all_checkpoints()]
    assert left == [("address:bob@example.com", second.ticket_id)]
    async with Redis.from_url(server.url, decode_responses=True) as raw:
        for key in await raw.keys(f"{tmp_path.name}*"):
            assert "ann@" not in key
    await active.close()
