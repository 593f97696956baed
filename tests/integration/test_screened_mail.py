"""What was not answered because a program wrote it can be seen, is counted, and can be taken
back."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.api_kit import Client, Served, is_problem, served
from tests.approvals_kit import HOME, outbox, person, words_of
from tests.forked import run_command
from tests.waiting import PATIENCE

PROGRAM = {"Auto-Submitted": "auto-replied"}


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Served]:
    async with served(
        tmp_path, "shop", "bank", more="undo_seconds: 0\n", approvals=True
    ) as running:
        yield running


@pytest.fixture
async def client(shop: Served) -> Client:
    return await shop.client(desks=["shop"], name="Ida")


async def rested(shop: Served, run: str) -> str:
    return str(await asyncio.wait_for(shop.desks["shop"].dispatcher.wait(run), PATIENCE))


async def test_the_api_lists_counts_and_takes_back(shop: Served, client: Client) -> None:
    answered = await client.worked("Hello")
    screened = await client.worked("Where is my parcel?", headers=PROGRAM, subject="Parcel")
    assert screened["status"] == "done"
    assert "a program sent it" in screened["reason"]

    listed = (await client.get("/api/runs", params={"screened": "true"})).json()["items"]
    assert [run["run"] for run in listed] == [screened["run"]]
    assert (await client.get("/api/desks/shop")).json()["screened"] == 1

    taken = (await client.post(f"/api/runs/{screened['run']}/retry")).json()
    assert taken["status"] == "queued"
    assert await rested(shop, screened["run"]) == "sent"
    assert "Hello ann@example.com" in outbox(shop)[-1]
    assert (await client.get("/api/runs", params={"screened": "true"})).json()["items"] == []
    assert (await client.get("/api/desks")).json()[0]["screened"] == 0
    is_problem(await client.post(f"/api/runs/{answered['run']}/retry"), 409, "conflict")

    events = await shop.desks["shop"].store.events(run_id=screened["run"])
    assert ("review.retry", "Ida") in [(event.kind, event.by) for event in events]


async def test_the_page_shows_them_and_takes_back_with_a_click(
    shop: Served, client: Client
) -> None:
    run = await client.worked(
        "Where is <b>my</b> parcel?",
        subject="Parcel",
        headers={**PROGRAM, "Reply-To": "carla@example.org"},
    )
    ida, of_bank = await person(shop), await person(shop, "bo", "bank")
    assert "Screened out 1" in words_of((await ida.get(HOME)).text)
    assert "Screened out 0" in words_of((await of_bank.get(HOME)).text)

    page = (await ida.get(f"{HOME}screened")).text
    for words in ("Parcel", "Auto-Submitted is auto-replied", "Reply-To carla@example.org"):
        assert words in words_of(page)
    assert "<b>my</b>" not in page
    assert "Parcel" not in (await of_bank.get(f"{HOME}screened")).text

    form = {"csrf": of_bank.csrf, "desk": "shop", "run": run["run"]}
    assert (await of_bank.post(f"{HOME}screened", data=form)).status_code == 404
    form["csrf"] = "forged"
    assert (await ida.post(f"{HOME}screened", data=form)).status_code == 403
    form["csrf"] = ida.csrf
    assert (await ida.post(f"{HOME}screened", data=form)).status_code == 303
    assert await rested(shop, run["run"]) == "sent"
    assert "Nothing was screened out." in (await ida.get(f"{HOME}screened")).text
    assert (await ida.post(f"{HOME}screened", data=form)).status_code == 404, "it is worked already"


async def test_the_command_line_lists_takes_back_and_counts(shop: Served, client: Client) -> None:
    await client.worked("Hello")
    screened = await client.worked("Where is my parcel?", headers=PROGRAM)
    database = ["--database", str(shop.folder / "deskhand.db")]

    async def deskhand(*arguments: str) -> str:
        return (await asyncio.to_thread(run_command, *arguments, *database)).stdout

    listed = json.loads(await deskhand("runs", "list", "--screened", "--desk", "shop", "--json"))
    assert [run["run"] for run in listed["runs"]] == [screened["run"]]
    checks = json.loads(await deskhand("doctor", "--json"))["checks"]
    [counted] = [check for check in checks if check["name"] == "screened"]
    assert counted["found"].startswith("shop: 1 within a week not answered")

    taken = await deskhand("runs", "retry", screened["run"], "--desk", "shop", "--json")
    assert json.loads(taken)["status"] == "queued"
    shop.desks["shop"].dispatcher.wake()
    assert await rested(shop, screened["run"]) == "sent"
