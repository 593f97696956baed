"""Where answers go: to whom the message proves, and to nobody else before a person has looked."""

import asyncio
import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest

from deskhand.errors import Conflict
from deskhand.model.causes import Cause
from deskhand.model.principal import PrincipalKind
from deskhand.model.queue import ReviewFilter
from deskhand.model.run import Decision, Review, ReviewState, Run, RunStatus, Verdict
from deskhand.wiring import Desk
from tests.forked import run_command
from tests.mail_desk import at_work
from tests.waiting import until

OWN = "support@acme.example"
DESK = """
desk: shop
mode: auto
brain: {scripted: brain.yaml}
undo_seconds: 0
mail:
  trusted_servers: [mx.acme.example]
  forwarders: [notify@helpdesk.example, form@listed.example]
channels: {try: {files: ../mail, identity: Acme Support <support@acme.example>, signature: Acme}}
routing:
  rules:
    - {name: helpdesk, match: {forwarded_from: notify@helpdesk.example}, preprocess: crisp}
    - {name: all, match: {all: true}}
flows:
  answer:
    stages:
      draft: {task: draft, next: dispatch}
      dispatch: {service: dispatch}
"""
BRAIN = "rules:\n  - answer: {text: It is on its way., language: en}\n"


def a_mail(body: str = "Where is my parcel?", *, proven: bool = True, **headers: str) -> bytes:
    mail = EmailMessage()
    sender = headers.setdefault("From", "Ann <ann@customer.example>")
    domain = sender.rpartition("@")[2].strip(">")
    if proven:
        mail["Authentication-Results"] = f"mx.acme.example; dmarc=pass header.from={domain}"
    fields = {"To": OWN, "Subject": "Parcel", "Message_ID": "<1@customer.example>", **headers}
    for name, value in fields.items():
        mail[name.replace("_", "-")] = value
    mail["Date"] = "Sun, 15 Nov 2026 09:00:00 +0000"
    mail.set_content(body)
    return mail.as_bytes(policy=policy.SMTP)


@asynccontextmanager
async def worked(folder: Path, *mails: bytes) -> AsyncIterator[tuple[Desk, list[Run]]]:
    """The desk once it has worked these mails, with their runs."""
    (folder / "mail").mkdir()
    for number, raw in enumerate(mails):
        file = folder / "mail" / f"{number}.eml"
        file.write_bytes(raw)
        os.utime(file, (time.time() - 60, time.time() - 60))
    desk_folder = folder / "desk"
    desk_folder.mkdir()
    (desk_folder / "desk.yaml").write_text(DESK)
    (desk_folder / "brain.yaml").write_text(BRAIN)
    async with at_work(desk_folder) as desk:

        async def rested() -> bool:
            runs = await desk.store.runs()
            return len(runs) == len(mails) and not any(run.status.is_active for run in runs)

        await until(rested)
        yield desk, list(reversed(await desk.store.runs()))


async def waiting(desk: Desk) -> Review:
    [review] = await desk.store.find_reviews(ReviewFilter(state=ReviewState.OPEN))
    return review


async def decide(desk: Desk, review: Review, decision: Decision, **edit: Any) -> Run:
    """The run once the decision has been carried out."""
    verdict = Verdict(decision, "ida", review.version, review.payload_hash, edit=edit or None)
    await desk.store.decide(review.id, verdict)
    desk.dispatcher.wake()
    await desk.dispatcher.wait(review.run_id)
    return await desk.store.run(review.run_id)


def left(folder: Path) -> list[EmailMessage]:
    """Mails that have left, as a mail program reads them."""
    files = sorted((folder / "outbox").glob("*.eml"))
    return [message_from_bytes(file.read_bytes(), policy=policy.default) for file in files]


# --- contact forms


async def test_a_contact_form_is_a_customers_mail_and_its_reply_to_proves_nobody(
    tmp_path: Path,
) -> None:
    form = a_mail(From="Shop <noreply-form@web.example>", Reply_To="Carla <carla@person.example>")
    async with worked(tmp_path, form) as (desk, [run]):
        message = await desk.store.message(run.id)
        assert message is not None
        assert message.principal.kind is PrincipalKind.ANONYMOUS
        assert run.status is RunStatus.WAITING_REVIEW
        review = await waiting(desk)
        assert Cause.RECIPIENT in review.causes
        for address in ("noreply-form@web.example", "carla@person.example"):
            assert address in review.reason
        assert left(tmp_path) == []
        assert (await decide(desk, review, Decision.APPROVE)).status is RunStatus.SENT
    [mail] = left(tmp_path)
    assert (mail["To"], mail["Cc"]) == ("carla@person.example", None)


async def test_two_customers_of_one_form_never_share_a_conversation(tmp_path: Path) -> None:
    def of(number: int, sender: str, customer: str) -> bytes:
        return a_mail(
            From=sender,
            Reply_To=customer,
            Subject="Message from the website",
            Message_ID=f"<{number}@web.example>",
        )

    forms = [
        of(1, "web@web.example", "carla@person.example"),
        of(2, "web@web.example", "dan@person.example"),
        of(3, "noreply@web.example", "carla@person.example"),
        of(4, "noreply@web.example", "dan@person.example"),
    ]
    async with worked(tmp_path, *forms) as (_, runs):
        assert len({run.conversation for run in runs}) == 4


async def test_a_listed_form_is_answered_at_the_customer_it_names(tmp_path: Path) -> None:
    form = a_mail(From="form@listed.example", Reply_To="Carla <carla@person.example>")
    async with worked(tmp_path, form) as (desk, [run]):
        assert run.status is RunStatus.SENT
        message = await desk.store.message(run.id)
        assert message is not None
        assert message.principal.kind is PrincipalKind.FORWARDED
        assert not message.principal.may_act
    assert [mail["To"] for mail in left(tmp_path)] == ["carla@person.example"]


# --- helpdesks

CRISP = "New message from Tom Barker (tom@person.example):\n\nCan I get Voltaren?\n\nSent via Crisp"


@pytest.mark.parametrize(
    ("body", "proven", "suggested", "why"),
    [
        (CRISP, False, "tom@person.example", "the receiving server did not check the sender"),
        ("Some new template\n\nHello", True, "", "no customer's address"),
    ],
)
async def test_a_helpdesk_mail_without_a_sure_customer_waits_and_never_goes_back_to_it(
    tmp_path: Path, body: str, proven: bool, suggested: str, why: str
) -> None:
    mail = a_mail(body, From="Crisp <notify@helpdesk.example>", proven=proven)
    async with worked(tmp_path, mail) as (desk, [run]):
        assert run.status is RunStatus.WAITING_REVIEW
        review = await waiting(desk)
        assert why in review.reason
        assert review.payload["reply"]["to"] == suggested
        if not suggested:
            with pytest.raises(Conflict, match="whom this reply goes to"):
                await decide(desk, review, Decision.APPROVE)
        back = await decide(desk, review, Decision.EDIT, text="Hello", to="notify@helpdesk.example")
        assert back.status is RunStatus.NEEDS_REVIEW
        assert "no customer reads notify@helpdesk.example" in (back.reason or "")
        assert left(tmp_path) == []
        answer = await decide(
            desk, await waiting(desk), Decision.ANSWER, text="Hello Tom", to="tom@person.example"
        )
        assert answer.status is RunStatus.SENT
    assert [mail["To"] for mail in left(tmp_path)] == ["tom@person.example"]


async def test_a_helpdesks_no_reply_mail_does_not_vanish(tmp_path: Path) -> None:
    mail = a_mail("Weekly report", From="no-reply@crisp.chat", X_Mailer="Crisp", proven=False)
    listed = a_mail(
        "Something new",
        From="notify@helpdesk.example",
        Precedence="bulk",
        Message_ID="<2@x.example>",
    )
    async with worked(tmp_path, mail, listed) as (_, [unlisted, passed_on]):
        assert unlisted.was_screened_out, "nobody listed it, and it names no customer"
        assert passed_on.status is RunStatus.WAITING_REVIEW


# --- Reply-To and Cc


@pytest.mark.parametrize(
    ("headers", "to", "cc"),
    [
        ({"Reply_To": "office@customer.example"}, "office@customer.example", None),
        ({"Cc": "bob@customer.example"}, "ann@customer.example", "bob@customer.example"),
        ({"Reply_To": OWN, "Cc": f"{OWN}, noreply@customer.example"}, "ann@customer.example", None),
        ({"Reply_To": "Ann <Ann@customer.example>"}, "ann@customer.example", None),
    ],
)
async def test_answers_go_by_themselves_to_the_proven_senders_own_domain(
    tmp_path: Path, headers: dict[str, str], to: str, cc: str | None
) -> None:
    async with worked(tmp_path, a_mail(proven=True, **headers)) as (_, [run]):
        assert run.status is RunStatus.SENT
    [mail] = left(tmp_path)
    assert (mail["To"], mail["Cc"]) == (to, cc)


@pytest.mark.parametrize(
    ("headers", "proven", "shown"),
    [
        ({"Reply_To": "ann@elsewhere.example"}, True, "another domain"),
        ({"Cc": "bob@elsewhere.example"}, True, "another domain"),
        ({"Cc": "bob@sub.customer.example"}, True, "another domain"),
        ({"Reply_To": "office@customer.example"}, False, "nobody has proven who wrote"),
        ({"Cc": "bob@customer.example"}, False, "nobody has proven who wrote"),
    ],
)
async def test_nothing_leaves_by_itself_to_another_domain(
    tmp_path: Path, headers: dict[str, str], proven: bool, shown: str
) -> None:
    [asked] = headers.values()
    async with worked(tmp_path, a_mail(proven=proven, **headers)) as (desk, [run]):
        assert run.status is RunStatus.WAITING_REVIEW
        review = await waiting(desk)
        assert all(words in review.reason for words in (shown, asked, "ann@customer.example"))
        only_ann = {"to": "ann@customer.example", "cc": []}
        edited = await decide(desk, review, Decision.EDIT, text="Hello Ann", **only_ann)
        assert edited.status is RunStatus.SENT
    [mail] = left(tmp_path)
    assert (mail["To"], mail["Cc"]) == ("ann@customer.example", None)


@pytest.mark.parametrize(
    "edit", [{"to": "no address"}, {"to": "a@b.cz, c@d.cz"}, {"cc": ["nobody"]}, {"cc": "a@b.cz"}]
)
async def test_a_reviewer_is_told_of_what_is_no_address(
    tmp_path: Path, edit: dict[str, Any]
) -> None:
    async with worked(tmp_path, a_mail(Cc="bob@elsewhere.example")) as (desk, _):
        with pytest.raises(Conflict, match="address"):
            await decide(desk, await waiting(desk), Decision.EDIT, text="Hello", **edit)


async def test_the_command_line_shows_the_addresses_and_changes_them(tmp_path: Path) -> None:
    asked = {"Reply_To": "office@elsewhere.example", "Cc": "bob@elsewhere.example"}
    async with worked(tmp_path, a_mail(proven=True, **asked)) as (desk, _):
        review = await waiting(desk)

        async def deskhand(*arguments: str) -> str:
            place = ("--desk", "shop", "--database", str(tmp_path / "desk.db"))
            done = await asyncio.to_thread(run_command, "reviews", *arguments, *place)
            assert done.returncode == 0, done.stderr
            return done.stdout

        shown = await deskhand("show", review.id)
        for address in ("ann@customer.example", *asked.values()):
            assert address in shown
        await deskhand("edit", review.id, "--to", "ann@customer.example", "--cc", "")
        desk.dispatcher.wake()
        await desk.dispatcher.wait(review.run_id)
    [mail] = left(tmp_path)
    assert (mail["To"], mail["Cc"]) == ("ann@customer.example", None)


# --- what the mail looks like


async def test_a_reply_of_the_files_channel_has_identity_thread_and_original(
    tmp_path: Path,
) -> None:
    original = a_mail(
        "Where is it?\n\nSee https://evil.example/x", References="<0@customer.example>"
    )
    forged = a_mail(
        "Where is it?\n\nSee https://evil.example/x", proven=False, Message_ID="<2@x.example>"
    )
    async with worked(tmp_path, original, forged) as (_, runs):
        assert [run.status for run in runs] == [RunStatus.SENT] * 2
    mail, to_unproven = left(tmp_path)
    assert mail["From"] == "Acme Support <support@acme.example>"
    assert mail["In-Reply-To"] == "<1@customer.example>"
    assert mail["References"] == "<0@customer.example> <1@customer.example>"
    assert mail.get_content().splitlines() == [
        "It is on its way.",
        "",
        "Acme",
        "",
        "On 2026-11-15 09:00, Ann <ann@customer.example> wrote:",
        "> Where is it?",
        ">",
        "> See https://evil.example/x",
    ]
    assert to_unproven.get_content().splitlines()[-1] == "> See […]", (
        "who forges a sender cannot have us send him a link"
    )


async def test_only_what_no_person_approved_says_that_a_program_sent_it(tmp_path: Path) -> None:
    alone = a_mail()
    looked_at = a_mail(Cc="bob@elsewhere.example", Message_ID="<2@customer.example>", Subject="Cup")
    async with worked(tmp_path, alone, looked_at) as (desk, _):
        [by_itself] = left(tmp_path)
        await decide(desk, await waiting(desk), Decision.APPROVE)
        [approved] = [mail for mail in left(tmp_path) if mail["Subject"] == "Re: Cup"]
    assert by_itself["Auto-Submitted"] == "auto-replied"
    assert (approved["Auto-Submitted"], approved["X-Auto-Response-Suppress"]) == (None, None)
