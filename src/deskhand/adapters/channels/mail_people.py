"""What people and mail programs see and do: our states as keywords or folders, and answers
written without us."""

import asyncio
import logging
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import partial

from deskhand.adapters.channels.imap import Fetched, Imap
from deskhand.adapters.channels.mail_intake import (
    answered_ids,
    header_reader,
    is_ours,
    read_mail,
    wait_for_news,
)
from deskhand.adapters.channels.mailbox import Mailbox
from deskhand.adapters.stores.channels import SqlChannelStore, Unshown
from deskhand.engine.external_reply import person_answered
from deskhand.mail.threads import our_key
from deskhand.model.run import Run, RunStatus
from deskhand.ports import Store, TrustStore

log = logging.getLogger("deskhand.mail")

DONE, REVIEW, WAITING = "$DeskhandDone", "$DeskhandReview", "$DeskhandWaiting"
DONE_FOLDER = "Deskhand/Done"
_SHOW_EVERY = 2.0
_CHUNK = 100
_MOST_HEADERS = 100_000
_MOST_OF_A_MAIL = 1_000_000


class SentReader:
    """Watches Sent: an answer there that is not ours was written by a person, who thereby takes
    the matter over."""

    def __init__(
        self, mailbox: Mailbox, memory: SqlChannelStore, store: Store, trust: TrustStore
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
                uids = await imap.from_uid(mark["next"])
                for start in range(0, len(uids), _CHUNK):
                    chunk = uids[start : start + _CHUNK]
                    for mail in await imap.fetch(chunk, most=_MOST_HEADERS, headers_only=True):
                        await self._look_at(mail, imap)
                    mark = {**mark, "next": chunk[-1] + 1, "at": time.time()}
                    await self._memory.advance(name, mark)
                well()
                await wait_for_news(imap, self._mailbox.spec.poll)
        finally:
            await imap.close()

    async def _look_at(self, mail: Fetched, imap: Imap) -> None:
        if await is_ours(mail, self._memory):
            return
        run = await self._answered(mail)
        if run is None:
            return
        by = f"{header_reader(mail)('From')[:200] or 'a person'} (mail program)"
        whole = await imap.fetch([mail.uid], most=_MOST_OF_A_MAIL)
        body = read_mail(whole[0].raw, self._memory.channel).body if whole else ""
        what = await person_answered(self._store, self._trust, run, by, body)
        log.info("%s %s run %s", by, what, run.id)

    async def _answered(self, mail: Fetched) -> Run | None:
        for found in answered_ids(mail):
            key = our_key(found)
            if key is not None and await self._memory.sent(key):
                return await self._store.run(key.run_id)
            if (run := await self._memory.run_of(found)) is not None:
                return run
        return None


class StateKeeper:
    """Shows in the mailbox where each mail's run stands."""

    def __init__(self, mailbox: Mailbox, memory: SqlChannelStore) -> None:
        self._mailbox, self._memory = mailbox, memory

    async def keep(self) -> None:
        while True:
            if not await self.show():
                await asyncio.sleep(_SHOW_EVERY)

    async def show(self) -> int:
        """Bring the mailbox up to date; returns how many mails were told about."""
        waiting = await self._memory.unshown()
        by_folder: dict[tuple[str, int], list[tuple[int, Unshown]]] = defaultdict(list)
        for one in waiting:
            validity, uid, folder = one.place.split("/", 2)
            by_folder[folder, int(validity)].append((int(uid), one))
        for place, mails in by_folder.items():
            if self._mailbox.spec.state != "none":
                await self._mailbox.use(partial(self._tell, place, mails))
            await self._memory.shown([one for _, one in mails])
        return len(waiting)

    async def _tell(
        self, place: tuple[str, int], mails: Sequence[tuple[int, Unshown]], imap: Imap
    ) -> None:
        folder, validity = place
        selected = await imap.select(folder)
        if selected.validity != validity:
            return  # rebuilt since: these numbers are other mails now
        if self._mailbox.spec.state == "folders":
            over = [
                uid
                for uid, one in mails
                if one.status.is_final and one.status is not RunStatus.FAILED
            ]
            if over:
                await imap.make_folder(DONE_FOLDER)
                await imap.select(folder)
                await imap.move(over, DONE_FOLDER)
            return
        by_keyword: dict[str, list[int]] = defaultdict(list)
        for uid, one in mails:
            by_keyword[_keyword(one.status)].append(uid)
        for keyword, uids in by_keyword.items():
            if selected.keeps_keywords:
                await imap.remove_flags(
                    uids, [other for other in (DONE, REVIEW, WAITING) if other != keyword]
                )
                await imap.add_flags(uids, [keyword])
        answered = [uid for uid, one in mails if one.status in (RunStatus.SENT, RunStatus.ANSWERED)]
        await imap.add_flags(answered, ["\\Answered", "\\Seen"])


def _keyword(status: RunStatus) -> str:
    if status is RunStatus.WAITING_USER:
        return WAITING
    return REVIEW if status.is_parked or status is RunStatus.FAILED else DONE
