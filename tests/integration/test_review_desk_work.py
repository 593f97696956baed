"""What reviewers rely on beside deciding: who it is assigned to, until when it sleeps, who has the
conversation, and what the draft was drawn from."""

import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from deskhand.wiring import user_accounts
from tests.api_kit import Client, Served, is_problem, served
from tests.approvals_kit import HOME, PASSWORD, person, words_of

MORE = "undo_seconds: 0\n"


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Served]:
    async with served(tmp_path, "shop", "bank", more=MORE, approvals=True) as running:
        yield running


@pytest.fixture
async def api(shop: Served) -> Client:
    return await shop.client(desks=["shop"])


async def test_nothing_is_assigned_to_somebody_who_cannot_see_it(shop: Served, api: Client) -> None:
    ida = await person(shop)
    await user_accounts(shop.database).add("bert", PASSWORD, ["bank"])
    review = await api.under_review()
    address = f"/api/reviews/{review['review']}/assign"
    for name in ("otto", "bert"):
        refused = is_problem(await api.post(address, json={"to": name}), 409, "conflict")
        assert f"there is no user '{name}' on desk shop" in refused["detail"]
        assert "one of: ida" in refused["detail"]
        page = await ida.do(review, "assign", to=name)
        assert (page.status_code, "there is no user" in words_of(page.text)) == (409, True)
    assert (await api.post(address, json={"to": "ida"})).json()["assignee"] == "ida"
    assert '<option selected>ida</option><option value="">nobody</option>' in await ida.page(review)
    assert (await ida.do(review, "assign", to="")).status_code == 303


async def test_a_snoozed_review_says_until_when(shop: Served, api: Client) -> None:
    ida, review = await person(shop), await api.under_review()
    until = int(time.time()) + 3600
    assert (await ida.do(review, "snooze", until=str(until))).status_code == 303
    shown = time.strftime("%d %b %Y, %H:%M", time.gmtime(until))
    listed = words_of((await ida.get(f"{HOME}?tab=snoozed")).text)
    assert f"until {shown}" in listed
    assert f"Snoozed until {shown}" in words_of(await ida.page(review))


async def test_what_a_colleague_has_is_listed_and_given_back(shop: Served, api: Client) -> None:
    ida, review = await person(shop), await api.under_review("unsure", subject="My parcel")
    assert (await ida.do(review, "take_over")).status_code == 303
    assert "Taken over 1" in words_of((await ida.get(HOME)).text)
    page = words_of((await ida.get(f"{HOME}taken-over")).text)
    assert "My parcel ann@example.com taken over by ida" in page
    [listed] = (await api.get("/api/conversations/taken-over")).json()
    assert (listed["taken_over_by"], listed["subject"]) == ("ida", "My parcel")
    assert (listed["conversation"], listed["run"]) == (review["conversation"], review["run"])

    form = {"csrf": ida.csrf, "desk": "shop", "conversation": review["conversation"]}
    assert (await ida.post(f"{HOME}taken-over", data=form)).status_code == 303
    assert (await ida.post(f"{HOME}taken-over", data=form)).status_code == 404
    assert (await api.get("/api/conversations/taken-over")).json() == []

    store = shop.desks["shop"].store
    await store.take_over(review["conversation"], "otto")
    body = {"conversation": review["conversation"]}
    given = await api.post("/api/conversations/give-back", json=body)
    assert given.json() == {**body, "given_back": True}
    assert (await api.post("/api/conversations/give-back", json=body)).status_code == 404
    assert await store.taken_over_by(review["conversation"]) is None


async def test_draft_again_is_offered_only_where_it_can_be_followed(
    shop: Served, api: Client
) -> None:
    """The reply of this desk is a tool's, and its brain is the embedded one."""
    ida, review = await person(shop), await api.under_review()
    assert "revise" not in review["decisions"]
    assert "Draft again" not in words_of(await ida.page(review))
    body = {
        "decision": "revise",
        "version": review["version"],
        "payload_hash": review["payload_hash"],
        "note": "shorter",
    }
    refused = await api.post(f"/api/reviews/{review['review']}/decision", json=body)
    assert "follows no instructions" in is_problem(refused, 409, "conflict")["detail"]


async def test_a_lane_says_how_many_reviews_it_has(shop: Served, api: Client) -> None:
    ida = await person(shop)
    for number in range(2):
        await api.under_review(f"unsure {number}", conversation=f"c{number}")
    assert "Look closely 2" in words_of((await ida.get(HOME)).text)
    assert "Look closely 2" in words_of((await ida.get(f"{HOME}?category=question")).text)
    assert "Look closely" not in words_of((await ida.get(f"{HOME}?category=other")).text)


async def test_a_confidence_has_a_name(shop: Served, api: Client) -> None:
    ida, review = await person(shop), await api.under_review()
    page = words_of(await ida.page(review))
    assert "Confidence: category 0.40; with the category from 0.80 it is sent" in page
    assert "category 0.40" in words_of((await ida.get(HOME)).text)
    assert (review["confidence"], review["answer_confidence"]) == (0.4, None)
