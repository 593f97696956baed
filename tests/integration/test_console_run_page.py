"""A run in the console: the way through its flow, its record, and what is tried with it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from deskhand.adapters.stores import tables as t
from tests.api_kit import Client, Served, served
from tests.approvals_kit import Person, person, words_of


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Served]:
    async with served(tmp_path, approvals=True) as opened:
        yield opened


@pytest.fixture
async def api(shop: Served) -> Client:
    return await shop.client()


async def tried(ida: Person, run: str, action: str) -> str:
    answer = await ida.post(f"/runs/shop/{run}/{action}", data={"csrf": ida.csrf})
    assert answer.status_code == 200, answer.text
    return words_of(answer.text)


async def test_the_way_taken_is_drawn_in_the_flow(shop: Served, api: Client) -> None:
    sent, waits = await api.worked("Hello"), await api.worked("unsure")
    ida = await person(shop)
    page = (await ida.get(f"/runs/shop/{sent['run']}")).text
    assert 'aria-label="Taken: read, answer, review, dispatch."' in page
    assert page.count('class="e on"') == 3
    page = (await ida.get(f"/runs/shop/{waits['run']}")).text
    assert "Taken: read, answer, review. Not reached: dispatch." in page
    assert '<rect class="wait"' in page
    assert page.count('class="box-n"') == 1


async def test_a_changed_row_is_noticed(shop: Served, api: Client) -> None:
    run = await api.worked("Hello")
    ida = await person(shop)
    assert "Chain verified" in await tried(ida, run["run"], "verify")
    change = t.steps.update().where(t.steps.c.seq == 1).values(outcome="error")
    await shop.database.write_core(lambda core: core.execute(change).close())
    assert "The record does not agree" in await tried(ida, run["run"], "verify")


async def test_a_run_is_worked_again_and_becomes_a_case(shop: Served, api: Client) -> None:
    run = await api.worked("Hello")
    ida = await person(shop)
    assert "The same comes out today." in await tried(ida, run["run"], "replay")

    tools = shop.folder / "shop" / "tools.py"
    tools.write_text(tools.read_text().replace('"Hello "', '"Good day "'))
    words = await tried(ida, run["run"], "replay")
    assert "Today it comes out differently." in words
    assert "Good day ann@example.com" in words

    assert "It is a golden case now." in await tried(ida, run["run"], "case")
    cases = (shop.folder / "shop" / "evals" / "recorded.yaml").read_text()
    assert "Hello ann@example.com" in cases
    assert "there is a case" in await tried(ida, run["run"], "case")

    count = sa.select(sa.func.count()).select_from(t.runs)
    assert await shop.database.read_core(lambda core: core.execute(count).scalar()) == 1
