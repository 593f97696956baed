"""A reply as a mail: its thread, its marks, and nothing that a text could smuggle into its
headers."""

from datetime import UTC, datetime
from email import policy
from email.headerregistry import Address as HeaderAddress
from email.message import EmailMessage
from email.parser import BytesParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskhand.adapters.channels.outgoing_mail import OutgoingMail, compose, message_id
from deskhand.config.sections.channels import ChannelSpec
from deskhand.errors import ToolError
from deskhand.mail.reply import visible_reply
from deskhand.mail.threads import our_key
from deskhand.model.message import Address, Attachment, Message, Reply
from deskhand.model.run import EffectKey

KEY = "run_0123456789abcdefghjk.5.0"
CHANNEL = ChannelSpec(
    name="support",
    identity=Address(address="support@acme.test", name="Acme"),
    signature="Acme, Inc.",
)


def answering(**headers: str) -> Message:
    return Message(
        id="<1@example.test>",
        conversation="c",
        sender=Address(address="ann@example.test"),
        headers=headers,
        received_at=datetime(2026, 11, 15, tzinfo=UTC),
    )


def composed(reply: Reply, answers: Message | None = None) -> EmailMessage:
    raw = compose(OutgoingMail(reply, KEY, answers), CHANNEL)
    return BytesParser(policy=policy.default).parsebytes(raw)


def a_reply(**fields: str) -> Reply:
    plain = {
        "to": "ann@example.test",
        "subject": "Re: Hi",
        "text": "Hello",
        "in_reply_to": "<1@example.test>",
    }
    return Reply.model_validate({**plain, **fields})


def test_a_reply_carries_its_thread_and_its_marks() -> None:
    mail = composed(a_reply(), answering(references="<a@b.c> <0@example.test>"))
    assert mail["References"] == "<a@b.c> <0@example.test> <1@example.test>"
    assert mail["In-Reply-To"] == "<1@example.test>"
    assert mail["Auto-Submitted"] == "auto-replied"
    assert mail["X-Deskhand"] == "run_0123456789abcdefghjk"
    assert mail.get_content().splitlines() == ["Hello", "", "Acme, Inc."]


def test_what_a_person_let_go_is_no_programs_mail() -> None:
    mail = composed(a_reply().changed(by_person=True), answering())
    assert (mail["Auto-Submitted"], mail["X-Auto-Response-Suppress"]) == (None, None)


@pytest.mark.parametrize(
    ("language", "line"),
    [
        ("en", "On 2026-11-15 00:00, ann@example.test wrote:"),
        ("cs", "Dne 2026-11-15 00:00, ann@example.test napsal(a):"),
        ("de", "Am 2026-11-15 00:00 schrieb ann@example.test:"),
        ("xx", "On 2026-11-15 00:00, ann@example.test wrote:"),
    ],
)
def test_the_original_stands_below_the_answer(language: str, line: str) -> None:
    original = answering().changed(body="Where is it?\n> earlier\n")
    mail = composed(a_reply(language=language), original)
    assert mail.get_content().splitlines() == [
        "Hello",
        "",
        "Acme, Inc.",
        "",
        line,
        "> Where is it?",
        "> > earlier",
    ]
    said = visible_reply(mail.get_content())
    assert said == "Hello\n\nAcme, Inc.", "we read our own quotes as quotes"


def test_a_huge_original_is_quoted_in_part() -> None:
    mail = composed(a_reply(), answering().changed(body="x" * 100_000))
    content = mail.get_content()
    assert len(content) < 21_000
    assert content.splitlines()[-1] == "> […]"


def test_copies_stand_in_the_header_and_nothing_else_does() -> None:
    mail = composed(a_reply().changed(cc=("bob@example.test", "eve@example.test")), answering())
    assert mail["Cc"] == "bob@example.test, eve@example.test"
    with pytest.raises(ToolError):
        composed(a_reply().changed(cc=("bob@example.test\r\nBcc: x@y.cz",)), answering())


def test_a_long_thread_keeps_its_beginning_and_its_end() -> None:
    references = " ".join(f"<{number}@example.test>" for number in range(100, 200))
    found = str(composed(a_reply(), answering(references=references))["References"]).split()
    assert found[0] == "<100@example.test>"
    assert found[-2:] == ["<199@example.test>", "<1@example.test>"]
    assert len(found) < 30


def test_a_message_id_names_its_effect_and_back() -> None:
    assert our_key(message_id(KEY, CHANNEL)) == EffectKey("run_0123456789abcdefghjk", 5, 0)
    assert our_key("<run_0123456789abcdefghjk.5@acme.test>") is None
    assert our_key("<1@example.test>") is None


@given(st.text(max_size=200), st.text(max_size=200))
def test_no_text_makes_a_header_of_its_own(subject: str, body: str) -> None:
    mail = composed(a_reply(subject=f"{subject}\r\nBcc: eve@evil.test", text=body or "x"))
    assert "Bcc" not in mail
    assert mail["To"] == "ann@example.test"
    assert sorted(set(mail.keys())) == sorted(mail.keys())


@pytest.mark.parametrize(
    "address", ["ann@example.test\r\nBcc: eve@evil.test", "not an address", "unknown", ""]
)
def test_what_is_no_address_does_not_become_a_mail(address: str) -> None:
    with pytest.raises(ToolError, match="is no mail address"):
        composed(a_reply(to=address))


def test_an_answer_to_an_invitation_travels_as_a_part_of_its_own() -> None:
    text = (
        "BEGIN:VCALENDAR\r\nMETHOD:REQUEST\r\nBEGIN:VEVENT\r\nUID:u1\r\nDTSTART:20261117T130000Z\r\nDURATION:PT1H\r\n"
        "ORGANIZER:mailto:ann@example.test\r\nATTENDEE:mailto:support@acme.test\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
    )
    invitation = Attachment(name="invite.ics", type="text/calendar", size=len(text), text=text)
    asked = answering().model_copy(
        update={"attachments": (invitation, invitation)}
    )  # many programs attach it twice
    mail = composed(a_reply(invitation="accepted"), asked)
    words, *calendars = mail.walk() if not mail.is_multipart() else mail.iter_parts()
    assert words.get_content_type() == "text/plain"
    (part,) = calendars
    assert (part.get_content_type(), part.get_param("method")) == ("text/calendar", "REPLY")
    assert "PARTSTAT=ACCEPTED:mailto:support@acme.test" in part.get_content().replace("\r\n ", "")
    assert not composed(a_reply(), asked).is_multipart()
    assert not composed(a_reply(invitation="accepted"), answering()).is_multipart()


@given(
    text=st.text(alphabet=st.characters(codec="ascii"), max_size=300)
    | st.text(alphabet=st.characters(codec="utf-8"), max_size=300)
    | st.lists(st.text(alphabet="a bé€=\t", max_size=120), max_size=15).map("\n".join),
    address=st.from_regex(r"[a-zA-Z0-9.+_-]{1,60}@[a-z0-9.-]{1,60}", fullmatch=True),
)
def test_a_plain_mail_is_what_the_standard_library_makes_of_it(text: str, address: str) -> None:
    """Plain mails are put together without it, which must not show."""
    channel = ChannelSpec(name="", identity=Address(address="desk@acme.test"), signature="")
    reply = Reply(to=address, subject="Re: Hi", text=text)
    try:
        raw = compose(OutgoingMail(reply, KEY, None), channel)
    except ToolError:
        with pytest.raises(Exception):  # noqa: B017, PT011 the library has many words for it
            HeaderAddress(addr_spec=address)
        return
    expected = EmailMessage(policy=policy.SMTP)
    expected["From"] = HeaderAddress(addr_spec="desk@acme.test")
    expected["To"] = HeaderAddress(addr_spec=address)
    expected.set_content(text)
    made = raw.split(b"\r\n\r\n", 1)
    wanted = expected.as_bytes().split(b"\r\n\r\n", 1)
    assert made[1] == wanted[1]
    assert set(wanted[0].split(b"\r\n")) <= set(made[0].split(b"\r\n"))
