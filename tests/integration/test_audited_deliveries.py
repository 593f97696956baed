"""Mails that a server refuses for a while: however they leave in the end, their runs verify."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from deskhand.agents.replying import delivery
from deskhand.engine.audit import verify_desk
from deskhand.model.queue import ReviewFilter
from deskhand.model.run import Decision, EffectState, Review, ReviewState, RunStatus, Verdict
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
from tests.servers import new_database, postgres_programs
from tests.waiting import until

pytestmark = pytest.mark.skipif(dovecot_program() is None, reason=MISSING)
FOR_EVER = 10_000


@pytest.fixture
def dovecot() -> Iterator[Dovecot]:
    server = Dovecot(SUPPORT, CUSTOMER)
    yield server
    server.remove()


@pytest.fixture
async def smtp(dovecot: Dovecot) -> AsyncIterator[SmtpServer]:
    async with smtp_server(dovecot, SUPPORT, CUSTOMER) as server:
        yield server


@pytest.fixture(params=["sqlite", "postgres"])
async def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return str(tmp_path / "desk.db")
    if postgres_programs() is None:
        pytest.skip("PostgreSQL's server is not installed (Debian: apt-get install postgresql)")
    return await asyncio.to_thread(new_database)


async def sent(desk: Desk) -> None:
    async def is_sent() -> bool:
        return len(await desk.store.runs(status=RunStatus.SENT)) == 1

    await until(is_sent)


async def decided(desk: Desk, attempts: int, decision: Decision) -> None:
    """Decide what is open once so many reviews have been asked for."""

    async def there() -> bool:
        reviews = await desk.store.find_reviews()
        return len(reviews) == attempts and reviews[-1].state is ReviewState.OPEN

    await until(there)
    await verified(desk)
    [review] = await desk.store.find_reviews(ReviewFilter(state=ReviewState.OPEN))
    await desk.store.decide(review.id, verdict(review, decision))


def verdict(review: Review, decision: Decision) -> Verdict:
    return Verdict(decision, "eve", review.version, review.payload_hash)


async def verified(desk: Desk) -> None:
    report = await verify_desk(desk.store)
    assert [str(problem) for problem in report.problems] == []


async def test_a_mail_that_is_refused_some_times_and_then_leaves_verifies(
    tmp_path: Path,
    dovecot: Dovecot,
    smtp: SmtpServer,
    database: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(delivery, "RETRY_AFTER", (0.1,) * 10)
    async with at_work(write_desk(tmp_path, dovecot, smtp), database) as desk:
        smtp.busy = 3
        dovecot.deliver(SUPPORT, a_mail(1))
        await sent(desk)
        assert len(dovecot.mails(CUSTOMER)) == 1
        assert len(await desk.store.find_reviews()) == 3
        await verified(desk)


async def test_a_mail_that_a_person_sends_while_it_waits_verifies(
    tmp_path: Path,
    dovecot: Dovecot,
    smtp: SmtpServer,
    database: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(delivery, "RETRY_AFTER", (0.1, 600.0))
    async with at_work(write_desk(tmp_path, dovecot, smtp), database) as desk:
        smtp.busy = 2
        dovecot.deliver(SUPPORT, a_mail(1))
        await decided(desk, 2, Decision.APPROVE)
        await sent(desk)
        assert len(dovecot.mails(CUSTOMER)) == 1
        await verified(desk)


async def test_a_mail_that_fails_until_a_person_gets_it_and_has_it_tried_again_verifies(
    tmp_path: Path,
    dovecot: Dovecot,
    smtp: SmtpServer,
    database: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(delivery, "RETRY_AFTER", (0.1,) * 2)
    async with at_work(write_desk(tmp_path, dovecot, smtp), database) as desk:
        smtp.busy = FOR_EVER
        dovecot.deliver(SUPPORT, a_mail(1))

        async def handed_over() -> bool:
            return bool(await desk.store.runs(status=RunStatus.NEEDS_REVIEW))

        await until(handed_over)
        [effect] = await desk.store.effects()
        assert effect.state is EffectState.FAILED
        smtp.busy = 0
        await decided(desk, 3, Decision.RETRY)
        await sent(desk)
        assert len(dovecot.mails(CUSTOMER)) == 1
        await verified(desk)
