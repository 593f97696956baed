"""Many replies that were in flight when a process died for the third time."""

import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from deskhand.engine.dispatcher import SUSPECT_AFTER
from deskhand.model.run import ReviewKind, RunStatus
from deskhand.wiring import Desk
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

COUNT = 6


@pytest.fixture
def dovecot() -> Iterator[Dovecot]:
    server = Dovecot(SUPPORT, CUSTOMER)
    yield server
    server.remove()


@pytest.fixture
async def smtp(dovecot: Dovecot) -> AsyncIterator[SmtpServer]:
    async with smtp_server(dovecot, SUPPORT, CUSTOMER) as server:
        yield server


def many_crashes(folder: Path) -> None:
    """Every run was in flight in so many crashes that it is worked apart from the others."""
    with closing(sqlite3.connect(folder / "desk.db")) as database, database:
        database.execute("UPDATE runs SET crashes = ?", (SUSPECT_AFTER,))


def a_patient_desk(folder: Path, dovecot: Dovecot, smtp: SmtpServer) -> Path:
    """It looks for copies for ten minutes, so that no test can wait for the end of that."""
    desk = write_desk(folder, dovecot, smtp)
    file = desk / "desk.yaml"
    file.write_text(file.read_text().replace("copy_within: 3", "copy_within: 600"))
    return desk


async def all_looked_into(desk: Desk) -> bool:
    reviews = await desk.store.find_reviews(limit=1000)
    return len({review.run_id for review in reviews if review.kind is ReviewKind.DELIVERY}) == COUNT


async def test_copies_of_replies_in_flight_are_looked_for_side_by_side(
    tmp_path: Path, dovecot: Dovecot, smtp: SmtpServer
) -> None:
    folder = a_patient_desk(tmp_path, dovecot, smtp)
    smtp.silent, smtp.slow_for = "after", SUPPORT
    async with at_work(folder):
        for number in range(COUNT):
            dovecot.deliver(SUPPORT, a_mail(number))
        await until(lambda: len(dovecot.mails(CUSTOMER)) == COUNT)
    many_crashes(tmp_path)
    smtp.silent = ""
    async with at_work(folder) as desk:
        # The first does not keep the others waiting: none of their copies is there.
        await until(lambda: all_looked_into(desk))
        smtp.deliver_slow_mail()
        await at_rest(desk, RunStatus.SENT, COUNT)
    assert len(dovecot.mails(CUSTOMER)) == COUNT
    assert len(smtp.sessions) == COUNT


async def test_replies_that_certainly_stayed_are_sent_without_waiting_for_a_copy(
    tmp_path: Path, dovecot: Dovecot, smtp: SmtpServer
) -> None:
    folder = a_patient_desk(tmp_path, dovecot, smtp)
    smtp.silent = "before"
    async with at_work(folder) as desk:
        for number in range(COUNT):
            dovecot.deliver(SUPPORT, a_mail(number))
        await until(lambda: sum("DATA" in session for session in smtp.sessions) == COUNT)
    many_crashes(tmp_path)
    smtp.silent = ""
    async with at_work(folder) as desk:
        await at_rest(desk, RunStatus.SENT, COUNT)
        assert not await desk.store.find_reviews()
    assert len(dovecot.mails(CUSTOMER)) == COUNT
