"""Mail made to hurt: nesting, numbers and lengths without end come to an end; nothing raises,
nothing is hidden."""

import io
import json
import warnings
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pypdf import PdfWriter
from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

from deskhand.mail import forwarded, parse, visible_reply
from deskhand.mail.authentication import MailTrust, principal_of
from deskhand.mail.automatic import automatic, bounce
from deskhand.mail.mime import MAX_DEPTH, MAX_PARTS, split
from deskhand.model.message import Message
from tests.unit.mail.test_parse import MAILS

SHARED = Path(__file__).parents[4] / "shared" / "data" / "malformed_mail" / "fixtures"
HEAD = b"From: ann@example.com\r\nSubject: x\r\nMessage-ID: <one@example.com>\r\n"


def test_parts_in_parts_without_end_are_cut() -> None:
    layers = (
        b"Content-Type: multipart/mixed; boundary=b%d\r\n\r\n--b%d\r\n" % (n, n)
        for n in range(2000)
    )
    mail = split(HEAD + b"".join(layers) + b"\r\nHello")
    depth, part = 0, mail
    while part.parts:
        depth, part = depth + 1, part.parts[0]
    assert depth == MAX_DEPTH
    parse(HEAD + b"".join(b"Content-Type: message/rfc822\r\n\r\n" for _ in range(2000)) + b"Hello")


def test_so_many_parts_are_read_and_no_more() -> None:
    raw = (
        HEAD
        + b"Content-Type: multipart/mixed; boundary=b\r\n\r\n"
        + b"--b\r\n\r\nHello\r\n" * 20_000
    )
    assert sum(1 for _ in split(raw).walk()) <= MAX_PARTS + 2
    assert parse(raw).body.startswith("Hello")


@pytest.mark.parametrize(
    "raw",
    [
        HEAD + b"To: " + b"(" * 100_000 + b"\r\n\r\nHello",
        HEAD + b"To: " + b"a@b.cz, " * 100_000 + b"\r\n\r\nHello",
        HEAD + b"X-Long: a\r\n" + b" b\r\n" * 50_000 + b"\r\nHello",
        HEAD + b"X: 1\r\n" * 50_000 + b"\r\nHello",
        HEAD + b"Subject: " + b"=?utf-8?q?" * 50_000 + b"\r\n\r\nHello",
        HEAD + b"Content-Type: text/plain; " + b"a*0*=x;" * 3000 + b"\r\n\r\nHello",
        HEAD + b"Content-Type: text/plain; charset=idna\r\n\r\n" + b"xn--" * 100_000,
        HEAD + b"Content-Type: text/html\r\n\r\n" + b"<div>" * 100_000 + b"Hello",
        HEAD + b"Content-Type: text/html\r\n\r\n" + b"<" * 500_000,
        HEAD + b"\r\n" + b"Regards\n" * 100_000,
        HEAD + b"\r\n" + b"On 2020 a@b.cz:\n" * 100_000,
        HEAD + b"\r\n" + b"From: a\n" * 100_000,
        HEAD
        + b"\r\n---------- Forwarded message ---------\nFrom: "
        + b"<mailto:a" * 100_000
        + b"\nTo: x\n",
    ],
    ids=range(13),
)
def test_what_has_no_end_is_read_as_far_as_it_is_worth(raw: bytes) -> None:
    message = parse(raw)
    assert message.sender.address == "ann@example.com"
    visible_reply(message.body)
    forwarded(message.body, "Fwd: x")


# --- hidden text


@pytest.mark.parametrize(
    "hidden",
    [
        '<div style="display: none">SECRET</div>',
        '<span style="font-size:0px">SECRET</span>',
        '<span style="color:#FFF">SECRET</span>',
        '<font color="white">SECRET</font>',
        '<div style="background:#000"><p style="color:black">SECRET</p></div>',
        '<div style="max-height:0;overflow:hidden">SECRET</div>',
        '<p style="position:absolute; left:-9999px">SECRET</p>',
        '<p style="opacity:0">SECRET</p>',
        '<p style="mso-hide:all">SECRET</p>',
        "<p hidden>SECRET</p>",
        "<style>.x { display:none }</style><p class='a x'>SECRET</p>",
        "<style>#y { visibility:hidden }</style><p id=y>SECRET</p>",
        "<!-- SECRET -->",
        "<script>SECRET</script><template>SECRET</template><title>SECRET</title>",
        "<input type=hidden value=SECRET>",
    ],
)
def test_what_a_reader_cannot_see_the_model_cannot_read(hidden: str) -> None:
    body = parse(
        HEAD + f"Content-Type: text/html\r\n\r\n<p>Hello</p>{hidden}<p>Bye</p>".encode()
    ).body
    assert "SECRET" not in body
    assert "Hello" in body
    assert "Bye" in body


@pytest.mark.parametrize(
    "shown",
    [
        '<div style="background-color:#000"><p style="color:white">SHOWN</p></div>',
        '<p style="color:#fffffe">SHOWN</p>',
        "<style>@media (max-width: 600px) { .x { display:none } }</style><p class=x>SHOWN</p>",
        '<table bgcolor="#000000"><tr><td><font color="#ffffff">SHOWN</font></td></tr></table>',
        '<p style="font-size:10px;opacity:0.9;height:100px">SHOWN</p>',
    ],
)
def test_what_a_reader_sees_is_kept(shown: str) -> None:
    assert "SHOWN" in parse(HEAD + f"Content-Type: text/html\r\n\r\n{shown}".encode()).body


# --- attachments


def pdf(words: str) -> bytes:
    writer = PdfWriter()
    page = writer.add_blank_page(200, 200)
    font = DictionaryObject(
        {
            NameObject("/Type"): NameObject("/Font"),
            NameObject("/Subtype"): NameObject("/Type1"),
            NameObject("/BaseFont"): NameObject("/Helvetica"),
        }
    )
    page[NameObject("/Resources")] = DictionaryObject(
        {NameObject("/Font"): DictionaryObject({NameObject("/F1"): font})}
    )
    content = DecodedStreamObject()
    content.set_data(f"BT /F1 12 Tf 10 100 Td ({words}) Tj ET".encode())
    page[NameObject("/Contents")] = writer._add_object(content)
    written = io.BytesIO()
    writer.write(written)
    return written.getvalue()


def with_pdf(content: bytes) -> Message:
    from email.message import EmailMessage

    mail = EmailMessage()
    mail["From"] = "ann@example.com"
    mail.set_content("See the invoice.")
    mail.add_attachment(content, maintype="application", subtype="pdf", filename="invoice.pdf")
    return parse(mail.as_bytes())


def test_the_text_of_a_pdf_is_read() -> None:
    (attachment,) = with_pdf(pdf("Invoice P-1002")).attachments
    assert attachment.name == "invoice.pdf"
    assert "Invoice P-1002" in (attachment.text or "")


@pytest.mark.parametrize("content", [b"", b"no pdf", b"%PDF-1.4 broken", pdf("x")[:200]])
def test_a_pdf_that_cannot_be_read_is_listed(content: bytes) -> None:
    (attachment,) = with_pdf(content).attachments
    assert (attachment.size, attachment.text) == (len(content), None)


def test_an_attached_mail_is_told_in_words() -> None:
    raw = (
        HEAD + b"Content-Type: multipart/mixed;"
        b" boundary=b\r\n\r\n--b\r\n\r\nLook\r\n--b\r\nContent-Type: message/rfc822\r\n\r\nFrom:"
        b" bob@example.com\r\nSubject: Teapot\r\n\r\nBroken\r\n--b--\r\n"
    )
    message = parse(raw)
    assert message.body.strip() == "Look"
    (attachment,) = message.attachments
    assert attachment.text == "From: bob@example.com\nSubject: Teapot\n\nBroken"


# --- anything at all


@settings(max_examples=1200, deadline=None)
@given(st.binary(max_size=300) | MAILS)
@pytest.mark.slow
def test_whatever_comes_every_reader_of_it_answers(raw: bytes) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what codecs say about odd escapes
        message = parse(raw)
    automatic(message)
    bounce(message)
    principal_of(message, MailTrust(["mx.example.com"], ["a@b.cz"]))
    visible_reply(message.body)
    forwarded(message.body, message.subject)
    json.loads(message.model_dump_json())


LINES = st.sampled_from(
    [
        "From: Ann <ann@example.com>", "Von: x", "To: <a@b.cz>; c", "Sent: Monday", "Subject:", "Date: 1", "> > x", ">",  # noqa: E501
        "---------- Forwarded message ---------", "Begin forwarded message:", "_" * 32, "-----Original Message-----",  # noqa: E501
        "On 2020, Ann <a@b.cz> wrote:", "wrote:", "-- ", "Regards,", "Sent from my phone", "    x", "DISCLAIMER", "",  # noqa: E501
        "   ----- Mensaje reenviado ----- De: A <a@b.cz>Para: B", "Cc: " + "<" * 50, "\ufeff", "：", "x" * 100,  # noqa: E501
    ]
)  # fmt: skip


@settings(max_examples=600, deadline=None)
@given(
    st.lists(LINES | st.text(max_size=20), max_size=12),
    st.none() | st.sampled_from(["Fwd: x", "Re: x", "x"]),
)
def test_any_lines_are_read_as_reply_and_as_forward(lines: list[str], subject: str | None) -> None:
    text = "\n".join(lines)
    assert len(visible_reply(text)) <= len(text)
    found = forwarded(text, subject)
    assert found is None or len(found.body) <= len(text)


def test_public_fixtures() -> None:
    if not SHARED.is_dir():
        pytest.skip("needs ../shared/data/malformed_mail")
    files = [file for file in SHARED.rglob("*") if file.is_file()]
    assert files
    for file in files:
        record = parse(file.read_bytes()).model_dump_json()
        assert Message.model_validate_json(record).model_dump_json() == record, file.name
