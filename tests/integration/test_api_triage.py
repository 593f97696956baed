"""Triage over HTTP: a ticket in, its triage result back, and nothing taken twice."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from deskhand import wiring
from deskhand.engine.triage_service import TriageService
from deskhand.web.api.app import create_app
from deskhand.wiring import api_keys, open_database, open_desk
from tests.api_kit import Served, is_problem

BRAIN = """
rules:
  - when: {stage: supervisor, contains: [hacked]}
    answer: {category: security_incident, confidence: 0.95}
  - when: {stage: supervisor}
    answer: {category: how_to, confidence: 0.95}
  - when: {stage: general}
    answer:
      text: Open Settings, Security, Password.
      language: en
      confidence: 0.95
      sources: [{id: kb_029, quote: "Open Settings, Security, Password."}]
"""
QUESTION = {"role": "customer", "content": "How do I change my password?"}


@pytest.fixture
async def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Served]:
    script = tmp_path / "brain.yaml"
    script.write_text(BRAIN, encoding="utf-8")
    loaded = wiring.read_desk("triage")
    brain = loaded.spec.brain.model_copy(update={"kind": "scripted", "file": script})
    loaded = replace(loaded, spec=loaded.spec.model_copy(update={"brain": brain}))
    async with AsyncExitStack() as opened:
        database = await opened.enter_async_context(open_database(str(tmp_path / "d.db")))
        served = await opened.enter_async_context(
            open_desk(loaded, database, outbox=tmp_path / "outbox", owner="test", grace=0.2)
        )
        keys = api_keys(database)
        app = create_app({"triage": served}, keys, version="1")
        yield Served(app, {"triage": served}, keys, database, tmp_path)


def ticket(**more: Any) -> dict[str, Any]:
    info = {"plan": "pro", "seats": 3}
    return {"customer_id": "CUST-001", "customer_info": info, "messages": [QUESTION], **more}


async def test_a_ticket_is_triaged_and_its_answer_waits_for_a_person(desk: Served) -> None:
    client = await desk.client()
    answer = await client.post("/api/triage", json=ticket())
    assert answer.status_code == 200, answer.text
    found = answer.json()
    assert (found["urgency"], found["ticket_type"]) == ("medium", "general")
    assert found["recommended_action"] == "auto_respond"
    assert found["suggested_response"] == "Open Settings, Security, Password."
    assert (found["delivery"], found["status"]) == ("waits", "waiting_review")
    assert found["review"]
    assert found["matching"]["matched_ticket_id"] is None

    again = (await client.post("/api/triage", json=ticket())).json()
    assert again["run_id"] == found["run_id"]
    shown = (await client.get("/api/customers/CUST-001")).json()
    assert [one["ticket_id"] for one in shown["tickets"]] == [found["ticket_id"]]
    assert shown["tickets"][0]["state"] == "active"

    more = {"role": "customer", "content": "My account was hacked!"}
    named = ticket(ticket_id=found["ticket_id"], messages=[QUESTION, more])
    urgent = (await client.post("/api/triage", json=named)).json()
    assert urgent["ticket_id"] == found["ticket_id"]
    assert (urgent["urgency"], urgent["recommended_action"]) == ("critical", "escalate_human")
    other = await client.post("/api/triage", json=named | {"customer_id": "CUST-002"})
    is_problem(other, 404, "not_found")


async def test_bad_tickets_and_keys_are_refused(desk: Served) -> None:
    client = await desk.client()
    mistakes: list[dict[str, Any]] = [
        {"messages": []},
        {"messages": [QUESTION] * 1000},
        {"messages": [{"role": "boss", "content": "x"}]},
        {"customer_info": {"seats": -1}},
        {"customer_id": ""},
    ]
    for wrong in mistakes:
        answer = await client.post("/api/triage", json=ticket(**wrong))
        assert answer.status_code == 422, (wrong, answer.text)
    unsure = await desk.client(scopes=["messages:write"])
    assert (await unsure.post("/api/triage", json=ticket())).status_code == 403
    assert (await client.get("/api/customers/CUST-404")).status_code == 404
    waited = await client.post("/api/triage", params={"wait": 0}, json=ticket())
    assert waited.status_code in (200, 202)
    assert waited.json()["run_id"]


async def test_the_same_from_python(desk: Served) -> None:
    served: Any = desk.desks["triage"]
    strange = ticket(customer_id="a:b * c")
    answer = await TriageService(served).triage_ticket(strange)
    assert answer.result is not None
    assert answer.result.recommended_action == "auto_respond"
    found = await served.tickets.find(str(answer.ticket_id))
    assert found.thread_id == f"a:b * c:{answer.ticket_id}"
