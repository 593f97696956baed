"""What people see of a model that is away, and how they retry what it left to them."""

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from deskhand.model.run import RunStatus
from tests.api_kit import Client, Served, is_problem, served
from tests.approvals_kit import HOME, person, words_of
from tests.cli_kit import Said
from tests.forked import run_command
from tests.waiting import until


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Served]:
    async with served(tmp_path, approvals=True) as running:
        yield running


@pytest.fixture
async def client(shop: Served) -> Client:
    return await shop.client(name="Ida")


async def cli(*arguments: str) -> Said:
    """A command as another process gives it, while the desk is served."""
    done = await asyncio.to_thread(run_command, *arguments)
    return Said(done.returncode, done.stdout, done.stderr)


async def waiting_run(shop: Served, client: Client) -> str:
    run = str((await client.message("away")).json()["run"])

    async def waits() -> bool:
        return bool(await shop.desks["shop"].store.models_away())

    await until(waits)
    return run


async def test_a_run_that_waits_for_a_model_says_so(shop: Served, client: Client) -> None:
    run = await waiting_run(shop, client)
    shown = (await client.get(f"/api/runs/{run}")).json()
    assert (shown["status"], shown["waits_for"]) == ("queued", "house/m")
    assert shown["reason"] == "waits for the model house/m, which is away: house/m answered 503"
    assert shown["due_at"] is not None
    [desk] = (await client.get("/api/desks")).json()
    [away] = desk["models_away"]
    assert (away["model"], away["runs"]) == ("house/m", 1)
    ready = await shop.stranger().get("/readyz")
    assert (ready.status_code, ready.json()["models_away"]) == (200, ["house/m"])
    ida = await person(shop)
    words = words_of((await ida.get(HOME)).text)
    assert "house/m is away. 1 message of shop waits for it" in words

    (shop.folder / "shop" / "back").touch()
    await shop.desks["shop"].store.wake_waiting("house/m", time.time())
    assert await shop.desks["shop"].dispatcher.wait(run) is RunStatus.SENT
    assert (await shop.stranger().get("/readyz")).json()["models_away"] == []
    assert "is away" not in words_of((await ida.get(HOME)).text)


async def handed_over(client: Client, count: int) -> list[str]:
    runs = [await client.worked("too long away") for _ in range(count)]
    assert {run["status"] for run in runs} == {"needs_review"}
    return [run["run"] for run in runs]


async def retry(client: Client, **body: Any) -> Any:
    return await client.post("/api/runs/retry", json=body)


async def test_all_runs_of_an_outage_are_retried_over_http(shop: Served, client: Client) -> None:
    await client.worked("broken")
    runs = await handed_over(client, 3)
    wanted = {"cause": "model_away", "since": "2h"}
    tried = await retry(client, **wanted, dry_run=True)
    assert tried.json() == {"count": 3, "dry_run": True, "runs": runs, "skipped": []}
    assert (await retry(client, **wanted, until="1h")).json()["count"] == 0

    (shop.folder / "shop" / "back").touch()
    retried = (await retry(client, **wanted)).json()
    assert (retried["count"], retried["runs"]) == (3, runs)
    for run in runs:
        assert await shop.desks["shop"].dispatcher.wait(run) is RunStatus.SENT
    assert (await retry(client, **wanted)).json()["count"] == 0
    left = (await client.get("/api/runs", params={"status": "needs_review"})).json()
    assert len(left["items"]) == 1


async def test_a_retry_of_many_needs_its_scope_and_a_time(shop: Served, client: Client) -> None:
    reader = await shop.client(scopes=["runs:read"])
    is_problem(await retry(reader, cause="model_away", since="2h"), 403, "forbidden")
    for body in (
        {"cause": "model_away"},
        {"cause": "nonsense", "since": "2h"},
        {"cause": "model_away", "since": "lately"},
        {"cause": "model_away", "since": "2h", "until": "soon"},
    ):
        is_problem(await retry(client, **body), 422, "request_invalid")


async def test_many_runs_are_retried_on_the_command_line(shop: Served, client: Client) -> None:
    runs = await handed_over(client, 2)
    await waiting_run(shop, client)
    database = str(shop.folder / "deskhand.db")
    chosen = ("runs", "retry", "--cause", "model_away", "--since", "2h", "--database", database)
    would = await cli(*chosen, "--dry-run")
    assert "2 runs would be queued again" in would.out
    assert all(run in would.out for run in runs)
    before = await cli(*chosen[:-3], "2100-01-01", "--database", database, "--json")
    assert before.json["count"] == 0

    (shop.folder / "shop" / "back").touch()
    told = (await cli(*chosen, "--json")).json
    assert (told["count"], told["dry_run"], told["runs"]) == (2, False, runs)
    for run in runs:
        assert await shop.desks["shop"].dispatcher.wait(run) is RunStatus.SENT

    doctor = await cli("doctor", "--database", database)
    assert "shop: house/m is away, and 1 run waits for it" in doctor.out
    [waiting] = [run for run in await shop.desks["shop"].store.runs() if run.waits_for]
    shown = await cli("runs", "show", waiting.id, "--database", database)
    assert "waits for the model house/m, which is away" in shown.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "say which runs to try again"),
        (["--cause", "model_away"], "say which runs to try again"),
        (["run_x", "--cause", "model_away", "--since", "2h"], "say which runs to try again"),
        (["--cause", "nonsense", "--since", "2h"], "there is no cause"),
        (["--cause", "model_away", "--since", "lately"], "is not a time"),
    ],
)
async def test_an_unclear_retry_is_refused_with_what_to_write(
    tmp_path: Path, arguments: list[str], words: str
) -> None:
    said = await cli("runs", "retry", *arguments, "--database", str(tmp_path / "x.db"))
    assert said.code == 2
    assert words in said.err
    assert "fix:" in said.err
