"""A reply as a mail: who it is from, what it answers, and the marks by which others know that a
machine sent it."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from email.headerregistry import Address as HeaderAddress
from email.message import EmailMessage
from email.policy import SMTP, SMTPUTF8
from email.utils import format_datetime

from deskhand.config.sections.channels import ChannelSpec
from deskhand.errors import ToolError
from deskhand.mail.automatic import own_marks
from deskhand.model.message import Message, Reply
from deskhand.scheduling.answers import answer_to
from deskhand.scheduling.invitations import CALENDAR_TYPES

_ID = re.compile(r"<[^<>\s]{3,990}>")
_MOST_REFERENCES = 20


@dataclass(frozen=True, slots=True)
class OutgoingMail:
    """A reply on its way out, with the message it answers."""

    reply: Reply
    key: str
    answers: Message | None

    @property
    def run_id(self) -> str:
        return self.key.partition(".")[0]


def message_id(key: str, channel: ChannelSpec) -> str:
    """Chosen before anything is sent, and the same for every attempt: whoever has the mail can
    be asked for it."""
    return f"<{key}@{channel.identity.address.rpartition('@')[2]}>"


def ids_in(*headers: str) -> list[str]:
    """Message-IDs, in order, each once."""
    return list(dict.fromkeys(found for header in headers for found in _ID.findall(header)))


def compose(outgoing: OutgoingMail, channel: ChannelSpec) -> bytes:
    reply = outgoing.reply
    mail = EmailMessage(policy=SMTP if reply.to.isascii() else SMTPUTF8)
    mail["From"] = _header_address(channel.identity.name, channel.identity.address)
    mail["To"] = _header_address("", reply.to)
    mail["Subject"] = _one_line(reply.subject)
    mail["Date"] = format_datetime(datetime.now(UTC))
    mail["Message-ID"] = message_id(outgoing.key, channel)
    references = _references(outgoing)
    if references:
        mail["In-Reply-To"] = references[-1]
        mail["References"] = " ".join(references)
    for name, value in own_marks(outgoing.run_id).items():
        mail[name] = value
    if reply.language:
        mail["Content-Language"] = _one_line(reply.language)
    text = f"{reply.text.rstrip()}\n\n{channel.signature}\n" if channel.signature else reply.text
    mail.set_content(text)
    if (answer := _invitation_answer(outgoing, channel)) is not None:
        mail.add_alternative(
            answer, subtype="calendar", charset="utf-8", params={"method": "REPLY"}
        )
    return mail.as_bytes()


def _invitation_answer(outgoing: OutgoingMail, channel: ChannelSpec) -> str | None:
    """What the organizer's calendar reads, if the reply answers an invitation of the message."""
    message, answer = outgoing.answers, outgoing.reply.invitation
    if message is None or answer is None:
        return None
    ours = {channel.identity.address, *(one.address for one in (*message.recipients, *message.cc))}
    texts = [
        one.text for one in message.attachments if one.type.lower() in CALENDAR_TYPES and one.text
    ]
    found = (
        answer_to(text, answer, ours, channel.identity.address, datetime.now(UTC)) for text in texts
    )
    return next((one for one in found if one is not None), None)


def _references(outgoing: OutgoingMail) -> list[str]:
    """The thread so far, the answered mail last; long ones lose their middle."""
    earlier = outgoing.answers.headers if outgoing.answers is not None else {}
    found = ids_in(earlier.get("references", ""), earlier.get("in-reply-to", ""))
    answered = ids_in(outgoing.reply.in_reply_to or "")
    chain = [one for one in found if one not in answered] + answered[:1]
    return chain[:1] + chain[-_MOST_REFERENCES:] if len(chain) > _MOST_REFERENCES else chain


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
