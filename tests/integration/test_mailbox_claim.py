"""Two installations on one mailbox: one works it, the other says who does."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from deskhand.adapters.channels import mailbox_claim
from deskhand.adapters.channels.mailbox_claim import MailboxClaimed
from deskhand.model.run import RunStatus
from deskhand.wiring import claimed_mailboxes, open_database, read_desk
from tests.mail_desk import at_work, refused, write_desk
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


@pytest.fixture
def dovecot() -> Iterator[Dovecot]:
    server = Dovecot(SUPPORT, CUSTOMER)
    yield server
    server.remove()


@pytest.fixture
async def smtp(dovecot: Dovecot) -> AsyncIterator[SmtpServer]:
    async with smtp_server(dovecot, SUPPORT, CUSTOMER) as server:
        yield server


async def test_a_second_installation_answers_nothing_and_names_the_first(
    tmp_path: Path, dovecot: Dovecot, smtp: SmtpServer
) -> None:
    desk = write_desk(tmp_path, dovecot, smtp)
    async with at_work(desk) as first, refused(desk, tmp_path / "second.db") as second:
        dovecot.deliver(SUPPORT, a_mail(1))
        await until(lambda: len(dovecot.mails(CUSTOMER)) == 1)

        async def sent() -> bool:
            return len(await first.store.runs(status=RunStatus.SENT)) == 1

        await until(sent)
        assert await second.store.runs() == []
        trouble = second.channels[0].health.detail

    assert "desk 'mails' on " in trouble
    assert "works INBOX since 20" in trouble
    assert "deskhand mail claim mails --take-over" in trouble
    assert len(dovecot.mails(CUSTOMER)) == 1


async def test_processes_on_one_database_share_the_claim(
    tmp_path: Path, dovecot: Dovecot, smtp: SmtpServer
) -> None:
    desk = write_desk(tmp_path, dovecot, smtp)
    async with at_work(desk):
        claims = dovecot.mails(SUPPORT, "Deskhand")
    async with at_work(desk):
        again = dovecot.mails(SUPPORT, "Deskhand")

    assert len(claims) == len(again) == 1
    assert again[0]["X-Deskhand-Claim"] == claims[0]["X-Deskhand-Claim"]


async def test_a_mailbox_is_taken_over_by_command_and_the_first_steps_back(
    tmp_path: Path, dovecot: Dovecot, smtp: SmtpServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mailbox_claim, "SETTLE", 0.0)
    desk, other = write_desk(tmp_path, dovecot, smtp), str(tmp_path / "second.db")
    spec = read_desk(str(desk)).spec
    async with at_work(desk):
        pass
    async with open_database(other) as database:
        (mailbox,) = claimed_mailboxes(spec, database)
        assert [claim.desk for claim in await mailbox.claim.others()] == ["mails"]
        taken_from = await mailbox.claim.take_over()
        await mailbox.close()
    assert [claim.desk for claim in taken_from] == ["mails"]

    async with at_work(desk, other), open_database(str(tmp_path / "desk.db")) as first:
        (before,) = claimed_mailboxes(spec, first)
        with pytest.raises(MailboxClaimed):
            await before.claim.hold()
        await before.close()


async def test_a_claim_without_a_sign_of_life_ends_by_itself(
    tmp_path: Path, dovecot: Dovecot, smtp: SmtpServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = write_desk(tmp_path, dovecot, smtp)
    async with at_work(desk):
        pass
    monkeypatch.setattr(mailbox_claim, "STALE_AFTER", -1.0)
    async with at_work(desk, str(tmp_path / "second.db")):
        dovecot.deliver(SUPPORT, a_mail(1))
        await until(lambda: len(dovecot.mails(CUSTOMER)) == 1)
