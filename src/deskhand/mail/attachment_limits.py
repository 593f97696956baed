"""Which attached files are kept: within limits, and it is said of each that is not."""

from collections.abc import Iterator
from hashlib import sha256
from typing import Protocol

from deskhand.model.message import Attachment, Message


class FileLimits(Protocol):
    @property
    def max_attachment_bytes(self) -> int: ...
    @property
    def max_attachments(self) -> int: ...
    @property
    def max_attachments_bytes(self) -> int: ...


def within_limits(message: Message, limits: FileLimits) -> Message:
    """The message with the bytes of those files alone that the desk keeps.

    A file that is too large, or one too many, stays listed with the reason why it is not kept.
    """
    if not any(attachment.content is not None for attachment in message.attachments):
        return message
    return message.changed(attachments=tuple(_judged(message.attachments, limits)))


def _judged(attachments: tuple[Attachment, ...], limits: FileLimits) -> Iterator[Attachment]:
    kept = together = 0
    for attachment in attachments:
        content = attachment.content
        if content is None:
            yield attachment
            continue
        problem = _problem(len(content), kept, together, limits)
        if problem is not None:
            yield attachment.changed(content=None, digest=None, not_kept=problem)
            continue
        kept += 1
        together += len(content)
        yield attachment.changed(digest=sha256(content).hexdigest(), not_kept=None)


def _problem(size: int, kept: int, together: int, limits: FileLimits) -> str | None:
    if size > limits.max_attachment_bytes:
        return f"larger than the {limits.max_attachment_bytes:,} bytes that are kept of a file"
    if kept >= limits.max_attachments:
        return f"one of more than {limits.max_attachments} files"
    if together + size > limits.max_attachments_bytes:
        return (
            f"the files together are larger than the {limits.max_attachments_bytes:,} bytes that"
            " are kept of a message"
        )
    return None
