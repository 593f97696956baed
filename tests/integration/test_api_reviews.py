"""Deciding: once, by whoever holds the key, on exactly what was shown."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.api_kit import Client, Served, is_problem, served
from tests.waiting import PATIENCE


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Served]:
    async with served(tmp_path) as running:
        yield running


@pytest.fixture
async def client(shop: Served) -> Client:
    return await shop.client(name="Ida")


def decide(client: Client, review: dict[str, Any], decision: str = "approve", **more: Any) -> Any:
    shown = {"version": review["version"], "payload_hash": review["payload_hash"]}
    body = {"decision": decision, **shown, **more}
    return client.post(f"/api/reviews/{review['review']}/decision", json=body)


async def rested(shop: Served, client: Client, review: dict[str, Any]) -> dict[str, Any]:
    await asyncio.wait_for(shop.desks["shop"].dispatcher.wait(review["run"]), PATIENCE)
    return dict((await client.get(f"/api/runs/{review['run']}")).json())


async def test_an_approved_reply_leaves_and_the_decision_is_signed_with_the_key(
    shop: Served, client: Client
) -> None:
    review = await client.under_review()
    assert review["decisions"] == ["approve", "edit", "acknowledge", "reject", "take_over"]
    decided = await decide(client, review, payload_hash=review["payload_hash"], note="fine")
    assert decided.status_code == 200
    assert (
        decided.json() | {"state": "decided", "decided_by": "Ida", "note": "fine"} == decided.json()
    )
    assert decided.json()["decisions"] == []
    assert (await rested(shop, client, review))["status"] == "sent"


async def test_a_body_cannot_claim_to_be_somebody_else(client: Client) -> None:
    review = await client.under_review()
    problem = is_problem(await decide(client, review, by="the boss"), 422, "request_invalid")
    assert problem["errors"] == [{"field": "by", "problem": "there is no such field; leave it out"}]
    assert (await client.get(f"/api/reviews/{review['review']}")).json()["state"] == "open"


async def test_of_two_clicks_at_once_exactly_one_wins(shop: Served, client: Client) -> None:
    other = await shop.client(name="Otto")
    review = await client.under_review()
    answers = await asyncio.gather(
        decide(client, review), decide(other, review, "reject"), decide(client, review)
    )
    lost = [answer for answer in answers if answer.status_code != 200]
    assert len(lost) == 2
    for answer in lost:
        is_problem(answer, 409, "conflict")
    run = await rested(shop, client, review)
    won = next(answer.json() for answer in answers if answer.status_code == 200)
    assert run["status"] == {"approve": "sent", "reject": "rejected"}[won["decision"]]
    assert len(list((shop.folder / "outbox").glob("**/*.eml"))) == (run["status"] == "sent")


async def test_a_decision_on_something_else_than_what_is_there_is_refused(client: Client) -> None:
    review = await client.under_review()
    is_problem(await decide(client, review, payload_hash="0" * 64), 409, "conflict")
    is_problem(await decide(client, {**review, "version": 7}), 409, "conflict")
    is_problem(await decide(client, review, "close"), 409, "conflict")
    assert (await client.get(f"/api/reviews/{review['review']}")).json()["version"] == 1


async def test_a_draft_goes_stale_when_the_customer_writes_again(
    shop: Served, client: Client
) -> None:
    review = await client.under_review(conversation="c1")
    newer = await client.worked("unsure, too", conversation="c1")
    problem = is_problem(await decide(client, review), 409, "conflict")
    assert "stale" in problem["detail"]
    assert (await client.get(f"/api/runs/{review['run']}")).json()["successor"] == newer["run"]
    shown = (await client.get(f"/api/reviews/{newer['review']['id']}")).json()
    assert (await decide(client, shown)).status_code == 200


async def test_an_edit_changes_the_words_and_whom_they_go_to(shop: Served, client: Client) -> None:
    review = await client.under_review()
    for edit in (
        None,
        {},
        {"text": " "},
        {"text": 5},
        {"text": "Hello", "to": "ann"},
        {"text": "Hello", "to": "a@example.com, b@example.com"},
        {"text": "Hello", "cc": ["ann"]},
        {"text": "Hello", "cc": "ann@example.com"},
        {"text": "Hello", "bcc": ["ann@example.com"]},
    ):
        is_problem(await decide(client, review, "edit", edit=edit), 422, "request_invalid")
    is_problem(await decide(client, review, "approve", edit={"text": "Hi"}), 422, "request_invalid")
    edit = {"text": "Dear Bob", "to": "bob@example.com", "cc": ["ann@example.com"]}
    assert (await decide(client, review, "edit", edit=edit)).status_code == 200
    run = await rested(shop, client, review)
    reply = run["reply"]
    assert (run["status"], reply["text"], reply["to"], reply["cc"]) == (
        "sent",
        "Dear Bob",
        "bob@example.com",
        ["ann@example.com"],
    )


async def test_a_revision_needs_an_instruction(client: Client) -> None:
    review = await client.under_review()
    is_problem(await decide(client, review, "revise"), 422, "request_invalid")
    is_problem(await decide(client, review, "revise", note="  "), 422, "request_invalid")


@pytest.mark.parametrize(
    "body",
    [
        {},
        [],
        {"decision": "maybe", "version": 1},
        {"decision": "approve"},
        {"decision": "approve", "version": "x"},
    ],
)
async def test_an_incomplete_decision_says_what_to_write(client: Client, body: Any) -> None:
    review = await client.under_review()
    answer = await client.post(f"/api/reviews/{review['review']}/decision", json=body)
    assert is_problem(answer, 422, "request_invalid")["errors"]


async def test_reviews_are_listed_oldest_first_in_pages(client: Client) -> None:
    made = [(await client.under_review(f"unsure {n}"))["review"] for n in range(5)]
    listed: list[str] = []
    cursor: dict[str, str] = {}
    for size in (2, 2, 1):
        page = (await client.get("/api/reviews", params={"limit": "2", **cursor})).json()
        assert len(page["items"]) == size
        listed += [review["review"] for review in page["items"]]
        cursor = {"cursor": page["next_cursor"]}
    assert cursor == {"cursor": None}
    assert listed == made


async def test_open_reviews_are_listed_unless_others_are_asked_for(client: Client) -> None:
    first, second = await client.under_review(), await client.under_review()
    await decide(client, first, "reject")

    async def listed(**params: str) -> list[str]:
        return [
            one["review"]
            for one in (await client.get("/api/reviews", params=params)).json()["items"]
        ]

    assert await listed() == [second["review"]]
    assert await listed(state="decided") == [first["review"]]
    assert await listed(state="all") == [first["review"], second["review"]]
    assert await listed(state="all", run=first["run"]) == [first["review"]]
    for wrong in ({"state": "lost"}, {"cursor": "WzFd"}, {"cursor": "W05hTiwgIngiXQ"}):
        is_problem(await client.get("/api/reviews", params=wrong), 422, "request_invalid")


async def test_a_review_that_does_not_exist_is_not_found(client: Client) -> None:
    is_problem(await client.get("/api/reviews/rev_1"), 404, "not_found")
    is_problem(
        await decide(client, {"review": "rev_1", "version": 1, "payload_hash": "0" * 64}),
        404,
        "not_found",
    )


async def test_only_a_reply_that_leaves_by_itself_can_be_undone(
    shop: Served, client: Client
) -> None:
    review = await client.under_review()
    problem = is_problem(
        await client.post(f"/api/reviews/{review['review']}/undo"), 409, "conflict"
    )
    assert "waits for a decision" in problem["detail"]
    leaving = "UPDATE reviews SET fallback = 'approve', expires_at = 4e9"
    await shop.database.write_core(lambda core: core.exec_driver_sql(leaving).close())
    held = await client.post(f"/api/reviews/{review['review']}/undo")
    assert held.status_code == 200
    assert (held.json()["state"], held.json()["reason"]) == ("open", "held back by Ida")
    reader = await shop.client(scopes=["reviews:read"])
    assert (await reader.post(f"/api/reviews/{review['review']}/undo")).status_code == 403
