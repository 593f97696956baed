"""Looking at runs, starting one again, ending one."""

import asyncio
from collections.abc import AsyncIterator
from itertools import pairwise
from pathlib import Path

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


async def test_a_run_tells_its_story_step_by_step(client: Client) -> None:
    run = await client.worked("Hello", subject="Parcel")
    assert (run["status"], run["flow"], run["desk"]) == ("sent", "main", "shop")
    assert run["reply"]["to"] == "ann@example.com"
    assert [step["name"] for step in run["steps"]] == [
        "read",
        "answer",
        "review",
        "dispatch/deliver",
        "dispatch",
    ]
    assert [step["seq"] for step in run["steps"]] == [0, 1, 2, 3, 4]
    first = run["steps"][0]
    assert set(first) == {
        "seq", "name", "outcome", "attempt", "latency_ms", "started_at", "error", "flow_version", "erased",  # noqa: E501
        "trace_id", "step_name", "step_order", "error_message",
    }  # fmt: skip
    assert (first["outcome"], first["attempt"], first["error"]) == ("success", 1, None)
    assert first["flow_version"] == run["flow_version"]


async def test_a_runs_trail_has_agents_models_and_events(client: Client) -> None:
    run = await client.worked()
    trail = (await client.get(f"/api/runs/{run['run']}/trail")).json()
    assert (trail["agent_runs"], trail["llm_calls"], trail["email_events"]) == ([], [], [])
    is_problem(await client.get("/api/runs/run_x/trail"), 404, "not_found")


async def test_with_state_each_step_shows_what_it_met_and_what_it_left(client: Client) -> None:
    run = await client.worked()
    shown = (await client.get(f"/api/runs/{run['run']}", params={"state": "true"})).json()
    states = [(step["input_state"], step["output_state"]) for step in shown["steps"]]
    assert states[0][0]["outputs"] == {}
    assert states[0][1]["outputs"]["classification"]["confidence"] == 0.95
    assert all(after == before for (_, after), (before, _) in pairwise(states))
    assert states[-1][1]["outputs"] == shown["outputs"]


async def test_an_erased_run_still_shows_its_steps(shop: Served, client: Client) -> None:
    run = await client.worked()
    assert await shop.desks["shop"].store.erase("ann@example.com", "Ida") == 1
    shown = (await client.get(f"/api/runs/{run['run']}", params={"state": "true"})).json()
    assert shown["message"] is None
    assert {step["erased"] for step in shown["steps"]} == {True}
    assert "ann@example.com" not in str(shown)


async def test_runs_are_listed_newest_first_in_pages_that_overlap_nowhere(client: Client) -> None:
    made = []
    for n in range(7):
        conversation = ("even", "odd")[n % 2]
        made.append((await client.worked(f"Hello {n}", conversation=conversation))["run"])
    listed: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        page = (await client.get("/api/runs", params={"limit": "3", **cursor})).json()
        listed += [run["run"] for run in page["items"]]
        if page["next_cursor"] is None:
            break
        cursor = {"cursor": page["next_cursor"]}
    assert listed == made[::-1]
    odd = (await client.get("/api/runs", params={"conversation": "odd", "limit": "3"})).json()
    assert [run["run"] for run in odd["items"]] == made[5::-2]
    assert odd["next_cursor"] is None
    unsure = await client.worked("unsure")
    waiting = (await client.get("/api/runs", params={"status": "waiting_review"})).json()
    assert [run["run"] for run in waiting["items"]] == [unsure["run"]]


@pytest.mark.parametrize(
    ("field", "value"),
    [("limit", "0"), ("limit", "201"), ("limit", "x"), ("status", "lost"), ("cursor", "x"), ("cursor", "WzFd!"),  # noqa: E501
     ("cursor", "W10"), ("cursor", "bnVsbA"), ("cursor", "Wy0xXQ"), ("cursor", "é")],
)  # fmt: skip
async def test_a_wrong_parameter_is_named(client: Client, field: str, value: str) -> None:
    problem = is_problem(
        await client.get("/api/runs", params={field: value}), 422, "request_invalid"
    )
    assert problem["errors"][0]["field"] == field


async def test_a_run_that_needs_review_can_be_retried_once_its_cause_is_mended(
    shop: Served, client: Client
) -> None:
    run = await client.worked("broken")
    assert (run["status"], run["error_code"]) == ("needs_review", "stage_failed")
    assert run["steps"][-1]["error"]["message"]
    (shop.folder / "shop" / "mended").touch()
    queued = await client.post(f"/api/runs/{run['run']}/retry")
    assert (queued.status_code, queued.json()["status"]) == (200, "queued")
    await asyncio.wait_for(shop.desks["shop"].dispatcher.wait(run["run"]), PATIENCE)
    assert (await client.get(f"/api/runs/{run['run']}")).json()["status"] == "sent"
    is_problem(await client.post(f"/api/runs/{run['run']}/retry"), 409, "conflict")


async def test_a_waiting_run_can_be_cancelled_and_is_signed_with_the_key(client: Client) -> None:
    run = await client.worked("unsure")
    cancelled = await client.post(f"/api/runs/{run['run']}/cancel")
    assert cancelled.json()["status"] == "cancelled"
    assert cancelled.json()["reason"] == "cancelled by Ida"
    is_problem(await client.post(f"/api/runs/{run['run']}/cancel"), 409, "conflict")
    stale = {"decision": "approve", "version": 2, "payload_hash": "0" * 64}
    is_problem(
        await client.post(f"/api/reviews/{run['review']['id']}/decision", json=stale),
        409,
        "conflict",
    )


async def test_a_run_at_work_cannot_be_cancelled(shop: Served, client: Client) -> None:
    run = (await client.message("slow", wait=0.2)).json()["run"]
    is_problem(await client.post(f"/api/runs/{run}/cancel"), 409, "conflict")


async def test_a_run_that_does_not_exist_is_not_found(client: Client) -> None:
    for answer in (
        await client.get("/api/runs/run_1"),
        await client.get("/api/runs/%00%ff"),
        await client.post("/api/runs/run_1/retry"),
        await client.post("/api/runs/run_1/cancel"),
    ):
        is_problem(answer, 404, "not_found")
