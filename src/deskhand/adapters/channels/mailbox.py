"""A mailbox's folders: the one connection for everything but waiting for mail."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from deskhand.adapters.channels.credentials import Tokens
from deskhand.adapters.channels.imap import Imap
from deskhand.adapters.channels.imap_client import quoted
from deskhand.adapters.channels.mail_connection import ServerUnavailable
from deskhand.config.sections.channels import ImapSpec
from deskhand.mail.automatic import MARK

T = TypeVar("T")

_SPECIAL = {"sent": "\\sent", "drafts": "\\drafts"}


class ImapMailbox:
    """Commands come one after the other; a line that died while nobody used it is opened anew."""

    def __init__(self, spec: ImapSpec, tokens: Tokens | None) -> None:
        self.spec = spec
        self._tokens = tokens
        self._imap: Imap | None = None
        self._busy = asyncio.Lock()
        self._names: dict[str, str] = {}

    async def connect(self) -> Imap:
        """A connection of one's own, to wait on."""
        return await Imap.connect(self.spec, self._tokens)

    async def close(self) -> None:
        imap, self._imap = self._imap, None
        if imap is not None:
            await imap.close()

    async def use(self, work: Callable[[Imap], Awaitable[T]]) -> T:
        async with self._busy:
            if self._imap is not None:
                try:
                    return await self._work(work, self._imap)
                except ServerUnavailable:
                    pass
            self._imap = await self.connect()
            return await self._work(work, self._imap)

    async def _work(self, work: Callable[[Imap], Awaitable[T]], imap: Imap) -> T:
        try:
            return await work(imap)
        except BaseException:  # the line may be in the middle of an answer
            await self.close()
            raise

    async def sent(self) -> str:
        return await self._special(
            "sent", self.spec.sent or "Sent", named=self.spec.sent is not None
        )

    async def drafts(self) -> str:
        return await self._special(
            "drafts", self.spec.drafts or "Drafts", named=self.spec.drafts is not None
        )

    async def _special(self, use: str, usual: str, *, named: bool) -> str:
        """The folder that desk.yaml names, else the server's, else the usual; made if missing."""
        if use not in self._names:

            async def find(imap: Imap) -> str:
                folders = await imap.folders()
                marked = [folder.name for folder in folders if _SPECIAL[use] in folder.uses]
                name = usual if named or not marked else marked[0]
                if name not in {folder.name for folder in folders}:
                    await imap.make_folder(name)
                return name

            self._names[use] = await self.use(find)
        return self._names[use]

    async def find(self, message_id: str, folders: Sequence[str]) -> str | None:
        """The first of the folders that holds a mail with this Message-ID."""

        async def look(imap: Imap) -> str | None:
            for folder in dict.fromkeys(folders):
                await imap.select(folder)
                if await imap.with_message_id(message_id):
                    return folder
            return None

        return await self.use(look)

    async def append(self, folder: str, raw: bytes, flags: Sequence[str]) -> None:
        await self.use(lambda imap: imap.append(folder, raw, flags))

    async def remove_drafts(self, run_id: str) -> None:
        folder = await self.drafts()

        async def remove(imap: Imap) -> None:
            await imap.select(folder)
            await imap.delete(await imap.search("HEADER", MARK, quoted(run_id)))

        await self.use(remove)
