"""What helps a colleague to answer in a thread: the desk's draft while it is written, passages of
articles, canned replies, and notes that no customer reads."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests import api_kit
from tests.approvals_kit import outbox, person, words_of
from tests.browser import browser, needs_browser
from tests.console_site import a_mail, console_site, log_in, wait_for_review
from tests.fake_openai import FakeOpenAI, completion, streamed

DESK = """\
desk: {name}
models: {{default: local/small}}
flows:
  main:
    stages:
      draft: {{task: draft, output: reply, next: review}}
      review: {{service: review, auto_send_at: 0.8, always_ask: [everything], next: dispatch}}
      dispatch: {{service: dispatch}}
limits: {{max_message_bytes: {limit}, max_in_flight: 4, max_backlog: {backlog}}}
"""
MORE = """
mode: draft
undo_seconds: 600
channels: {{post: {{files: mail}}}}
providers: {{local: {{base_url: '{url}'}}}}
reviews: {{canned: {{thanks: {{en: "Dear {{name}}, thank you. {{reviewer}}"}}}}}}
"""
FIRST = '{"text": "A first draft."}'
SECOND = '{"text": "Dear Ann, your parcel is on its way to you."}'
BOX = "document.querySelector('[data-compose]').value"
PASSAGE = "Parcels are delivered within two working days."


def write_article(folder: Path) -> None:
    knowledge = folder / "shop" / "knowledge"
    knowledge.mkdir(parents=True)
    (knowledge / "delivery.en.md").write_text(f"# How long delivery takes\n\n{PASSAGE}\n")


@needs_browser
async def test_a_colleague_sees_the_desk_write_and_puts_texts_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api_kit, "DESK", DESK)
    held = replace(streamed(SECOND), waits_at=4)
    write_article(tmp_path)
    async with FakeOpenAI([completion(FIRST), held]) as server:
        more = MORE.format(url=server.base_url)
        async with console_site(tmp_path, more=more) as (shop, base), browser() as page:
            await wait_for_review(shop, a_mail(1))
            [run] = await shop.desks["shop"].store.runs()
            await page.look(width=1440, height=900)
            await log_in(page, base)
            await page.open(f"{base}/messages/shop/{run.id}")
            await page.until("document.querySelector('[data-draft-it]') !== null")
            await page.fill("[data-compose]", "Hello.")
            await page.click("[data-draft-it]")
            await page.until(f"{BOX}.startsWith('Hello.\\n\\nDear Ann,')")
            assert "on its way to you" not in await page.run(BOX)
            server.go_on.set()
            await page.until(f"{BOX} === 'Hello.\\n\\nDear Ann, your parcel is on its way to you.'")
            await page.until("document.body.innerText.includes('not checked yet')")
            await page.fill("[data-compose]", "")
            await page.run("document.querySelectorAll('.helps')[1].open = true")
            await page.click(".helps[open] [data-insert]")
            await page.until(f"{BOX} === 'Dear Ann, thank you. ida'")
            await page.fill("[data-compose]", "Dear Ann, ")
            await page.run("document.querySelector('[data-passages]').open = true")
            await page.fill("[data-ask]", "How long does delivery take?")
            await page.click("[data-look]")
            await page.until("document.querySelector('#passages [data-insert]') !== null")
            await page.click("#passages [data-insert]")
            await page.until(f"{BOX} === {json.dumps('Dear Ann, ' + PASSAGE)}")
            await page.press("Escape")
            await page.press("n")
            await page.until("document.querySelector('.compose').classList.contains('noting')")
            sends = "getComputedStyle(document.querySelector('[data-send]')).display"
            assert await page.run(sends) == "none"
            await page.fill("[data-compose]", "Ann is a friend.")
            await page.click("[data-keep-note]")
            await page.until("document.querySelector('.msg.note') !== null")
            assert page.complaints == []
        assert outbox(shop) == []


async def test_without_a_script_the_draft_comes_whole_and_passages_are_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api_kit, "DESK", DESK)
    texts = [FIRST, SECOND, '{"text": ""}']
    replies = map(streamed, texts[1:])
    async with FakeOpenAI([completion(FIRST), *replies]) as server:
        more = MORE.format(url=server.base_url)
        async with api_kit.served(tmp_path, more=more, approvals=True) as shop:
            await wait_for_review(shop, a_mail(1))
            [run] = await shop.desks["shop"].store.runs()
            ida = await person(shop)
            place = f"/messages/shop/{run.id}"
            drafted = await ida.post(f"{place}/draft", data={"csrf": ida.csrf})
            assert "your parcel is on its way to you.</textarea>" in drafted.text
            nothing = await ida.get(f"{place}?passages=delivery")
            assert "No article is near this question" in words_of(nothing.text)
            before = await shop.desks["shop"].store.rows(run.id)
            await ida.post(f"{place}/draft", data={"csrf": ida.csrf})
            assert await shop.desks["shop"].store.rows(run.id) == before
