"""Two people at the console at once, each in a browser of their own: what one does, the other
sees without loading the page anew."""

from pathlib import Path
from typing import Any

import pytest

from deskhand.model.run import ReviewState
from deskhand.web.console import pages
from tests.api_kit import Served
from tests.approvals_kit import HOME
from tests.browser import Page, browser, needs_browser
from tests.console_site import a_mail, console_site, log_in, wait_for_review

pytestmark = needs_browser

ROWS = "[...document.querySelectorAll('.item .subject')].map((row) => row.innerText).join()"
TOAST = "document.querySelector('[data-notice] .grow').innerText"
SUBJECT = "document.querySelector('h1')?.innerText"
TOASTED = "document.querySelector('.done')?.innerText"


async def test_what_comes_in_and_what_is_decided_is_seen_without_a_reload(tmp_path: Path) -> None:
    async with (
        console_site(tmp_path, "ida", "jana") as (shop, base),
        browser() as idas,
        browser() as janas,
    ):
        for page in (idas, janas):
            await page.look(width=1440, height=900)
        await log_in(idas, base)
        await log_in(janas, base, "jana")
        for page in (idas, janas):
            await page.run("window.loaded = 'once'")
            await page.until("document.querySelector('[data-live-word]').innerText === 'live'")
        for number in (1, 2, 3):
            await wait_for_review(shop, a_mail(number))
        for page in (idas, janas):
            await page.until(f"{ROWS} === 'Parcel 1,Parcel 2,Parcel 3'")
            await page.until("document.querySelector('[data-waiting]').innerText.includes('3')")

        await idas.click(".item")
        await idas.until(f"{SUBJECT} === 'Parcel 1'")
        await janas.click(".item")
        await janas.until(f"{SUBJECT} === 'Parcel 1'")
        here = "document.querySelector('[data-here]').innerText"
        await idas.until(f"{here} === 'jana is looking at this'")
        await janas.until(f"{here} === 'ida is looking at this'")

        await janas.press("e")
        await janas.fill("textarea", "Jana's own words.")
        await idas.until(
            "document.querySelector('[data-typing]').innerText === 'jana has begun to edit it.'"
        )
        await idas.press("a")
        await idas.press("a")
        await idas.until(f"{SUBJECT} === 'Parcel 2'")
        await idas.until("/Sends in \\d+ s/.test(document.querySelector('.done').innerText)")
        await janas.until("!document.querySelector('[data-faster]').hidden")
        told = await janas.run("document.querySelector('[data-faster]').innerText")
        assert "ida was faster: approved" in told
        assert await janas.run("document.querySelector('textarea').value") == ("Jana's own words.")
        await idas.until(f"{ROWS} === 'Parcel 2,Parcel 3'")
        for page in (idas, janas):
            assert await page.run("window.loaded") == "once"
            assert page.complaints == []


async def test_who_is_slower_gets_a_notice_and_keeps_the_words(tmp_path: Path) -> None:
    async with console_site(tmp_path, "ida", "jana") as (shop, base), browser() as page:
        await wait_for_review(shop, a_mail(1))
        [review] = await shop.desks["shop"].store.find_reviews()
        await page.look(width=1440, height=900)
        await log_in(page, base)
        await page.open(f"{base}{HOME}shop/{review.id}")
        await page.until("document.querySelector('textarea') !== null")
        await page.run("window.loaded = 'once'; stream.close()")
        await page.press("e")
        await page.fill("textarea", "Ida's own words.")
        await shop.desks["shop"].store.snooze(review.id, "jana", None)
        # as on a page that is older than the newest draft
        await page.run("document.querySelector('#reply-form [name=version]').value = '7'")
        await page.click("[data-approve]")
        await page.until("document.querySelector('.problem:not([hidden])') !== null")
        assert await page.run("document.querySelector('textarea').value") == "Ida's own words."
        assert await page.run("window.loaded") == "once"


async def test_going_from_one_review_to_the_next_needs_no_new_page(tmp_path: Path) -> None:
    async with console_site(tmp_path) as (shop, base), browser() as page:
        for number in (1, 2, 3):
            await wait_for_review(shop, a_mail(number))
        await page.look(width=1440, height=900)
        await log_in(page, base)
        await page.run("window.loaded = 'once'")
        await page.press("j")
        await page.press("Enter")
        await page.until(f"{SUBJECT} === 'Parcel 1'")
        await page.until("ready.size === 1")
        asked = len(page.requested)
        await page.press("j")
        await page.until(f"{SUBJECT} === 'Parcel 2'")
        reviews = [url for url in page.requested[asked:] if "/approvals/shop/" in url]
        assert all("/now" in url or "rev_" in url for url in reviews)
        assert await page.run("document.activeElement.id") == "subject"
        await page.run("history.back()")
        await page.until(f"{SUBJECT} === 'Parcel 1'")
        assert await page.run("window.loaded") == "once"
        await _snooze_two_and_undo_that(page, base)
        await _decide_without_an_answer(page, shop)
        assert page.complaints == []


async def _snooze_two_and_undo_that(page: Page, base: str) -> None:
    await page.open(f"{base}{HOME}")
    await page.until(f"location.pathname === '{HOME}' && {ROWS} === 'Parcel 1,Parcel 2,Parcel 3'")
    for _ in range(2):
        await page.press("j")
        await page.press(" ")
    counted = "document.querySelector('#snooze-many [data-count]').innerText"
    assert await page.run(counted) == "2 chosen"
    await page.press("s")
    await page.until("document.activeElement.matches('[data-snooze-many]')")
    await page.click("#snooze-many button")
    await page.until(f"{ROWS} === 'Parcel 3'")
    assert await page.run(TOAST) == "2 reviews snoozed."
    assert await page.run("location.search") == ""  # a notice is said once
    await page.press("u")
    await page.until(f"{ROWS} === 'Parcel 1,Parcel 2,Parcel 3'")
    assert await page.run(TOAST) == "2 reviews are back in the queue."


async def _decide_without_an_answer(page: Page, shop: Served) -> None:
    """The next review stands there while the decision is still on its way."""
    await page.press("j")
    await page.press("Enter")
    await page.until(f"{SUBJECT} === 'Parcel 1' && ready.size === 1 && [...ready.values()][0].html")
    await page.run(
        "window.asked = fetch; window.fetch = (to, how) => how?.method === 'POST' ?"
        " new Promise((go) => (window.goOn = () => go(asked(to, how)))) : asked(to, how);"
        "window.resting = [];"
        "const seen = () => resting.push(document.querySelector('[data-approve]').disabled);"
        "const place = document.querySelector('article.case').parentElement;"
        "new MutationObserver(seen).observe(place, { childList: true })"
    )
    for _ in range(2):
        await page.press("a")
    await page.until(f"{SUBJECT} === 'Parcel 2' && {ROWS} === 'Parcel 2,Parcel 3'")
    store = shop.desks["shop"].store
    assert all(review.state is ReviewState.OPEN for review in await store.find_reviews())
    assert await page.run("resting") == [True]  # a key pressed once too often approves nothing
    await page.run("goOn()")
    await page.until("/Sends in \\d+ s/.test(document.querySelector('.done')?.innerText)")
    await page.until("!document.querySelector('[data-approve]').disabled")


async def test_a_reply_that_parks_after_its_page_was_made_can_be_undone_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The queue is empty after it, so the page is made anew, with what was done on it."""
    still_at_work = hold_toasts(monkeypatch)
    async with console_site(tmp_path) as (shop, base), browser() as page:
        await wait_for_review(shop, a_mail(1))
        await page.look(width=1440, height=900)
        await log_in(page, base)
        await page.click(".item")
        await page.until(f"{SUBJECT} === 'Parcel 1'")
        for _ in range(2):
            await page.press("a")
        await page.until(f"location.pathname === '{HOME}' && {TOASTED}.includes('Parcel 1')")
        assert await page.run("document.querySelector('[data-undo]')") is None
        still_at_work.clear()
        await page.until(f"/Sends in \\d+ s/.test({TOASTED})")
        await page.press("u")
        await page.until("document.body.innerText.includes('held back by ida')")
        assert page.complaints == []


async def test_news_of_an_older_decision_does_not_replace_what_was_decided_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else U would undo something else than what the page says."""
    still_at_work = hold_toasts(monkeypatch)
    async with console_site(tmp_path) as (shop, base), browser() as page:
        for number in (1, 2, 3):
            await wait_for_review(shop, a_mail(number))
        await page.look(width=1440, height=900)
        await log_in(page, base)
        await page.run(HOLD_NEWS)
        await page.click(".item")
        await page.until(f"{SUBJECT} === 'Parcel 1'")
        for _ in range(2):
            await page.press("a")
        await page.until(f"{SUBJECT} === 'Parcel 2' && {TOASTED}.includes('Parcel 1')")
        await page.until("window.news !== undefined")
        still_at_work.clear()
        await page.until("!document.querySelector('[data-approve]').disabled")
        for _ in range(2):
            await page.press("a")
        await page.until(f"{SUBJECT} === 'Parcel 3' && {TOASTED}.includes('Parcel 2')")
        await page.run("news()")
        await page.until("window.hasRead === true")
        assert "Parcel 2" in await page.run(TOASTED)
        assert page.complaints == []


HOLD_NEWS = """
const plainFetch = window.fetch;
window.fetch = async (to, how) => {
  const answer = await plainFetch(to, how);
  if (how?.headers?.["X-Part"] !== "toast" || window.news) return answer;
  const words = await answer.text();
  await new Promise((go) => (window.news = go));
  return { ok: true, text: async () => (setTimeout(() => (window.hasRead = true)), words) };
};
"""


def hold_toasts(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """As long as something is in what this returns, no reply waits to leave yet."""
    plain, still = pages.ApprovalPages._done_with, {"at work"}

    async def done_with(self: pages.ApprovalPages, *asked: Any) -> dict[str, Any]:
        done = await plain(self, *asked)
        return {**done, "until": None, "at_work": True} if still else done

    monkeypatch.setattr(pages.ApprovalPages, "_done_with", done_with)
    return still
