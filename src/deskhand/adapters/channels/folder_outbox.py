"""An outbox of files: every reply leaves as an `.eml` named after its effect key."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from deskhand.adapters.channels.outgoing_mail import OutgoingMail, compose
from deskhand.config.sections.channels import ChannelSpec
from deskhand.errors import ToolError
from deskhand.model.attached_files import AttachedFile
from deskhand.model.message import OUTBOX_AWAY, Address, Message, Reply
from deskhand.private_files import make_private_folder, write_private_file

_NO_CHANNELS: Mapping[str, ChannelSpec] = {}


class FolderOutbox:
    """Sending under a key that is already there changes nothing."""

    def __init__(
        self,
        folder: Path,
        sender: str = "deskhand@localhost",
        channels: Mapping[str, ChannelSpec] = _NO_CHANNELS,
    ) -> None:
        """`channels` are those whose identity and signature a reply carries; any other reply
        comes from `sender`."""
        self._folder, self._channels = folder, channels
        self._otherwise = ChannelSpec(name="", identity=Address(address=sender), signature="")

    async def send(
        self,
        reply: Reply,
        key: str,
        answers: Message | None = None,
        files: tuple[AttachedFile, ...] = (),
    ) -> str:
        """Write the mail; `answers` is the message that it replies to."""
        channel = self._otherwise
        if answers is not None:
            channel = self._channels.get(answers.channel, channel)
        outgoing = OutgoingMail(reply, key, answers, files)
        return await asyncio.to_thread(self._write, outgoing, channel)

    async def find(self, key: str) -> str | None:
        path = self._path(key)
        return str(path) if await asyncio.to_thread(path.exists) else None

    def _path(self, key: str) -> Path:
        return self._folder / f"{key}.eml"

    def _write(self, outgoing: OutgoingMail, channel: ChannelSpec) -> str:
        """Raises ToolError where it cannot be written: then nothing has left, and nothing of it
        stays behind."""
        raw = compose(outgoing, channel, any_recipient=True)
        path, part = self._path(outgoing.key), self._folder / f".{outgoing.key}.part"
        try:
            self._write_part(part, raw)
            part.replace(path)
        except OSError as error:
            with suppress(OSError):
                part.unlink(missing_ok=True)
            problem = error.strerror or str(error)
            raise ToolError(
                OUTBOX_AWAY, f"the outbox {self._folder} cannot be written: {problem}"
            ) from error
        return str(path)

    def _write_part(self, part: Path, raw: bytes) -> None:
        """The folder is nearly always there, and looking for it takes as long as opening a file."""
        try:
            write_private_file(part, raw, on_disk=True)
        except FileNotFoundError:
            make_private_folder(self._folder)
            write_private_file(part, raw, on_disk=True)
