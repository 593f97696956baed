"""A reviewer asks for another draft in a real browser, and decides on what comes back."""

import asyncio
import shutil
import time
from pathlib import Path

import pytest

from deskhand.model.run import Decision, ReviewState, RunStatus
from deskhand.wiring import SHIPPED
from tests import api_kit
from tests.approvals_kit import outbox
from tests.browser import Page, browser, needs_browser
from tests.console_site import a_mail, console_site, log_in, wait_for_review
from tests.waiting import PATIENCE

pytestmark = needs_browser

ASKED = "The box was cracked; please send my money back for P-1002."
WISH = "Please say that a courier comes on Friday."
MORE = "undo_seconds: 600\nchannels: {post: {files: mail}}\n"
OWN_WORDS = "Dear customer, it comes on Friday."
LIVE = "document.querySelector('[data-live-word]').innerText"
HERE = "document.querySelector('[data-here]')?.innerText"
ITEMS = "document.querySelectorAll('.queue .item').length"
QUEUE = "document.querySelector('.queue').innerHTML"
TOASTED = "document.querySelector('.done')?.innerText"
DRAFT = "document.querySelector('#reply-form textarea')?.value"


@pytest.fixture(autouse=True)
def _sample_is_served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The desk of these tests is the sample desk: its brain follows a reviewer's words."""
    monkeypatch.setenv("SAMPLE_RETURNS", str(tmp_path / "returns"))
    monkeypatch.setattr(api_kit, "write_desk", _copied)


def _copied(folder: Path, name: str, *, backlog: int, more: str) -> Path:
    here = folder / name
    shutil.copytree(SHIPPED / "sample", here)
    written = (here / "desk.yaml").read_text(encoding="utf-8")
    renamed = written.replace("desk: sample", f"desk: {name}", 1)
    (here / "desk.yaml").write_text(renamed + more, encoding="utf-8")
    return here


async def test_a_draft_is_asked_for_again_and_the_new_one_waits(tmp_path: Path) -> None:
    async with console_site(tmp_path, more="") as (shop, base), browser() as page:
        store = shop.desks["shop"].store
        await wait_for_review(shop, a_mail(1, ASKED))
        [first] = await store.find_reviews()
        await page.look(width=1440, height=900)
        await log_in(page, base)
        await page.open(f"{base}/approvals/shop/{first.id}")
        await page.until(f"{DRAFT}?.includes('P-1002')")
        assert WISH not in await page.run(DRAFT)

        await page.press("r")  # an empty wish is not sent
        await page.until("document.activeElement.matches('[data-revise]')")
        await page.press("Enter")
        assert (await store.review(first.id)).state is ReviewState.OPEN
        await page.fill("[data-revise]", WISH)
        await page.press("Enter")
        await page.until(
            "[...document.querySelectorAll('.queue .item')].some((item) =>"
            f" item.innerText.includes('Parcel 1') && !item.outerHTML.includes('{first.id}'))"
        )
        asked = await store.review(first.id)
        assert (asked.decision, asked.decided_by, asked.note) == (Decision.REVISE, "ida", WISH)

        await page.press("j")
        await page.press("Enter")
        await page.until(f"{DRAFT}?.includes({WISH!r})")
        [second] = [one for one in await store.find_reviews() if one.state is ReviewState.OPEN]
        assert second.run_id == first.run_id
        assert await page.run("location.pathname") == f"/approvals/shop/{second.id}"
        assert page.complaints == []


async def test_a_mail_goes_from_arrival_to_sent_while_two_people_look(tmp_path: Path) -> None:
    """With keys alone and without loading a page anew, until the queue is empty."""
    async with (
        console_site(tmp_path, "ida", "jana", more=MORE) as (shop, base),
        browser() as idas,
        browser() as janas,
    ):
        desk = shop.desks["shop"]
        for page, name in ((idas, "ida"), (janas, "jana")):
            await page.look(width=1440, height=900, dark=name == "jana")
            await log_in(page, base, name)
            await page.run("window.loaded = 'once'")
            await page.until(f"{LIVE} === 'live'")
        await wait_for_review(shop, a_mail(1, ASKED))
        [first] = await desk.store.find_reviews()
        for page in (idas, janas):
            await page.until(f"{ITEMS} === 1")
            await page.press("j")
            await page.press("Enter")
            await page.until(f"{DRAFT}?.includes('P-1002')")
        await idas.until(f"{HERE} === 'jana is looking at this'")

        await idas.press("r")
        await idas.until("document.activeElement.matches('[data-revise]')")
        await idas.fill("[data-revise]", WISH)
        await idas.press("Enter")
        await janas.until("!document.querySelector('[data-faster]').hidden")
        told = await janas.run("document.querySelector('[data-faster]').innerText")
        assert "ida was faster: sent back for another draft" in told
        for page in (idas, janas):
            await page.until(f"{ITEMS} === 1 && !{QUEUE}.includes('{first.id}')")
        assert await janas.run("window.loaded") == "once"

        await janas.click(".queue .item")
        await janas.until(f"{DRAFT}?.includes({WISH!r})")
        await janas.press("e")
        await janas.fill("#reply-form textarea", OWN_WORDS)
        await janas.until("document.querySelector('[data-kept-word]').innerText === 'saved'")
        await janas.press("Escape")
        await approve(janas)
        await janas.until(f"/Sends in \\d+ s/.test({TOASTED})")
        await idas.until(f"{ITEMS} === 0")
        await janas.press("u")
        await janas.until("document.body.innerText.includes('held back by jana')")
        assert await janas.run(DRAFT) == OWN_WORDS
        await janas.until(f"{LIVE} === 'live'")  # the page was loaded anew: its keys work by then
        await idas.until(f"{ITEMS} === 1")
        await approve(janas)
        await janas.until(f"/Sends in \\d+ s/.test({TOASTED})")
        await idas.until(f"{ITEMS} === 0")

        [leaving] = [one for one in await desk.store.find_reviews() if one.leaves_by_itself]
        assert outbox(shop) == []
        await desk.store.expire_reviews(time.time() + 700)
        desk.dispatcher.wake()
        status = await asyncio.wait_for(desk.dispatcher.wait(leaving.run_id), PATIENCE)
        assert status is RunStatus.SENT
        [sent] = outbox(shop)
        assert "it comes on Friday" in sent
        for page in (idas, janas):
            assert page.complaints == []


async def approve(page: Page) -> None:
    """Press A as often as the draft asks for: twice while something speaks against it."""
    presses = 2 if await page.run("document.querySelector('[data-approve][data-twice]')") else 1
    for _ in range(presses):
        await page.press("a")
