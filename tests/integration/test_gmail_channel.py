"""A Gmail mailbox, as far as its documentation goes: a local server speaks the shapes that
Google describes."""

import time
from collections.abc import AsyncIterator
from email import policy
from email.parser import BytesParser
from pathlib import Path

import pytest

from deskhand.adapters.channels import gmail_channel as gmail_module
from deskhand.adapters.channels.claim_places import LABEL
from deskhand.adapters.channels.mailbox_claim import read_claim
from deskhand.model.queue import ReviewFilter
from deskhand.model.run import Decision, Review, ReviewKind, ReviewState, RunStatus, Verdict
from deskhand.wiring import Desk, check_channels, read_desk
from tests.fake_gmail import FakeGmail, fake_gmail
from tests.mail_desk import at_work, refused
from tests.mail_servers import SUPPORT, a_mail
from tests.waiting import until

DESK = """
desk: mails
brain: {{scripted: brain.yaml}}
undo_seconds: 0
mode: {mode}
channels:
  support:
    gmail:
      base_url: {url}
      poll: 0.1
      oauth:
        token_url: {url}/token
        client_id: a-client
        client_secret_file: secrets/client
        refresh_token_file: secrets/refresh
    identity: Acme Support <support@acme.test>
flows:
  answer:
    stages:
      draft: {{task: draft, next: dispatch}}
      dispatch: {{service: dispatch}}
"""


@pytest.fixture
async def gmail(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[FakeGmail]:
    monkeypatch.setattr(gmail_module, "_FOUND_WITHIN", 0.5)
    async with fake_gmail() as server:
        yield server


def desk_for(folder: Path, gmail: FakeGmail, mode: str = "auto") -> Path:
    desk = folder / "desk"
    (desk / "secrets").mkdir(parents=True, exist_ok=True)
    (desk / "secrets" / "client").write_text("client-secret")
    (desk / "secrets" / "refresh").write_text("refresh-1\n")
    (desk / "brain.yaml").write_text(
        "rules:\n  - answer: {text: It is on its way., language: en}\n"
    )
    (desk / "desk.yaml").write_text(DESK.format(url=gmail.url, mode=mode))
    return desk


async def at_rest(desk: Desk, status: RunStatus, count: int = 1) -> None:
    async def all_there() -> bool:
        return len(await desk.store.runs(status=status)) == count

    await until(all_there)


async def test_new_mail_is_answered_and_labelled_and_old_mail_is_left_alone(
    tmp_path: Path, gmail: FakeGmail
) -> None:
    old = gmail.arrive(a_mail("old"), "INBOX")
    async with at_work(desk_for(tmp_path, gmail)) as desk:
        new = [gmail.arrive(a_mail(number), "INBOX", "UNREAD") for number in range(5)]
        gmail.arrive(a_mail("spam"), "SPAM")
        await at_rest(desk, RunStatus.SENT, 5)
        await until(lambda: len(gmail.with_label(gmail.label("Deskhand/Done"))) == 5)
        assert len(await desk.store.runs()) == 5
    assert gmail.mails[old].labels == {"INBOX"}
    sent = [
        BytesParser(policy=policy.default).parsebytes(mail.raw) for mail in gmail.with_label("SENT")
    ]
    asked = {f"<{number}@example.test>" for number in range(5)}
    assert {mail["In-Reply-To"] for mail in sent} == asked
    done = gmail.label("Deskhand/Done")
    assert all(done in gmail.mails[one].labels for one in new)


async def test_what_the_history_no_longer_holds_is_found_by_time(
    tmp_path: Path, gmail: FakeGmail
) -> None:
    folder = desk_for(tmp_path, gmail)
    async with at_work(folder) as desk:
        gmail.arrive(a_mail(1), "INBOX", at=time.time())
        await at_rest(desk, RunStatus.SENT)
    gmail.arrive(a_mail(2), "INBOX", at=time.time())
    gmail.oldest_history = gmail.history + 1
    async with at_work(folder) as desk:
        await at_rest(desk, RunStatus.SENT, 2)
        assert len(gmail.with_label("SENT")) == 2


@pytest.mark.parametrize("fault", ["after", "busy"])
async def test_a_send_that_fails_neither_loses_nor_doubles(
    tmp_path: Path, gmail: FakeGmail, fault: str
) -> None:
    async with at_work(desk_for(tmp_path, gmail)) as desk:
        gmail.fail_sends = [fault]
        gmail.arrive(a_mail(1), "INBOX")
        await at_rest(desk, RunStatus.SENT)
        assert len(gmail.with_label("SENT")) == 1


async def test_a_send_that_may_have_worked_is_not_repeated_without_a_person(
    tmp_path: Path, gmail: FakeGmail
) -> None:
    async with at_work(desk_for(tmp_path, gmail)) as desk:
        gmail.fail_sends = ["before"]
        gmail.arrive(a_mail(1), "INBOX")
        found: list[Review] = []

        async def asked() -> bool:
            open_ones = await desk.store.find_reviews(ReviewFilter(state=ReviewState.OPEN))
            found[:] = [review for review in open_ones if review.expires_at is None]
            return bool(found)

        await until(asked)
        (review,) = found
        assert (review.kind, gmail.with_label("SENT")) == (ReviewKind.DELIVERY, [])
        verdict = Verdict(Decision.SEND_AGAIN, "eve", review.version, review.payload_hash)
        await desk.store.decide(review.id, verdict)
        await at_rest(desk, RunStatus.SENT)
        assert len(gmail.with_label("SENT")) == 1


async def test_a_draft_is_kept_and_sending_it_by_hand_ends_the_run(
    tmp_path: Path, gmail: FakeGmail
) -> None:
    async with at_work(desk_for(tmp_path, gmail, "draft")) as desk:
        gmail.arrive(a_mail(1), "INBOX")
        await until(lambda: len(gmail.with_label("DRAFT")) == 1)
        await at_rest(desk, RunStatus.WAITING_REVIEW)
        gmail.arrive(a_mail("p", In_Reply_To="<1@example.test>", From=SUPPORT), "SENT")
        await at_rest(desk, RunStatus.DONE)
        assert not await desk.store.find_reviews(ReviewFilter(state=ReviewState.OPEN))


async def test_an_access_token_that_ended_is_renewed(tmp_path: Path, gmail: FakeGmail) -> None:
    async with at_work(desk_for(tmp_path, gmail)) as desk:
        gmail.tokens = {"another"}
        gmail.arrive(a_mail(1), "INBOX")
        await at_rest(desk, RunStatus.SENT)


async def test_the_doctor_says_when_the_refresh_token_is_refused(
    tmp_path: Path, gmail: FakeGmail
) -> None:
    folder = desk_for(tmp_path, gmail)
    assert await check_channels(read_desk(str(folder)).spec) == {
        "support": "Gmail mailbox support@acme.test"
    }
    gmail.refresh_tokens.clear()
    refused = str((await check_channels(read_desk(str(folder)).spec))["support"])
    assert refused == f"{gmail.url}/token gave no token: invalid_grant"


async def test_a_mailbox_is_claimed_with_a_label_that_a_second_installation_respects(
    tmp_path: Path, gmail: FakeGmail
) -> None:
    desk = desk_for(tmp_path, gmail)
    async with at_work(desk), refused(desk, tmp_path / "second.db") as second:
        assert "works INBOX since" in second.channels[0].health.detail
        (label,) = [name for name in gmail.labels.values() if name.startswith(LABEL)]

    claim = read_claim("", label.removeprefix(LABEL))
    assert claim is not None
    assert claim.watched == "INBOX"
