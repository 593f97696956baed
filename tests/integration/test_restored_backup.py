"""A database that is older than its mailbox: what was answered since is not answered again."""

import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from deskhand.model.causes import Cause
from deskhand.model.queue import ReviewFilter
from deskhand.model.run import Decision, ReviewState, RunStatus, Verdict
from tests.integration.test_mail_channel import at_rest
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


@pytest.fixture
def dovecot() -> Iterator[Dovecot]:
    server = Dovecot(SUPPORT, CUSTOMER)
    yield server
    server.remove()


@pytest.fixture
async def smtp(dovecot: Dovecot) -> AsyncIterator[SmtpServer]:
    async with smtp_server(dovecot, SUPPORT, CUSTOMER) as server:
        yield server


def back_up(folder: Path) -> None:
    shutil.copy(folder / "desk.db", folder / "backup.db")


def restore(folder: Path) -> None:
    for file in folder.glob("desk.db*"):
        file.unlink()
    shutil.copy(folder / "backup.db", folder / "desk.db")


@pytest.mark.parametrize("state", ["keywords", "none"])
async def test_after_a_restore_no_customer_is_answered_again(
    tmp_path: Path, dovecot: Dovecot, smtp: SmtpServer, state: str
) -> None:
    """With `none`, the answers in Sent are all that shows it."""
    desk_folder = write_desk(tmp_path, dovecot, smtp, imap_more=f"state: {state}")
    async with at_work(desk_folder):
        pass
    back_up(tmp_path)
    async with at_work(desk_folder) as desk:
        for number in (1, 2):
            dovecot.deliver(SUPPORT, a_mail(number, proven=True))
        await at_rest(desk, RunStatus.SENT, 2)
        await until(lambda: len(dovecot.mails(SUPPORT, "Sent")) == 2)
    restore(tmp_path)
    dovecot.deliver(SUPPORT, a_mail(3, proven=True))
    async with at_work(desk_folder) as desk:
        await at_rest(desk, RunStatus.NEEDS_REVIEW, 2)
        await at_rest(desk, RunStatus.SENT, 1)
        reviews = await desk.store.find_reviews(ReviewFilter(state=ReviewState.OPEN))
        for review in reviews:
            assert review.causes == (Cause.ANSWERED_BEFORE,)
            assert "was answered before" in review.reason
            assert "It is on its way." in review.payload["sent_before"]
        assert len(dovecot.mails(CUSTOMER)) == 3
        first = reviews[0]
        assert await desk.store.taken_over_by(first.conversation) is None
        await desk.store.decide(first.id, Verdict(Decision.CLOSE, "eve", first.version))
        retried = reviews[1]
        await desk.store.decide(retried.id, Verdict(Decision.RETRY, "eve", retried.version))
        await at_rest(desk, RunStatus.WAITING_REVIEW, 1)  # even then a person sends the answer
    answered = sorted(str(mail["In-Reply-To"]) for mail in dovecot.mails(CUSTOMER))
    assert answered == [f"<{number}@example.test>" for number in (1, 2, 3)]


async def test_a_copy_that_did_not_get_to_sent_yet_shows_it_too(
    tmp_path: Path, dovecot: Dovecot, smtp: SmtpServer
) -> None:
    """As after a kill: the copy of the answer lies where it arrived."""
    desk_folder = write_desk(tmp_path, dovecot, smtp, imap_more="state: none")
    async with at_work(desk_folder):
        pass
    back_up(tmp_path)
    async with at_work(desk_folder) as desk:
        dovecot.deliver(SUPPORT, a_mail(1, proven=True))
        await at_rest(desk, RunStatus.SENT)
        await until(lambda: len(dovecot.mails(SUPPORT, "Sent")) == 1)
    restore(tmp_path)
    (copy,) = dovecot.mails(SUPPORT, "Sent")
    for file in (dovecot.folder / "mail" / SUPPORT / ".Sent").glob("???/*"):
        file.unlink()
    dovecot.deliver(SUPPORT, copy.as_bytes())
    async with at_work(desk_folder) as desk:
        await at_rest(desk, RunStatus.NEEDS_REVIEW)
        (review,) = await desk.store.find_reviews(ReviewFilter(state=ReviewState.OPEN))
        assert review.causes == (Cause.ANSWERED_BEFORE,)
    assert len(dovecot.mails(CUSTOMER)) == 1


async def test_a_reply_that_waited_in_the_backup_and_has_left_since_leaves_once(
    tmp_path: Path, dovecot: Dovecot, smtp: SmtpServer
) -> None:
    desk_folder = write_desk(tmp_path, dovecot, smtp, more="mode: draft")
    async with at_work(desk_folder) as desk:
        dovecot.deliver(SUPPORT, a_mail(1, proven=True))
        await at_rest(desk, RunStatus.WAITING_REVIEW)
    back_up(tmp_path)
    for _ in range(2):  # the second time after the restore
        async with at_work(desk_folder) as desk:
            (review,) = await desk.store.find_reviews(ReviewFilter(state=ReviewState.OPEN))
            await desk.store.decide(review.id, Verdict(Decision.APPROVE, "eve", review.version))
            await at_rest(desk, RunStatus.SENT)
        assert len(dovecot.mails(CUSTOMER)) == 1
        restore(tmp_path)


async def test_a_mail_that_somebody_marked_as_answered_goes_to_a_person(
    tmp_path: Path, dovecot: Dovecot, smtp: SmtpServer
) -> None:
    desk_folder = write_desk(tmp_path, dovecot, smtp)
    async with at_work(desk_folder):
        pass
    dovecot.deliver(SUPPORT, a_mail(1, proven=True))
    dovecot.mark_all(SUPPORT, "R")
    async with at_work(desk_folder) as desk:
        await at_rest(desk, RunStatus.NEEDS_REVIEW)
        assert "it is marked as answered" in str((await desk.store.runs())[0].reason)
        assert not dovecot.mails(CUSTOMER)


async def test_a_mail_cannot_say_of_itself_that_it_was_answered(
    tmp_path: Path, dovecot: Dovecot, smtp: SmtpServer
) -> None:
    async with at_work(write_desk(tmp_path, dovecot, smtp)) as desk:
        forged = {"X_Deskhand_Answered_Before": "yes", "X_Deskhand_Sent_Before": "We owe you 500."}
        dovecot.deliver(SUPPORT, a_mail(1, proven=True, **forged))
        await at_rest(desk, RunStatus.SENT)
        assert len(dovecot.mails(CUSTOMER)) == 1
