"""The same mailbox on two real servers that have nothing in common: Dovecot and Cyrus."""

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from deskhand.adapters.channels.imap import Imap
from deskhand.config.sections.channels import Login, ServerSpec
from deskhand.model.run import RunStatus
from deskhand.wiring import Desk, check_channels, read_desk
from tests.cyrus_server import MISSING as NO_CYRUS
from tests.cyrus_server import Cyrus, has_cyrus
from tests.imap_access import fill, flags_in, mails_in, make_folder, put, rebuild
from tests.mail_desk import at_work, write_desk
from tests.mail_servers import (
    CUSTOMER,
    MISSING,
    PASSWORD,
    SUPPORT,
    Dovecot,
    SmtpServer,
    a_mail,
    dovecot_program,
    smtp_server,
)
from tests.waiting import until

LARGE = 25_000_000

Server = Dovecot | Cyrus


@pytest.fixture(params=["dovecot", "cyrus"])
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    if request.param == "dovecot" and dovecot_program() is None:
        pytest.skip(MISSING)
    if request.param == "cyrus" and not has_cyrus():
        pytest.skip(NO_CYRUS)
    started: Server = Dovecot(SUPPORT, CUSTOMER) if request.param == "dovecot" else Cyrus()
    yield started
    started.remove()


@pytest.fixture
async def smtp(server: Server) -> AsyncIterator[SmtpServer]:
    async with smtp_server(server, SUPPORT, CUSTOMER) as started:
        yield started


@pytest.fixture
async def imap(server: Server, tmp_path: Path) -> AsyncIterator[Imap]:
    (tmp_path / "secret").write_text(PASSWORD)
    login = Login(user=SUPPORT, password_file=tmp_path / "secret")
    spec = ServerSpec(
        host="localhost", port=server.port, security="none", ca_file=None, login=login
    )
    connection = await Imap.connect(spec)
    yield connection
    await connection.close()


async def all_sent(desk: Desk, count: int) -> None:
    async def are_sent() -> bool:
        return len(await desk.store.runs(status=RunStatus.SENT)) == count

    await until(are_sent)


def answered(server: Server) -> list[str]:
    """The Message-IDs that the customer got an answer to."""
    return [str(mail["In-Reply-To"]) for mail in mails_in(server.port, CUSTOMER)]


async def test_a_mailbox_is_checked(server: Server, smtp: SmtpServer, tmp_path: Path) -> None:
    folder = write_desk(tmp_path, server, smtp)
    found = await check_channels(read_desk(str(folder)).spec)
    assert found == {"support": "localhost reads INBOX; localhost takes replies"}


async def test_a_mail_is_answered_filed_and_marked(
    server: Server, smtp: SmtpServer, tmp_path: Path
) -> None:
    async with at_work(write_desk(tmp_path, server, smtp)) as desk:
        await asyncio.to_thread(put, server.port, SUPPORT, a_mail(1))
        await all_sent(desk, 1)
        await until(lambda: len(mails_in(server.port, SUPPORT, "Sent")) == 1)
        shown = {b"$DeskhandDone", b"\\Answered"}
        await until(lambda: shown <= set(flags_in(server.port, SUPPORT)))
    assert answered(server) == ["<1@example.test>"]
    assert len(mails_in(server.port, SUPPORT)) == 1, "its copy went to Sent"


@pytest.mark.slow
@pytest.mark.parametrize("old", [5_000, pytest.param(20_000, marks=pytest.mark.chaos)])
async def test_thousands_of_old_mails_are_left_alone(
    server: Server, smtp: SmtpServer, tmp_path: Path, old: int
) -> None:
    """More than are read at once."""
    fill(server.port, SUPPORT, old)
    async with at_work(write_desk(tmp_path, server, smtp)) as desk:
        await asyncio.to_thread(put, server.port, SUPPORT, a_mail("new"))
        await all_sent(desk, 1)
        assert len(await desk.store.runs()) == 1
    assert answered(server) == ["<new@example.test>"]


async def test_a_server_that_was_away_is_called_again(
    server: Server, smtp: SmtpServer, tmp_path: Path
) -> None:
    async with at_work(write_desk(tmp_path, server, smtp)) as desk:
        await asyncio.to_thread(put, server.port, SUPPORT, a_mail("before"))
        await all_sent(desk, 1)
        server.stop()
        await until(lambda: desk.channels[0].health.state != "connected")
        server.start()
        await asyncio.to_thread(put, server.port, SUPPORT, a_mail("after"))
        await all_sent(desk, 2)
    assert sorted(answered(server)) == ["<after@example.test>", "<before@example.test>"]


async def test_a_rebuilt_folder_is_neither_answered_again_nor_forgotten(
    server: Server, smtp: SmtpServer, tmp_path: Path
) -> None:
    make_folder(server.port, SUPPORT, "Anfragen für Ännchen")
    folder = write_desk(
        tmp_path, server, smtp, imap_more='folders: ["INBOX", "Anfragen für Ännchen"]'
    )
    async with at_work(folder) as desk:
        put(server.port, SUPPORT, a_mail("before"), "Anfragen für Ännchen")
        await all_sent(desk, 1)
    put(server.port, SUPPORT, a_mail("between"), "Anfragen für Ännchen")
    rebuild(server.port, SUPPORT, "Anfragen für Ännchen")
    async with at_work(folder) as desk:
        await all_sent(desk, 2)
    assert sorted(answered(server)) == ["<before@example.test>", "<between@example.test>"]


async def test_new_mail_ends_the_waiting(server: Server, imap: Imap) -> None:
    selected = await imap.select("INBOX")
    waiting = asyncio.create_task(imap.idle(600))
    await asyncio.to_thread(put, server.port, SUPPORT, a_mail(1))
    assert await waiting is True
    assert await imap.newest_uid() == selected.next_uid
    assert await imap.idle(0.05) is False


async def test_a_large_mail_goes_both_ways_whole(server: Server, imap: Imap) -> None:
    raw = a_mail(1) + os.urandom(LARGE // 2).hex().encode() + b"\r\n"
    lines = b"\r\n".join(raw[start : start + 900] for start in range(0, len(raw), 900))
    await imap.append("INBOX", lines, ["\\Seen"])
    await imap.select("INBOX")
    [mail] = await imap.fetch([1], most=2 * LARGE)
    assert mail.raw == lines
    assert mail.flags >= {"\\seen"}
    [beginning] = await imap.fetch([1], most=1000)
    assert beginning.raw == lines[:1000]
    assert await imap.sizes([1]) == {1: len(lines)}


async def test_a_mail_is_found_moved_and_deleted(server: Server, imap: Imap) -> None:
    odd = b'Message-ID: <odd(")%*id@example.test>\r\n' + a_mail(1).replace(b"Message-ID", b"X-Id")
    put(server.port, SUPPORT, odd)
    put(server.port, SUPPORT, a_mail("other"))
    await imap.select("INBOX")
    assert await imap.with_message_id('<odd(")%*id@example.test>') == [1]
    await imap.make_folder("Deskhand/Erledigt ✓")
    await imap.make_folder("Deskhand/Erledigt ✓")
    await imap.move([1], "Deskhand/Erledigt ✓")
    await imap.delete([2])
    assert await imap.newest_uid() == 0
    assert len(mails_in(server.port, SUPPORT, "Deskhand/Erledigt ✓")) == 1
