"""Triage over HTTP: a ticket in, its triage result back, and nothing taken twice."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any, Literal
from urllib.parse import quote

import pytest

from deskhand import wiring
from deskhand.agents.triage import translating
from deskhand.cli.web_server import web_server
from deskhand.engine.story import read_records
from deskhand.engine.triage_service import TriageService
from deskhand.errors import ConfigError
from deskhand.model.contact import ContactEntry
from deskhand.tickets.placing import TicketPlacing
from deskhand.web.api.app import create_app
from deskhand.wiring import api_keys, open_database, open_desk
from tests.api_kit import Client, Served, is_problem
from tests.waiting import PATIENCE

BRAIN = """
rules:
  - when: {stage: supervisor, contains: [hacked]}
    answer: {category: security_incident, confidence: 0.95}
  - when: {stage: supervisor}
    answer: {category: how_to, confidence: 0.95}
  - when: {stage: translator}
    answer: {text: In English., language: en}
  - when: {stage: general, contains: [parrot]}
    answer: {text: "{answer}", language: en, hand_over: true, reason: no article answers this}
  - when: {stage: general}
    answer:
      text: Open Settings, Security, Password.
      language: en
      confidence: 0.95
      sources: [{id: kb_029, quote: "Open Settings, Security, Password."}]
"""
QUESTION = {"role": "customer", "content": "How do I change my password?"}
TOO_EARLY, TOO_LATE = "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-12:00"
"""Times that lie outside the calendar in UTC."""


@pytest.fixture
async def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Served]:
    async with served_triage(tmp_path, "draft") as served:
        yield served


@pytest.fixture
async def sending_desk(tmp_path: Path) -> AsyncIterator[Served]:
    async with served_triage(tmp_path, "auto") as served:
        yield served


@asynccontextmanager
async def served_triage(folder: Path, mode: Literal["draft", "auto"]) -> AsyncIterator[Served]:
    script = folder / "brain.yaml"
    script.write_text(BRAIN, encoding="utf-8")
    loaded = wiring.read_desk("triage")
    brain = loaded.spec.brain.model_copy(update={"kind": "scripted", "file": script})
    spec = loaded.spec.model_copy(update={"brain": brain, "mode": mode})
    loaded = replace(loaded, spec=spec)
    async with AsyncExitStack() as opened:
        database = await opened.enter_async_context(open_database(str(folder / "d.db")))
        served = await opened.enter_async_context(
            open_desk(loaded, database, outbox=folder / "outbox", owner="test", grace=0.2)
        )
        keys = api_keys(database)
        app = create_app({"triage": served}, keys, version="1")
        yield Served(app, {"triage": served}, keys, database, folder)


async def outputs(served: Served, run_id: str) -> dict[str, Any]:
    records = await read_records(served.desks["triage"].store, run_id)
    return dict(records.states[-1].after.outputs)


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
    roles = "'customer', 'user', 'agent', 'assistant' or 'system'"
    mistakes: list[tuple[dict[str, Any], str, str]] = [
        ({"messages": []}, "messages", "at least 1 must be given"),
        ({"messages": [QUESTION] * 1000}, "messages", "at most 100 can be given, not 1000"),
        ({"messages": [{"role": "boss", "content": "x"}]}, "messages.0.role", roles),
        ({"messages": [{**QUESTION, "content": " "}]}, "messages.0.content", "it is blank"),
        ({"messages": [{**QUESTION, "timestamp": "soon"}]}, "messages.0.timestamp", "datetime"),
        ({"customer_info": {"seats": -1}}, "customer_info.seats", "greater than or equal to 0"),
        ({"customer_info": {"plan": ""}}, "customer_info.plan", "at least 1 character"),
        ({"messages": [{**QUESTION, "timestamp": TOO_EARLY}]}, "messages.0.timestamp", "year 1"),
        ({"messages": [{**QUESTION, "timestamp": TOO_LATE}]}, "messages.0.timestamp", "9999"),
        ({"messages": QUESTION}, "messages", "it must be a list"),
        ({"messages": [None]}, "messages.0", "it must be an object"),
        ({"messages": [{"role": "customer"}]}, "messages.0.content", "it is missing"),
        ({"customer_id": " "}, "customer_id", "it is blank"),
        ({"priority": 1}, "priority", "there is no such field"),
    ]
    for wrong, field, words in mistakes:
        answer = await client.post("/api/triage", json=ticket(**wrong))
        assert answer.status_code == 422, (wrong, answer.text)
        [problem] = answer.json()["errors"]
        assert problem["field"] == field, problem
        assert words in problem["problem"], problem
    assert (await client.get("/api/customers/CUST-404")).status_code == 404


async def test_odd_plans_and_times_to_come_are_taken(desk: Served) -> None:
    client = await desk.client()
    later = {**QUESTION, "timestamp": "2999-01-01T00:00:00Z"}
    given = ticket(customer_info={"plan": "Platinum *:"}, messages=[later])
    found = (await client.post("/api/triage", json=given)).json()
    assert found["urgency"] == "medium"
    shown = (await client.get(f"/api/tickets/{found['ticket_id']}")).json()
    assert not shown["timeline"][0]["at"].startswith("2999")
    again = (await client.post("/api/triage", json=given)).json()
    assert again["run_id"] == found["run_id"]


@pytest.mark.parametrize(
    "customer", ["a:b", "a:b:TKT-7Q2M4XK9", "*", "x y ", "a/b", "../..", "%3A", "?x=1#y", "čáp"]
)
async def test_customers_may_be_called_anything(desk: Served, customer: str) -> None:
    client = await desk.client()
    other = (await client.post("/api/triage", json=ticket(customer_id="a"))).json()
    found = (await client.post("/api/triage", json=ticket(customer_id=customer))).json()
    assert found["ticket_id"] != other["ticket_id"]
    whole = await desk.desks["triage"].tickets.find(found["ticket_id"])
    assert whole.thread_id == f"{customer}:{found['ticket_id']}"
    shown = await client.get(f"/api/customers/{quote(customer, safe='')}")
    assert [one["ticket_id"] for one in shown.json()["tickets"]] == [found["ticket_id"]]
    listed = await client.get("/api/tickets", params={"customer": customer})
    assert [one["ticket_id"] for one in listed.json()["items"]] == [found["ticket_id"]]
    named = ticket(customer_id=customer, ticket_id=other["ticket_id"])
    is_problem(await client.post("/api/triage", json=named), 404, "not_found")


async def test_what_a_person_has_yet_to_write_is_no_suggested_response(desk: Served) -> None:
    client = await desk.client()
    said = {"role": "customer", "content": "Please teach my parrot to sing."}
    found = (await client.post("/api/triage", json=ticket(messages=[said]))).json()
    assert (found["delivery"], found["suggested_response"]) == ("waits", None)
    where = f"/api/triage/{found['run_id']}/sent"
    refused = await client.post(where, json={})
    assert refused.status_code == 422
    assert [one["field"] for one in refused.json()["errors"]] == ["text"]
    answer = await client.post(where, json={"text": "Parrots are not our trade."})
    assert answer.json()["response"] == "Parrots are not our trade."


async def test_several_messages_are_translated_each_by_itself(desk: Served) -> None:
    client = await desk.client()
    said = ["Wie ändere ich bitte mein Passwort?", "Und wo finde ich die Einstellungen dafür?"]
    turns = [{"role": "customer", "content": words} for words in said]
    found = (await client.post("/api/triage", json=ticket(messages=turns))).json()
    translation = (await outputs(desk, found["run_id"]))["translation"]
    assert translation["original_messages"] == said
    assert translation["translated_messages"] == ["In English.", "In English."]


async def test_a_customer_is_shown_with_what_the_contacts_say(desk: Served) -> None:
    client = await desk.client()
    contacts = desk.desks["triage"].contacts
    ada = ContactEntry(address="ada@example.com", customer_id="CUST-007", plan="pro", seats=12)
    await contacts.put([ada], by="eve")
    found = await client.get("/api/customers/CUST-007")
    assert found.status_code == 200, found.text
    assert found.json() == {
        "customer_id": "CUST-007",
        "customer_info": {"plan": "pro", "seats": 12},
        "tickets": [],
    }
    await client.post("/api/triage", json=ticket(customer_id="CUST-008"))
    other = (await client.get("/api/customers/CUST-008")).json()
    assert (other["customer_info"], len(other["tickets"])) == ({"plan": "pro"}, 1)


async def test_the_same_from_python(desk: Served) -> None:
    served: Any = desk.desks["triage"]
    strange = ticket(customer_id="a:b * c")
    answer = await TriageService(served).triage_ticket(strange)
    assert answer.result is not None
    assert answer.result.recommended_action == "auto_respond"
    found = await served.tickets.find(str(answer.ticket_id))
    assert found.thread_id == f"a:b * c:{answer.ticket_id}"


async def test_in_auto_handing_the_answer_back_is_its_delivery(sending_desk: Served) -> None:
    client = await sending_desk.client()
    found = (await client.post("/api/triage", json=ticket())).json()

    assert (found["status"], found["delivery"]) == ("answered", "handed_back")
    assert found["response"] == "Open Settings, Security, Password."
    assert not (sending_desk.folder / "outbox").exists()
    shown = (await client.get(f"/api/tickets/{found['ticket_id']}")).json()
    assert shown["state"] == "solved"
    assert [message["reply"] for message in shown["timeline"]] == [found["response"]]
    [line] = (await client.get("/api/tickets/export")).text.splitlines()
    assert json.loads(line)["timeline"][0]["reply"] == found["response"]
    assert (await outputs(sending_desk, found["run_id"]))["file"]["ticket_persisted"] is True
    assert (await client.get(f"/api/triage/{found['run_id']}")).json() == found


@pytest.mark.parametrize("sent", [None, "Press the gear, then Password."])
async def test_the_caller_reports_that_it_sent_what_waits(desk: Served, sent: str | None) -> None:
    client = await desk.client()
    found = (await client.post("/api/triage", json=ticket())).json()
    where = f"/api/triage/{found['run_id']}/sent"
    answer = await client.post(where, json={} if sent is None else {"text": sent})

    assert answer.status_code == 200, answer.text
    told = answer.json()
    assert (told["status"], told["delivery"]) == ("answered", "handed_back")
    assert told["response"] == (sent or found["suggested_response"])
    shown = (await client.get(f"/api/tickets/{found['ticket_id']}")).json()
    assert shown["state"] == "solved"
    assert not (desk.folder / "outbox").exists()
    again = await client.post(where, json={})
    assert (again.status_code, again.json()["run_id"]) == (200, found["run_id"])
    review = (await client.get(f"/api/reviews/{found['review']}")).json()
    assert review["state"] == "decided"


async def test_a_ticket_that_was_merged_meanwhile_is_filed_where_it_leads(desk: Served) -> None:
    client = await desk.client()
    found = (await client.post("/api/triage", json=ticket())).json()
    invoice = {"role": "customer", "content": "Please send invoice INV-20931 again."}
    other = (await client.post("/api/triage", json=ticket(messages=[invoice]))).json()
    into = other["ticket_id"]
    assert into != found["ticket_id"]
    await client.post(f"/api/tickets/{found['ticket_id']}/merge", json={"into": into})
    answer = (await client.post(f"/api/triage/{found['run_id']}/sent", json={})).json()

    assert (answer["status"], answer["delivery"]) == ("answered", "handed_back")
    assert answer["ticket_id"] == into
    shown = (await client.get(f"/api/tickets/{into}")).json()
    assert {ask["run"]: ask["status"] for ask in shown["asks"]}[found["run_id"]] == "answered"
    reviews = (await client.get("/api/reviews")).json()["items"]
    assert [review["kind"] for review in reviews if review["run"] == found["run_id"]] == []


async def test_a_ticket_that_was_closed_meanwhile_stays_closed(desk: Served) -> None:
    client = await desk.client()
    found = (await client.post("/api/triage", json=ticket())).json()
    where = f"/api/tickets/{found['ticket_id']}"
    closed = await client.post(f"{where}/close", json={"rest": "answered"})
    assert closed.status_code == 200, closed.text
    answer = (await client.post(f"/api/triage/{found['run_id']}/sent", json={})).json()
    assert (answer["status"], answer["delivery"]) == ("answered", "handed_back")
    assert (await client.get(where)).json()["state"] == "closed"


async def test_what_no_answer_waits_for_cannot_be_reported_sent(desk: Served) -> None:
    client = await desk.client()
    hacked = {"role": "customer", "content": "My account was hacked!"}
    found = (await client.post("/api/triage", json=ticket(messages=[hacked]))).json()
    assert found["recommended_action"] == "escalate_human"
    refused = await client.post(f"/api/triage/{found['run_id']}/sent", json={})
    is_problem(refused, 409, "conflict")
    is_problem(await client.post("/api/triage/run_none/sent", json={}), 404, "not_found")
    is_problem(await client.get("/api/triage/run_none"), 404, "not_found")
    mail = (await client.message("Hello", wait=20)).json()
    is_problem(await client.get(f"/api/triage/{mail['run']}"), 404, "not_found")


async def test_a_run_that_takes_longer_is_answered_by_its_id(
    desk: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    goes_on = Event()

    def held(text: str) -> str:
        assert goes_on.wait(PATIENCE)
        return "en"

    monkeypatch.setattr(translating, "language_code", held)
    client = await desk.client()
    waited = await client.post("/api/triage", params={"wait": 0.01}, json=ticket())
    assert waited.status_code == 202
    found = waited.json()
    assert found["status"] in ("queued", "running")
    assert "urgency" not in found
    assert (await client.get(waited.headers["Location"])).status_code == 202
    goes_on.set()
    late = await client.post("/api/triage", json=ticket())
    assert (late.status_code, late.json()["run_id"]) == (200, found["run_id"])


async def test_who_the_customer_is_counts_only_with_the_right_to_say_so(desk: Served) -> None:
    client = await desk.client()
    known = (await client.post("/api/triage", json=ticket())).json()
    assert known["ignored"] == []

    unsure = await desk.client(scopes=["messages:write", "runs:read", "tickets:read"])
    answer = await unsure.post("/api/triage", json=ticket())
    assert answer.status_code == 200, answer.text
    found = answer.json()
    assert found["ignored"] == ["customer_id", "customer_info"]
    assert found["ticket_id"] != known["ticket_id"]
    seen = await outputs(desk, found["run_id"])
    assert seen["customer_info"] == seen["ticket"]["customer_info"] == {}

    named = ticket(ticket_id=known["ticket_id"])
    is_problem(await unsure.post("/api/triage", json=named), 404, "not_found")
    more = {"role": "customer", "content": "And where do I find the settings?"}
    own = ticket(ticket_id=found["ticket_id"], messages=[QUESTION, more])
    joined = (await unsure.post("/api/triage", json=own)).json()
    assert joined["ticket_id"] == found["ticket_id"]
    other = await desk.client(scopes=["messages:write", "runs:read"])
    is_problem(await other.post("/api/triage", json=own), 404, "not_found")
    is_problem(await other.get(f"/api/triage/{found['run_id']}"), 404, "not_found")
    is_problem(await other.post(f"/api/triage/{found['run_id']}/sent", json={}), 404, "not_found")


async def test_metadata_and_what_agents_said_stay_with_the_ticket(desk: Served) -> None:
    client = await desk.client()
    said = {"role": "agent", "content": "Did you get our mail?", "timestamp": None}
    turns = [said, QUESTION]
    given = ticket(messages=turns, metadata={"source": "shop", "cart": [1, 2]})
    found = (await client.post("/api/triage", json=given)).json()
    kept = (await outputs(desk, found["run_id"]))["ticket"]
    assert kept["metadata"] == {"source": "shop", "cart": [1, 2]}
    assert (kept["customer_id"], kept["customer_info"]) == ("CUST-001", given["customer_info"])
    assert [(turn["role"], turn["content"]) for turn in kept["messages"]] == [
        ("agent", "Did you get our mail?"),
        ("customer", QUESTION["content"]),
    ]


async def test_known_messages_are_not_taken_twice(desk: Served) -> None:
    client = await desk.client()
    first = (await client.post("/api/triage", json=ticket())).json()
    named = ticket(ticket_id=first["ticket_id"])
    again = (await client.post("/api/triage", json=named)).json()
    assert again["run_id"] == first["run_id"]

    more = {"role": "customer", "content": "And where do I find the settings?"}
    reply = {"role": "agent", "content": "Open Settings, please."}
    grown = ticket(messages=[QUESTION, reply, more])
    second = (await client.post("/api/triage", json=grown)).json()
    assert second["run_id"] != first["run_id"]
    assert second["ticket_id"] == first["ticket_id"]
    message = await desk.desks["triage"].store.message(second["run_id"])
    assert message is not None
    assert message.body == more["content"]
    assert (await client.post("/api/triage", json=grown)).json()["run_id"] == second["run_id"]

    # The same words at another time are another message.
    later = {**more, "timestamp": "2026-01-02T10:00:00Z"}
    earlier = {**more, "timestamp": "2026-01-01T10:00:00Z"}
    third = (await client.post("/api/triage", json=ticket(messages=[earlier, later]))).json()
    assert third["run_id"] not in (first["run_id"], second["run_id"])
    assert third["ticket_id"] == first["ticket_id"]


async def test_messages_are_known_before_anybody_looked_at_them(
    desk: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    goes_on = asyncio.Event()
    place = TicketPlacing.place

    async def held(placing: TicketPlacing, *args: Any, **more: Any) -> Any:
        await asyncio.wait_for(goes_on.wait(), PATIENCE)
        return await place(placing, *args, **more)

    monkeypatch.setattr(TicketPlacing, "place", held)
    client = await desk.client()
    more = {"role": "customer", "content": "And where do I find the settings?"}
    grown = ticket(messages=[QUESTION, more])
    runs: list[str] = []
    for given in (ticket(), grown, grown):
        answer = await client.post("/api/triage", params={"wait": 0}, json=given)
        runs.append(answer.json()["run_id"])
    second = await desk.desks["triage"].store.message(runs[1])
    goes_on.set()
    assert runs[0] != runs[1] == runs[2]
    assert second is not None
    assert second.body == more["content"]
    found = (await client.post("/api/triage", json=grown)).json()
    assert found["run_id"] == runs[1]
    earlier = (await client.get(f"/api/triage/{runs[0]}")).json()
    assert earlier["ticket_id"] == found["ticket_id"]


async def test_requests_at_once_take_each_message_once(desk: Served) -> None:
    client = await desk.client()
    contents = [f"And how do I change setting number {number}?" for number in range(6)]
    turns = [QUESTION, *({"role": "customer", "content": content} for content in contents)]
    answers = await asyncio.gather(
        *(
            client.post("/api/triage", params={"wait": 0}, json=ticket(messages=turns[:count]))
            for count in range(1, len(turns) + 1)
        )
    )
    taken: list[str] = []
    for run_id in {answer.json()["run_id"] for answer in answers}:
        message = await desk.desks["triage"].store.message(run_id)
        assert message is not None
        taken += message.body.split("\n\n")
    assert sorted(taken) == sorted([QUESTION["content"], *contents])


async def test_a_named_ticket_is_the_ticket_whatever_the_words_say(desk: Served) -> None:
    client = await desk.client()
    first = (await client.post("/api/triage", json=ticket())).json()
    about = "Something else entirely: invoice INV-20931 for TKT-00000000 is wrong."
    other = ticket(ticket_id=first["ticket_id"], messages=[{"role": "user", "content": about}])
    found = (await client.post("/api/triage", json=other)).json()
    assert found["ticket_id"] == first["ticket_id"]
    assert found["matching"]["confidence"] == "high"


async def test_the_key_of_the_environment_may_hand_tickets_in_and_no_more(
    desk: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "dh_" + "5a" * 20
    served: Any = desk.desks["triage"]

    async def client(given: str) -> Client:
        app: Any = (await web_server([served], desk.database)).config.app
        return Client(app, {"Authorization": f"Bearer {given}"})

    monkeypatch.delenv("DESKHAND_API_KEY", raising=False)
    assert (await (await client(secret)).post("/api/triage", json=ticket())).status_code == 401
    monkeypatch.setenv("DESKHAND_API_KEY", secret)
    caller = await client(secret)
    answer = await caller.post("/api/triage", json=ticket())
    assert (answer.status_code, answer.json()["ignored"]) == (200, [])
    assert (await caller.get("/api/customers/CUST-001")).status_code == 200
    assert (await caller.get("/api/reviews")).status_code == 403
    assert (await (await client(secret[:-1] + "b")).get("/api/tickets")).status_code == 401
    monkeypatch.setenv("DESKHAND_API_KEY", "short")
    with pytest.raises(ConfigError, match="DESKHAND_API_KEY"):
        await client("short")


async def test_known_messages_are_known_whatever_came_since(desk: Served) -> None:
    client = await desk.client()
    first = (await client.post("/api/triage", json=ticket())).json()
    for number in range(7):
        other = {"role": "customer", "content": f"Where is invoice INV-2093{number}?"}
        newer = (await client.post("/api/triage", json=ticket(messages=[other]))).json()
        assert newer["ticket_id"] != first["ticket_id"]

    reply = {"role": "agent", "content": "Open Settings, please."}
    more = {"role": "customer", "content": "And where do I find the settings?"}
    grown = ticket(messages=[QUESTION, reply, more])
    second = (await client.post("/api/triage", json=grown)).json()
    assert second["ticket_id"] == first["ticket_id"]
    assert second["matching"]["evidence"] == "conversation"
    message = await desk.desks["triage"].store.message(second["run_id"])
    assert message is not None
    assert message.body == more["content"]
    assert (await client.post("/api/triage", json=ticket())).json()["run_id"] == first["run_id"]
