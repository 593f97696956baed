from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.api_kit import Served, is_problem, served


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Served]:
    async with served(tmp_path) as running:
        yield running


async def test_a_desk_is_stopped_and_resumed(shop: Served) -> None:
    client = await shop.client()
    assert (await client.get("/api/desks/shop")).json()["stopped"] is None
    stopped = (await client.post("/api/desks/shop/stop", json={"reason": "wrong prices"})).json()[
        "stopped"
    ]
    assert stopped["reason"] == "wrong prices"
    again = (await client.post("/api/desks/shop/stop", json={"reason": "later"})).json()["stopped"]
    assert again == stopped
    assert (await shop.stranger().get("/readyz")).json() == {
        "status": "ready",
        "stopped": 1,
        "models_away": [],
    }
    [listed] = (await client.get("/api/desks")).json()
    assert (listed["desk"], listed["stopped"]["reason"]) == ("shop", "wrong prices")
    held = (await client.message("Hello", wait=20)).json()
    assert held["status"] == "waiting_review"
    (review,) = (await client.get("/api/reviews")).json()["items"]
    assert (review["kind"], review["decisions"]) == ("stopped", ["take_over", "retry", "close"])
    resumed = (await client.post("/api/desks/shop/resume")).json()
    assert (resumed["stopped"], resumed["released"]) == (None, 1)
    assert await shop.desks["shop"].dispatcher.wait(held["run"]) == "sent"


async def test_a_desk_that_is_not_there_and_a_reason_that_is_no_text(shop: Served) -> None:
    client = await shop.client()
    is_problem(await client.post("/api/desks/nobody/stop", json={}), 404, "not_found")
    is_problem(
        await client.post("/api/desks/shop/stop", json={"reason": 5}), 422, "request_invalid"
    )
    is_problem(await client.post("/api/desks/shop/stop", json={"why": "x"}), 422, "request_invalid")
