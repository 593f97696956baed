"""The console in one hand: what waits is read, changed, let go and stopped on a phone."""

import asyncio
import time
from pathlib import Path

from deskhand.model.run import RunStatus
from tests.approvals_kit import HOME, outbox
from tests.browser import browser, needs_browser
from tests.console_site import a_mail, console_site, log_in, wait_for_review
from tests.waiting import PATIENCE

pytestmark = needs_browser

SUBJECT = "document.querySelector('h1')?.innerText"
TOASTED = "document.querySelector('.done')?.innerText"
REACHABLE = """(() => {
  const button = document.querySelector('[data-approve]').getBoundingClientRect();
  return button.height >= 40 && button.left >= 0 && button.right <= innerWidth && button.bottom <= innerHeight;
})()"""  # noqa: E501
COVERED = """(() => {
  const toast = document.querySelector('.toast').getBoundingClientRect();
  return toast.bottom > document.querySelector('.act').getBoundingClientRect().top;
})()"""


async def test_the_life_of_a_mail_on_a_phone(tmp_path: Path) -> None:
    async with console_site(tmp_path) as (shop, base), browser() as page:
        desk = shop.desks["shop"]
        await page.look(width=390, height=844, phone=True)
        await log_in(page, base)
        await page.until("document.querySelector('[data-live-word]').textContent === 'live'")
        for number in (1, 2):
            await wait_for_review(shop, a_mail(number))
        await page.until("document.querySelectorAll('.queue .item').length === 2")

        await page.click(".queue .item")
        await page.until(f"{SUBJECT} === 'Parcel 1'")
        assert await page.run("document.querySelector('.queue').offsetParent") is None
        assert await page.run(REACHABLE)
        await page.click("[data-show=edit]")
        await page.fill("#reply-form textarea", "Dear customer, it comes on Friday.")
        await page.until("document.querySelector('[data-kept-word]').textContent === 'saved'")
        await page.click("[data-approve]")
        await page.until(f"{SUBJECT} === 'Parcel 2'")
        await page.until(f"/Sends in \\d+ s/.test({TOASTED})")
        await page.until(f"!{COVERED}")
        assert await page.run(REACHABLE)
        await page.click(".done button")
        await page.until("document.body.innerText.includes('held back by ida')")
        assert outbox(shop) == []
        await page.until("!document.querySelector('[data-approve]').disabled")

        await page.click("[data-approve]")
        await page.until(f"/Sends in \\d+ s/.test({TOASTED}) && location.pathname === '{HOME}'")
        await page.until("document.querySelectorAll('.queue .item').length === 1")
        [leaving] = [one for one in await desk.store.find_reviews() if one.leaves_by_itself]
        await desk.store.expire_reviews(time.time() + 700)
        desk.dispatcher.wake()
        status = await asyncio.wait_for(desk.dispatcher.wait(leaving.run_id), PATIENCE)
        assert status is RunStatus.SENT
        [sent] = outbox(shop)
        assert "it comes on Friday" in sent
        assert page.complaints == []
