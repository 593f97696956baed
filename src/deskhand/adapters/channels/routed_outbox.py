"""Replies leave on the channel their message came in on; those of no channel leave as files."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Protocol

from deskhand.adapters.channels.folder_outbox import FolderOutbox
from deskhand.adapters.channels.outgoing_mail import OutgoingMail
from deskhand.errors import ToolError
from deskhand.model.message import Message, Reply


class SendingChannel(Protocol):
    """A channel's way out."""

    async def send(self, mail: OutgoingMail) -> str: ...

    async def find(self, key: str) -> str | None: ...

    async def keep_draft(self, mail: OutgoingMail) -> str: ...

    async def find_draft(self, key: str) -> str | None: ...


class RoutedOutbox:
    """Finds the run, and so the channel, that a reply belongs to by its effect's key."""

    def __init__(
        self,
        carriers: Mapping[str, SendingChannel],
        otherwise: FolderOutbox,
        message_of: Callable[[str], Awaitable[Message | None]],
    ) -> None:
        self._carriers, self._otherwise, self._message_of = carriers, otherwise, message_of

    async def send(self, reply: Reply, key: str) -> str:
        message, carrier = await self._way(key)
        if carrier is None:
            return await self._otherwise.send(reply, key, message)
        return await carrier.send(OutgoingMail(reply, key, message))

    async def find(self, key: str) -> str | None:
        _, carrier = await self._way(key)
        return await (self._otherwise.find(key) if carrier is None else carrier.find(key))

    async def keep_draft(self, reply: Reply, key: str) -> str:
        message, carrier = await self._way(key)
        if carrier is None:
            raise ToolError("no_drafts", "this channel has no place for drafts", recoverable=False)
        return await carrier.keep_draft(OutgoingMail(reply, key, message))

    async def find_draft(self, key: str) -> str | None:
        _, carrier = await self._way(key)
        return None if carrier is None else await carrier.find_draft(key)

    async def _way(self, key: str) -> tuple[Message | None, SendingChannel | None]:
        message = await self._message_of(key.partition(".")[0])
        return message, None if message is None else self._carriers.get(message.channel)
