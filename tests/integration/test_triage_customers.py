"""What a triage desk knows of a customer, and what it does while its active tickets are away."""

import asyncio
import shutil
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from deskhand.model.contact import ContactEntry
from deskhand.wiring.tickets import ACTIVE_TICKETS
from tests.api_kit import Client, Served
from tests.integration.test_api_triage import QUESTION, outputs, served_triage, ticket
from tests.servers import RedisServer
from tests.waiting import PATIENCE


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Served]:
    async with served_triage(tmp_path, "draft") as served:
        yield served


async def known(desk: Served, **fields: Any) -> None:
    person = ContactEntry(address="ada@reed.example", customer_id="CUST-007", **fields)
    await desk.desks["triage"].contacts.put([person], by="eve")


async def asked(desk: Served, **more: Any) -> dict[str, Any]:
    client = await desk.client()
    body = {"customer_id": "CUST-007", "messages": [QUESTION], **more}
    answer = await client.post("/api/triage", json=body)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


async def test_facts_come_from_the_contacts_and_the_callers_go_first(desk: Served) -> None:
    await known(desk, plan="free", tenure_months=24, seats=50, region="us-west")
    found = await asked(desk)
    assert found["urgency"] == "low"
    info = (await outputs(desk, found["run_id"]))["customer_info"]
    assert info == {"plan": "free", "tenure_months": 24, "seats": 50, "region": "us-west"}
    other = {**QUESTION, "content": "How do I change my picture?"}
    found = await asked(desk, customer_info={"plan": "Enterprise"}, messages=[other])
    assert found["urgency"] == "medium"
    info = (await outputs(desk, found["run_id"]))["customer_info"]
    assert (info["plan"], info["seats"]) == ("Enterprise", 50)


async def test_an_important_customer_is_a_persons_whatever_he_asks(desk: Served) -> None:
    await known(desk, plan="enterprise")
    assert (await asked(desk))["recommended_action"] == "auto_respond"
    await known(desk, plan="enterprise", tags=("vip",))
    other = {**QUESTION, "content": "How do I change my picture?"}
    found = await asked(desk, messages=[other])
    assert found["recommended_action"] == "escalate_human"
    assert "an important customer" in found["reasoning"]
    whole = await desk.desks["triage"].tickets.find(found["ticket_id"])
    assert whole.state == "open"
    client = await desk.client()
    review = (await client.get(f"/api/reviews/{found['review']}")).json()
    assert review["kind"] == "hand_over"


@pytest.mark.skipif(shutil.which("redis-server") is None, reason="Redis is not installed")
async def test_runs_wait_while_redis_is_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("redis", reason="the extra `redis` is not installed")
    server = await asyncio.to_thread(RedisServer)
    monkeypatch.setenv(ACTIVE_TICKETS, server.url)
    try:
        async with served_triage(tmp_path, "draft") as served:
            client = await served.client()
            await asyncio.to_thread(server.remove)
            answer = await client.post("/api/triage?wait=1", json=ticket())
            assert answer.status_code == 202, answer.text
            run = answer.json()["run_id"]
            assert answer.json()["status"] in ("queued", "running")
            server = await asyncio.to_thread(RedisServer, server.port)
            found = await at_rest(client, run)
            assert (found["status"], found["urgency"]) == ("waiting_review", "medium")
            tickets = served.desks["triage"].tickets
            held = await tickets.active.scan_activated_ticket_ids("customer:CUST-001")
            assert held == [found["ticket_id"]]
    finally:
        await asyncio.to_thread(server.remove)


async def at_rest(client: Client, run: str) -> dict[str, Any]:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        answer = await client.get(f"/api/triage/{run}")
        if answer.status_code == 200:
            return dict(answer.json())
        await asyncio.sleep(0.2)
    raise AssertionError(f"run {run} does not come to rest")
