"""Watching the Sent folder: answers that people wrote in a mail program."""

import logging
import time
from collections.abc import Callable, Sequence

from deskhand.adapters.channels.imap import Fetched, Imap
from deskhand.adapters.channels.mail_intake import (
    answered_ids,
    header_reader,
    is_ours,
    read_channel_mail,
    wait_for_news,
)
from deskhand.adapters.channels.mailbox import ImapMailbox
from deskhand.adapters.stores.channels import Mark, SqlChannelStore
from deskhand.engine.external_reply import person_answered
from deskhand.errors import NotFound
from deskhand.mail.automatic import MARK
from deskhand.mail.threads import our_key
from deskhand.model.run import Run
from deskhand.ports import Store, TrustStore

log = logging.getLogger("deskhand.mail")

_CHUNK = 100
_MOST_HEADERS = 100_000
_MOST_OF_A_MAIL = 1_000_000


class SentFolderReader:
    """Watches the Sent folder for answers that people wrote without us.

    Whoever answers a message in a mail program takes it over.
    """

    def __init__(
        self, mailbox: ImapMailbox, memory: SqlChannelStore, store: Store, trust: TrustStore
    ) -> None:
        self._mailbox, self._memory, self._store, self._trust = mailbox, memory, store, trust

    async def watch(self, well: Callable[[], None]) -> None:
        folder = await self._mailbox.sent()
        name = f"sent:{folder}"
        imap = await self._mailbox.connect()
        try:
            selected = await imap.select(folder)
            mark = await self._memory.mark(name)
            if mark is None or mark["validity"] != selected.validity:
                mark = {"validity": selected.validity, "next": selected.next_uid, "at": time.time()}
                await self._memory.advance(name, mark)
            while True:
                async for uids in imap.search_up(mark["next"]):
                    mark = await self._read(imap, name, mark, uids)
                well()
                await wait_for_news(imap, self._mailbox.spec.poll)
        finally:
            await imap.close()

    async def _read(self, imap: Imap, name: str, mark: Mark, uids: Sequence[int]) -> Mark:
        for start in range(0, len(uids), _CHUNK):
            chunk = uids[start : start + _CHUNK]
            for mail in await imap.fetch(chunk, most=_MOST_HEADERS, headers_only=True):
                await self._look_at(mail, imap)
            mark = {**mark, "next": chunk[-1] + 1, "at": time.time()}
            await self._memory.advance(name, mark)
        return mark

    async def _look_at(self, mail: Fetched, imap: Imap) -> None:
        if await is_ours(mail, self._memory):
            return
        if await self._is_forgotten(mail):
            return
        run = await self._answered(mail)
        if run is None:
            return
        by = f"{header_reader(mail)('From')[:200] or 'a person'} (mail program)"
        whole = await imap.fetch([mail.uid], most=_MOST_OF_A_MAIL)
        body = ""
        if whole:
            channel = self._memory.channel
            body = (await read_channel_mail(whole[0].raw, channel, _MOST_OF_A_MAIL)).body
        what = await person_answered(self._store, self._trust, run, by, body)
        log.info("%s %s run %s", by, what, run.id)

    async def _is_forgotten(self, mail: Fetched) -> bool:
        """Whether a desk sent it in a run that is not in this database: no person answered."""
        run_id = header_reader(mail)(MARK)
        if not run_id:
            return False
        try:
            await self._store.run(run_id)
        except NotFound:
            return True
        return False

    async def _answered(self, mail: Fetched) -> Run | None:
        for answered_id in answered_ids(mail):
            key = our_key(answered_id)
            if key is not None and await self._memory.sent(key):
                return await self._store.run(key.run_id)
            if (run := await self._memory.run_of(answered_id)) is not None:
                return run
        return None
