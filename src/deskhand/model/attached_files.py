"""Files of a run: what customers attached, and what reviewers attach to replies."""

import re
from dataclasses import dataclass
from enum import StrEnum

LARGEST_FILE = 10_000_000
"""Bytes of one file that are kept, where a desk says nothing else."""
MOST_FILES = 20
LARGEST_TOGETHER = 25_000_000
"""Bytes of all files of one message."""


_UNFIT = re.compile(r'[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069/\\\\:*?"<>|]+')
"""What no file name should have: separators, and what is invisible or turns the reading."""
_TYPE = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]{0,100}/[a-z0-9][a-z0-9!#$&^_.+-]{0,100}")
ANY_TYPE = "application/octet-stream"


def safe_file_name(name: str) -> str:
    """The name without what could lead out of a folder, hide an ending or break a header."""
    plain = " ".join(_UNFIT.sub("_", name).split()).strip(". ")
    if len(plain) > 120:
        stem, dot, ending = plain.rpartition(".")
        is_ending = bool(dot) and len(ending) <= 10
        plain = f"{stem[:100]}.{ending}" if is_ending else plain[:120]
    return plain or "unnamed"


def safe_type(written: str) -> str:
    """A media type that can stand in a header: as written, or the one that says nothing."""
    plain = written.partition(";")[0].strip().lower()
    return plain if _TYPE.fullmatch(plain) else ANY_TYPE


class FileOrigin(StrEnum):
    MESSAGE = "message"
    """It came with the customer's message."""
    REPLY = "reply"
    """A reviewer brought it, to be sent with a reply."""
    PAGE = "page"
    """The message as its sender laid it out in HTML: shown to people, made harmless first."""


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file that is kept; its bytes are read apart."""

    id: str
    run_id: str
    origin: FileOrigin
    number: int
    """Its place among the message's attachments, from 1; 0 for what a reviewer brought."""
    name: str
    type: str
    size: int
    digest: str
    """SHA-256."""
    by: str | None = None
    """Who brought it; None for the customer."""
    at: float = 0.0


@dataclass(frozen=True, slots=True)
class AttachedFile:
    """A file with its bytes, as it is sent."""

    name: str
    type: str
    content: bytes
