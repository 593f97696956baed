"""Words that nothing backs are marked in the draft, each with what takes it out."""

import json
from pathlib import Path

import pytest

from tests import api_kit
from tests.approvals_kit import make_passwords_cheap, person
from tests.console_site import a_mail, wait_for_review
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
TEXT = f"Dear Ann,\n\nthank you for your mail. {LOOSE}\n\nKind regards\nThe shop"
ANSWER = {"text": TEXT, "language": "en", "hand_over": False, "confidence": 1.0, "sources": []}


async def test_unbacked_words_are_mended_beside_where_they_stand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where no stage has said what the message is about."""
    make_passwords_cheap(monkeypatch)
    monkeypatch.setattr(api_kit, "DESK", DESK)
    async with FakeOpenAI([completion(json.dumps(ANSWER))]) as server:
        more = MORE.format(url=server.base_url)
        async with api_kit.served(tmp_path, more=more, approvals=True) as shop:
            await wait_for_review(shop, a_mail(1))
            [review] = await shop.desks["shop"].store.find_reviews()
            ida = await person(shop)
            answer = await ida.get(f"/approvals/shop/{review.id}")
            assert answer.status_code == 200
            marked = answer.text.partition(">" + LOOSE + "</mark>")[2]
            assert 'data-take-out="' + LOOSE + '"' in marked.partition("<p>")[0]
