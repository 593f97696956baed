"""Replies leave on the channel their message came in on; those of no channel leave as files."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Protocol

from deskhand.adapters.channels.folder_outbox import FolderOutbox
from deskhand.adapters.channels.outgoing_mail import OutgoingMail
from deskhand.adapters.stores.chats import SqlChats
from deskhand.errors import NotFound, ToolError
from deskhand.model.attached_files import AttachedFile
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
        file_of: Callable[[str, str], Awaitable[AttachedFile]],
    ) -> None:
        """`file_of` reads a file of a run, by the ids of both."""
        self._carriers, self._otherwise, self._message_of = carriers, otherwise, message_of
        self._file_of = file_of

    async def send(self, reply: Reply, key: str) -> str:
        message, carrier = await self._way(key)
        files = await self._files(reply, key)
        if carrier is None:
            return await self._otherwise.send(reply, key, message, files)
        return await carrier.send(OutgoingMail(reply, key, message, files))

    async def find(self, key: str) -> str | None:
        _, carrier = await self._way(key)
        return await (self._otherwise.find(key) if carrier is None else carrier.find(key))

    async def keep_draft(self, reply: Reply, key: str) -> str:
        message, carrier = await self._way(key)
        if carrier is None:
            raise ToolError("no_drafts", "this channel has no place for drafts", recoverable=False)
        files = await self._files(reply, key)
        return await carrier.keep_draft(OutgoingMail(reply, key, message, files))

    async def find_draft(self, key: str) -> str | None:
        _, carrier = await self._way(key)
        return None if carrier is None else await carrier.find_draft(key)

    async def _files(self, reply: Reply, key: str) -> tuple[AttachedFile, ...]:
        """What is sent along; ToolError where a file is gone, since a reply without it says
        something else."""
        run_id = key.partition(".")[0]
        try:
            files = [await self._file_of(run_id, file_id) for file_id in reply.attachments]
        except NotFound as error:
            raise ToolError("attachment_gone", str(error), recoverable=False) from None
        return tuple(files)

    async def _way(self, key: str) -> tuple[Message | None, SendingChannel | None]:
        message = await self._message_of(key.partition(".")[0])
        return message, None if message is None else self._carriers.get(message.channel)


class HandBackOutbox:
    """Replies to programs that handed a ticket in: they read the answer in what they get back, so
    nothing leaves here, and delivering again changes nothing."""

    async def send(self, mail: OutgoingMail) -> str:
        return f"handed back:{mail.run_id}"

    async def find(self, key: str) -> str | None:
        return None

    async def keep_draft(self, mail: OutgoingMail) -> str:
        raise ToolError("no_drafts", "a program has no place for drafts", recoverable=False)

    async def find_draft(self, key: str) -> str | None:
        return None


class ChatOutbox:
    """Replies to a chat: lines in the database, where every process finds them.

    A line is said once per key: sending again changes nothing.
    """

    def __init__(self, chats: SqlChats) -> None:
        self._chats = chats

    async def send(self, mail: OutgoingMail) -> str:
        if mail.answers is None:
            raise ToolError("no_chat", "the message of this reply is gone", recoverable=False)
        chat = mail.answers.conversation
        await self._chats.reply(chat, mail.key, mail.run_id, mail.reply.text)
        return f"chat:{mail.key}"

    async def find(self, key: str) -> str | None:
        return f"chat:{key}" if await self._chats.said(key) else None

    async def keep_draft(self, mail: OutgoingMail) -> str:
        raise ToolError("no_drafts", "a chat has no place for drafts", recoverable=False)

    async def find_draft(self, key: str) -> str | None:
        return None
