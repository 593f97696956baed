"""Modes over HTTP: shown to readers, changed by operators."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from deskhand.model.access import Scope
from deskhand.web.api.app import create_app
from deskhand.wiring import Desk, api_keys, open_database
from tests.api_kit import Served, is_problem
from tests.trust_kit import approve_many, earning

SETTINGS = "start: draft, promote_at: 0.5, fall_back_at: 0.1, at_least: 5"


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[Served]:
    async with (
        earning(tmp_path, SETTINGS) as desk,
        open_database(str(tmp_path / "deskhand.db")) as database,
    ):
        desks: dict[str, Desk] = {"earning": desk}
        keys = api_keys(database)
        yield Served(create_app(desks, keys, version="1"), desks, keys, database, tmp_path)


async def test_modes_are_shown_and_changed(served: Served) -> None:
    client = await served.client(name="olga")
    refused = await client.post("/api/desks/earning/modes/inquiry/promote", json={})
    assert "0 of 0 judged" in is_problem(refused, 409, "conflict")["detail"]
    await approve_many(served.desks["earning"], 8)
    (inquiry,) = [
        one
        for one in (await client.get("/api/desks/earning/modes")).json()["categories"]
        if one["category"] == "inquiry"
    ]
    assert (inquiry["justified"], inquiry["totals"]["unchanged"]) == (True, 8)
    promoted = (await client.post("/api/desks/earning/modes/inquiry/promote", json={})).json()
    assert (promoted["mode"], promoted["by"], promoted["how"]) == ("auto", "olga", "promoted")
    lowered = await client.post(
        "/api/desks/earning/modes/inquiry/lower", json={"mode": "shadow", "reason": "prices"}
    )
    assert lowered.json()["mode"] == "shadow"
    told = (await client.get("/api/desks/earning/modes")).json()
    assert [change["mode"] for change in told["changes"]] == ["auto", "shadow"]
    is_problem(
        await client.post("/api/desks/earning/modes/inquiry/lower", json={}), 422, "request_invalid"
    )
    is_problem(
        await client.post("/api/desks/earning/modes/nothing/promote", json={}), 404, "not_found"
    )


async def test_a_reader_changes_nothing(served: Served) -> None:
    reader = await served.client(scopes=[Scope.RUNS_READ])
    assert (await reader.get("/api/desks/earning/modes")).status_code == 200
    is_problem(
        await reader.post("/api/desks/earning/modes/inquiry/promote", json={}), 403, "forbidden"
    )
