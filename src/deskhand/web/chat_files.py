"""Files that visitors send: images and PDFs, known by what is in them and not by their names."""

import base64
import binascii
from collections.abc import Sequence
from hashlib import sha256

from pydantic import BaseModel, Field

from deskhand.model.attached_files import safe_file_name
from deskhand.model.message import Attachment
from deskhand.web.api.problems import FieldProblem, invalid

MOST_FILES = 3
LARGEST_FILE = 5 * 1024 * 1024
LARGEST_ENCODED = (LARGEST_FILE + 2) // 3 * 4
_ENDINGS = {
    "image/png": (".png",),
    "image/jpeg": (".jpg", ".jpeg"),
    "image/gif": (".gif",),
    "image/webp": (".webp",),
    "application/pdf": (".pdf",),
}


class FileBody(BaseModel):
    """A file that comes with a message."""

    name: str = Field(min_length=1, max_length=500)
    content: str = Field(min_length=1, max_length=LARGEST_ENCODED)
    """The bytes in Base64: at most 5 MB of an image (PNG, JPEG, GIF, WebP) or a PDF."""


def attachments_of(files: Sequence[FileBody]) -> tuple[Attachment, ...]:
    """The files as they are kept; Refused for one that is no image and no PDF."""
    return tuple(_attachment(file, number) for number, file in enumerate(files))


def _attachment(file: FileBody, number: int) -> Attachment:
    place = f"files.{number}.content"
    try:
        content = base64.b64decode(file.content, validate=True)
    except (binascii.Error, ValueError):
        raise invalid(FieldProblem(place, "this is not Base64")) from None
    if not 0 < len(content) <= LARGEST_FILE:
        raise invalid(FieldProblem(place, f"send at most {LARGEST_FILE:,} bytes"))
    kind = type_of(content)
    if kind is None:
        raise invalid(FieldProblem(place, "send an image (PNG, JPEG, GIF, WebP) or a PDF"))
    return Attachment(
        name=named_rightly(file.name, kind),
        type=kind,
        size=len(content),
        digest=sha256(content).hexdigest(),
        content=content,
    )


def type_of(content: bytes) -> str | None:
    """What a file is by its first bytes; None for whatever is not taken."""
    if content.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if content.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if content.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "image/webp"
    return "application/pdf" if content.startswith(b"%PDF-") else None


def named_rightly(name: str, kind: str) -> str:
    """The name with the ending of what the file is: a PDF called `a.png` becomes `a.png.pdf`."""
    plain = safe_file_name(name)
    endings = _ENDINGS[kind]
    return plain if plain.lower().endswith(endings) else f"{plain}{endings[0]}"
