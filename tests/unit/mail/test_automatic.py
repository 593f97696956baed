"""Mail that no person sent is recognised, with the reason; a person's mail is not."""

from datetime import UTC, datetime
from email.message import EmailMessage
from email.mime.base import MIMEBase
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText

import pytest

from deskhand.mail import parse
from deskhand.mail.automatic import AutomaticKind, automatic, bounce, own_marks
from deskhand.model.message import Address, Message
from deskhand.model.principal import Principal, PrincipalKind


def mail(*headers: str, sender: str = "ann@example.com", subject: str = "Teapot") -> Message:
    lines = [f"From: {sender}", f"Subject: {subject}", "Message-ID: <one@example.com>", *headers]
    return parse("\r\n".join([*lines, "", "Hello"]).encode())


@pytest.mark.parametrize(
    ("header", "kind"),
    [
        ("Auto-Submitted: auto-replied", AutomaticKind.AUTO_REPLY),
        ("Auto-Submitted: auto-generated; owner-email=x", AutomaticKind.AUTO_REPLY),
        ("X-Autoreply: yes", AutomaticKind.AUTO_REPLY),
        ("Precedence: auto_reply", AutomaticKind.AUTO_REPLY),
        ("Precedence: bulk", AutomaticKind.LIST),
        ("List-Id: <news.example.com>", AutomaticKind.LIST),
        ("List-Unsubscribe: <mailto:x@example.com>", AutomaticKind.LIST),
        ("X-Auto-Response-Suppress: OOF, AutoReply", AutomaticKind.SUPPRESSED),
        ("Return-Path: <>", AutomaticKind.BOUNCE),
        ("X-Failed-Recipients: bob@example.com", AutomaticKind.BOUNCE),
        (
            "Content-Type: multipart/report; report-type=feedback-report; boundary=x",
            AutomaticKind.REPORT,
        ),
        ("X-Deskhand: run_1", AutomaticKind.OWN),
    ],
)
def test_headers_that_say_so(header: str, kind: AutomaticKind) -> None:
    found = automatic(mail(header))
    assert found is not None
    assert (found.kind, found.certain) == (kind, True)
    assert found.reason


@pytest.mark.parametrize(
    "header",
    [
        "X-Nothing: 1",
        "Auto-Submitted: no",
        "Precedence: first-class",
        "Return-Path: <ann@example.com>",
        "X-Auto-Response-Suppress: RN",
    ],
)
def test_a_person_is_a_person(header: str) -> None:
    assert automatic(mail(header)) is None


@pytest.mark.parametrize(
    "subject",
    [
        "Out of Office: back soon",
        "Automatická odpověď: Konvice",
        "AW: Abwesenheitsnotiz",
        "自动回复: x",
    ],
)
def test_a_subject_is_weak_evidence(subject: str) -> None:
    found = automatic(mail(subject=subject))
    assert found is not None
    assert (found.kind, found.certain) == (AutomaticKind.AUTO_REPLY, False)


def test_a_question_about_holidays_is_a_question() -> None:
    assert automatic(mail(subject="I was on vacation, where is my parcel?")) is None


def test_daemons_and_addresses_nobody_reads() -> None:
    for sender, kind in (
        ("MAILER-DAEMON@mx.example.com", AutomaticKind.BOUNCE),
        ("no-reply@shop.example", AutomaticKind.SUPPRESSED),
        ("noreply+123@shop.example", AutomaticKind.SUPPRESSED),
    ):
        found = automatic(mail(sender=sender))
        assert found is not None
        assert found.kind is kind


def test_our_own_mail_is_recognised_by_its_mark_and_by_its_address() -> None:
    written = EmailMessage()
    written["From"] = "desk@shop.example"
    for name, value in own_marks("run_1").items():
        written[name] = value
    written.set_content("Hello")
    ours = automatic(parse(written.as_bytes()))
    assert ours is not None
    assert ours.kind is AutomaticKind.OWN
    looped = automatic(mail(sender="Desk@Shop.example"), own_addresses=["desk@shop.example"])
    assert looped is not None
    assert looped.kind is AutomaticKind.OWN


@pytest.mark.parametrize(
    ("sender", "header"),
    [
        ("noreply-form@shop.example", "X-Mailer: PHPMailer"),
        ("no-reply@forms.example", "Feedback-ID: 1.eu-west-1.AmazonSES"),
        ("no-reply@forms.example", "Precedence: bulk"),
        ("web@shop.example", "Auto-Submitted: auto-generated"),
        ("web@shop.example", "X-Auto-Response-Suppress: All"),
        ("desk@shop.example", "X-Mailer: PHPMailer"),
    ],
)
def test_a_contact_form_passes_on_what_a_person_wrote(sender: str, header: str) -> None:
    own = ["desk@shop.example"]
    form = mail(header, "Reply-To: Carla <carla@example.org>", sender=sender)
    assert automatic(form, own_addresses=own) is None


@pytest.mark.parametrize(
    "headers",
    [
        (),
        ("Reply-To: noreply@other.example",),
        ("Reply-To: mailer-daemon@other.example",),
        ("Reply-To: support@shop.example",),
        ("Reply-To: support@mail.shop.example",),
        ("Reply-To: desk@acme.example",),
        ("Reply-To: carla@example.org, dan@example.org",),
        ("Reply-To: carla@example.org", "Auto-Submitted: auto-replied"),
        ("Reply-To: carla@example.org", "List-Unsubscribe: <mailto:x@example.com>"),
        ("Reply-To: carla@example.org", "X-Deskhand: run_1"),
        ("Reply-To: carla@example.org", "Return-Path: <>"),
    ],
)
def test_a_program_that_names_no_person_is_a_program(headers: tuple[str, ...]) -> None:
    written = mail(*headers, sender="no-reply@shop.example")
    assert automatic(written, own_addresses=["desk@acme.example"]) is not None


def test_a_contact_form_without_words_is_a_program() -> None:
    empty = mail("Reply-To: carla@example.org", sender="no-reply@shop.example")
    assert automatic(empty.model_copy(update={"body": " \n"})) is not None


def test_what_a_trusted_forwarder_passes_on_is_a_persons() -> None:
    passed = Message(
        id="1",
        conversation="1",
        sender=Address(address="no-reply@helpdesk.example"),
        principal=Principal(
            kind=PrincipalKind.FORWARDED, address="ann@example.com", how="named by a forwarder"
        ),
        headers={"precedence": "bulk"},
        received_at=datetime(2026, 11, 15, tzinfo=UTC),
    )
    assert automatic(passed) is None


def report(action: str, original: str | None = "<run_1.2.0@shop.example>") -> Message:
    returned = (
        "Content-Type: text/rfc822-headers\n\nFrom: desk@shop.example\nMessage-ID:"
        f" {original}\n\n--x"
    )
    raw = f"""From: Mail System <MAILER-DAEMON@mx.example.com>
Subject: Undelivered Mail
In-Reply-To: <answered@shop.example>
Content-Type: multipart/report; report-type=delivery-status; boundary=x

--x

I am sorry to have to inform you...
--x
Content-Type: message/delivery-status

Reporting-MTA: dns; mx.example.com

Final-Recipient: rfc822; bob@example.com
Action: {action}
Status: 5.1.1
Diagnostic-Code: smtp; 550 5.1.1 no such
 user here

--x
{returned if original else ""}--
"""
    return parse(raw.encode())


def test_a_bounce_says_which_of_our_mails_failed_and_why() -> None:
    found = bounce(report("failed"))
    assert found is not None
    assert found.message_ids == ("<run_1.2.0@shop.example>",)
    assert found.recipients == ("bob@example.com",)
    assert (found.failed, found.reason) == (True, "5.1.1 550 5.1.1 no such user here")


def test_a_delay_is_no_failure() -> None:
    found = bounce(report("delayed"))
    assert found is not None
    assert found.failed is False


def test_without_a_copy_the_report_says_what_it_answers() -> None:
    found = bounce(report("failed", original=None))
    assert found is not None
    assert found.message_ids == ("<answered@shop.example>",)


def test_a_bounced_mail_that_came_back_whole() -> None:
    whole = MIMEMultipart("mixed")
    whole["From"] = "postmaster@mx.example.com"
    whole.attach(MIMEText("could not be delivered"))
    inner = EmailMessage()
    inner["Message-ID"], inner["From"] = "<run_9.1.0@shop.example>", "desk@shop.example"
    inner.set_content("Your parcel")
    outer = MIMEBase("message", "rfc822")
    outer.attach(inner)
    whole.attach(outer)
    found = bounce(parse(whole.as_bytes()))
    assert found is not None
    assert found.message_ids == ("<run_9.1.0@shop.example>",)


def test_a_persons_mail_is_no_bounce() -> None:
    assert bounce(mail()) is None
