"""Any bytes give a Message: what cannot be read is replaced, never fatal."""

from collections.abc import Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from hashlib import sha256

from deskhand.charsets import clean
from deskhand.mail.header_text import addresses, header_text
from deskhand.mail.html_text import hidden_text, html_text
from deskhand.mail.long_text import LONGEST_SUBJECT, within_length
from deskhand.mail.mime import MimePart, split
from deskhand.mail.pdf_text import PDF_SECONDS, read_pdf
from deskhand.model.frozen import in_utc
from deskhand.model.message import (
    HIDDEN,
    ON_REQUEST,
    UNREADABLE,
    Address,
    Attachment,
    Message,
)

CHANNEL = "mail"
LARGEST = 50_000_000
LONGEST_TEXT = 200_000
LONGEST_HIDDEN = 5_000
LONGEST_HTML = 300_000
"""Characters of HTML in one mail that are read; more is kept as a file of the mail."""
_COST_OF_A_PAGE = 3_000
_NO_WORDS = {"text/calendar", "text/x-amp-html", "text/rfc822-headers"}
MOST_PDFS = 3
"""PDFs of one mail that are read; the others are listed."""
_OURS = (HIDDEN, ON_REQUEST, UNREADABLE)
"""Headers that only we write."""


UNREAD_PAGE = "part-of-the-message.html"
NOT_READ = f"\n[… the rest was not read: it is attached as {UNREAD_PAGE}]"
CUT_OFF = "the mail is larger than the desk takes: the file is cut off"


def parse(raw: bytes, *, is_cut: bool = False) -> Message:
    """Read one RFC 5322 message; a missing Message-ID is replaced by a digest, so that duplicates
    are still seen.

    `is_cut` says that these are not all bytes of the mail: its last file is not whole.

    It stands alone: which conversation it belongs to takes proof, and that is `threads.placed`.
    """
    mail = split(raw[:LARGEST])
    budget = HtmlBudget()
    own_id = mail.header("message-id")
    if not is_message_id(own_id):
        own_id = f"<{sha256(raw).hexdigest()[:32]}@no-message-id>"
    senders = addresses(mail.header("from"))
    body = _body(mail, budget)
    unread = [*_unread_pages(budget)]
    if unread:
        body += NOT_READ
    attachments = [*_attachments(mail, budget), *unread]
    if is_cut and attachments:
        attachments[-1] = attachments[-1].changed(content=None, not_kept=CUT_OFF)
    message = Message(
        id=own_id,
        channel=CHANNEL,
        conversation=own_id,
        sender=senders[0] if senders else Address(address="unknown"),
        recipients=addresses(mail.header("to")),
        cc=addresses(mail.header("cc")),
        subject=header_text(mail.header("subject"))[:LONGEST_SUBJECT],
        body=body,
        headers=_headers(mail) | _hidden(mail),
        attachments=tuple(attachments),
        received_at=date_of(mail.header("date")),
        page=_page(mail),
    )
    return within_length(message)


def is_message_id(text: str) -> bool:
    """Whether this can tell messages apart: `<>` is written by more than one mailer, and 1,000
    characters by none."""
    return len(text.strip("<>[] ")) >= 5 and len(text) <= 1000


def _headers(mail: MimePart) -> dict[str, str]:
    """Values by name in lower case; one that stands there several times has a line for each."""
    lines: dict[str, list[str]] = {}
    for name, value in mail.headers:
        if name not in _OURS:
            lines.setdefault(name, []).append(header_text(value))
    return {name: "\n".join(values) for name, values in lines.items()}


def _hidden(mail: MimePart) -> dict[str, str]:
    """Words that are in the mail and that its reader cannot see."""
    budget = HtmlBudget()
    hidden: list[str] = []
    for part in mail.walk():
        if part.kind == "text/html" and _is_words(part) and budget.takes(len(part.body)):
            hidden.append(hidden_text(part.text()))
    words = clean(" ".join(hidden)).strip()[:LONGEST_HIDDEN]
    return {HIDDEN: words} if words else {}


def _page(mail: MimePart) -> bytes | None:
    """The HTML of the sender's words; None where there is none, or more than is read."""
    pages = [part for part in mail.walk() if part.kind == "text/html" and _is_words(part)]
    html = "\n<hr>\n".join(part.text() for part in pages)
    return html.encode(errors="replace") if 0 < len(html) <= LONGEST_HTML else None


def date_of(written: str) -> datetime:
    try:
        return in_utc(parsedate_to_datetime(written))
    except (ValueError, TypeError, OverflowError, IndexError):
        return datetime.now(UTC)


# --- words


class HtmlBudget:
    """How much HTML of one mail is laid out: drawing pages is the dearest part of reading.

    What is not laid out is not read at all: only the layout tells which words a reader sees.
    """

    def __init__(self) -> None:
        self._left = LONGEST_HTML
        self.unread: list[MimePart] = []
        """Pages that were not read, or not to their end."""

    def takes(self, length: int) -> bool:
        """Whether a page of this length still fits; even an empty one costs something."""
        if self._left <= 0:
            return False
        self._left -= length + _COST_OF_A_PAGE
        return True


def _body(part: MimePart, budget: HtmlBudget) -> str:
    """The text that the sender wrote: the plain one if there is one, else that of the HTML.

    Files do not count.
    """
    if not part.is_multipart:
        return _leaf_text(part, budget) if _is_words(part) else ""
    if part.kind == "message/rfc822":
        return ""
    if part.kind == "multipart/alternative":
        return _best(part.parts, budget)
    inside = part.parts[:1] if part.kind == "multipart/related" else part.parts
    texts = [_body(piece, budget) for piece in inside]
    if len(texts) == 1:
        return texts[0]
    return "\n\n".join(text.strip("\n") for text in texts if text.strip())


def _best(parts: list[MimePart], budget: HtmlBudget) -> str:
    """Of several versions of the same words the plain one, unless it is empty."""
    for part in sorted(parts, key=lambda part: part.kind != "text/plain"):
        text = _body(part, budget)
        if text.strip():
            return text
    return ""


def _leaf_text(part: MimePart, budget: HtmlBudget) -> str:
    text = part.text()
    if part.kind != "text/html":
        return text
    is_taken = budget.takes(len(text))
    if not is_taken or len(text) > LONGEST_HTML:
        budget.unread.append(part)
    return html_text(text) if is_taken else ""


def _is_words(part: MimePart) -> bool:
    kind = part.kind
    if part.file_name is not None or part.disposition == "attachment":
        return False
    return kind.startswith("multipart/") or (kind.startswith("text/") and kind not in _NO_WORDS)


# --- files


def _attachments(mail: MimePart, budget: HtmlBudget) -> Iterator[Attachment]:
    pdfs = 0
    seconds = PDF_SECONDS
    for part in _files(mail):
        content = part.attached or part.content()
        if part.kind == "application/pdf":
            pdfs += 1
            text, used = read_pdf(content, seconds) if pdfs <= MOST_PDFS else (None, 0.0)
            seconds -= used
        else:
            text = _file_text(part, budget)
        size = len(content) or sum(len(piece.body) for piece in part.walk())
        yield Attachment(
            name=part.file_name or "unnamed",
            type=part.kind[:255],
            size=size,
            text=text,
            content=content,
        )


def _unread_pages(budget: HtmlBudget) -> Iterator[Attachment]:
    for part in budget.unread:
        content = part.content()
        yield Attachment(name=UNREAD_PAGE, type="text/html", size=len(content), content=content)


def _file_text(part: MimePart, budget: HtmlBudget) -> str | None:
    """The words of an attached text, mail or report; None for what is not read."""
    if part.kind.startswith("text/"):
        return _leaf_text(part, budget)[:LONGEST_TEXT]
    if part.kind == "message/rfc822":
        return _attached_mail(part, budget)
    if part.kind in ("message/delivery-status", "message/feedback-report"):
        return part.text()[:LONGEST_TEXT]
    return None


def _files(part: MimePart) -> Iterator[MimePart]:
    """Everything but the sender's words; attached mails are not looked into."""
    if part.kind == "message/rfc822":
        yield part
    elif part.is_multipart:
        for piece in part.parts:
            yield from _files(piece)
    elif not _is_words(part):
        yield part


def _attached_mail(part: MimePart, budget: HtmlBudget) -> str | None:
    """An attached mail as text: its main headers and its body."""
    if not part.parts:
        return None
    inner = part.parts[0]
    head = [
        f"{name.title()}: {header_text(inner.header(name))}"
        for name in ("from", "to", "date", "subject", "message-id")
        if inner.header(name)
    ]
    return "\n".join([*head, "", _body(inner, budget)])[:LONGEST_TEXT]
