"""The queue over HTTP: why something is there, all that is needed to decide it, and what comes
before deciding."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.accounts import add_accounts
from tests.api_kit import Client, Served, is_problem, served
from tests.waiting import PATIENCE

CANNED = """
reviews:
  expire_after: 3 days
  canned:
    thanks: {en: "Dear {name}, thank you. {reviewer}", cs: "Děkujeme, {name}."}
"""


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Served]:
    async with served(tmp_path, more=CANNED) as running:
        yield running


@pytest.fixture
async def client(shop: Served) -> Client:
    return await shop.client(name="Ida")


async def listed(client: Client, **params: str) -> list[str]:
    answer = await client.get("/api/reviews", params=params)
    assert answer.status_code == 200, answer.text
    return [one["review"] for one in answer.json()["items"]]


def at(**ahead: float) -> str:
    return (datetime.now(UTC) + timedelta(**ahead)).isoformat()


async def test_a_review_tells_why_and_all_that_is_needed_to_decide(client: Client) -> None:
    review = await client.under_review("I am unsure what I ordered.", subject="My order")
    assert review["causes"] == ["below_threshold"]
    assert (review["category"], review["confidence"], review["threshold"]) == ("question", 0.4, 0.8)
    assert review["message"]["body"] == "I am unsure what I ordered."
    assert (review["tool_calls"], review["sources"], review["edits"]) == ([], [], [])
    assert 0 <= review["age_seconds"] < 600
    assert review["fallback"] == "reject"
    assert (
        timedelta(days=2)
        < datetime.fromisoformat(review["expires_at"]) - datetime.now(UTC)
        <= timedelta(days=3)
    )


async def test_the_queue_is_filtered_by_cause_person_and_snooze(
    shop: Served, client: Client
) -> None:
    one, two = await client.under_review("unsure 1"), await client.under_review("unsure 2")
    assert await listed(client, cause="below_threshold") == [one["review"], two["review"]]
    assert await listed(client, cause="always_ask") == []
    is_problem(
        await client.get("/api/reviews", params={"cause": "boredom"}), 422, "request_invalid"
    )
    await add_accounts(shop.desks["shop"].store, "Otto")
    assigned = await client.post(f"/api/reviews/{one['review']}/assign", json={"to": "Otto"})
    assert assigned.json()["assignee"] == "Otto"
    assert await listed(client, assignee="Otto") == [one["review"]]
    until = at(hours=2)
    snoozed = await client.post(f"/api/reviews/{two['review']}/snooze", json={"until": until})
    assert snoozed.status_code == 200, snoozed.text
    assert datetime.fromisoformat(snoozed.json()["snoozed_until"]) == datetime.fromisoformat(until)
    assert await listed(client, snoozed="hide") == [one["review"]]
    assert await listed(client, snoozed="only") == [two["review"]]
    for wrong in ({"until": "tomorrow"}, {"until": "2026-11-16T09:00:00"}, {}):
        answer = await client.post(f"/api/reviews/{two['review']}/snooze", json=wrong)
        is_problem(answer, 422, "request_invalid")
    for late in (at(days=-1), at(days=4)):
        is_problem(
            await client.post(f"/api/reviews/{two['review']}/snooze", json={"until": late}),
            409,
            "conflict",
        )


async def test_notes_and_what_is_typed_are_kept_with_who_wrote_them(
    shop: Served, client: Client
) -> None:
    review = await client.under_review()
    other = await shop.client(name="Otto")
    assert (
        await client.post(f"/api/reviews/{review['review']}/notes", json={"text": "Call her."})
    ).status_code == 200
    assert (
        await client.put(f"/api/reviews/{review['review']}/edit", json={"text": "Dear A"})
    ).status_code == 200
    assert (
        await other.put(f"/api/reviews/{review['review']}/edit", json={"text": "Hi"})
    ).status_code == 200
    shown = (await client.get(f"/api/reviews/{review['review']}")).json()
    assert [(one["kind"], one["by"], one["about"]["text"]) for one in shown["history"]] == [
        ("note", "Ida", "Call her.")
    ]
    assert {one["by"]: one["edit"] for one in shown["edits"]} == {
        "Ida": {"text": "Dear A"},
        "Otto": {"text": "Hi"},
    }
    assert shown["version"] == review["version"]
    is_problem(
        await client.post(f"/api/reviews/{review['review']}/notes", json={"text": " "}),
        422,
        "request_invalid",
    )
    is_problem(await client.post("/api/reviews/rev_1/notes", json={"text": "x"}), 404, "not_found")


async def test_canned_replies_are_filled_and_never_leave_half_filled(
    shop: Served, client: Client
) -> None:
    review = await client.under_review()
    [thanks] = (await client.get(f"/api/reviews/{review['review']}/canned")).json()
    assert thanks == {
        "name": "thanks",
        "language": "en",
        "text": "Dear {name}, thank you. Ida",
        "missing": ["name"],
    }
    body: dict[str, Any] = {
        "decision": "edit",
        "version": review["version"],
        "payload_hash": review["payload_hash"],
        "edit": {"text": thanks["text"]},
    }
    problem = is_problem(
        await client.post(f"/api/reviews/{review['review']}/decision", json=body), 409, "conflict"
    )
    assert "{name}" in problem["detail"]
    body["edit"] = {"text": thanks["text"].replace("{name}", "Ann")}
    assert (
        await client.post(f"/api/reviews/{review['review']}/decision", json=body)
    ).status_code == 200
    await asyncio.wait_for(shop.desks["shop"].dispatcher.wait(review["run"]), PATIENCE)
    run = (await client.get(f"/api/runs/{review['run']}")).json()
    assert run["reply"]["text"] == "Dear Ann, thank you. Ida"


async def test_whoever_may_only_look_changes_nothing(shop: Served, client: Client) -> None:
    review = await client.under_review()
    reader = await shop.client(scopes=["reviews:read"])
    for path, body in (
        ("snooze", {"until": None}),
        ("assign", {"to": None}),
        ("notes", {"text": "x"}),
    ):
        answer = await reader.post(f"/api/reviews/{review['review']}/{path}", json=body)
        is_problem(answer, 403, "forbidden")
    assert (await reader.get(f"/api/reviews/{review['review']}/canned")).status_code == 200
