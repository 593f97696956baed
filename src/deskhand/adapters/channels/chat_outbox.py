"""Replies to a chat: a line in the database, where every process finds it."""

from deskhand.adapters.channels.outgoing_mail import OutgoingMail
from deskhand.adapters.stores.chats import SqlChats
from deskhand.errors import ToolError


class ChatOutbox:
    """A line is said once per key: sending again changes nothing."""

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
