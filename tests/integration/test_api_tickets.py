"""Tickets over HTTP: found, read and worked on, each with its scope."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.api_kit import Client, Served, served
from tests.tickets_kit import accepted, asking, mail, placing_of

WORDS = ("My order 48213 is late", "Reset my password", "Invoice 77120")
WHO = ("ann@example.com", "ann@example.com", "bob@example.com")


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Served]:
    async with served(tmp_path) as running:
        yield running


async def opened(shop: Served) -> list[str]:
    """The ids of three tickets, two of them Ann's."""
    desk = shop.desks["shop"]
    ids: list[str] = []
    for number, (who, words) in enumerate(zip(WHO, WORDS, strict=True)):
        message = mail(number, words, address=who, subject=words)
        run = await accepted(desk.store, message)
        ids.append((await placing_of(desk.tickets).place(run, message)).ticket_id)
    return ids


async def did(client: Client, ticket: str, what: str, **body: Any) -> dict[str, Any]:
    answer = await client.post(f"/api/tickets/{ticket}/{what}", json=body)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


async def test_tickets_are_found_page_by_page(shop: Served) -> None:
    ids = await opened(shop)
    client = await shop.client(scopes=["tickets:read"])
    first = (await client.get("/api/tickets", params={"limit": 2})).json()
    rest = (await client.get("/api/tickets", params={"cursor": first["next_cursor"]})).json()
    assert {item["ticket_id"] for item in (*first["items"], *rest["items"])} == set(ids)
    assert rest["next_cursor"] is None
    found = (await client.get("/api/tickets", params={"words": "INVOICE 77120"})).json()["items"]
    assert [item["ticket_id"] for item in found] == [ids[2]]
    ann = await client.get("/api/tickets", params={"customer": "ann@example.com"})
    assert len(ann.json()["items"]) == 2
    none = await client.get("/api/tickets", params={"state": ["solved", "closed"]})
    assert none.json()["items"] == []


@pytest.mark.parametrize("when", ["0001-01-01T00:00:00", "9999-12-31T23:59:59-12:00", "soon"])
async def test_times_that_are_none_are_refused(shop: Served, when: str) -> None:
    client = await shop.client(scopes=["tickets:read"])
    answers = [
        await client.get("/api/tickets", params={field: when})
        for field in ("due_before", "quiet_since")
    ]
    expected = 200 if when == "0001-01-01T00:00:00" else 422
    assert [answer.status_code for answer in answers] == [expected] * 2


async def test_people_work_on_a_ticket(shop: Served) -> None:
    ids = await opened(shop)
    client = await shop.client(name="eve")
    assert (await did(client, ids[0], "assign", to="bob", group="tech"))["assignee"] == "bob"
    assert (await did(client, ids[0], "assign", to=None))["group"] == "tech"
    await did(client, ids[0], "notes", text="call her")
    assert (await did(client, ids[0], "tags", add=["vip"]))["tags"] == ["vip"]
    assert (await did(client, ids[0], "close", solved=True, why="ok"))["state"] == "solved"
    assert (await did(client, ids[0], "reopen"))["state"] == "active"
    merged = await did(client, ids[0], "merge", into=ids[1])
    assert (merged["ticket_id"], merged["messages"]) == (ids[1], 2)
    shown = (await client.get(f"/api/tickets/{ids[1]}")).json()
    new = await did(client, ids[1], "split", runs=[shown["timeline"][0]["run"]], subject="Apart")
    assert (new["subject"], new["messages"]) == ("Apart", 1)
    assert (await did(client, ids[1], "undo"))["messages"] == 2
    first = (await client.get(f"/api/tickets/{ids[0]}")).json()
    assert (first["merged_into"], first["notes"][0]["text"]) == (ids[1], "call her")
    assert {event["by"] for event in first["events"]} == {"desk", "eve"}


async def test_what_cannot_be_is_refused(shop: Served) -> None:
    ids = await opened(shop)
    client = await shop.client()
    across = await client.post(f"/api/tickets/{ids[0]}/merge", json={"into": ids[2]})
    assert across.status_code == 409
    assert "different customers" in across.json()["detail"]
    assert (await client.get("/api/tickets/TKT-ZZZZZZZZ")).status_code == 404
    assert (await client.get("/api/tickets/a%3Ab*")).status_code == 404
    assert (await client.post(f"/api/tickets/{ids[0]}/assign", json={})).status_code == 422
    empty = await client.post(f"/api/tickets/{ids[0]}/notes", json={"text": " "})
    assert empty.status_code == 422
    reader = await shop.client(scopes=["tickets:read"])
    closed = await reader.post(f"/api/tickets/{ids[0]}/close", json={})
    assert closed.status_code == 403
    other = await shop.client(desks=["elsewhere"])
    assert (await other.get(f"/api/tickets/{ids[0]}")).status_code == 404


async def test_a_ticket_with_a_silent_ask_is_closed_only_with_what_became_of_it(
    shop: Served,
) -> None:
    ids = await opened(shop)
    await asking(shop.desks["shop"].tickets, ids[0], "Where is it?", "Who pays?")
    client = await shop.client(name="eve")
    refused = await client.post(f"/api/tickets/{ids[0]}/close", json={"solved": True})
    assert refused.status_code == 409
    assert "Where is it?" in refused.text
    shown = (await client.get(f"/api/tickets/{ids[0]}")).json()["asks"]
    assert [(ask["text"], ask["status"]) for ask in shown] == [
        ("Where is it?", "open"),
        ("Who pays?", "open"),
    ]
    await did(client, ids[0], "asks", status="answered", asks=[shown[0]["id"]])
    closed = await did(client, ids[0], "close", solved=True, rest="deferred")
    assert closed["state"] == "solved"
    after = (await client.get(f"/api/tickets/{ids[0]}")).json()["asks"]
    assert [(ask["status"], ask["by"]) for ask in after] == [
        ("answered", "eve"),
        ("deferred", "eve"),
    ]
    wrong = await client.post(
        f"/api/tickets/{ids[0]}/asks", json={"status": "open", "asks": ["x.1"]}
    )
    assert wrong.status_code == 409
    body = {"tickets": [ids[0], ids[1]], "do": "close"}
    await did(client, ids[0], "asks", status="open", asks=[shown[0]["id"]])
    done = (await client.post("/api/tickets/bulk", json=body)).json()
    assert done["changed"] == [ids[1]]
    assert "Where is it?" in done["failed"][ids[0]]


async def test_a_ticket_is_opened_for_a_customer(shop: Served) -> None:
    client = await shop.client(name="eve")
    body = {"customer": "Dan@Example.com", "subject": "The invoice", "note": "he called"}
    answer = await client.post("/api/tickets", params={"desk": "shop"}, json=body)
    assert answer.status_code == 201, answer.text
    ticket = answer.json()["ticket_id"]
    found = await client.get("/api/tickets", params={"customer": "dan@example.com"})
    assert [item["ticket_id"] for item in found.json()["items"]] == [ticket]
    empty = {"customer": "dan@example.com", "subject": "   "}
    refused = await client.post("/api/tickets", params={"desk": "shop"}, json=empty)
    assert refused.status_code == 409


async def test_tickets_are_exported_one_a_line(shop: Served) -> None:
    ids = await opened(shop)
    client = await shop.client(name="eve")
    await did(client, ids[0], "notes", text="call her")
    answer = await client.get("/api/tickets/export")
    assert answer.headers["content-type"].startswith("application/x-ndjson")
    lines = [json.loads(line) for line in answer.text.splitlines()]
    assert {line["ticket_id"] for line in lines} == set(ids)
    (first,) = [line for line in lines if line["ticket_id"] == ids[0]]
    assert [note["text"] for note in first["notes"]] == ["call her"]
    assert [message["text"] for message in first["timeline"]] == [WORDS[0]]
    one = await client.get("/api/tickets/export", params={"customer": "bob@example.com"})
    assert [json.loads(line)["ticket_id"] for line in one.text.splitlines()] == [ids[2]]


async def test_a_view_is_kept_and_lists_its_tickets(shop: Served) -> None:
    ids = await opened(shop)
    client = await shop.client(name="eve")
    await did(client, ids[0], "urgency", urgency="high")
    await did(client, ids[1], "urgency", urgency="high")
    await did(client, ids[1], "close", solved=True)
    kept = await client.put("/api/tickets/views/Hot", json={"query": "?urgency=high"})
    assert kept.status_code == 200, kept.text
    listed = (await client.get("/api/tickets/views")).json()["items"]
    assert [(view["name"], view["query"], view["made_by"]) for view in listed] == [
        ("Hot", "urgency=high", "eve")
    ]

    async def shown(**asked: str) -> list[str]:
        answer = await client.get("/api/tickets", params=asked)
        assert answer.status_code == 200, answer.text
        return sorted(item["ticket_id"] for item in answer.json()["items"])

    assert await shown(view="Hot") == [ids[0]]
    assert await shown(view="Hot", state="solved") == [ids[1]]
    assert await shown(view="over") == [ids[1]]
    assert await shown(view="nobody", customer="bob@example.com") == [ids[2]]
    await did(client, ids[2], "assign", to="eve")
    assert await shown(view="mine") == [ids[2]]
    unknown = await client.get("/api/tickets", params={"view": "Cold"})
    assert unknown.status_code == 404
    assert "Hot" in unknown.json()["detail"]
    for wrong in ("", "colour=red", "urgency=purple", "view=nowhere"):
        refused = await client.put("/api/tickets/views/Bad", json={"query": wrong})
        assert refused.status_code == 422, wrong
    assert (await client.request("DELETE", "/api/tickets/views/Hot")).status_code == 204
    assert (await client.get("/api/tickets", params={"view": "Hot"})).status_code == 404


BULK: tuple[tuple[dict[str, Any], str, Any], ...] = (
    ({"do": "assign", "to": "bob", "group": "tech"}, "group", "tech"),
    ({"do": "urgency", "urgency": "critical"}, "urgency", "critical"),
    ({"do": "tag", "tags": ["vip"]}, "tags", ["vip"]),
    ({"do": "solve", "why": "all done"}, "state", "solved"),
    ({"do": "close"}, "state", "closed"),
)


@pytest.mark.parametrize(("body", "field", "value"), BULK, ids=lambda one: str(one)[:24])
async def test_many_are_changed_in_one_request(
    shop: Served, body: dict[str, Any], field: str, value: Any
) -> None:
    ids = await opened(shop)
    client = await shop.client(name="eve")
    request = {"tickets": [*ids, "TKT-00000000"], **body}
    done = (await client.post("/api/tickets/bulk", json=request)).json()
    assert done["changed"] == ids
    assert list(done["failed"]) == ["TKT-00000000"]
    for ticket in ids:
        assert (await client.get(f"/api/tickets/{ticket}")).json()[field] == value


async def test_many_are_joined_unless_they_belong_to_different_customers(shop: Served) -> None:
    ids = await opened(shop)
    client = await shop.client(name="eve")
    done = (await client.post("/api/tickets/bulk", json={"tickets": ids, "do": "merge"})).json()
    assert done["changed"] == [ids[0]]
    assert "different customers" in done["failed"][ids[2]]
    assert (await client.get(f"/api/tickets/{ids[1]}")).json()["merged_into"] == ids[0]
    for wrong in ({"do": "assign"}, {"do": "urgency"}, {"do": "tag"}, {"do": "macro"}):
        answer = await client.post("/api/tickets/bulk", json={"tickets": ids, **wrong})
        assert answer.status_code == 422, wrong


MACROS = """
tickets:
  macros:
    money_back: {tags: [refund], group: billing, note: "Paid back today.", state: solved}
    mine: {assign: me, urgency: high}
"""


async def test_a_macro_is_used_on_one_ticket_and_on_many(tmp_path: Path) -> None:
    async with served(tmp_path, "shop", more=MACROS) as shop:
        ids = await opened(shop)
        client = await shop.client(name="eve")
        done = await did(client, ids[0], "macro", macro="mine")
        assert (done["assignee"], done["urgency"]) == ("eve", "high")
        body = {"tickets": ids, "do": "macro", "macro": "money_back"}
        answer = (await client.post("/api/tickets/bulk", json=body)).json()
        assert (answer["changed"], answer["failed"]) == (ids, {})
        shown = (await client.get(f"/api/tickets/{ids[2]}")).json()
        assert (shown["state"], shown["group"], shown["tags"]) == ("solved", "billing", ["refund"])
        assert [note["text"] for note in shown["notes"]] == ["Paid back today."]
        unknown = await client.post(f"/api/tickets/{ids[0]}/macro", json={"macro": "nothing"})
        assert unknown.status_code == 422
        assert [problem["field"] for problem in unknown.json()["errors"]] == ["macro"]
