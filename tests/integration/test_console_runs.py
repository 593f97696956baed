"""The console's runs: the list with its filters, and one run step by step."""

import re
import time
from collections.abc import AsyncIterator
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from zoneinfo import ZoneInfo

import pytest

from deskhand.web.console import runs_pages
from tests.api_kit import Client, Served, served
from tests.approvals_kit import Person, person, words_of


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Served]:
    async with served(
        tmp_path, "shop", "bank", more="undo_seconds: 0\n", approvals=True
    ) as running:
        yield running


@pytest.fixture
async def api(shop: Served) -> Client:
    return await shop.client(desks=["shop"])


async def test_runs_are_listed_and_chosen_by_status(shop: Served, api: Client) -> None:
    await api.worked("hours", subject="Opening hours")
    await api.under_review(subject="An <b>unsure</b> matter")
    ida = await person(shop)
    listed = (await ida.get("/runs/")).text
    assert "Opening hours" in listed
    assert "An &lt;b&gt;unsure&lt;/b&gt; matter" in listed
    waiting = words_of((await ida.get("/runs/?status=waiting_review&desk=shop")).text)
    assert "unsure" in waiting
    assert "Opening hours" not in waiting
    assert "No run matches" in words_of((await ida.get("/runs/?status=failed")).text)
    assert (await ida.get("/runs/?status=nonsense&before=-1")).status_code == 200
    assert (await Person(shop).get("/runs/")).headers["location"] == "/login?to=%2Fruns%2F"


async def test_a_run_is_shown_step_by_step_with_the_state_around_each(
    shop: Served, api: Client
) -> None:
    review = await api.under_review(subject="My order")
    ida = await person(shop)
    place = f"/runs/shop/{review['run']}"
    page = words_of((await ida.get(place)).text)
    for words in ("My order", "waits for a person", "read", "answer", "Working time", "Decide"):
        assert words in page
    step = words_of((await ida.get(f"{place}?step=0")).text)
    assert "State before" in step
    assert '"category": "question"' in step
    assert (await ida.get(f"{place}?step=x")).status_code == 200
    assert f'href="{place}"' in await ida.page(review)

    await ida.do(review, "reject", note="not polite")
    await shop.desks["shop"].dispatcher.wait(review["run"])
    assert "rejected" in words_of((await ida.get(place)).text)


async def test_a_failed_run_goes_on_and_runs_of_other_desks_do_not_exist(
    shop: Served, api: Client
) -> None:
    run = await api.worked("broken")
    ida, bert = await person(shop), await person(shop, "bert", "bank")
    place = f"/runs/shop/{run['run']}"
    assert "this cannot be read" in words_of((await ida.get(place)).text)
    form = {"csrf": ida.csrf}
    for client, path in ((bert, place), (ida, f"/runs/bank/{run['run']}")):
        assert (await client.get(path)).status_code == 404
        own = {"csrf": client.csrf}
        assert (await client.post(f"{path}/retry", data=own)).status_code == 404
    assert (await ida.post(f"{place}/retry", data={"csrf": "guessed"})).status_code == 403
    assert (await ida.post(f"{place}/explode", data=form)).status_code == 404
    (shop.folder / "shop" / "mended").touch()
    assert (await ida.post(f"{place}/retry", data=form)).status_code == 303
    assert await shop.desks["shop"].dispatcher.wait(run["run"]) == "sent"
    assert (await ida.post(f"{place}/cancel", data=form)).status_code == 409


async def test_a_run_that_still_waits_says_for_how_long(
    shop: Served, api: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    review = await api.under_review(subject="My order")
    ida = await person(shop)
    place = f"/runs/shop/{review['run']}"
    assert "Waited under 1 min" in words_of((await ida.get(place)).text)
    later = SimpleNamespace(time=lambda: time.time() + 7260)
    monkeypatch.setattr(runs_pages, "time", later)
    assert "Waited 2 h" in words_of((await ida.get(place)).text)
    assert "row 1 of" in words_of((await ida.get(f"{place}?step=0")).text)


async def test_a_wrong_password_keeps_the_name_and_never_the_password(shop: Served) -> None:
    refused = await Person(shop).log_in('i"da', "a wrong guess", to="/runs/")
    assert refused.status_code == 403
    assert 'value="i&#34;da"' in refused.text
    assert 'name="to" value="/runs/"' in refused.text
    assert "a wrong guess" not in refused.text


async def test_the_console_speaks_the_readers_language_in_his_zone_and_colours(
    shop: Served, api: Client
) -> None:
    await api.worked("hours", subject="Opening hours")
    [run] = await shop.desks["shop"].store.runs()
    ida, place = await person(shop), f"/messages/shop/{run.id}"
    assert '<html lang="en">' in (await ida.get(place)).text
    ida.headers["Accept-Language"] = "cs,en;q=0.5"
    ida.cookies.set("deskhand_zone", "Asia%2FTokyo")
    page = (await ida.get(place)).text
    assert '<html lang="cs">' in page
    assert "Čísla" in page
    at, words = first_moment(page)
    assert words == f"{at:%-d. %-m. %Y %H:%M}"
    for name, value in (("language", "en"), ("theme", "dark"), ("language", "xx")):
        form = {"csrf": ida.csrf, "to": "/runs/", name: value}
        assert (await ida.post("/preferences", data=form)).headers["location"] == "/runs/"
    page = (await ida.get(place)).text
    assert '<html lang="en" data-theme="dark">' in page
    assert first_moment(page)[1] == f"{at:%d %b %Y, %H:%M}"


def first_moment(page: str) -> tuple[datetime, str]:
    """When the first message came, in Tokyo, and what the page says of it."""
    found = re.search(r'<time data-short datetime="([^"]+)">([^<]+)</time>', page)
    assert found is not None
    return datetime.fromisoformat(found[1]).astimezone(ZoneInfo("Asia/Tokyo")), found[2]
