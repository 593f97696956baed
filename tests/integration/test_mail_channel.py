"""A mailbox on a real server: mail comes in, answers leave, once, whatever happens in between."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from deskhand.agents.replying import delivery
from deskhand.engine.decisions import decisions_for
from deskhand.errors import Conflict
from deskhand.model.queue import ReviewFilter
from deskhand.model.run import Decision, Review, ReviewKind, ReviewState, RunStatus, Verdict
from deskhand.wiring import Desk, check_channels, open_database, open_store, read_desk
from tests.forked import run_command
from tests.mail_desk import at_work, write_desk
from tests.mail_servers import (
    CUSTOMER,
    MISSING,
    PASSWORD,
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

    await telling_runs(desk, until(all_there))


async def telling_runs(desk: Desk, waiting: Awaitable[None]) -> None:
    """Wait; an error says how far the runs have come."""
    try:
        await waiting
    except TimeoutError as error:
        error.add_note(f"runs: {await desk.store.runs()}")
        error.add_note(f"reviews: {await desk.store.find_reviews(ReviewFilter())}")
        raise


async def open_review(desk: Desk) -> Review:
    found: list[Review] = []

    async def there() -> bool:
        found[:] = await desk.store.find_reviews(ReviewFilter(state=ReviewState.OPEN))
        return bool(found)

    await until(there)
    return found[0]


async def deskhand(*arguments: str) -> Any:
    """What a command answers, as JSON."""
    done = await asyncio.to_thread(run_command, *arguments)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def verdict(review: Review, decision: Decision) -> Verdict:
    return Verdict(decision, "eve", review.version, review.payload_hash)


# --- in and out


async def test_a_mail_is_answered_in_its_thread(
    tmp_path: Path, dovecot: Dovecot, smtp: SmtpServer
) -> None:
    async with at_work(write_desk(tmp_path, dovecot, smtp)) as desk:
        dovecot.deliver(SUPPORT, a_mail(1, References="<0@example.test>"))
        await until(lambda: len(dovecot.mails(CUSTOMER)) == 1)
        await until(lambda: len(dovecot.mails(SUPPORT, "Sent")) == 1)
        await at_rest(desk, RunStatus.SENT)
        run = (await desk.store.runs())[0]
    answer = dovecot.mails(CUSTOMER)[0]
    assert answer["From"] == f"Acme Support <{SUPPORT}>"
    assert answer["In-Reply-To"] == "<1@example.test>"
    assert answer["References"] == "<0@example.test> <1@example.test>"
    assert answer["Auto-Submitted"] == "auto-replied"
    assert answer["Message-ID"] == f"<{run.id}.1.0@acme.test>"
    assert answer.get_content().splitlines() == [
        "It is on its way.",
        "",
        "Acme",
        "",
        "On 2026-11-15 09:00, ann@example.test wrote:",
        "> Where is my parcel?",
    ]
    assert [mail["Message-ID"] for mail in dovecot.mails(SUPPORT, "Sent")] == [answer["Message-ID"]]


async def test_only_mail_after_the_first_connect_is_answered(
    tmp_path: Path, dovecot: Dovecot, smtp: SmtpServer
) -> None:
    dovecot.deliver(SUPPORT, a_mail("old"))
    desk_folder = write_desk(tmp_path, dovecot, smtp)
    async with at_work(desk_folder) as desk:
        dovecot.deliver(SUPPORT, a_mail("new"))
        await at_rest(desk, RunStatus.SENT)
    dovecot.deliver(SUPPORT, a_mail("later"))
    async with at_work(desk_folder) as desk:
        await at_rest(desk, RunStatus.SENT, 2)
        assert {mail["In-Reply-To"] for mail in dovecot.mails(CUSTOMER)} == {
            "<new@example.test>",
            "<later@example.test>",
        }


async def test_a_mail_that_comes_three_times_is_answered_once(
    tmp_path: Path, dovecot: Dovecot, smtp: SmtpServer
) -> None:
    async with at_work(write_desk(tmp_path, dovecot, smtp)) as desk:
        for _ in range(3):
            dovecot.deliver(SUPPORT, a_mail(1))
        dovecot.deliver(SUPPORT, a_mail(2))
        await at_rest(desk, RunStatus.SENT, 2)
        assert len(await desk.store.runs()) == 2
        assert len(dovecot.mails(CUSTOMER)) == 2


async def test_several_folders_are_read(tmp_path: Path, dovecot: Dovecot, smtp: SmtpServer) -> None:
    folder = write_desk(tmp_path, dovecot, smtp, imap_more="folders: [INBOX, Drafts]")
    async with at_work(folder) as desk:
        dovecot.deliver(SUPPORT, a_mail(1))
        dovecot.deliver(SUPPORT, a_mail(2), "Drafts")
        await at_rest(desk, RunStatus.SENT, 2)


async def test_the_mailbox_shows_what_became_of_a_mail(
    tmp_path: Path, dovecot: Dovecot, smtp: SmtpServer
) -> None:
    async with at_work(write_desk(tmp_path, dovecot, smtp)) as desk:
        dovecot.deliver(SUPPORT, a_mail(1))
        await at_rest(desk, RunStatus.SENT)
        await until(lambda: "$DeskhandDone" in dovecot.keywords(SUPPORT))


async def test_done_mail_can_move_to_a_folder(
    tmp_path: Path, dovecot: Dovecot, smtp: SmtpServer
) -> None:
    async with at_work(write_desk(tmp_path, dovecot, smtp, imap_more="state: folders")):
        dovecot.deliver(SUPPORT, a_mail(1))
        await until(lambda: len(dovecot.mails(SUPPORT, "Deskhand/Done")) == 1)
        await until(lambda: not dovecot.mails(SUPPORT))


async def test_a_server_that_cannot_tell_of_new_mail_is_asked(tmp_path: Path) -> None:
    dovecot = Dovecot(SUPPORT, CUSTOMER, plain=True)
    try:
        async with (
            smtp_server(dovecot, SUPPORT, CUSTOMER) as smtp,
            at_work(write_desk(tmp_path, dovecot, smtp, imap_more="poll: 1")) as desk,
        ):
            dovecot.deliver(SUPPORT, a_mail(1))
            await at_rest(desk, RunStatus.SENT)
            await until(lambda: len(dovecot.mails(SUPPORT, "Sent")) == 1)
            await until(lambda: len(dovecot.mails(SUPPORT)) == 1)  # copied first, then deleted
    finally:
        dovecot.remove()


@pytest.mark.slow
async def test_a_rebuilt_mailbox_is_neither_answered_again_nor_forgotten(
    tmp_path: Path, dovecot: Dovecot, smtp: SmtpServer
) -> None:
    dovecot.deliver(SUPPORT, a_mail("old"))
    desk_folder = write_desk(tmp_path, dovecot, smtp)
    async with at_work(desk_folder) as desk:
        for number in (1, 2):
            dovecot.deliver(SUPPORT, a_mail(number))
        await at_rest(desk, RunStatus.SENT, 2)
    dovecot.age(SUPPORT, "<old@example.test>", days=3)
    dovecot.deliver(SUPPORT, a_mail(3))
    dovecot.rebuild(SUPPORT)
    async with at_work(desk_folder) as desk:
        await at_rest(desk, RunStatus.SENT, 3)
        dovecot.deliver(SUPPORT, a_mail(4))
        await at_rest(desk, RunStatus.SENT, 4)
        assert len(await desk.store.runs()) == 4
    answered = sorted(str(mail["In-Reply-To"]) for mail in dovecot.mails(CUSTOMER))
    assert answered == [f"<{number}@example.test>" for number in (1, 2, 3, 4)]


# --- once


async def test_a_connection_that_breaks_after_the_mail_does_not_double_it(
    tmp_path: Path, dovecot: Dovecot, smtp: SmtpServer
) -> None:
    async with at_work(write_desk(tmp_path, dovecot, smtp)) as desk:
        smtp.drop_next = True
        dovecot.deliver(SUPPORT, a_mail(1))
        await at_rest(desk, RunStatus.SENT)
        assert len(dovecot.mails(CUSTOMER)) == 1
        assert len(smtp.sessions) == 1


async def asked_whether_it_left(desk: Desk) -> Review:
    """The question that a person gets once the copy is not looked for any more."""
    found: list[Review] = []

    async def there() -> bool:
        reviews = await desk.store.find_reviews(ReviewFilter(state=ReviewState.OPEN))
        found[:] = [
            review
            for review in reviews
            if review.kind is ReviewKind.DELIVERY and review.expires_at is None
        ]
        return bool(found)

    await telling_runs(desk, until(there))
    (review,) = found
    assert review.reason.startswith("It may have left.")
    assert review.payload["reply"]["text"] == "It is on its way."
    assert list(decisions_for(review)) == [
        Decision.LEFT,
        Decision.SEND_AGAIN,
        Decision.TAKE_OVER,
    ]
    return review


async def test_a_mail_cut_off_without_a_copy_to_ourselves_is_never_repeated(
    tmp_path: Path, dovecot: Dovecot, smtp: SmtpServer
) -> None:
    async with at_work(write_desk(tmp_path, dovecot, smtp)) as desk:
        smtp.refuse, smtp.drop_next = frozenset({SUPPORT}), True
        dovecot.deliver(SUPPORT, a_mail(1))
        review = await asked_whether_it_left(desk)
        assert len(dovecot.mails(CUSTOMER)) == 1, "it has left, though nothing shows it"
        await desk.store.decide(review.id, verdict(review, Decision.LEFT))
        await at_rest(desk, RunStatus.SENT)
        assert len(dovecot.mails(CUSTOMER)) == 1
        assert len(smtp.sessions) == 1


async def test_a_copy_that_comes_late_answers_whether_the_mail_left(
    tmp_path: Path, dovecot: Dovecot, smtp: SmtpServer
) -> None:
    async with at_work(write_desk(tmp_path, dovecot, smtp)) as desk:
        smtp.drop_next, smtp.slow_for = True, SUPPORT
        dovecot.deliver(SUPPORT, a_mail(1))
        review = await asked_whether_it_left(desk)
        smtp.deliver_slow_mail()
        await at_rest(desk, RunStatus.SENT)
        decided = await desk.store.review(review.id)
        assert (decided.decision, decided.decided_by) == (Decision.LEFT, "the mailbox")
        assert len(dovecot.mails(CUSTOMER)) == 1
        assert len(smtp.sessions) == 1


async def test_a_person_may_have_a_mail_sent_again_that_was_cut_off(
    tmp_path: Path, dovecot: Dovecot, smtp: SmtpServer
) -> None:
    async with at_work(write_desk(tmp_path, dovecot, smtp)) as desk:
        smtp.drop_next, smtp.dropped = True, 1
        dovecot.deliver(SUPPORT, a_mail(1))
        review = await asked_whether_it_left(desk)
        assert not dovecot.mails(CUSTOMER)
        await desk.store.decide(review.id, verdict(review, Decision.SEND_AGAIN))
        await at_rest(desk, RunStatus.SENT)
        assert len(dovecot.mails(CUSTOMER)) == 1
        assert len(smtp.sessions) == 2


async def test_a_mail_is_not_sent_again_whose_copy_came_before_somebody_said_so(
    tmp_path: Path, dovecot: Dovecot, smtp: SmtpServer
) -> None:
    folder = write_desk(tmp_path, dovecot, smtp)
    async with at_work(folder) as desk:
        smtp.drop_next, smtp.slow_for = True, SUPPORT
        dovecot.deliver(SUPPORT, a_mail(1))
        review = await asked_whether_it_left(desk)
    smtp.deliver_slow_mail()
    async with open_database(str(tmp_path / "desk.db")) as database:
        store = open_store(database, "mails")
        await store.decide(review.id, verdict(review, Decision.SEND_AGAIN))
    async with at_work(folder) as desk:
        await at_rest(desk, RunStatus.SENT)
        assert len(dovecot.mails(CUSTOMER)) == 1
        assert len(smtp.sessions) == 1


async def test_a_further_mail_does_not_withdraw_what_may_have_left(
    tmp_path: Path, dovecot: Dovecot, smtp: SmtpServer
) -> None:
    async with at_work(write_desk(tmp_path, dovecot, smtp)) as desk:
        smtp.refuse, smtp.drop_next = frozenset({SUPPORT}), True
        dovecot.deliver(SUPPORT, a_mail(1, proven=True))
        review = await asked_whether_it_left(desk)
        dovecot.deliver(SUPPORT, a_mail(2, proven=True, References="<1@example.test>"))
        await at_rest(desk, RunStatus.SENT)
        assert (await desk.store.review(review.id)).state is ReviewState.OPEN


@pytest.mark.slow
async def test_a_mail_server_that_stays_away_is_waited_for(
    tmp_path: Path, dovecot: Dovecot, smtp: SmtpServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delivery, "RETRY_AFTER", (0.1,) * 10)
    async with at_work(write_desk(tmp_path, dovecot, smtp)) as desk:
        smtp.busy = 5
        dovecot.deliver(SUPPORT, a_mail(1))
        await at_rest(desk, RunStatus.SENT)
        assert len(dovecot.mails(CUSTOMER)) == 1
        reviews = await desk.store.find_reviews()
        waited = [(review.payload["waits"], review.payload["attempt"]) for review in reviews]
        assert waited == [("retry", number) for number in range(1, 6)]
        assert "421 too busy; tried again after 0.1 s" in reviews[0].reason


async def test_without_a_copy_a_broken_connection_goes_to_a_person(
    tmp_path: Path, dovecot: Dovecot, smtp: SmtpServer
) -> None:
    async with at_work(write_desk(tmp_path, dovecot, smtp, smtp_more="sent_copy: append")) as desk:
        smtp.drop_next = True
        dovecot.deliver(SUPPORT, a_mail(1))
        review = await asked_whether_it_left(desk)
        assert "no copy would show it" in review.reason
        assert len(smtp.sessions) == 1


async def test_a_refused_recipient_goes_to_a_person(
    tmp_path: Path, dovecot: Dovecot, smtp: SmtpServer
) -> None:
    async with at_work(write_desk(tmp_path, dovecot, smtp)) as desk:
        smtp.refuse = frozenset({CUSTOMER})
        dovecot.deliver(SUPPORT, a_mail(1))
        await at_rest(desk, RunStatus.NEEDS_REVIEW)
        assert "550 5.1.1 no such user" in str((await desk.store.runs())[0].reason)


async def test_appended_copies_lie_in_sent(
    tmp_path: Path, dovecot: Dovecot, smtp: SmtpServer
) -> None:
    async with at_work(write_desk(tmp_path, dovecot, smtp, smtp_more="sent_copy: append")) as desk:
        dovecot.deliver(SUPPORT, a_mail(1))
        await at_rest(desk, RunStatus.SENT)
        assert len(dovecot.mails(SUPPORT, "Sent")) == 1
        assert len(dovecot.mails(SUPPORT)) == 1


# --- people


async def test_a_person_answering_in_a_mail_program_takes_over(
    tmp_path: Path, dovecot: Dovecot, smtp: SmtpServer
) -> None:
    async with at_work(write_desk(tmp_path, dovecot, smtp, more="mode: draft")) as desk:
        dovecot.deliver(SUPPORT, a_mail(1, proven=True))
        review = await open_review(desk)
        assert review.payload["waits"] == "draft"
        dovecot.deliver(SUPPORT, a_mail("p1", In_Reply_To="<1@example.test>", From=SUPPORT), "Sent")
        await at_rest(desk, RunStatus.DONE)
        assert (await desk.store.review(review.id)).state is ReviewState.STALE
        assert await desk.store.taken_over_by(review.conversation) is None, (
            "sending our draft is not taking over"
        )
        dovecot.deliver(SUPPORT, a_mail("p2", In_Reply_To="<1@example.test>", From=SUPPORT), "Sent")

        async def taken() -> bool:
            return SUPPORT in (await desk.store.taken_over_by(review.conversation) or "")

        await until(taken)
        dovecot.deliver(SUPPORT, a_mail(2, proven=True, References="<1@example.test>"))
        await at_rest(desk, RunStatus.NEEDS_REVIEW)


async def test_a_draft_waits_in_drafts_and_leaves_when_approved(
    tmp_path: Path, dovecot: Dovecot, smtp: SmtpServer
) -> None:
    async with at_work(write_desk(tmp_path, dovecot, smtp, more="mode: draft")) as desk:
        dovecot.deliver(SUPPORT, a_mail(1))
        review = await open_review(desk)
        assert [mail["In-Reply-To"] for mail in dovecot.mails(SUPPORT, "Drafts")] == [
            "<1@example.test>"
        ]
        assert not dovecot.mails(CUSTOMER)
        await desk.store.decide(review.id, verdict(review, Decision.APPROVE))
        await at_rest(desk, RunStatus.SENT)
        assert len(dovecot.mails(CUSTOMER)) == 1
        assert not dovecot.mails(SUPPORT, "Drafts")


async def test_in_shadow_mode_nothing_leaves(
    tmp_path: Path, dovecot: Dovecot, smtp: SmtpServer
) -> None:
    async with at_work(write_desk(tmp_path, dovecot, smtp, more="mode: shadow")) as desk:
        dovecot.deliver(SUPPORT, a_mail(1))
        await at_rest(desk, RunStatus.DONE)
        assert not smtp.sessions


async def test_a_reply_can_be_stopped_until_its_window_closes(
    tmp_path: Path, dovecot: Dovecot, smtp: SmtpServer
) -> None:
    desk_folder = write_desk(tmp_path, dovecot, smtp, undo=3600)
    async with at_work(desk_folder) as desk:
        dovecot.deliver(SUPPORT, a_mail(1))
        review = await open_review(desk)
        assert review.payload["waits"] == "undo"
    async with at_work(desk_folder) as desk:  # the window survives a restart
        held = await desk.store.hold_back(review.id, "eve")
        assert (held.state, held.expires_at, held.reason) == (
            ReviewState.OPEN,
            None,
            "held back by eve",
        )
        assert not await desk.store.expire_reviews(review.created_at + 7200)
        with pytest.raises(Conflict, match="does not leave by itself"):
            await desk.store.hold_back(review.id, "eve")
        await desk.store.decide(held.id, verdict(held, Decision.APPROVE))
        again = await open_review(desk)  # and may be stopped once more
        assert (again.id != held.id, again.payload["waits"]) == (True, "undo")
        await desk.store.decide(again.id, verdict(again, Decision.APPROVE))
        await at_rest(desk, RunStatus.SENT)
        assert len(dovecot.mails(CUSTOMER)) == 1


async def test_a_reply_leaves_by_itself_when_nobody_stops_it(
    tmp_path: Path, dovecot: Dovecot, smtp: SmtpServer
) -> None:
    async with at_work(write_desk(tmp_path, dovecot, smtp, undo=0.2)) as desk:
        dovecot.deliver(SUPPORT, a_mail(1))
        await at_rest(desk, RunStatus.SENT)
        review = (await desk.store.find_reviews())[0]
        assert review.state is ReviewState.EXPIRED
        with pytest.raises(Conflict, match="too late"):
            await desk.store.hold_back(review.id, "eve")


async def test_a_further_mail_in_the_window_pauses_the_send(
    tmp_path: Path, dovecot: Dovecot, smtp: SmtpServer
) -> None:
    async with at_work(write_desk(tmp_path, dovecot, smtp, undo=3600)) as desk:
        dovecot.deliver(SUPPORT, a_mail(1, proven=True))
        first = await open_review(desk)
        dovecot.deliver(SUPPORT, a_mail(2, proven=True, References="<1@example.test>"))
        await at_rest(desk, RunStatus.WAITING_REVIEW)
        await at_rest(desk, RunStatus.DONE)
        assert (await desk.store.review(first.id)).state is ReviewState.STALE
        assert not smtp.sessions


async def test_beyond_so_many_replies_an_hour_a_person_looks(
    tmp_path: Path, dovecot: Dovecot, smtp: SmtpServer
) -> None:
    async with at_work(
        write_desk(tmp_path, dovecot, smtp, more="limits: {replies_per_hour: 2}")
    ) as desk:
        for number in (1, 2, 3):
            dovecot.deliver(SUPPORT, a_mail(number, proven=True, References="<1@example.test>"))
        await at_rest(desk, RunStatus.SENT, 2)
        review = await open_review(desk)
        assert review.reason == "2 replies have left in this conversation within an hour"
        await desk.store.decide(review.id, verdict(review, Decision.APPROVE))
        await at_rest(desk, RunStatus.SENT, 3)


async def test_older_unread_mail_goes_to_review_on_request(
    tmp_path: Path, dovecot: Dovecot, smtp: SmtpServer
) -> None:
    dovecot.deliver(SUPPORT, a_mail("old"))
    desk_folder = write_desk(tmp_path, dovecot, smtp)
    command = (
        "mail",
        "backlog",
        str(desk_folder),
        "--database",
        str(tmp_path / "desk.db"),
        "--json",
    )
    async with at_work(desk_folder) as desk:
        listed = await deskhand(*command, "--dry-run")
        assert [one["subject"] for one in listed["mails"]] == ["My parcel"]
        assert not await desk.store.runs()
        await deskhand(*command)
        review = await open_review(desk)
        assert review.reason == "older mail, handed in on request: a person looks at every answer"
        assert not smtp.sessions


# --- programs


async def test_what_programs_send_is_not_answered_and_outdates_nothing(
    tmp_path: Path, dovecot: Dovecot, smtp: SmtpServer
) -> None:
    async with at_work(write_desk(tmp_path, dovecot, smtp, more="mode: draft")) as desk:
        dovecot.deliver(SUPPORT, a_mail(1, proven=True))
        review = await open_review(desk)
        earlier = "<1@example.test>"
        dovecot.deliver(
            SUPPORT, a_mail("away", proven=True, References=earlier, Auto_Submitted="auto-replied")
        )
        dovecot.deliver(
            SUPPORT, a_mail("list", proven=True, References=earlier, List_Id="<news.example.test>")
        )
        dovecot.deliver(SUPPORT, a_mail("own", From=f"Somebody <{SUPPORT}>"))
        await at_rest(desk, RunStatus.DONE, 3)
        reasons = {str(run.reason) for run in await desk.store.runs(status=RunStatus.DONE)}
        assert all(reason.startswith("not answered, a program sent it: ") for reason in reasons)
        assert len(reasons) == 3
        assert (await desk.store.review(review.id)).state is ReviewState.OPEN
        dovecot.deliver(SUPPORT, a_mail("maybe", Subject="Out of office: back on Monday"))
        await at_rest(desk, RunStatus.NEEDS_REVIEW)
        assert not smtp.sessions


async def test_a_bounce_comes_back_to_the_run_that_sent_and_to_a_person(
    tmp_path: Path, dovecot: Dovecot, smtp: SmtpServer
) -> None:
    async with at_work(write_desk(tmp_path, dovecot, smtp)) as desk:
        dovecot.deliver(SUPPORT, a_mail(1))
        await at_rest(desk, RunStatus.SENT)
        sent = (await desk.store.runs())[0]
        dovecot.deliver(SUPPORT, a_bounce(str(dovecot.mails(CUSTOMER)[0]["Message-ID"])))
        review = await open_review(desk)
        assert review.kind == "hand_over"
        words = f"a reply of ours did not reach {CUSTOMER}: 5.1.1 550 no such user"
        assert review.reason == f"{words} (run {sent.id})"
        bounced = await desk.store.run(sent.id)
        assert (bounced.status, bounced.reason) == (RunStatus.SENT, words)
        dovecot.deliver(SUPPORT, a_bounce("<run_0123456789abcdefghjk.1.0@acme.test>"))
        await at_rest(desk, RunStatus.DONE)
        assert len(smtp.sessions) == 1


# --- trouble


async def test_a_lost_connection_is_opened_again(
    tmp_path: Path, dovecot: Dovecot, smtp: SmtpServer
) -> None:
    async with at_work(write_desk(tmp_path, dovecot, smtp)) as desk:
        dovecot.stop()
        await until(lambda: desk.channels[0].health.state == "reconnecting")
        assert "localhost" in desk.channels[0].trouble
        dovecot.deliver(SUPPORT, a_mail(1))
        dovecot.start()
        await at_rest(desk, RunStatus.SENT)


async def test_a_channel_tells_what_is_wrong(
    tmp_path: Path, dovecot: Dovecot, smtp: SmtpServer
) -> None:
    folder = write_desk(tmp_path, dovecot, smtp)
    found = await check_channels(read_desk(str(folder)).spec)
    assert found == {"support": "localhost reads INBOX; localhost takes replies"}
    (folder / "secrets" / "imap").write_text("a wrong one")
    refused = str((await check_channels(read_desk(str(folder)).spec))["support"])
    assert refused == f"localhost:{dovecot.port} does not let {SUPPORT} in"
    (folder / "secrets" / "imap").unlink()
    assert "the secret cannot be read" in str(
        (await check_channels(read_desk(str(folder)).spec))["support"]
    )
    assert PASSWORD not in refused


async def test_two_processes_read_a_mailbox_one_at_a_time(
    tmp_path: Path, dovecot: Dovecot, smtp: SmtpServer
) -> None:
    from deskhand.errors import AlreadyServed
    from deskhand.wiring import channel_store, open_database

    async with (
        at_work(write_desk(tmp_path, dovecot, smtp)),
        open_database(str(tmp_path / "desk.db")) as database,
    ):
        with pytest.raises(AlreadyServed):
            await channel_store(database, "mails", "support", "another").acquire(15)


async def test_reviewers_get_one_digest_through_the_desks_own_mailbox(
    tmp_path: Path, dovecot: Dovecot, smtp: SmtpServer
) -> None:
    now = datetime.now(UTC)
    times = {
        (now + timedelta(minutes=minutes)).strftime('"%H:%M"') for minutes in (0, 1)
    }  # it may turn meanwhile
    digest = f"{{channel: support, to: [{CUSTOMER}], at: [{', '.join(sorted(times))}]}}"
    more = f"mode: draft\nreviews: {{notify: {{digest: {digest}}}}}"
    async with at_work(write_desk(tmp_path, dovecot, smtp, more=more)) as desk:
        dovecot.deliver(SUPPORT, a_mail(1))
        await open_review(desk)
        await until(lambda: len(dovecot.mails(CUSTOMER)) >= 1)
        assert "1 waiting for approval at mails" in str(dovecot.mails(CUSTOMER)[0])
    async with at_work(
        tmp_path / "desk"
    ) as desk:  # the copy to ourselves is no message, and a restart sends no other
        assert len(await desk.store.runs()) == 1
    assert 1 <= len(dovecot.mails(CUSTOMER)) <= len(times)
