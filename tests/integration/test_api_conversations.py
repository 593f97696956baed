"""What the API tells of conversations, and how it makes a desk forget one."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.api_kit import Client, Served, is_problem, served


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Served]:
    async with served(tmp_path) as running:
        yield running


@pytest.fixture
async def api(shop: Served) -> Client:
    return await shop.client(desks=["shop"])


async def test_conversations_are_listed_page_by_page(api: Client) -> None:
    first, second = await api.under_review(), await api.under_review()
    page = (await api.get("/api/conversations?limit=1")).json()
    assert [item["run"] for item in page["items"]] == [second["run"]]
    rest = (await api.get(f"/api/conversations?limit=1&cursor={page['next_cursor']}")).json()
    assert [item["run"] for item in rest["items"]] == [first["run"]]
    assert (await api.get("/api/conversations?cursor=x")).status_code == 422


async def test_what_is_remembered_is_shown_and_forgotten(api: Client) -> None:
    review = await api.under_review(subject="My parcel")
    name = review["conversation"]
    place = "/api/conversations/memory"
    shown = (await api.get(place, params={"conversation": name})).json()
    [turn] = shown["turns"]
    assert (shown["messages"], turn["run"], turn["is_open"]) == (1, review["run"], True)

    clear = {"conversation": name}
    assert (await api.post("/api/conversations/clear", json=clear)).json()["forgotten"] == 1
    again = await api.post("/api/conversations/clear", json=clear)
    assert is_problem(again, 404, "not_found")
    assert (await api.get(place, params={"conversation": name})).json()["turns"] == []
    unknown = await api.get(place, params={"conversation": "no-such"})
    assert is_problem(unknown, 404, "not_found")
