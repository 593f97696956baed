"""A visitor proves an order his by a code mailed to the order's address; until then it does not
exist for him."""

import asyncio
import re
import shutil
from collections.abc import AsyncIterator
from email import policy
from email.parser import BytesParser
from pathlib import Path
from typing import cast

import httpx
import pytest

from deskhand.engine.chat_codes import CODES_PER_CHAT, MOST_TRIES, ChatCodes, OnFile
from deskhand.engine.clock import SystemClock
from deskhand.errors import ToolError
from deskhand.model.message import Reply
from deskhand.web.chat_stream import ChatStream
from deskhand.wiring import SHIPPED
from tests.chat_kit import SECRET, Visitor, open_chat
from tests.mail_servers import ImapServer, SmtpServer
from tests.servers import free_port
from tests.waiting import until

CHAT = "channels: {web: {chat: {proves: order, turns_per_hour: 60}}}\n"


@pytest.fixture
async def visitor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Visitor]:
    monkeypatch.setenv("SHOP_LOGIN", SECRET)
    async with open_chat(str(tmp_path / "desk.db"), tmp_path, CHAT) as opened:
        yield opened


async def post(visitor: Visitor, path: str, **body: str) -> httpx.Response:
    headers = {"Authorization": f"Bearer {visitor.chat}"}
    return await visitor.client.post(f"/api/chat/{path}", json=body, headers=headers)


def mails(folder: Path) -> list[Path]:
    return sorted((folder / "outbox").glob("code*.eml"))


async def mailed_code(folder: Path, count: int = 1) -> tuple[str, str]:
    async def arrived() -> bool:
        return len(mails(folder)) == count

    await until(arrived)
    mail = BytesParser(policy=policy.default).parsebytes(mails(folder)[-1].read_bytes())
    [code] = re.findall(r"^\d{6}", str(mail["subject"]))
    return str(mail["to"]), code


async def test_a_proven_order_exists_and_others_do_not(visitor: Visitor, tmp_path: Path) -> None:
    [told] = await visitor.say("Where is O-10018?")
    assert "cannot find" in told
    answer = await post(visitor, "code", order=" o-10018 ")
    assert answer.status_code == 202
    to, code = await mailed_code(tmp_path)
    assert to not in answer.text
    assert (await post(visitor, "proof", order="O-10018", code=code)).status_code == 200
    [found] = await visitor.say("Where is O-10018?")
    assert "GLS" in found
    [other] = await visitor.say("And where is O-10001?")
    assert "cannot find" in other
    again = await post(visitor, "proof", order="O-10018", code=code)
    assert again.status_code == 410


async def test_known_and_unknown_orders_are_answered_alike(
    visitor: Visitor, tmp_path: Path
) -> None:
    await visitor.say("hello")
    known = await post(visitor, "code", order="O-10018")
    unknown = await post(visitor, "code", order="O-19999")
    assert (known.status_code, known.json()) == (unknown.status_code, unknown.json())
    wrong = [
        await post(visitor, "proof", order=order, code="x") for order in ("O-10018", "O-19999")
    ]
    assert [answer.status_code for answer in wrong] == [403, 403]
    assert wrong[0].json()["detail"] == wrong[1].json()["detail"]
    await mailed_code(tmp_path)


async def test_codes_and_tries_are_limited(visitor: Visitor, tmp_path: Path) -> None:
    await visitor.say("hello")
    await post(visitor, "code", order="O-10018")
    _, code = await mailed_code(tmp_path)
    wrong = "000000" if code != "000000" else "000001"
    for _ in range(MOST_TRIES):
        assert (await post(visitor, "proof", order="O-10018", code=wrong)).status_code == 403
    assert (await post(visitor, "proof", order="O-10018", code=code)).status_code == 410
    for _ in range(CODES_PER_CHAT - 1):
        assert (await post(visitor, "code", order="O-10018")).status_code == 202
    assert (await post(visitor, "code", order="O-10018")).status_code == 429
    assert (await post(visitor, "code", order="O-19999")).status_code == 429


async def test_a_code_counts_in_its_own_chat_and_for_its_order_alone(
    visitor: Visitor, tmp_path: Path
) -> None:
    await visitor.say("hello")
    await post(visitor, "code", order="O-10018")
    _, code = await mailed_code(tmp_path)
    assert (await post(visitor, "proof", order="O-10001", code=code)).status_code == 410
    first = visitor.chat
    visitor.chat = None
    await visitor.say("hello")
    assert (await post(visitor, "proof", order="O-10018", code=code)).status_code == 410
    visitor.chat = first
    rows = await visitor.desk.chats._database.read_core(
        lambda core: core.exec_driver_sql("SELECT * FROM chat_codes").all()
    )
    assert code not in str(rows)
    assert (await post(visitor, "proof", order="O-10018", code=code)).status_code == 200


async def test_a_mail_server_that_is_away_is_told_for_known_and_unknown(
    visitor: Visitor,
) -> None:
    await visitor.say("hello")

    async def look_up(thing: str) -> OnFile | None:
        return OnFile("O-10018", "a@b.example") if thing == "O-10018" else None

    async def send(reply: Reply, key: str) -> object:
        raise AssertionError("nothing is sent")

    async def check() -> None:
        raise ToolError("mail_server", "it is away")

    codes = ChatCodes(visitor.desk.chats, look_up, send, check, SystemClock())
    object.__setattr__(visitor.desk, "codes", codes)
    for order in ("O-10018", "O-19999"):
        answer = await post(visitor, "code", order=order)
        assert answer.status_code == 503
        assert "no code was sent" in answer.json()["detail"]


async def test_the_stream_offers_a_proof_of_any_number(visitor: Visitor) -> None:
    for order in ("O-10018", "O-19999"):
        await visitor.say(f"Where is {order}?")
        assert visitor.chat is not None
        chat = await visitor.desk.chats.find(visitor.chat)
        assert chat is not None
        stream = ChatStream(
            visitor.desk.chats, visitor.desk.store, chat.id, proves="order", ends_at_rest=True
        )
        events = "".join([event async for event in stream.events()])
        assert f'event: prove\ndata: {{"order": "{order}"}}' in events


class Mailboxes:
    """Where the mail server delivers to."""

    def __init__(self) -> None:
        self.mails: list[tuple[str, bytes]] = []

    def deliver(self, user: str, mail: bytes) -> None:
        self.mails.append((user, mail))


async def test_codes_leave_once_the_mail_server_is_back(tmp_path: Path) -> None:
    port = free_port()
    support = f"support: {{imap: {{host: localhost, port: {port}, security: none, user: a@b.test"
    support += ", password_file: secrets/imap}, identity: Lantern <shop@lantern.test>"
    support += f", smtp: {{host: localhost, port: {port}, security: none}}}}"
    chat = "web: {chat: {proves: order, turns_per_hour: 60}}"
    secrets = tmp_path / "orders" / "secrets"
    shutil.copytree(SHIPPED / "orders", secrets.parent)
    secrets.mkdir()
    (secrets / "imap").write_text("secret\n")
    yaml = secrets.parent / "desk.yaml"
    written = yaml.read_text().replace("mode: draft ", "mode: auto ")
    yaml.write_text(f"{written}channels: {{{chat}, {support}}}\n")
    boxes = Mailboxes()
    async with open_chat(str(tmp_path / "desk.db"), tmp_path) as visitor:
        await visitor.say("hello")
        for order in ("O-10018", "O-19999"):
            refused = await post(visitor, "code", order=order)
            assert refused.status_code == 503, refused.text
            assert "no code was sent" in refused.json()["detail"]
        smtp = SmtpServer(cast(ImapServer, boxes), frozenset({"grace.lund@example.com"}))
        server = await asyncio.start_server(smtp.serve, "127.0.0.1", port)
        async with server:
            assert (await post(visitor, "code", order="O-10018")).status_code == 202
            await until(lambda: bool(boxes.mails))
            [(to, mail)] = boxes.mails
            assert to == "grace.lund@example.com"
            [code] = re.findall(rb"^Subject:.*?(\d{6})", mail, re.MULTILINE)
            proof = await post(visitor, "proof", order="O-10018", code=code.decode())
            assert proof.status_code == 200
