"""Files that reviewers attach to replies: brought from the page, the API and the command line, and
really sent."""

import asyncio
import re
from collections.abc import AsyncIterator
from email import message_from_string, policy
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest

from deskhand.model.queue import ReviewFilter
from deskhand.model.run import RunStatus
from tests import api_kit
from tests.api_kit import Client, Served, served
from tests.approvals_kit import HOME, outbox, person, words_of
from tests.waiting import PATIENCE

MORE = "undo_seconds: 0\n"
PDF = b"%PDF-1.4 \x00\xff\r\n--boundary\r\n"
LIMITS = ", max_attachment_bytes: 200}}"


@pytest.fixture
async def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Served]:
    monkeypatch.setattr(api_kit, "DESK", api_kit.DESK.rstrip()[:-2] + LIMITS + "\n")
    async with served(tmp_path, more=MORE, approvals=True) as running:
        yield running


@pytest.fixture
async def api(shop: Served) -> Client:
    return await shop.client()


async def at_rest(shop: Served, run_id: str) -> RunStatus:
    desk = shop.desks["shop"]
    desk.dispatcher.wake()
    return await asyncio.wait_for(desk.dispatcher.wait(run_id), PATIENCE)


def sent_files(shop: Served) -> list[tuple[str | None, str, Any]]:
    [text] = outbox(shop)
    mail = message_from_string(text, policy=policy.default)
    assert isinstance(mail, EmailMessage)
    return [
        (part.get_filename(), part.get_content_type(), part.get_payload(decode=True))
        for part in mail.iter_attachments()
    ]


async def test_a_file_from_the_api_leaves_with_the_reply(shop: Served, api: Client) -> None:
    review = await api.under_review()
    place = f"/api/reviews/{review['review']}"
    brought = await api.post(
        f"{place}/attachments",
        params={"name": "Rechnung März.pdf"},
        content=PDF,
        headers={"Content-Type": "application/pdf"},
    )
    assert brought.status_code == 201, brought.text
    file = brought.json()
    assert (file["origin"], file["size"], file["name"]) == ("reply", len(PDF), "Rechnung März.pdf")
    large = await api.post(f"{place}/attachments", params={"name": "x"}, content=b"x" * 201)
    assert large.status_code == 413

    body = {
        "decision": "edit",
        "version": review["version"],
        "payload_hash": review["payload_hash"],
    }
    for wrong in (["att_nothing"], [f"{review['run']}.1"], [file["attachment"]] * 2):
        edit = {"text": "Here it is.", "attachments": wrong}
        refused = await api.post(f"{place}/decision", json={**body, "edit": edit})
        assert refused.status_code in (409, 422), refused.text
    edit = {"text": "Here it is.", "attachments": [file["attachment"]]}
    decided = await api.post(f"{place}/decision", json={**body, "edit": edit})
    assert decided.status_code == 200, decided.text
    assert await at_rest(shop, review["run"]) is RunStatus.SENT
    assert sent_files(shop) == [("Rechnung März.pdf", "application/pdf", PDF)]
    assert "Here it is." in outbox(shop)[0]


async def test_another_runs_file_is_never_sent(shop: Served, api: Client) -> None:
    one, two = await api.under_review("unsure 1"), await api.under_review("unsure 2")
    address = f"/api/reviews/{one['review']}/attachments"
    file = (await api.post(address, params={"name": "a"}, content=b"x")).json()["attachment"]
    body = {
        "decision": "edit",
        "version": two["version"],
        "payload_hash": two["payload_hash"],
        "edit": {"text": "Here.", "attachments": [file]},
    }
    refused = await api.post(f"/api/reviews/{two['review']}/decision", json=body)
    assert (refused.status_code, "nobody attached here" in refused.text) == (409, True)


async def test_files_are_attached_on_the_page_taken_away_and_sent(
    shop: Served, api: Client
) -> None:
    ida, review = await person(shop), await api.under_review()
    fields = {"csrf": ida.csrf, "version": "1", "hash": review["payload_hash"]}
    words = {"text": "Dear Ann,\r\nsee below.", "subject": "Re: x", "to": "ann@example.com"}
    place = f"{HOME}shop/{review['review']}"
    files = [
        ("file", ("a.pdf", PDF, "application/pdf")),
        ("file", ("b.txt", b"hello", "text/plain")),
    ]
    attached = await ida.post(f"{place}/attach", data={**fields, **words}, files=files)
    assert attached.status_code == 303, attached.text
    page = await ida.page(review)
    assert "Dear Ann,\nsee below.</textarea>" in page
    first, second = re.findall(r'name="file-(att_\w+)" value="yes" checked', page)
    opened = await ida.get(f"{place}/files/{first}")
    assert opened.content in (PDF, b"hello")
    large = [("file", ("large.bin", b"x" * 201, "x/y"))]
    refused = await ida.post(f"{place}/attach", data={**fields, **words}, files=large)
    assert (refused.status_code, "attach at most 200" in words_of(refused.text)) == (409, True)

    is_first = (await ida.get(f"{place}/files/{first}")).content == b"hello"
    b_txt = first if is_first else second
    chosen = {**fields, **words, f"file-{b_txt}": "yes"}
    photo = [("file", ("c.png", b"\x89PNG", "image/png"))]
    sent = await ida.post(f"{place}/approve", data=chosen, files=photo)
    assert sent.status_code == 303, sent.text
    assert await at_rest(shop, review["run"]) is RunStatus.SENT
    assert {(name, kind) for name, kind, _ in sent_files(shop)} == {
        ("b.txt", "text/plain"),
        ("c.png", "image/png"),
    }
    closed = words_of(await ida.page(review))
    assert "b.txt 5 bytes" in closed


async def test_an_answer_to_a_hand_over_may_have_files(shop: Served, api: Client) -> None:
    ida = await person(shop)
    run = await api.worked("broken")
    store = shop.desks["shop"].store
    [review] = await store.find_reviews(ReviewFilter(run_id=run["run"]))
    fields = {"csrf": ida.csrf, "version": "1", "hash": review.payload_hash, "text": "Here it is."}
    files = [("file", ("a.pdf", PDF, "application/pdf"))]
    sent = await ida.post(f"{HOME}shop/{review.id}/answer", data=fields, files=files)
    assert sent.status_code == 303, sent.text
    assert await at_rest(shop, run["run"]) is RunStatus.SENT
    assert sent_files(shop) == [("a.pdf", "application/pdf", PDF)]
