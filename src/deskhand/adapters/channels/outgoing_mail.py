"""A reply as a mail: sender, thread, and the headers that say a machine sent it."""

import re
from binascii import b2a_base64
from dataclasses import dataclass
from datetime import UTC, datetime
from email.headerregistry import Address as HeaderAddress
from email.message import EmailMessage
from email.policy import SMTP, SMTPUTF8
from email.quoprimime import body_encode
from email.utils import format_datetime

from deskhand.config.sections.channels import ChannelSpec
from deskhand.errors import ToolError
from deskhand.mail.automatic import own_marks
from deskhand.mail.quoting import quoted_original
from deskhand.model.attached_files import ANY_TYPE, AttachedFile, safe_file_name, safe_type
from deskhand.model.message import Message, Reply
from deskhand.scheduling.invitations import CALENDAR_TYPES
from deskhand.scheduling.limited_calendars import limited_answer_to

_ID = re.compile(r"<[^<>\s]{3,990}>")
_MOST_REFERENCES = 20
_PLAIN_ADDRESS = re.compile(r"[A-Za-z0-9_+-]+(\.[A-Za-z0-9_+-]+)*@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*")
"""An address that the standard library writes as it is."""
_LONGEST_PLAIN_LINE = 78
_LINES_TO_CHOOSE_BY = 10
"""How much of a text the standard library looks at to choose its encoding."""
_LINE_END = re.compile(rb"\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class OutgoingMail:
    """A reply on its way out, with the message it answers."""

    reply: Reply
    key: str
    answers: Message | None
    files: tuple[AttachedFile, ...] = ()

    @property
    def run_id(self) -> str:
        return self.key.partition(".")[0]


def message_id(key: str, channel: ChannelSpec) -> str:
    """The Message-ID of the mail with this key: the same for every attempt, so it can be found."""
    return f"<{key}@{channel.identity.address.rpartition('@')[2]}>"


def ids_in(*headers: str) -> list[str]:
    """Message-IDs, in order, each once."""
    return list(
        dict.fromkeys(message_id for header in headers for message_id in _ID.findall(header))
    )


def compose(outgoing: OutgoingMail, channel: ChannelSpec, *, any_recipient: bool = False) -> bytes:
    """The mail: in its thread, with the original quoted below the answer.

    ToolError for a recipient that is no mail address, unless `any_recipient` lets a chat's handle
    pass: then nothing but a file is made of it.
    """
    reply = outgoing.reply
    mail = EmailMessage(policy=SMTP if "".join(recipients(reply)).isascii() else SMTPUTF8)
    _set_address(mail, "From", channel.identity.name, channel.identity.address)
    if any_recipient and not _PLAIN_ADDRESS.fullmatch(reply.to):
        mail["To"] = _one_line(reply.to)
    else:
        _set_address(mail, "To", "", reply.to)
    if reply.cc:
        mail["Cc"] = tuple(_header_address("", address) for address in reply.cc)
    _set(mail, "Subject", reply.subject)
    _set(mail, "Date", format_datetime(datetime.now(UTC)))
    _set(mail, "Message-ID", message_id(outgoing.key, channel))
    references = _references(outgoing)
    if references:
        _set(mail, "In-Reply-To", references[-1])
        _set(mail, "References", " ".join(references))
    for name, value in own_marks(outgoing.run_id, by_person=reply.by_person).items():
        _set(mail, name, value)
    if reply.language:
        _set(mail, "Content-Language", reply.language)
    body = _set_text(mail, _text(outgoing, channel))
    if (answer := _invitation_answer(outgoing, channel)) is not None:
        mail.add_alternative(
            answer, subtype="calendar", charset="utf-8", params={"method": "REPLY"}
        )
    for file in outgoing.files:
        _attach(mail, file)
    return _plain_bytes(mail, body) or mail.as_bytes()


def _set(mail: EmailMessage, name: str, value: str) -> None:
    """A header on one line. Parsing was most of what a mail cost, and plain words need none."""
    line = _one_line(value)
    if line.isascii() and line.isprintable() and "=?" not in line:
        mail.set_raw(name, line)
    else:
        mail[name] = line


def _set_address(mail: EmailMessage, name: str, person: str, address: str) -> None:
    """A header with one address; a plain one needs no parsing."""
    if not person and len(address) < _LONGEST_PLAIN_LINE and _PLAIN_ADDRESS.fullmatch(address):
        mail.set_raw(name, address)
    else:
        mail[name] = _header_address(person, address)


def _set_text(mail: EmailMessage, text: str) -> bytes | None:
    """The mail's own text, encoded as `set_content` does it, in a fraction of the time.

    Returns it as it is sent, but for the ends of its lines; None where `set_content` did it.
    """
    lines = text.encode().splitlines()
    body: bytes | None
    if max(map(len, lines), default=0) <= _LONGEST_PLAIN_LINE:
        encoding = "7bit" if text.isascii() else "8bit"
        body = _with_ends(lines, b"\n")
    else:
        encoding = "quoted-printable"
        body = _quoted_printable(lines)
    if body is None:
        mail.set_content(text)
        return None
    mail.set_raw("Content-Type", 'text/plain; charset="utf-8"')
    mail.set_raw("Content-Transfer-Encoding", encoding)
    mail.set_raw("MIME-Version", "1.0")
    mail.set_payload(body.decode("ascii", "surrogateescape"))
    return body


def _quoted_printable(lines: list[bytes]) -> bytes | None:
    """Text with long lines; None where its beginning is shorter as base64."""
    beginning = _with_ends(lines[:_LINES_TO_CHOOSE_BY], b"\r\n")
    quoted = body_encode(beginning.decode("latin-1"), _LONGEST_PLAIN_LINE)
    if len(quoted) > len(b2a_base64(beginning)):
        return None
    if len(lines) > _LINES_TO_CHOOSE_BY:
        quoted = body_encode(_with_ends(lines, b"\n").decode("latin-1"), _LONGEST_PLAIN_LINE)
    return quoted.encode("ascii")


def _with_ends(lines: list[bytes], end: bytes) -> bytes:
    return end.join(lines) + end


def _plain_bytes(mail: EmailMessage, body: bytes | None) -> bytes | None:
    """A mail of this text alone whose headers are short lines of plain text, as `as_bytes` writes
    it; None for any other."""
    if body is None or mail.is_multipart():
        return None
    head: list[str] = []
    for name, value in mail.raw_items():
        line = f"{name}: {value}"
        is_plain = type(value) is str and line.isascii() and line.isprintable()
        if not is_plain or len(line) > _LONGEST_PLAIN_LINE:
            return None
        head.append(line)
    lines = "\r\n".join([*head, "", ""]).encode("ascii")
    return lines + _LINE_END.sub(b"\r\n", body)


def _attach(mail: EmailMessage, file: AttachedFile) -> None:
    """A part of its own; what is itself made of parts travels as plain bytes."""
    file_type = safe_type(file.type)
    main, _, sub = file_type.partition("/")
    if main in ("message", "multipart"):
        main, _, sub = ANY_TYPE.partition("/")
    mail.add_attachment(
        file.content, maintype=main, subtype=sub, filename=safe_file_name(file.name)
    )


def recipients(reply: Reply) -> list[str]:
    """Everybody whom the mail goes to, each once."""
    addresses = (reply.to, *reply.cc)
    return list({address.strip().lower(): address for address in addresses}.values())


def _text(outgoing: OutgoingMail, channel: ChannelSpec) -> str:
    """The answer, the channel's signature, and the original below them."""
    reply, message = outgoing.reply, outgoing.answers
    original = ""
    if message is not None:
        whole = reply.by_person or message.principal.may_act
        original = quoted_original(message, reply.language, whole=whole)
    parts = [part for part in (channel.signature, original) if part]
    if not parts:
        return reply.text
    return "\n\n".join([reply.text.rstrip(), *parts]) + "\n"


def _invitation_answer(outgoing: OutgoingMail, channel: ChannelSpec) -> str | None:
    """What the organizer's calendar reads, if the reply answers an invitation of the message."""
    message, answer = outgoing.answers, outgoing.reply.invitation
    if message is None or answer is None:
        return None
    own = channel.identity.address
    addressed = {own, *(person.address for person in (*message.recipients, *message.cc))}
    for attachment in message.attachments:
        if attachment.type.lower() not in CALENDAR_TYPES or not attachment.text:
            continue
        written = limited_answer_to(attachment.text, answer, addressed, own, datetime.now(UTC))
        if written is not None:
            return written
    return None


def _references(outgoing: OutgoingMail) -> list[str]:
    """The thread so far, the answered mail last; long ones lose their middle."""
    headers = {} if outgoing.answers is None else outgoing.answers.headers
    earlier = ids_in(headers.get("references", ""), headers.get("in-reply-to", ""))
    answered = ids_in(outgoing.reply.in_reply_to or "")
    thread = [message_id for message_id in earlier if message_id not in answered] + answered[:1]
    if len(thread) <= _MOST_REFERENCES:
        return thread
    return thread[:1] + thread[-_MOST_REFERENCES:]


def _header_address(name: str, address: str) -> HeaderAddress:
    try:
        return HeaderAddress(display_name=_one_line(name), addr_spec=_one_line(address))
    except Exception as error:  # the standard library has many words for it
        raise ToolError(
            "recipient_invalid", f"{address!r} is no mail address", recoverable=False
        ) from error


def _one_line(value: str) -> str:
    """A header never carries a line break, whoever wrote its value."""
    return " ".join(value.split())
