"""Files, thumbs and transcripts of chats."""

import base64
from collections.abc import AsyncIterator
from email import policy
from email.parser import BytesParser
from pathlib import Path

import pytest

from deskhand.model.judgement import Judged, Judgement
from deskhand.web.chat_files import LARGEST_FILE, named_rightly, type_of
from tests.chat_kit import SECRET, Visitor, open_chat, token
from tests.waiting import until

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 40
PDF = b"%PDF-1.7\n%%EOF\n"


@pytest.fixture
async def visitor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Visitor]:
    monkeypatch.setenv("SHOP_LOGIN", SECRET)
    async with open_chat(str(tmp_path / "desk.db"), tmp_path) as opened:
        yield opened


def sent(name: str, content: bytes) -> dict[str, str]:
    return {"name": name, "content": base64.b64encode(content).decode()}


@pytest.mark.parametrize(
    ("name", "content", "kept"),
    [
        ("chair.png", PNG, "chair.png"),
        ("invoice.png", PDF, "invoice.png.pdf"),
        ("../../etc/<b>x</b>.pdf", PDF, None),
        ("x.PDF", PDF, "x.PDF"),
        ("a\u202egnp.exe", PNG, None),
    ],
)
def test_a_file_is_named_after_what_is_in_it(name: str, content: bytes, kept: str | None) -> None:
    kind = type_of(content)
    assert kind is not None
    given = named_rightly(name, kind)
    assert kept is None or given == kept
    assert "/" not in given
    assert "\u202e" not in given
    assert given.lower().endswith((".png", ".pdf"))


@pytest.mark.parametrize("content", [b"", b"MZ\x90\0", b"<svg onload=alert(1)>", b"<html>"])
def test_what_is_no_image_and_no_pdf_is_nothing(content: bytes) -> None:
    assert type_of(content) is None


async def test_files_are_kept_with_their_message_and_checked_by_content(visitor: Visitor) -> None:
    files = [sent("chair.png", PNG), sent("<script>x</script>.png", PDF)]
    await visitor.say("It is broken, see the picture", files=files)
    [run] = await visitor.desk.store.runs()
    stored = await visitor.desk.store.files(run.id)
    assert [file.type for file in stored] == ["image/png", "application/pdf"]
    assert (await visitor.desk.store.file(run.id, stored[0].id)).content == PNG
    lines = await visitor.desk.chats.lines(run.conversation)
    assert lines[0].files[0].name == "chair.png"
    for bad in (
        [sent("a.png", b"not a picture")],
        [{"name": "a.png", "content": "%%%"}],
        [sent("a.png", PNG)] * 4,
        [sent("big.png", PNG + b"\0" * LARGEST_FILE)],
    ):
        refused = await visitor.post("here", files=bad)
        assert refused.status_code == 422, refused.text[:200]
    assert len(await visitor.desk.store.runs()) == 1


async def test_a_thumb_down_is_recorded_and_counts_as_a_complaint(visitor: Visitor) -> None:
    await visitor.say("Where is O-10018?", login=token())
    headers = {"Authorization": f"Bearer {visitor.chat}"}
    [run] = await visitor.desk.store.runs()
    trust = visitor.desk.trust.store
    await trust.left_alone(Judgement(run.id, "order_status", "en", "auto", Judged.SENT))
    for line, status in ((2, 200), (1, 404), (99, 404)):
        body = {"line": line, "thumb": "down"}
        answer = await visitor.client.post("/api/chat/thumb", json=body, headers=headers)
        assert answer.status_code == status
    lines = await visitor.desk.chats.lines(run.conversation)
    assert [line.thumb for line in lines] == [None, "down"]
    judged = [one.judged for one in await trust.judgements("order_status")]
    assert Judged.COMPLAINED in judged
    stranger = {"Authorization": "Bearer nobody"}
    body = {"line": 2, "thumb": "up"}
    answer = await visitor.client.post("/api/chat/thumb", json=body, headers=stranger)
    assert answer.status_code == 401


async def test_a_transcript_is_mailed_and_repeats_no_strangers_words(
    visitor: Visitor, tmp_path: Path
) -> None:
    await visitor.say("BUY NOW at http://evil.test/")
    headers = {"Authorization": f"Bearer {visitor.chat}"}
    body = {"address": "victim@example.org"}
    answers = [
        (await visitor.client.post("/api/chat/transcript", json=body, headers=headers)).status_code
        for _ in range(3)
    ]
    assert answers == [202, 202, 429]

    async def mailed() -> bool:
        return len(list((tmp_path / "outbox").glob("chatmail*.eml"))) == 2

    await until(mailed)
    file = next((tmp_path / "outbox").glob("chatmail*.eml"))
    mail = BytesParser(policy=policy.default).parsebytes(file.read_bytes())
    assert mail["to"] == "victim@example.org"
    assert "evil.test" not in mail.get_content()
