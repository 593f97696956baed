"""Mails of a desk's chat: how they leave, and codes for what the desk's own resolvers find."""

from collections.abc import Sequence
from pathlib import Path

from deskhand.adapters.channels.folder_outbox import FolderOutbox
from deskhand.config.desk import DeskSpec
from deskhand.config.sections.channels import chat_of
from deskhand.engine.chat_codes import ChatCodes, OnFile
from deskhand.mail.reply_to import is_whole
from deskhand.model.principal import ANONYMOUS
from deskhand.ports import Clock, DeskDatabase
from deskhand.ports.conversations import Chats
from deskhand.tools.authority import Owned, Resolver
from deskhand.tools.context import Context
from deskhand.wiring.channels import ChannelPost, DeskChannel, sending_channels
from deskhand.wiring.desks import LoadedDesk


def chat_post(spec: DeskSpec, channels: Sequence[DeskChannel], outbox: Path) -> ChannelPost:
    """How mails of the desk's chat leave."""
    chat = chat_of(spec.channels)
    carriers = sending_channels(channels)
    named = None if chat is None else chat.mail_by
    channel = next(iter(carriers.values()), None) if named is None else carriers.get(named)
    return ChannelPost(FolderOutbox(outbox, sender=f"{spec.name}@localhost"), channel)


def chat_codes(
    loaded: LoadedDesk, chats: Chats, own_tables: DeskDatabase, post: ChannelPost, clock: Clock
) -> ChatCodes:
    """How visitors of the desk's chat prove what is theirs."""
    found_by = _Finder(loaded.spec, loaded.code.resolvers, own_tables)
    return ChatCodes(chats, found_by.find, post.send, post.check, clock)


class _Finder:
    """Asks every resolver of things that customers own."""

    def __init__(
        self, spec: DeskSpec, resolvers: "tuple[Resolver, ...]", own_tables: DeskDatabase
    ) -> None:
        self._resolvers = [resolver for resolver in resolvers if issubclass(resolver.kind, Owned)]
        self._context = Context("", "", spec.name, "chat_code", own_tables)

    async def find(self, thing: str) -> OnFile | None:
        """The one thing of this name that has an address; None where there is none, or several."""
        things: list[OnFile] = []
        for resolver in self._resolvers:
            for owned in await resolver(thing, ANONYMOUS, self._context):
                if isinstance(owned, Owned) and owned.contact and is_whole(owned.contact):
                    things.append(OnFile(owned.id, owned.contact))
        return things[0] if len(things) == 1 else None
