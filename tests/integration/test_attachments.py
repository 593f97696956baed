"""Files that customers attach: kept within limits, opened safely, erased with their message."""

import base64
from collections.abc import AsyncIterator
from email.message import EmailMessage
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from deskhand.mail.message_parser import CUT_OFF, parse
from deskhand.model.message import Message
from tests.api_kit import Client, Served, served
from tests.approvals_kit import HOME, person, words_of

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
HTML = b"<script>document.title='owned'</script>"
MORE = "undo_seconds: 0\n"
LIMITS = ", max_attachment_bytes: 200, max_attachments: 4, max_attachments_bytes: 300}}"


@pytest.fixture
async def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Served]:
    from tests import api_kit

    monkeypatch.setattr(api_kit, "DESK", api_kit.DESK.rstrip()[:-2] + LIMITS + "\n")
    async with served(tmp_path, "shop", "bank", more=MORE, approvals=True) as running:
        yield running


@pytest.fixture
async def api(shop: Served) -> Client:
    return await shop.client(desks=["shop"])


def a_mail(*files: tuple[str, str, bytes]) -> bytes:
    mail = EmailMessage()
    mail["From"], mail["Subject"], mail["Message-ID"] = "ann@example.com", "Files", "<m1@ann>"
    mail.set_content("unsure, see the files")
    for name, kind, content in files:
        main, _, sub = kind.partition("/")
        mail.add_attachment(content, maintype=main, subtype=sub, filename=name)
    return mail.as_bytes()


async def handed_in(shop: Served, message: Message) -> dict[str, Any]:
    """The review of a message that a mailbox hands in."""
    desk = shop.desks["shop"]
    accepted = await desk.dispatcher.submit(message)
    await desk.dispatcher.wait(accepted.run_id)
    api = await shop.client(desks=["shop"])
    run = (await api.get(f"/api/runs/{accepted.run_id}")).json()
    return dict((await api.get(f"/api/reviews/{run['review']['id']}")).json())


async def test_what_is_too_large_or_too_many_is_named_and_not_kept(
    shop: Served, api: Client
) -> None:
    files = [("large.bin", "application/octet-stream", b"x" * 201)]
    files += [(f"{number}.bin", "application/pdf", b"x" * 90) for number in range(4)]
    review = await handed_in(shop, parse(a_mail(*files)))
    listed = {file["name"]: file for file in review["attachments"]}
    assert listed["large.bin"]["attachment"] is None
    assert "larger than the 200 bytes" in listed["large.bin"]["not_kept"]
    assert "together are larger than the 300 bytes" in listed["3.bin"]["not_kept"]
    assert [name for name, file in listed.items() if file["attachment"]] == [
        "0.bin",
        "1.bin",
        "2.bin",
    ]
    page = words_of(await (await person(shop)).page(review))
    assert "large.bin application/octet-stream, 201 bytes · not kept: larger than" in page


async def test_a_reviewer_opens_what_was_attached(shop: Served, api: Client) -> None:
    name = 'Rechnung "März"/..\\x.pdf'
    review = await handed_in(
        shop, parse(a_mail(("photo.png", "image/png", PNG), (name, "application/pdf", b"%PDF")))
    )
    image, paper = review["attachments"]
    ida = await person(shop)
    page = await ida.page(review)
    place = f"{HOME}shop/{review['review']}/files/"
    assert f'<img src="{place}{image["attachment"]}?show=yes"' in page
    shown = await ida.get(f"{place}{image['attachment']}?show=yes")
    assert (shown.content, shown.headers["content-type"]) == (PNG, "image/png")
    assert shown.headers["content-disposition"].startswith("inline; ")
    opened = await ida.get(place + paper["attachment"])
    assert (opened.content, opened.headers["content-type"]) == (b"%PDF", "application/pdf")
    assert opened.headers["content-disposition"] == (
        'attachment; filename="Rechnung _M_rz_.._x.pdf"; '
        "filename*=UTF-8''Rechnung%20_M%C3%A4rz_.._x.pdf"
    )
    for answer in (shown, opened):
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "sandbox" in answer.headers["content-security-policy"]
        assert "script" not in answer.headers["content-security-policy"]

    over_api = await api.get(f"/api/runs/{review['run']}/attachments/{image['attachment']}")
    assert (over_api.content, over_api.headers["content-type"]) == (PNG, "image/png")
    assert over_api.headers["content-disposition"].startswith("attachment; ")
    same = await api.get(f"/api/reviews/{review['review']}/attachments")
    assert same.json() == review["attachments"]
    assert (await api.get(f"/api/runs/{review['run']}/attachments")).json() == same.json()


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        ("text/html", HTML),
        ("image/svg+xml", b"<svg xmlns='http://www.w3.org/2000/svg'><script>1</script></svg>"),
        ("application/xhtml+xml", HTML),
        ("text/javascript", b"alert(1)"),
        ("image/png", HTML),
        ("text/html; charset=x", HTML),
        ("a/b\r\nX-Evil: yes", HTML),
    ],
)
async def test_nothing_that_is_attached_can_run(
    shop: Served, api: Client, kind: str, content: bytes
) -> None:
    file = {"name": "x.html", "type": kind, "content": base64.b64encode(content).decode()}
    review = await api.under_review("unsure", attachments=[file])
    [listed] = review["attachments"]
    ida = await person(shop)
    place = f"{HOME}shop/{review['review']}/files/{listed['attachment']}?show=yes"
    opened = await ida.get(place)
    assert opened.content == content
    assert opened.headers["content-type"] in ("application/octet-stream", "image/png")
    assert opened.headers["content-disposition"].startswith("attachment; ")
    assert opened.headers["x-content-type-options"] == "nosniff"
    assert opened.headers["content-security-policy"].startswith("default-src 'none'; sandbox")
    assert "x-evil" not in opened.headers


async def test_files_are_shown_to_those_alone_who_may_see_their_desk(
    shop: Served, api: Client
) -> None:
    review = await handed_in(shop, parse(a_mail(("a.pdf", "application/pdf", b"%PDF"))))
    path = f"shop/{review['review']}/files/{review['attachments'][0]['attachment']}"
    assert (await (await person(shop, "otto", "bank")).get(HOME + path)).status_code == 404
    elsewhere = await shop.client(desks=["bank"])
    address = f"/api/runs/{review['run']}/attachments"
    assert (await elsewhere.get(address)).status_code == 404
    assert (await elsewhere.get(f"{address}/{review['run']}.1")).status_code == 404
    other = await handed_in(shop, parse(a_mail().replace(b"<m1@ann>", b"<m2@ann>")))
    wrong = f"/api/runs/{other['run']}/attachments/{review['run']}.1"
    assert (await api.get(wrong)).status_code == 404  # another run's file


async def test_the_bytes_go_with_the_person(shop: Served, api: Client) -> None:
    review = await handed_in(shop, parse(a_mail(("a.pdf", "application/pdf", b"%PDF"))))
    store = shop.desks["shop"].store
    [file] = await store.files(review["run"])
    assert file.digest == sha256(b"%PDF").hexdigest()
    message = await store.message(review["run"])
    assert message is not None
    assert message.attachments[0].digest == file.digest
    assert message.attachments[0].content is None
    assert await store.erase("ann@example.com", "ida") == 1
    assert await store.files(review["run"]) == []


async def test_files_handed_in_over_the_api_are_bytes_and_no_claims(
    shop: Served, api: Client
) -> None:
    bad = await api.message("x", attachments=[{"name": "a", "content": "not base64!"}])
    assert (bad.status_code, "attachments.0.content" in bad.text) == (422, True)
    claimed = {"name": "a", "type": "x/y", "size": 5, "digest": "0" * 64, "not_kept": "because"}
    review = await api.under_review("unsure", attachments=[claimed])
    [file] = review["attachments"]
    assert (file["attachment"], file["not_kept"]) == (None, "only its name is known")


def test_the_last_file_of_a_mail_that_was_cut_off_is_not_kept() -> None:
    raw = a_mail(("a.pdf", "application/pdf", b"%PDF"), ("b.pdf", "application/pdf", b"y" * 900))
    whole, cut = parse(raw), parse(raw[:-500], is_cut=True)
    assert [file.content for file in whole.attachments] == [b"%PDF", b"y" * 900]
    assert [file.not_kept for file in cut.attachments] == [None, CUT_OFF]
    assert cut.attachments[1].content is None


def test_an_attached_mail_is_kept_as_it_travelled() -> None:
    inner = b"From: bob@example.com\r\nSubject: Inner\r\n\r\nHello\r\n"
    raw = (
        b"From: ann@example.com\r\nMIME-Version: 1.0\r\n"
        b'Content-Type: multipart/mixed; boundary="b"\r\n\r\n--b\r\n\r\nsee\r\n'
        b"--b\r\nContent-Type: message/rfc822\r\n\r\n" + inner + b"\r\n--b--\r\n"
    )
    [file] = parse(raw).attachments
    assert (file.content, file.size) == (inner, len(inner))
