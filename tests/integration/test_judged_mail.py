"""What a mailbox tells about the desk's replies: what people send beside a shadow, or make of a
draft, and bounces."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from deskhand.agents.replying.sending import SHADOWED
from deskhand.model.judgement import Judgement
from deskhand.model.run import RunStatus
from deskhand.wiring import Desk
from tests.mail_desk import at_work, write_desk
from tests.mail_servers import (
    CUSTOMER,
    MISSING,
    SUPPORT,
    Dovecot,
    SmtpServer,
    a_bounce,
    a_mail,
    dovecot_program,
    smtp_server,
)
from tests.waiting import until

pytestmark = pytest.mark.skipif(dovecot_program() is None, reason=MISSING)

WRITTEN = "It is on its way."
QUOTED = "\n\nOn Sun, 15 Nov 2026 at 09:00, Ann <ann@example.test> wrote:\n> Where is my parcel?\n"


@pytest.fixture
def dovecot() -> Iterator[Dovecot]:
    server = Dovecot(SUPPORT, CUSTOMER)
    yield server
    server.remove()


@pytest.fixture
async def smtp(dovecot: Dovecot) -> AsyncIterator[SmtpServer]:
    async with smtp_server(dovecot, SUPPORT, CUSTOMER) as server:
        yield server


async def at_rest(desk: Desk, status: RunStatus, count: int = 1) -> None:
    async def all_there() -> bool:
        return len(await desk.store.runs(status=status)) == count

    await until(all_there)


async def judged(desk: Desk, count: int) -> list[Judgement]:
    found: list[Judgement] = []

    async def there() -> bool:
        found[:] = await desk.trust.store.judgements("")
        return len(found) >= count

    await until(there)
    return found


def person(dovecot: Dovecot, number: str, to: int, text: str) -> None:
    """A colleague answers from a mail program."""
    mail = a_mail(
        number, body=text + QUOTED, In_Reply_To=f"<{to}@example.test>", From=f"Eve <{SUPPORT}>"
    )
    dovecot.deliver(SUPPORT, mail, "Sent")


async def test_a_shadow_is_compared_with_what_people_send(
    tmp_path: Path, dovecot: Dovecot, smtp: SmtpServer
) -> None:
    more = "mode: auto\ntrust: {start: shadow, at_least: 5}"
    async with at_work(write_desk(tmp_path, dovecot, smtp, more=more)) as desk:
        for number in (1, 2):
            dovecot.deliver(SUPPORT, a_mail(number, proven=True))
        await at_rest(desk, RunStatus.DONE, 2)
        assert [run.reason for run in await desk.store.runs()] == [SHADOWED] * 2
        person(dovecot, "p1", 1, "It is on its way!")
        person(dovecot, "p2", 2, "Sorry, we lost it and will send you another one for 0 EUR.")
        found = await judged(desk, 2)
        assert [
            (str(one.judged), one.mode, one.facts)
            for one in sorted(found, key=lambda one: one.share)
        ] == [
            ("compared", "shadow", False),
            ("compared", "shadow", True),
        ]
        shares = sorted(one.share for one in found)
        assert shares[0] == 0.0
        assert shares[1] > 0.8
        conversations = {run.conversation for run in await desk.store.runs()}
        assert [await desk.store.taken_over_by(one) for one in conversations] == [None] * len(
            conversations
        )
        standing = await desk.trust.standing("")
        assert (standing.judged, standing.good, standing.current.next) == (2, 1, "draft")
        assert dovecot.mails(CUSTOMER) == []


async def test_a_draft_sent_from_a_mail_program_is_judged_by_what_was_changed(
    tmp_path: Path, dovecot: Dovecot, smtp: SmtpServer
) -> None:
    async with at_work(
        write_desk(tmp_path, dovecot, smtp, more="mode: auto\ntrust: {start: draft}")
    ) as desk:
        for number in (1, 2):
            dovecot.deliver(SUPPORT, a_mail(number, From=f"Ann{number} <ann{number}@example.test>"))
        await at_rest(desk, RunStatus.WAITING_REVIEW, 2)
        person(dovecot, "p1", 1, WRITTEN)
        person(dovecot, "p2", 2, "It is on its way to you.")
        found = await judged(desk, 2)
        assert sorted((str(one.judged), one.counts) for one in found) == [
            ("edited", True),
            ("unchanged", True),
        ]
        await at_rest(desk, RunStatus.DONE, 2)


async def test_a_bounce_counts_against_a_reply_that_left_alone(
    tmp_path: Path, dovecot: Dovecot, smtp: SmtpServer
) -> None:
    settings = "mode: auto\ntrust: {start: auto, spot_check: 0.01}"
    async with at_work(write_desk(tmp_path, dovecot, smtp, more=settings)) as desk:
        for number in range(3):
            dovecot.deliver(SUPPORT, a_mail(number, From=f"Ann{number} <{CUSTOMER}>"))
        await until(lambda: len(dovecot.mails(CUSTOMER)) >= 2)  # one in a hundred is checked first
        answer = dovecot.mails(CUSTOMER)[0]
        await judged(desk, 2)
        dovecot.deliver(SUPPORT, a_bounce(str(answer["Message-ID"])))

        async def came_back() -> bool:
            return "bounced" in [str(one.judged) for one in await desk.trust.store.judgements("")]

        await until(came_back)
        assert (await desk.trust.standing("")).doubt > 0
