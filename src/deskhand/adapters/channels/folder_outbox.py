"""An outbox of files: every reply leaves as an `.eml` named after its effect key."""

import asyncio
import os
from datetime import UTC, datetime
from email.message import EmailMessage
from email.utils import format_datetime
from pathlib import Path

from deskhand.adapters.channels.outgoing_mail import ids_in
from deskhand.model.message import Reply


class FolderOutbox:
    """Sending under a key that is already there changes nothing."""

    def __init__(self, folder: Path, sender: str = "deskhand@localhost") -> None:
        self._folder, self._sender = folder, sender

    async def send(self, reply: Reply, key: str) -> str:
        return await asyncio.to_thread(self._write, reply, key)

    async def find(self, key: str) -> str | None:
        path = self._path(key)
        return str(path) if await asyncio.to_thread(path.exists) else None

    def _path(self, key: str) -> Path:
        return self._folder / f"{key}.eml"

    def _write(self, reply: Reply, key: str) -> str:
        self._folder.mkdir(parents=True, exist_ok=True)
        path, part = self._path(key), self._folder / f".{key}.part"
        with part.open("wb") as file:
            file.write(_mail(reply, key, self._sender).as_bytes())
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
        return str(path)


def _mail(reply: Reply, key: str, sender: str) -> EmailMessage:
    mail = EmailMessage()
    mail["From"], mail["To"] = sender, _one_line(reply.to)
    mail["Subject"] = _one_line(reply.subject)
    mail["Message-ID"], mail["Date"] = f"<{key}@deskhand>", format_datetime(datetime.now(UTC))
    if answered := ids_in(reply.in_reply_to or ""):
        mail["In-Reply-To"] = mail["References"] = answered[0]
    if reply.language:
        mail["Content-Language"] = _one_line(reply.language)
    mail.set_content(reply.text)
    return mail


def _one_line(value: str) -> str:
    """A header never carries a line break, whoever wrote its value."""
    return " ".join(value.split())
