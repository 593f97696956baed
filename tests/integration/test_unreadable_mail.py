"""A mail that takes too much to read: a person gets it, the others are answered, and it is met
once."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from deskhand.mail import limited_mail
from deskhand.model.queue import ReviewFilter
from deskhand.model.run import RunStatus
from deskhand.wiring import Desk
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

HOSTILE = (
    f"From: Eve <eve@example.test>\r\nTo: {SUPPORT}\r\nSubject: Offer\r\n"
    "Message-ID: <hostile@example.test>\r\nContent-Type: text/html\r\n\r\n<table><tr>"
).encode() + b"<td>x\r\n" * 50_000


@pytest.fixture
def dovecot() -> Iterator[Dovecot]:
    server = Dovecot(SUPPORT, CUSTOMER)
    yield server
    server.remove()


@pytest.fixture
async def smtp(dovecot: Dovecot) -> AsyncIterator[SmtpServer]:
    async with smtp_server(dovecot, SUPPORT, CUSTOMER) as server:
        yield server


async def runs_at_rest(desk: Desk, *statuses: RunStatus) -> None:
    async def all_there() -> bool:
        runs = await desk.store.runs()
        return sorted(run.status for run in runs) == sorted(statuses)

    await until(all_there)


async def test_a_mail_over_the_limit_goes_to_a_person_and_stops_no_other(
    tmp_path: Path, dovecot: Dovecot, smtp: SmtpServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limited_mail, "CPU_SECONDS", 0.1)
    folder = write_desk(tmp_path, dovecot, smtp)
    async with at_work(folder) as desk:
        dovecot.deliver(SUPPORT, HOSTILE)
        dovecot.deliver(SUPPORT, a_mail(1))
        await runs_at_rest(desk, RunStatus.NEEDS_REVIEW, RunStatus.SENT)
        [review] = await desk.store.find_reviews(ReviewFilter())
        run = await desk.store.run(review.run_id)
        assert "could not be read" in (run.reason or "")
        assert run.error_code == "message_unreadable"
        files = await desk.store.files(run.id)
        assert [file.name for file in files] == ["mail.eml"]
    async with at_work(folder) as desk:  # a second life does not meet it again
        dovecot.deliver(SUPPORT, a_mail(2))
        await runs_at_rest(desk, RunStatus.NEEDS_REVIEW, RunStatus.SENT, RunStatus.SENT)
