"""Reading a mailbox: each new mail is handed in once and remembered by its number."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

from deskhand.adapters.channels.imap import Fetched, Imap, Selected
from deskhand.adapters.channels.mailbox import ImapMailbox
from deskhand.adapters.channels.outgoing_mail import ids_in
from deskhand.adapters.stores.channels import Arrival, Mark, SqlChannelStore
from deskhand.mail.limited_mail import read_mail
from deskhand.mail.mime import read_head
from deskhand.mail.threads import our_key
from deskhand.model.message import Message
from deskhand.ports import Intake

log = logging.getLogger("deskhand.mail")

IDLE_SECONDS = 25.0
"""Seconds between looks of our own: a server may announce a mail once, where we miss it."""
_CHUNK, _CHUNK_BYTES = 50, 10_000_000
_MOST_ANSWERED = 50
_SIZES_AT_ONCE = 500
"""UIDs in one command: some servers take lines of 8 KB and no more."""
_CLOCKS_DIFFER = 3600.0
"""Seconds by which the server's clock and ours may differ when mail is found by its time."""


Marking = Callable[[Fetched, Message], Awaitable[Message]]
"""Marks the message of a mail that was answered although the database knows nothing of it."""


class FolderReader:
    """One watched folder on a connection of its own."""

    def __init__(
        self,
        folder: str,
        mailbox: ImapMailbox,
        memory: SqlChannelStore,
        intake: Intake,
        most: int,
        marked: Marking,
    ) -> None:
        self._folder, self._mailbox, self._memory = folder, mailbox, memory
        self._intake, self._most, self._marked = intake, most, marked

    async def watch(self, well: Callable[[], None]) -> None:
        """Hand in what arrives, for ever; raises when the connection is lost."""
        imap = await self._mailbox.connect()
        try:
            selected = await imap.select(self._folder)
            mark = await self._start(imap, selected)
            while True:
                async for uids in imap.search_up(mark["next"]):
                    mark = await self._read(imap, mark, uids)
                well()
                await wait_for_news(imap, self._mailbox.spec.poll)
        finally:
            await imap.close()

    async def _start(self, imap: Imap, selected: Selected) -> Mark:
        """Where to go on; at the first connect what is there already is left alone."""
        mark, now = await self._memory.mark(self._folder), time.time()
        if mark is not None and mark["validity"] == selected.validity:
            return mark
        fresh = {"validity": selected.validity, "next": selected.next_uid, "since": now, "at": now}
        if mark is None:
            log.info("%s: mail from now on is answered, older mail is left alone", self._folder)
        else:
            log.warning("%s was rebuilt on the server; looking for mail by its time", self._folder)
            fresh["since"] = mark["since"]
            await self._catch_up(imap, fresh, max(mark["since"], mark["at"] - _CLOCKS_DIFFER))
        await self._memory.advance(self._folder, fresh)
        return fresh

    async def _catch_up(self, imap: Imap, mark: Mark, since: float) -> None:
        """Hand in all that came since; mail handed in before is recognised by its Message-ID."""
        day = time.strftime("%d-%b-%Y", time.gmtime(since - 86400))
        async for uids in imap.search_up(1, "SINCE", day):
            await self._read(imap, mark, uids, since)

    async def _read(self, imap: Imap, mark: Mark, uids: Sequence[int], since: float = 0.0) -> Mark:
        async for chunk in in_chunks(imap, uids):
            arrivals: list[Arrival] = []
            copies: list[int] = []
            for mail in await imap.fetch(chunk, most=self._most):
                if mail.arrived < int(since):  # servers tell whole seconds
                    continue
                if await is_ours(mail, self._memory):
                    copies.append(mail.uid)
                else:
                    message = await self._marked(mail, await self._message(mail))
                    accepted = await self._intake.hand_in(message)
                    arrivals.append(
                        Arrival(place_of(self._folder, mark["validity"], mail.uid), accepted.run_id)
                    )
            await self._file(imap, copies)
            mark = {**mark, "next": max(mark["next"], chunk[-1] + 1), "at": time.time()}
            await self._memory.advance(self._folder, mark, arrivals)
        return mark

    async def _message(self, mail: Fetched) -> Message:
        if len(mail.raw) >= self._most:
            log.warning(
                "%s: mail %d is larger than the desk takes; its beginning is",
                self._folder,
                mail.uid,
            )
        return await read_channel_mail(mail.raw, self._memory.channel, self._most)

    async def _file(self, imap: Imap, copies: Sequence[int]) -> None:
        if copies:
            sent = await self._mailbox.sent()
            await imap.add_flags(copies, ["\\Seen"])
            if sent != self._folder:
                await imap.move(copies, sent)


async def read_channel_mail(raw: bytes, channel: str, most: int) -> Message:
    """The message in a mail; one that cannot be read goes to a person and stops no others.

    Of a mail with `most` bytes or more these are its beginning.
    """
    message = await read_mail(raw, is_cut=len(raw) >= most)
    return message.changed(channel=channel)


async def wait_for_news(imap: Imap, poll: float) -> None:
    """IDLE where the server can, else look again after a while."""
    if "IDLE" in imap.capabilities:
        await imap.idle(IDLE_SECONDS)
    else:
        await asyncio.sleep(poll)
    await imap.noop()


async def is_ours(mail: Fetched, memory: SqlChannelStore) -> bool:
    """Whether this is a mail that we sent: the ledger says so, not the mail.

    Then it proves that the mail has left, and nobody need be asked whether it has.
    """
    message_id = header_reader(mail)("Message-ID")
    key = our_key(message_id)
    if key is None:
        return await memory.sent_notice(message_id.strip("<> ").rpartition("@")[0])
    if not await memory.sent(key):
        return False
    await memory.copy_arrived(key)
    return True


def header_reader(mail: Fetched) -> Callable[[str], str]:
    """Headers of a mail, as text, whatever they hold."""
    head = read_head(mail.raw)
    return lambda name: head.header(name.lower())


def answered_ids(mail: Fetched) -> list[str]:
    """The Message-IDs a mail answers, the nearest first; no more than a few."""
    header = header_reader(mail)
    ids = ids_in(header("In-Reply-To"), *reversed(ids_in(header("References"))))
    return ids[:_MOST_ANSWERED]


def place_of(folder: str, validity: int, uid: int) -> str:
    return f"{validity}/{uid}/{folder}"


async def in_chunks(imap: Imap, uids: Sequence[int]) -> AsyncIterator[list[int]]:
    """So many mails at once that they fit into memory."""
    chunk: list[int] = []
    weight = 0
    for start in range(0, len(uids), _SIZES_AT_ONCE):
        part = uids[start : start + _SIZES_AT_ONCE]
        sizes = await imap.sizes(part)
        for uid in part:
            if chunk and (len(chunk) >= _CHUNK or weight + sizes.get(uid, 0) > _CHUNK_BYTES):
                yield chunk
                chunk, weight = [], 0
            chunk.append(uid)
            weight += sizes.get(uid, 0)
    if chunk:
        yield chunk
