"""Files that a reviewer sends along with a reply, read from this machine."""

import mimetypes
from asyncio import to_thread
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deskhand.errors import ConfigError
from deskhand.model.attached_files import ANY_TYPE, LARGEST_FILE, AttachedFile

if TYPE_CHECKING:
    from deskhand.model.run import Review
    from deskhand.wiring import DeskStore


async def attached(
    store: "DeskStore", review: "Review", by: str, paths: list[Path], edit: dict[str, Any] | None
) -> dict[str, Any]:
    """Keep the files for a review; returns the edit with them beside those it had.

    Raises ConfigError for a file that cannot be read or is too large, before any is kept.
    """
    files = [await to_thread(_read, path) for path in paths]
    reply = review.payload.get("reply")
    before = reply.get("attachments") if isinstance(reply, dict) else None
    named = list(before or ())
    for file in files:
        named.append((await store.attach(review.id, by, file)).id)
    return {**(edit or {}), "attachments": named}


def _read(path: Path) -> AttachedFile:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ConfigError(f"{error.strerror}", file=path, fix="name a file to attach") from None
    if len(content) > LARGEST_FILE:
        raise ConfigError(
            f"{len(content):,} bytes", file=path, fix=f"attach at most {LARGEST_FILE:,} bytes"
        )
    return AttachedFile(path.name, mimetypes.guess_type(path.name)[0] or ANY_TYPE, content)
