"""The approvals page in a real browser: keys, kept words, undo, and mails that attack whoever
reads them."""

import asyncio
from pathlib import Path

import pytest

from deskhand.model.message import Address, Attachment
from deskhand.model.queue import ReviewFilter
from deskhand.model.run import ReviewState, RunStatus
from deskhand.web.console import pages
from tests.accounts import add_accounts
from tests.api_kit import Served
from tests.approvals_kit import HOME, outbox, person
from tests.browser import browser, needs_browser
from tests.console_site import a_mail, console_site, forget_first_press, log_in, wait_for_review
from tests.waiting import PATIENCE, until

pytestmark = needs_browser

ARMED = "document.querySelector('[data-approve]').matches('.armed')"
HOSTILE = (
    "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
    "\"'><svg onload=document.title='owned'></textarea><iframe src=http://evil.test/></iframe>"
    "{{7*7}}{% raw %}${7*7} javascript:alert(1) <a href='http://evil.test/'>click</a>"
    "<img src='http://evil.test/pixel.png'> \u202egnp.exe"
)


async def test_a_queue_is_cleared_with_keys_and_a_reply_is_stopped_in_time(tmp_path: Path) -> None:
    async with console_site(tmp_path) as (shop, base), browser() as page:
        for number in (1, 2, 3):
            await wait_for_review(shop, a_mail(number))
        await log_in(page, base)
        assert await page.run("document.querySelectorAll('.item').length") == 3
        await page.press("j")
        await page.press("j")
        await page.press("k")
        assert "Parcel 1" in await page.run("document.activeElement.innerText")
        await page.press("Enter")
        await page.until("document.querySelector('h1')?.innerText === 'Parcel 1'")

        await page.press("e")
        await page.fill("textarea", "Dear Ann, it is on its way.")
        await page.until("document.querySelector('[data-kept-word]').innerText === 'saved'")
        await page.run("window.before = true; location.reload()")  # as after a crash of the browser
        await page.until(
            "!window.before && document.querySelector('textarea')?.value === 'Dear Ann, it is on"
            " its way.'"
        )

        await page.press("a")  # a finding is open: one press only asks for the second
        assert await page.run(ARMED)
        await forget_first_press(page)
        assert not await page.run(ARMED)
        await page.press("a")
        assert await page.run(ARMED)
        await page.press("a")
        await page.until("document.querySelector('h1')?.innerText === 'Parcel 2'")
        await page.until("/Sends in \\d+ s/.test(document.querySelector('.done').innerText)")
        assert outbox(shop) == []
        await page.press("u")
        await page.until("document.body.innerText.includes('held back by ida')")
        assert "Parcel 2" in await page.run("document.querySelector('.queue').innerText")
        assert (
            await page.run("document.querySelector('textarea').value")
            == "Dear Ann, it is on its way."
        )
        [held] = [
            one
            for one in await shop.desks["shop"].store.find_reviews()
            if one.reason == "held back by ida"
        ]
        assert held.state is ReviewState.OPEN

        await page.press("?")
        await page.until("document.querySelector('dialog').open")
        assert page.complaints == []
        assert all(url.startswith(base) for url in page.requested)


async def test_a_hostile_mail_stays_text_and_loads_nothing(tmp_path: Path) -> None:
    async with console_site(tmp_path) as (shop, base), browser() as page:
        sender = Address(address="evil@example.com", name=HOSTILE)
        files = (Attachment(name=HOSTILE, type="text/plain", size=9, text=HOSTILE),)
        mail = a_mail(
            1,
            f"unsure {HOSTILE}\n> quoted {HOSTILE}",
            subject=HOSTILE,
            sender=sender,
            attachments=files,
        )
        await wait_for_review(shop, mail)
        store = shop.desks["shop"].store
        [review] = await store.find_reviews()
        await store.note_review(review.id, HOSTILE, HOSTILE)
        # a name has at most 100 characters: enough for the script and the image
        await add_accounts(store, HOSTILE[:100])
        await store.assign(review.id, HOSTILE, HOSTILE[:100])
        await store.keep_edit(review.id, "ida", {"text": HOSTILE, "subject": HOSTILE})
        await log_in(page, base)
        await page.open(
            f"{base}{HOME}shop/{review.id}?done=shop/{review.id}&how=<script>alert(1)</script>"
        )
        await page.until("document.querySelector('textarea') !== null")
        assert await page.run("document.querySelector('textarea').value") == HOSTILE
        assert (
            await page.run(
                "document.querySelectorAll('main img, main iframe, main script, [onload],"
                " [onerror], main svg:not([class])').length"
            )
            == 0
        )
        links = (
            "[...document.querySelectorAll('main a')].every((link) =>"
            " link.href.startsWith(location.origin))"
        )
        assert await page.run(links)
        assert str(await page.run("document.title")).startswith(
            "<script>"
        )  # and not what it would set
        assert "\u202e" not in await page.run("document.querySelector('.letter').innerText")
        assert "{{7*7}}" in await page.words()
        assert page.dialogs == []
        assert page.complaints == []
        assert all(url.startswith(base) for url in page.requested), page.requested


async def test_the_basics_work_without_javascript(tmp_path: Path) -> None:
    async with console_site(tmp_path) as (shop, base), browser() as page:
        await wait_for_review(shop, a_mail(1))
        await page.call("Emulation.setScriptExecutionDisabled", value=True)
        await log_in(page, base)
        await page.click(".item")
        await page.until("document.querySelector('textarea') !== null")
        await page.fill("textarea", "Dear Ann, it is on its way.")
        await page.click("[data-approve]")
        await page.until("document.querySelector('.done button') !== null")
        await page.click(".done button")
        await page.until("document.body.innerText.includes('held back by ida')")


async def test_what_a_colleague_decided_is_seen_at_once_by_who_looks_at_the_same_review(
    tmp_path: Path,
) -> None:
    async with console_site(tmp_path) as (shop, base), browser() as page:
        await wait_for_review(shop, a_mail(1))
        [review] = await shop.desks["shop"].store.find_reviews()
        await log_in(page, base)
        await page.open(f"{base}{HOME}shop/{review.id}")
        await page.until("document.querySelector('textarea') !== null")
        assert await page.run("document.querySelector('[data-faster]').hidden")
        await page.press("e")
        await page.fill("textarea", "My own words.")
        await page.until("document.querySelector('[data-kept-word]').innerText === 'saved'")

        otto = await person(shop, "otto")
        shown = {
            "desk": "shop",
            "review": review.id,
            "version": review.version,
            "payload_hash": review.payload_hash,
        }
        assert (await otto.do(shown, "approve", text="Otto's words.")).status_code == 303
        await page.until("!document.querySelector('[data-faster]').hidden")
        told = await page.run("document.querySelector('[data-faster]').innerText")
        assert "otto was faster: edited and approved" in told
        assert await page.run("document.querySelector('[data-approve]').disabled")
        assert await page.run("document.querySelector('textarea').value") == "My own words."

        await page.press("Escape")
        await page.click("[data-faster] a")
        await page.until("document.querySelector('.closed') !== null")
        words = await page.words()
        assert "Edited and approved by otto" in words
        assert "Otto's words." in words
        assert "What you had written; it was not sent:" in words
        assert "My own words." in words
        assert page.complaints == []


@pytest.mark.slow
async def test_a_long_queue_is_walked_with_keys_and_a_handed_over_message_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "PAGE", 2)
    async with console_site(tmp_path) as (shop, base), browser() as page:
        for number in (1, 2):
            await wait_for_review(shop, a_mail(number))
        desk = shop.desks["shop"]
        broken = await desk.dispatcher.submit(a_mail(3, "broken"))
        assert (
            await asyncio.wait_for(desk.dispatcher.wait(broken.run_id), PATIENCE)
            is RunStatus.NEEDS_REVIEW
        )
        await log_in(page, base)
        assert await page.run("document.querySelectorAll('.item').length") == 2
        for _ in range(3):
            await page.press("j")
        await page.until("document.activeElement.innerText.includes('Parcel 3')")
        assert await page.run("document.querySelector('[data-more]')") is None
        await page.press("Enter")
        await page.until("document.querySelector('h1')?.innerText === 'Parcel 3'")
        await page.press("a")  # an empty answer is not sent
        await page.press("Escape")
        await page.press("e")
        await page.fill("textarea", "It is lost.")
        await page.until("document.querySelector('[data-kept-word]').innerText === 'saved'")
        await page.press("Escape")
        await page.press("a")
        await page.until("/Sends in \\d+ s/.test(document.querySelector('.done')?.innerText)")
        assert outbox(shop) == []
        await page.press("u")
        await page.until("document.body.innerText.includes('held back by ida')")
        assert await page.run("document.querySelector('textarea').value") == "It is lost."
        assert page.complaints == []


async def test_runs_and_figures_fit_a_phone(tmp_path: Path) -> None:
    async with console_site(tmp_path) as (shop, base), browser() as page:
        await wait_for_review(shop, a_mail(1, subject="A subject that no narrow screen can hold"))
        await page.look(width=390, height=844, phone=True)
        await log_in(page, base)
        for screen in ("/runs/", "/runs/?status=failed", "/metrics/"):
            await page.open(f"{base}{screen}")
            await page.until(f"location.href.endsWith('{screen}')")
            beyond = "(box => box.scrollWidth - box.clientWidth)(document.querySelector('#main'))"
            assert await page.run(beyond) == 0, screen
        await page.open(f"{base}/runs/")
        await page.until("location.pathname === '/runs/' && !location.search")
        right = "document.querySelector('.run-status').getBoundingClientRect().right"
        assert await page.run(right) <= 390


async def test_going_on_and_sending_a_holding_reply_as_the_answer_have_a_key(
    tmp_path: Path,
) -> None:
    async with console_site(tmp_path) as (shop, base), browser() as page:
        desk = shop.desks["shop"]
        await wait_for_review(shop, a_mail(1, "I am unsure, please tell me later."))
        broken = await desk.dispatcher.submit(a_mail(2, "broken"))
        status = await asyncio.wait_for(desk.dispatcher.wait(broken.run_id), PATIENCE)
        assert status is RunStatus.NEEDS_REVIEW
        reviews = {one.run_id: one for one in await desk.store.find_reviews()}
        await log_in(page, base)

        await page.open(f"{base}{HOME}shop/{reviews[broken.run_id].id}")
        await page.until("document.querySelector('[data-other]') !== null")
        (shop.folder / "shop" / "mended").touch()
        await page.press("c")
        await until(lambda: has_left(shop, broken.run_id))

        [held] = [one for run, one in reviews.items() if run != broken.run_id]
        await page.open(f"{base}{HOME}shop/{held.id}")
        await page.until("document.querySelector('[data-other][data-twice]') !== null")
        await page.press("c")  # a finding is open: one press only asks for the second
        assert await page.run("document.querySelector('[data-other]').matches('.armed')")
        await page.press("c")
        await until(lambda: has_left(shop, held.run_id))
        assert (await desk.store.review(held.id)).facts["final"] is True
        assert page.complaints == []


async def has_left(shop: Served, run: str) -> bool:
    """Whether a reply of the run waits for its time to leave."""
    of_run = await shop.desks["shop"].store.find_reviews(ReviewFilter(run_id=run))
    return any(one.leaves_by_itself for one in of_run)
