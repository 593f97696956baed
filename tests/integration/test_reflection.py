"""Who forges a sender chooses who gets our reply: he must not choose what it says as well."""

import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, closing
from datetime import UTC, datetime
from email import message_from_bytes
from email.policy import default
from pathlib import Path
from typing import Any

import pytest

from deskhand.adapters.channels.outgoing_mail import OutgoingMail, compose
from deskhand.model.causes import Cause
from deskhand.model.message import Address, Message, Reply
from deskhand.model.principal import Principal, PrincipalKind
from deskhand.model.queue import ReviewFilter
from deskhand.model.run import Decision, Review, ReviewKind, ReviewState, RunStatus, Verdict
from deskhand.wiring import Desk, open_database, open_desk, read_desk

PROVEN = Principal(kind=PrincipalKind.SENDER, address="ann@example.com", how="DKIM of example.com")
SCAM = "Call +1 900 555 0100"
DESK = """\
desk: shop
mode: auto
brain: BRAIN
MORE
plans:
  question: {reply: "You may send things back within 30 days. Our number is 222 333 444."}
flows:
  answer:
    stages:
      classify: {task: classify, categories: [question, other], output: classification, next: draft}
      draft: {task: draft, next: dispatch}
      dispatch: {service: dispatch}
"""
SCRIPT = """\
rules:
  - {when: {task: classify}, answer: {category: question, confidence: 0.9}}
  - {answer: {language: en, text: "WORDS"}}
"""
Open = Callable[..., AbstractAsyncContextManager[Desk]]


@pytest.fixture
def opened(tmp_path: Path) -> Open:
    @asynccontextmanager
    async def run(words: str, more: str = "") -> AsyncIterator[Desk]:
        folder = tmp_path / "desk"
        folder.mkdir()
        text = DESK.replace("BRAIN", "{scripted: brain.yaml}").replace("MORE", more)
        (folder / "desk.yaml").write_text(text)
        (folder / "brain.yaml").write_text(SCRIPT.replace("WORDS", words))
        async with (
            open_database(str(tmp_path / "desk.db")) as database,
            open_desk(read_desk(str(folder)), database, outbox=tmp_path / "outbox") as desk,
        ):
            yield desk

    return run


def mail(number: int = 1, **fields: Any) -> Message:
    given = {
        "id": f"m{number}",
        "conversation": f"c{number}",
        "sender": Address(address="ann@example.com", name=SCAM),
        "subject": "Returns",
        "body": "May I send it back?",
        "received_at": datetime(2026, 11, 16, tzinfo=UTC),
    }
    return Message(**{**given, **fields})


async def worked(desk: Desk, message: Message) -> RunStatus:
    accepted = await desk.dispatcher.submit(message)
    return await desk.dispatcher.wait(accepted.run_id)


async def the_review(desk: Desk) -> Review:
    [review] = await desk.store.find_reviews(ReviewFilter(state=ReviewState.OPEN))
    return review


def sent(folder: Path) -> list[str]:
    files = sorted((folder / "outbox").glob("*.eml"))
    mails = [message_from_bytes(file.read_bytes(), policy=default) for file in files]
    return [mail.get_content() for mail in mails]


async def test_an_unproven_name_is_not_given_to_templates(opened: Open, tmp_path: Path) -> None:
    words = "Hello {{ inputs.message.sender.name or 'there' }}, you may."
    async with opened(words) as desk:
        named = mail(sender=Address(address="ann@example.com", name="Visit Evil Shop Today"))
        assert await worked(desk, named) is RunStatus.SENT
        assert await worked(desk, mail(2, principal=PROVEN, sender=named.sender)) is RunStatus.SENT
    assert [text.splitlines()[0] for text in sent(tmp_path)] == [
        "Hello there, you may.",
        "Hello Visit Evil Shop Today, you may.",
    ]


@pytest.mark.parametrize(
    ("name", "body", "words"),
    [
        ("Visit Evil Shop", "May I?", "Hello, Visit Evil Shop asked this before."),
        ("Novák", "May I?", "Dobrý den, pane Nováku, můžete."),
        ("", "May I send it back?\n\nKind regards,\nVisit Evil Shop", "Dear Visit, you may."),
        ("", "May I send it back?\nEvilia Shopper", "You may, Evilia Shopper."),
    ],
)
async def test_a_reply_that_repeats_an_unproven_name_waits_for_a_person(
    opened: Open, tmp_path: Path, name: str, body: str, words: str
) -> None:
    sender = Address(address="ann@example.com", name=name)
    backwards = f"{{{{ '{words[::-1]}'[::-1] }}}}"  # or it would be the desk's own text
    async with opened(backwards) as desk:
        assert await worked(desk, mail(sender=sender, body=body)) is RunStatus.WAITING_REVIEW
        review = await the_review(desk)
        assert (review.kind, review.causes) == (ReviewKind.REPLY, (Cause.OUTGOING_CONTENT,))
        assert "nobody has proven who wrote" in review.reason
        assert await worked(desk, mail(2, sender=sender, body=body, principal=PROVEN)) is (
            RunStatus.SENT
        )
        await desk.store.decide(
            review.id, Verdict(Decision.APPROVE, "eve", review.version, review.payload_hash)
        )
        desk.dispatcher.wake()
        assert await desk.dispatcher.wait(review.run_id) is RunStatus.SENT


async def test_a_telephone_number_that_nobody_listed_waits_for_a_person(
    opened: Open, tmp_path: Path
) -> None:
    async with opened("You wrote: {{ text }}") as desk:
        assert await worked(desk, mail(body="Ring +1 900 555 0100")) is RunStatus.WAITING_REVIEW
        assert "+1 900 555 0100" in (await the_review(desk)).reason
        own = mail(2, body="Is 222 333 444 your number?")
        assert await worked(desk, own) is RunStatus.SENT  # it stands in desk.yaml


async def test_a_listed_number_passes(opened: Open) -> None:
    async with opened("You wrote: {{ text }}", "outgoing: {phones: [+1 900 555 0100]}") as desk:
        assert await worked(desk, mail(body="Ring +1 900 555 0100")) is RunStatus.SENT


@pytest.mark.parametrize(
    ("limit", "principal", "words"),
    [
        ("{to_unproven: 2}", Principal(), "2 sends to unproven senders"),
        ("{in_all: 2}", PROVEN, "2 sends"),
    ],
)
async def test_more_replies_than_a_day_has_wait_for_a_person(
    opened: Open, tmp_path: Path, limit: str, principal: Principal, words: str
) -> None:
    async with opened("You may.", f"limits: {{replies_per_day: {limit}}}") as desk:
        for number in (1, 2):
            assert await worked(desk, mail(number, principal=principal)) is RunStatus.SENT
        assert await worked(desk, mail(3, principal=principal)) is RunStatus.WAITING_REVIEW
        review = await the_review(desk)
        assert (review.kind, review.causes) == (ReviewKind.REPLY, (Cause.BUDGET,))
        assert words in review.reason
        await desk.store.decide(
            review.id, Verdict(Decision.APPROVE, "eve", review.version, review.payload_hash)
        )
        desk.dispatcher.wake()
        assert await desk.dispatcher.wait(review.run_id) is RunStatus.SENT
    assert len(sent(tmp_path)) == 3


@pytest.mark.parametrize(
    ("principal", "most", "words"),
    [
        (Principal(), 200, "200 sends to unproven senders"),
        (PROVEN, 1000, "1000 sends"),
    ],
)
async def test_a_desk_that_says_nothing_of_it_has_caps(
    opened: Open, tmp_path: Path, principal: Principal, most: int, words: str
) -> None:
    """One reply leaves, and the day counts on as if it had been all but one of what may."""
    async with opened("You may.") as desk:
        assert await worked(desk, mail(1, principal=principal)) is RunStatus.SENT
        with closing(sqlite3.connect(tmp_path / "desk.db", timeout=30)) as database, database:
            counted = "UPDATE totals SET amount = ? WHERE scope = 'day' AND amount = 1"
            assert database.execute(counted, (most - 1,)).rowcount
        assert await worked(desk, mail(2, principal=principal)) is RunStatus.SENT
        assert await worked(desk, mail(3, principal=principal)) is RunStatus.WAITING_REVIEW
        assert words in (await the_review(desk)).reason


async def test_the_cap_for_the_unproven_leaves_proven_customers_alone(opened: Open) -> None:
    async with opened("You may.", "limits: {replies_per_day: {to_unproven: 0}}") as desk:
        assert await worked(desk, mail(1)) is RunStatus.WAITING_REVIEW
        assert await worked(desk, mail(2, principal=PROVEN)) is RunStatus.SENT


async def test_the_original_below_a_reply_has_neither_name_nor_number(tmp_path: Path) -> None:
    (tmp_path / "desk.yaml").write_text(
        DESK.replace("BRAIN", "{scripted: brain.yaml}").replace(
            "MORE", "channels: {box: {files: mail, identity: desk@acme.example}}"
        )
    )
    (tmp_path / "brain.yaml").write_text(SCRIPT)
    channel = read_desk(str(tmp_path)).spec.channels["box"]
    message = mail(body="Ring +1 900 555 0100 or see http://evil.example/x")
    reply = Reply.to_message(message, "You may.")

    def text_of(principal: Principal) -> str:
        answered = message.changed(principal=principal)
        raw = compose(OutgoingMail(reply, "r1.1.0", answered), channel)
        return str(message_from_bytes(raw, policy=default).get_content())

    assert "900" not in text_of(Principal())
    assert "evil.example" not in text_of(Principal())
    assert "ann@example.com wrote" in text_of(Principal())
    assert "+1 900 555 0100" in text_of(PROVEN)
