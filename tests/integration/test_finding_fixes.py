"""Words that nothing backs are marked in the draft, each with what mends it."""

import json
from pathlib import Path

import pytest

from tests import api_kit
from tests.browser import browser, needs_browser
from tests.console_site import a_mail, console_site, log_in, wait_for_review
from tests.fake_openai import FakeOpenAI, completion

DESK = """\
desk: {name}
models: {{default: local/small}}
flows:
  main:
    stages:
      draft: {{task: draft, next: review}}
      review: {{service: review, auto_send_at: 0.5, next: dispatch}}
      dispatch: {{service: dispatch}}
limits: {{max_message_bytes: {limit}, max_in_flight: 4, max_backlog: {backlog}}}
"""
MORE = """
mode: auto
undo_seconds: 600
channels: {{post: {{files: mail}}}}
providers: {{local: {{base_url: '{url}'}}}}
"""
LOOSE = "We have refunded 50 EUR to you."
QUOTE = "Goods that have arrived here are refunded within ten days."
TEXT = f"Hello,\n\nthank you for your mail. {LOOSE}"
SOURCE = {"title": "Refunds", "quote": QUOTE}
ANSWER = {"text": TEXT, "language": "en", "hand_over": False, "confidence": 1.0}
BOX = "document.querySelector('[data-keep]').value"
SUBJECT = "document.querySelector('h1')?.innerText"
TWICE = "document.querySelector('[data-approve][data-twice]') !== null"
MENDED = f"document.querySelector('mark.loose') === null && !({TWICE})"


@needs_browser
async def test_unbacked_words_are_mended_beside_where_they_stand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where no stage has said what the message is about."""
    monkeypatch.setattr(api_kit, "DESK", DESK)
    answers = [{**ANSWER, "sources": []}, {**ANSWER, "sources": [SOURCE]}]
    async with FakeOpenAI([completion(json.dumps(answer)) for answer in answers]) as server:
        more = MORE.format(url=server.base_url)
        async with console_site(tmp_path, more=more) as (shop, base), browser() as page:
            for number in (1, 2):
                await wait_for_review(shop, a_mail(number))
            await page.look(width=1440, height=900)
            await log_in(page, base)
            await page.click(".item")
            await page.until(f"{SUBJECT} === 'Parcel 1' && {TWICE}")
            await page.press("f")
            assert await page.run("document.activeElement.innerText") == LOOSE
            await page.click(".marked .fix [data-take-out]")
            await page.until(MENDED)
            assert await page.run(BOX) == TEXT.replace(LOOSE, "")
            await page.press("a")  # nothing speaks against it any more: once is enough
            await page.until(f"{SUBJECT} === 'Parcel 2' && {TWICE}")

            await page.click(".marked .fix [data-instead]")
            await page.until(MENDED)
            assert await page.run(BOX) == TEXT.replace(LOOSE, QUOTE)
            assert page.complaints == []
