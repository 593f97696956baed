"""The widget on a shop's page in a real browser."""

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from deskhand.engine.manual_reply import answer_chat
from deskhand.web.chat_widget import LARGEST, widget_script
from tests.browser import Page, browser, needs_browser
from tests.chat_kit import SECRET, token
from tests.waiting import until
from tests.widget_kit import INSIDE, Shop, Widget, needs_axe, open_shop

pytestmark = needs_browser
HOSTILE = (
    "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
    " <a href=http://evil.test/>click</a> \u202egnp.exe"
)


@pytest.fixture
async def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Shop]:
    monkeypatch.setenv("SHOP_LOGIN", SECRET)
    async with open_shop(tmp_path) as opened:
        yield opened


@pytest.fixture
async def page() -> AsyncIterator[Page]:
    async with browser() as opened:
        yield opened


def test_the_widget_is_small() -> None:
    assert len(widget_script()) < LARGEST


async def test_a_customer_is_asked_corrects_himself_and_is_answered(shop: Shop, page: Page) -> None:
    widget = Widget(page)
    await widget.open(f"{shop.page}/?login={token(sub='C-2004')}")
    await widget.say("I would like my money back", "Which order is it?")
    await widget.say("O-10001, no sorry, O-10004", "What was wrong with it?")
    await widget.say("they are far too small", "Have I got this right: money back, order O-10004")
    await widget.say("yes", "I have refunded 72.00 EUR for order O-10004.")
    assert (await widget.bubbles())[0] == "Hello! I can help with orders."
    ours = [url for url in page.requested if not url.startswith((shop.page, shop.desk))]
    assert [url for url in ours if not url.startswith(("data:", "about:"))] == []
    assert page.complaints == []


async def test_an_unknown_wish_is_told_so_and_markup_stays_words(shop: Shop, page: Page) -> None:
    widget = Widget(page)
    await widget.open(shop.page)
    offer = "Would you like me to loop in a human support agent?"
    await widget.say("Do you sell elephants?", offer)
    await widget.type(HOSTILE)
    await widget.until("i.querySelectorAll('.b.me:not(.wait)').length === 2")
    assert "<script>" in (await widget.run("i.querySelectorAll('.b.me')[1].textContent"))
    assert await page.run("document.title") == "Shop"
    assert not any("evil.test" in url for url in page.requested)
    assert await widget.run("i.querySelector('.b.me img, .b.me a, .b.me script')") is None


async def test_a_colleague_answers_and_gives_the_chat_back(shop: Shop, page: Page) -> None:
    widget = Widget(page)
    await widget.open(shop.page)
    await widget.type("hello")
    await widget.until("i.querySelectorAll('.b:not(.me):not(.typing)').length >= 2")
    await widget.click(".fine button:last-child")
    await widget.says("A colleague was asked and answers here.")
    [run] = await shop.visitor.desk.store.runs(limit=1)
    chats = shop.visitor.desk.chats
    await answer_chat(chats, run.conversation, "1", "ida", "Good day, Ida here.", "Ida Nováková")
    await widget.says("Good day, Ida here.")
    await widget.says("Ida Nováková is here now")
    await widget.until("i.querySelector('header b').textContent === 'Ida Nováková'")
    await shop.visitor.desk.store.give_back(run.conversation, "ida")
    await widget.says("The assistant answers again")


async def test_a_reload_and_no_network_in_the_middle_lose_nothing(shop: Shop, page: Page) -> None:
    widget = Widget(page)
    await widget.open(shop.page)
    await widget.type("hello")
    await widget.until("i.querySelectorAll('.b:not(.me):not(.typing)').length >= 2")
    await page.call("Page.reload")
    await page.until(f"{INSIDE}?.querySelectorAll('.b.me').length === 1")
    offline = {"offline": True, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
    await page.call("Network.emulateNetworkConditions", **offline)
    await widget.type("thank you")
    await widget.until("!i.querySelector('.alert').hidden")
    assert await widget.run("i.querySelectorAll('.b.me.wait').length") == 1
    await page.call("Network.emulateNetworkConditions", **{**offline, "offline": False})
    await widget.until("i.querySelectorAll('.b.me.wait').length === 0")
    await widget.until("i.querySelectorAll('.b:not(.me):not(.typing)').length >= 3")
    runs = await shop.visitor.desk.store.runs()
    assert len(runs) == 2
    texts = await widget.bubbles()
    assert sum(text == "thank you" for text in texts) == 1


async def test_two_tabs_show_one_chat(shop: Shop, page: Page) -> None:
    widget = Widget(page)
    await widget.open(shop.page)
    await widget.type("hello")
    await widget.until("i.querySelectorAll('.b:not(.me):not(.typing)').length >= 2")
    await page.run(
        "new Promise((done) => { const f = document.createElement('iframe'); f.src = '/second';"
        " f.onload = done; document.body.append(f); })"
    )
    inner = (
        "document.querySelector('iframe').contentDocument.querySelector('[data-deskhand-chat]')"
        "?.shadowRoot.querySelectorAll('.b.me').length"
    )
    await page.until(f"{inner} === 1")
    await widget.type("thank you")
    await page.until(f"{inner} === 2")
    runs = await shop.visitor.desk.store.runs()
    assert len({run.conversation for run in runs}) == 1


async def test_a_page_that_is_not_listed_is_refused(shop: Shop, page: Page) -> None:
    await page.open(shop.stranger)
    await page.until("performance.getEntriesByType('resource').length >= 2")
    assert await page.run(f"{INSIDE} === undefined")
    origin = {"Origin": shop.stranger}
    for path in ("settings", "events"):
        answer = await shop.visitor.client.get(f"/chat/orders/{path}", headers=origin)
        assert answer.status_code == 403
        assert "access-control-allow-origin" not in answer.headers
    body = {"id": "1", "text": "hello"}
    for headers in ({}, origin, {"Origin": "null"}, {"Origin": f"{shop.page}.evil.test"}):
        answer = await shop.visitor.client.post("/chat/orders/say", json=body, headers=headers)
        assert answer.status_code == 403
    assert await shop.visitor.desk.store.runs() == []
    listed = {"Origin": shop.page}
    answer = await shop.visitor.client.get("/chat/orders/settings", headers=listed)
    assert answer.headers["access-control-allow-origin"] == shop.page
    assert (await shop.visitor.client.get("/chat/nobody/widget.js")).status_code == 404


async def test_it_fits_a_phone_speaks_czech_and_is_driven_by_keys(shop: Shop, page: Page) -> None:
    await page.look(width=390, height=844, phone=True)
    widget = Widget(page)
    await widget.open(f"{shop.page}/?lang=cs")
    assert await widget.run("i.querySelector('textarea').placeholder") == "Napište zprávu"
    assert await widget.run("i.querySelector('.panel').getBoundingClientRect().width") == 390
    assert await page.run("document.documentElement.scrollWidth") <= 390
    await widget.type("أين طلبي؟")
    await widget.until("i.querySelectorAll('.b.me').length === 1")
    assert await widget.run("getComputedStyle(i.querySelector('.b.me')).direction") == "rtl"
    await page.press("Escape")
    assert await widget.run("i.querySelector('.panel').hidden")
    assert await widget.run("i.activeElement === i.querySelector('.launch')")


@needs_axe
async def test_axe_finds_nothing_serious(shop: Shop, page: Page) -> None:
    await page.look(width=1000, height=800)
    widget = Widget(page)
    await widget.open(shop.page)
    await widget.type("hello")
    await widget.until("i.querySelectorAll('.thumbs').length === 1")
    await widget.click(".fine button")
    await widget.until("i.querySelector('[data-card=transcript]') !== null")
    assert await widget.serious() == []
    await page.look(width=1000, height=800, dark=True)
    assert await widget.serious() == []


async def test_a_visitor_proves_an_order_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, page: Page
) -> None:
    monkeypatch.setenv("SHOP_LOGIN", SECRET)
    async with open_shop(tmp_path, more=", proves: order") as shop:
        widget = Widget(page)
        await widget.open(shop.page)
        await widget.say("Where is O-10018?", "Is O-10018 yours?")
        await widget.click("[data-card=proof] .pick.main")
        await widget.says("If O-10018 exists, a code is on its way")

        async def arrived() -> bool:
            return bool(list((tmp_path / "outbox").glob("code*.eml")))

        await until(arrived)
        [mail] = (tmp_path / "outbox").glob("code*.eml")
        [code] = re.findall(r"is (\d{6})\.", mail.read_text().replace("=\n", ""))
        await page.run(f"{INSIDE}.querySelector('input.code').focus()")
        await page.call("Input.insertText", text=code)
        await page.press("Enter")
        await widget.says("Thank you, O-10018 is yours.")
        await widget.click("[data-card=proof] .pick")
        await widget.says("GLS")
