"""Any bytes give a Message: what cannot be read is replaced, never fatal."""

from collections.abc import Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from hashlib import sha256

from deskhand.mail.charsets import clean
from deskhand.mail.header_text import addresses, header_text
from deskhand.mail.html_text import hidden_text, html_text
from deskhand.mail.mime import Part, split
from deskhand.mail.pdf_text import pdf_text
from deskhand.model.message import HIDDEN, Address, Attachment, Message

CHANNEL = "mail"
LARGEST = 50_000_000
LONGEST_BODY = 1_000_000
LONGEST_TEXT = 200_000
LONGEST_HIDDEN = 5_000
_NO_WORDS = {"text/calendar", "text/x-amp-html", "text/rfc822-headers"}
MOST_PDFS = 3
"""PDFs of one mail that are read; the others are listed."""


CUT_OFF = "the mail is larger than the desk takes: the file is cut off"


def parse(raw: bytes, *, is_cut: bool = False) -> Message:
    """Read one RFC 5322 message; a missing Message-ID is replaced by a digest, so that duplicates
    are still seen.

    `is_cut` says that these are not all bytes of the mail: its last file is not whole.

    It stands alone: which conversation it belongs to takes proof, and that is `threads.placed`.
    """
    mail = split(raw[:LARGEST])
    own_id = mail.header("message-id")
    if not is_message_id(own_id):
        own_id = f"<{sha256(raw).hexdigest()[:32]}@no-message-id>"
    senders = addresses(mail.header("from"))
    attachments = [*_attachments(mail)]
    if is_cut and attachments:
        attachments[-1] = attachments[-1].changed(content=None, not_kept=CUT_OFF)
    return Message(
        id=own_id,
        channel=CHANNEL,
        conversation=own_id,
        sender=senders[0] if senders else Address(address="unknown"),
        recipients=addresses(mail.header("to")),
        cc=addresses(mail.header("cc")),
        subject=header_text(mail.header("subject"))[:1000],
        body=_body(mail)[:LONGEST_BODY],
        headers=_headers(mail) | _hidden(mail),
        attachments=tuple(attachments),
        received_at=_date(mail.header("date")),
    )


def is_message_id(text: str) -> bool:
    """Whether this can tell messages apart: `<>` is written by more than one mailer, and 1,000
    characters by none."""
    return len(text.strip("<>[] ")) >= 5 and len(text) <= 1000


def _headers(mail: Part) -> dict[str, str]:
    """Values by name in lower case; one that stands there several times has a line for each."""
    lines: dict[str, list[str]] = {}
    for name, value in mail.headers:
        lines.setdefault(name, []).append(header_text(value))
    return {name: "\n".join(values) for name, values in lines.items()}


def _hidden(mail: Part) -> dict[str, str]:
    """Words that are in the mail and that its reader cannot see."""
    pages = [part.text() for part in mail.walk() if part.kind == "text/html" and _is_words(part)]
    words = clean(" ".join(hidden_text(page) for page in pages)).strip()[:LONGEST_HIDDEN]
    return {HIDDEN: words} if words else {}


def _date(written: str) -> datetime:
    try:
        moment = parsedate_to_datetime(written)
    except (ValueError, TypeError, OverflowError, IndexError):
        return datetime.now(UTC)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


# --- words


def _body(part: Part) -> str:
    """The text that the sender wrote: the plain one if there is one, else that of the HTML.

    Files do not count.
    """
    if not part.is_multipart:
        return _leaf_text(part) if _is_words(part) else ""
    if part.kind == "message/rfc822":
        return ""
    if part.kind == "multipart/alternative":
        return _best(part.parts)
    inside = part.parts[:1] if part.kind == "multipart/related" else part.parts
    texts = [_body(piece) for piece in inside]
    if len(texts) == 1:
        return texts[0]
    return "\n\n".join(text.strip("\n") for text in texts if text.strip())


def _best(parts: list[Part]) -> str:
    """Of several versions of the same words the plain one, unless it is empty."""
    plain_first = sorted(parts, key=lambda part: part.kind != "text/plain")
    return next((text for text in map(_body, plain_first) if text.strip()), "")


def _leaf_text(part: Part) -> str:
    return html_text(part.text()) if part.kind == "text/html" else part.text()


def _is_words(part: Part) -> bool:
    kind = part.kind
    if part.file_name is not None or part.disposition == "attachment":
        return False
    return kind.startswith("multipart/") or (kind.startswith("text/") and kind not in _NO_WORDS)


# --- files


def _attachments(mail: Part) -> Iterator[Attachment]:
    pdfs = 0
    for part in _files(mail):
        content = part.attached or part.content()
        if part.kind == "application/pdf":
            pdfs += 1
            text = pdf_text(content) if pdfs <= MOST_PDFS else None
        else:
            text = _file_text(part)
        size = len(content) or sum(len(piece.body) for piece in part.walk())
        yield Attachment(
            name=part.file_name or "unnamed",
            type=part.kind[:255],
            size=size,
            text=text,
            content=content,
        )


def _file_text(part: Part) -> str | None:
    """The words of an attached text, mail or report; None for what is not read."""
    if part.kind.startswith("text/"):
        return _leaf_text(part)[:LONGEST_TEXT]
    if part.kind == "message/rfc822":
        return _attached_mail(part)
    if part.kind in ("message/delivery-status", "message/feedback-report"):
        return part.text()[:LONGEST_TEXT]
    return None


def _files(part: Part) -> Iterator[Part]:
    """Everything but the sender's words; attached mails are not looked into."""
    if part.kind == "message/rfc822":
        yield part
    elif part.is_multipart:
        for piece in part.parts:
            yield from _files(piece)
    elif not _is_words(part):
        yield part


def _attached_mail(part: Part) -> str | None:
    """An attached mail as text: its main headers and its body."""
    if not part.parts:
        return None
    inner = part.parts[0]
    head = [
        f"{name.title()}: {header_text(inner.header(name))}"
        for name in ("from", "to", "date", "subject", "message-id")
        if inner.header(name)
    ]
    return "\n".join([*head, "", _body(inner)])[:LONGEST_TEXT]
