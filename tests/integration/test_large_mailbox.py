"""A mailbox with more mail than a server's line holds: everything is read, a window at a time."""

import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from deskhand.adapters.channels import imap as imap_module
from deskhand.adapters.channels.imap import Imap
from deskhand.model.run import RunStatus
from deskhand.wiring import mailboxes, open_database, read_desk
from tests.mail_desk import at_work, write_desk
from tests.mail_servers import (
    CUSTOMER,
    MISSING,
    SUPPORT,
    Dovecot,
    SmtpServer,
    a_mail,
    dovecot_program,
    smtp_server,
)
from tests.waiting import until

pytestmark = pytest.mark.skipif(dovecot_program() is None, reason=MISSING)

MANY = 14_000
"""Their UIDs take 73 KB on the one line of a server's answer."""


@pytest.fixture
def dovecot() -> Iterator[Dovecot]:
    server = Dovecot(SUPPORT, CUSTOMER)
    yield server
    server.remove()


@pytest.fixture
async def smtp(dovecot: Dovecot) -> AsyncIterator[SmtpServer]:
    async with smtp_server(dovecot, SUPPORT, CUSTOMER) as server:
        yield server


@pytest.fixture
async def imap(dovecot: Dovecot, smtp: SmtpServer, tmp_path: Path) -> AsyncIterator[Imap]:
    spec = read_desk(str(write_desk(tmp_path, dovecot, smtp))).spec.channels["support"].imap
    assert spec is not None
    connection = await Imap.connect(spec)
    yield connection
    await connection.close()


def fill(dovecot: Dovecot, count: int) -> None:
    """So many mails that nobody has read."""
    dovecot.deliver(SUPPORT, a_mail("old"))
    inbox = dovecot.folder / "mail" / SUPPORT / "new"
    [first] = inbox.iterdir()
    for number in range(1, count):
        os.link(first, inbox / f"1.{number:05}.test")


async def test_more_mails_than_a_line_holds_are_found(dovecot: Dovecot, imap: Imap) -> None:
    fill(dovecot, MANY)
    await imap.select("INBOX")
    assert await imap.newest_uid() == MANY
    upwards = [uid async for uids in imap.search_up(1, "UNSEEN") for uid in uids]
    assert upwards == list(range(1, MANY + 1))
    windows = [uids async for uids in imap.search_down(MANY)]
    assert sorted(uid for uids in windows for uid in uids) == upwards
    assert windows[0][-1] == MANY
    assert max(map(len, windows)) <= 2_000
    assert [uids async for uids in imap.search_up(MANY + 1)] == []


async def test_a_gap_between_the_numbers_is_crossed(
    dovecot: Dovecot, imap: Imap, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(imap_module, "_WINDOW", 3)
    fill(dovecot, 60)
    await imap.select("INBOX")
    await imap.delete(range(5, 58))
    left = [1, 2, 3, 4, 58, 59, 60]
    assert [uid async for uids in imap.search_up(1) for uid in uids] == left
    newest_first = [uids async for uids in imap.search_down(60)]
    assert newest_first[0] == [58, 59, 60]
    assert sorted(uid for uids in newest_first for uid in uids) == left
    await imap.delete(left)
    assert await imap.newest_uid() == 0
    assert [uids async for uids in imap.search_up(1)] == []


async def test_the_newest_unread_mails_of_a_large_mailbox_are_listed(
    dovecot: Dovecot, smtp: SmtpServer, tmp_path: Path
) -> None:
    fill(dovecot, MANY)
    async with open_database(str(tmp_path / "desk.db")) as database:
        desk = read_desk(str(write_desk(tmp_path, dovecot, smtp)))
        [mailbox] = mailboxes(desk.spec, database)
        try:
            older = await mailbox.older_unread(3)
        finally:
            await mailbox.close()
    uids = [place.split("/")[1] for place, _ in older]
    assert uids == [str(MANY), str(MANY - 1), str(MANY - 2)]


async def test_mail_that_came_while_the_desk_was_away_is_answered_window_by_window(
    dovecot: Dovecot, smtp: SmtpServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(imap_module, "_WINDOW", 3)
    folder = write_desk(tmp_path, dovecot, smtp, more="limits: {replies_per_hour: 1000}")
    async with at_work(folder):
        dovecot.deliver(SUPPORT, a_mail("first"))
        await until(lambda: len(dovecot.mails(CUSTOMER)) == 1)
    for number in range(10):
        dovecot.deliver(SUPPORT, a_mail(number))
    async with at_work(folder) as desk:

        async def all_sent() -> bool:
            return len(await desk.store.runs(status=RunStatus.SENT)) == 11

        await until(all_sent)
    assert len(dovecot.mails(CUSTOMER)) == 11
