"""Mail read in a limited process: whoever sends one chooses how long it takes to read."""

import logging
import struct
from hashlib import sha256

from deskhand.limited_process import WorkStopped, limited_processes
from deskhand.mail.header_text import addresses, header_text
from deskhand.mail.message_parser import CHANNEL, date_of, parse
from deskhand.mail.mime import read_head
from deskhand.model.message import UNREADABLE, Address, Attachment, Message

log = logging.getLogger("deskhand.mail")

CPU_SECONDS = 0.75
"""Computing that one mail may take, its PDFs included. Its calendar files have 0.2 s later on and
the answer to an invitation 0.1 s (scheduling/limited_calendars.py): a second together. The models
that read its words have the other one, by how many words and asks they read."""
FUNCTION = f"{__name__}:parse_packed"
_LENGTH = struct.Struct(">q")
_NO_CONTENT = -1
_LONGEST_SHOWN = 1000
"""Characters of a header that are shown of a mail that could not be read."""


def read_mail_now(raw: bytes, *, is_cut: bool = False) -> Message:
    """The message in a mail; one that cannot be read within the limits becomes a message for a
    person, with the whole mail attached.

    It waits for the process that reads: the event loop calls `read_mail`.
    """
    try:
        return _unpacked(limited_processes.call(FUNCTION, _question(raw, is_cut), CPU_SECONDS))
    except WorkStopped as stopped:
        return unreadable(raw, str(stopped), is_cut=is_cut)


async def read_mail(raw: bytes, *, is_cut: bool = False) -> Message:
    """As `read_mail_now`, without holding up the event loop."""
    try:
        return _unpacked(await limited_processes.ask(FUNCTION, _question(raw, is_cut), CPU_SECONDS))
    except WorkStopped as stopped:
        return unreadable(raw, str(stopped), is_cut=is_cut)


def unreadable(raw: bytes, reason: str, *, is_cut: bool = False) -> Message:
    """A message for a person in the place of a mail that could not be read.

    It says who wrote and about what as far as the first lines tell; the mail itself is attached.
    """
    log.warning("a mail could not be read, a person gets it: %s", reason)
    digest = sha256(raw).hexdigest()[:32]
    head = read_head(raw)
    senders = addresses(head.header("from")[:_LONGEST_SHOWN])
    subject = header_text(head.header("subject")[:_LONGEST_SHOWN])
    own_id = f"<{digest}@unreadable>"
    name = "beginning-of-the-mail.eml" if is_cut else "mail.eml"
    whole = Attachment(name=name, type="message/rfc822", size=len(raw), content=raw)
    return Message(
        id=own_id,
        channel=CHANNEL,
        conversation=own_id,
        sender=senders[0] if senders else Address(address="unknown"),
        subject=subject or "(mail that could not be read)",
        headers={UNREADABLE: reason},
        attachments=(whole,),
        received_at=date_of(head.header("date")[:_LONGEST_SHOWN]),
    )


# --- between the processes


def parse_packed(question: bytes) -> bytes:
    """What a limited process does: a mail to its message, both as bytes."""
    message = parse(question[1:], is_cut=question[:1] == b"1")
    record = message.model_dump_json().encode()
    pieces = [_LENGTH.pack(len(record)), record]
    for attachment in message.attachments:
        content = attachment.content
        pieces.append(_LENGTH.pack(_NO_CONTENT if content is None else len(content)))
        pieces.append(content or b"")
    return b"".join(pieces)


def _question(raw: bytes, is_cut: bool) -> bytes:
    return (b"1" if is_cut else b"0") + raw


def _unpacked(answer: bytes) -> Message:
    record, place = _piece(answer, 0)
    assert record is not None
    message = Message.model_validate_json(record)
    attachments: list[Attachment] = []
    for attachment in message.attachments:
        content, place = _piece(answer, place)
        attachments.append(attachment.model_copy(update={"content": content}))
    return message.model_copy(update={"attachments": tuple(attachments)})


def _piece(answer: bytes, place: int) -> tuple[bytes | None, int]:
    """The piece that begins here, and where the next one does."""
    (length,) = _LENGTH.unpack_from(answer, place)
    place += _LENGTH.size
    if length == _NO_CONTENT:
        return None, place
    return answer[place : place + length], place + length
