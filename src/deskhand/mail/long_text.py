"""How much of a message is understood: reading takes time, and whoever writes chooses how much
there is to read."""

from collections.abc import Iterator

from deskhand.model.message import Attachment, Message

LONGEST_BODY = 40_000
"""Characters of a message that are read; the rest is kept as a file beside it."""
MOST_LINES = 4_000
"""Lines that are read, likewise: quotes and signatures are looked for line by line."""
LONGEST_SUBJECT = 1_000
LONGEST_TEXTS = 200_000
"""Characters that are read of all files of a message together."""
LONGEST_HEADER = 20_000
LONGEST_HEADERS = 300_000
REST = "rest-of-the-message.txt"
SUBJECT = "subject-of-the-message.txt"
CUT = f"\n[… cut here: the rest is attached as {REST}]"


def within_length(message: Message) -> Message:
    """The message with as much text as is read.

    What the body has beyond that becomes a file of the message, and the body says so; so does a
    subject that is longer than any. Of files the bytes are kept as they are.
    """
    texts = sum(len(file.text or "") for file in message.attachments)
    changes: dict[str, object] = {}
    attachments = message.attachments
    if texts > LONGEST_TEXTS:
        attachments = tuple(_shortened(attachments))
    end = _end_of_reading(message.body)
    if end < len(message.body):
        changes["body"] = message.body[:end].rstrip("\n") + CUT
        attachments = (*attachments, _file(REST, message.body[end:]))
    if len(message.subject) > LONGEST_SUBJECT:
        changes["subject"] = message.subject[:LONGEST_SUBJECT]
        attachments = (*attachments, _file(SUBJECT, message.subject))
    if attachments is not message.attachments:
        changes["attachments"] = attachments
    if sum(map(len, message.headers.values())) > LONGEST_HEADERS:
        changes["headers"] = dict(_first_headers(message.headers))
    return message.changed(**changes) if changes else message


def _end_of_reading(body: str) -> int:
    """Where the part of a body ends that is read."""
    end = min(len(body), LONGEST_BODY)
    if body.count("\n", 0, end) < MOST_LINES:
        return end
    return sum(len(line) + 1 for line in body[:end].split("\n")[:MOST_LINES])


def _file(name: str, text: str) -> Attachment:
    content = text.encode("utf-8", "replace")
    return Attachment(name=name, type="text/plain", size=len(content), content=content)


def _shortened(attachments: tuple[Attachment, ...]) -> Iterator[Attachment]:
    """The files, of which the first have their text: what comes after the limit has none."""
    left = LONGEST_TEXTS
    for file in attachments:
        text = file.text
        if text is not None and len(text) > left:
            text = text[:left] or None
        left -= len(text or "")
        yield file.changed(text=text)


def _first_headers(headers: dict[str, str]) -> Iterator[tuple[str, str]]:
    left = LONGEST_HEADERS
    for name, value in headers.items():
        kept = value[: min(left, LONGEST_HEADER)]
        left -= len(kept)
        if kept:
            yield name, kept
