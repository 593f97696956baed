"""The widget in a real browser: files, thumbs, and an address for when nobody is there."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from deskhand.engine.manual_reply import answer_chat
from tests.browser import Page, browser, needs_browser
from tests.chat_kit import SECRET, token
from tests.integration.test_chat_files import PDF, PNG
from tests.waiting import until
from tests.widget_kit import INSIDE, Shop, Widget, open_shop

pytestmark = needs_browser
CHOOSER = f"{INSIDE}.querySelector('input[type=file]')"


@pytest.fixture
async def page() -> AsyncIterator[Page]:
    async with browser() as opened:
        yield opened


@pytest.fixture
async def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Shop]:
    monkeypatch.setenv("SHOP_LOGIN", SECRET)
    async with open_shop(tmp_path) as opened:
        yield opened


async def choose(page: Page, *files: Path) -> None:
    """Choose files, as in the browser's own dialog."""
    found = await page.call("Runtime.evaluate", expression=CHOOSER)
    paths = [str(file) for file in files]
    await page.call("DOM.setFileInputFiles", files=paths, objectId=found["result"]["objectId"])


async def test_files_are_sent_with_a_message_and_refused_by_kind(
    shop: Shop, page: Page, tmp_path: Path
) -> None:
    picture, letter, program = (tmp_path / name for name in ("cup.png", "a.pdf", "run.exe"))
    picture.write_bytes(PNG)
    letter.write_bytes(PDF)
    program.write_bytes(b"MZ")
    widget = Widget(page)
    await widget.open(shop.page)
    await choose(page, program)
    await widget.until("!i.querySelector('.alert').hidden")
    await choose(page, picture, letter)
    await widget.until("i.querySelectorAll('.picked button').length === 2")
    await widget.click(".picked span:last-child button")
    await widget.until("i.querySelectorAll('.picked button').length === 1")
    await widget.type("the cup was broken, see the picture")
    await widget.until("i.querySelectorAll('.b.me:not(.wait) .file').length === 1")
    [run] = await shop.visitor.desk.store.runs()
    stored = await shop.visitor.desk.store.files(run.id)
    assert [(file.name, file.type) for file in stored] == [("cup.png", "image/png")]
    assert (await shop.visitor.desk.store.file(run.id, stored[0].id)).content == PNG


async def test_a_thumb_is_recorded_and_stays_pressed_after_a_reload(shop: Shop, page: Page) -> None:
    widget = Widget(page)
    await widget.open(f"{shop.page}/?login={token()}")
    await widget.say("Where is O-10018?", "on its way")
    await widget.until("i.querySelector('.thumbs') !== null")
    await widget.click(".thumbs [data-thumb=down]")
    pressed = "i.querySelector('.thumbs [data-thumb=down]')?.ariaPressed === 'true'"
    await widget.until(pressed)
    [run] = await shop.visitor.desk.store.runs()
    lines = await shop.visitor.desk.chats.lines(run.conversation)
    assert [line.thumb for line in lines] == [None, "down"]
    await page.call("Page.reload")
    await page.until(f"{INSIDE}?.querySelectorAll('.b.me').length === 1")
    await widget.until(pressed)


async def test_an_address_is_left_while_nobody_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, page: Page
) -> None:
    monkeypatch.setenv("SHOP_LOGIN", SECRET)
    other_day = (datetime.now(UTC) + timedelta(days=3)).strftime("%a").lower()
    hours = f', hours: {{{other_day}: "9:00-17:00"}}'
    async with open_shop(tmp_path, more=hours) as shop:
        widget = Widget(page)
        await widget.open(shop.page)
        await widget.type("hello")
        await widget.until("i.querySelectorAll('.b:not(.me):not(.typing)').length >= 2")
        await widget.click(".fine button:last-child")
        await widget.until("i.querySelector('[data-card=answer] input') !== null")
        await page.run(f"{INSIDE}.querySelector('[data-card=answer] input').focus()")
        await page.call("Input.insertText", text="kern@example.org")
        await page.press("Enter")
        await widget.says("kern@example.org")
        [run] = await shop.visitor.desk.store.runs(limit=1)
        chats = shop.visitor.desk.chats
        await answer_chat(chats, run.conversation, "1", "ida", "We fetch the chairs.", "Ida")

        async def mailed() -> bool:
            return len(list((tmp_path / "outbox").glob("chatmail*.eml"))) == 1

        await until(mailed)
        [file] = (tmp_path / "outbox").glob("chatmail*.eml")
        assert "kern@example.org" in file.read_text()
