"""Showing in a mailbox where each mail's run stands: as keywords, or by moving done mail."""

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from functools import partial

from deskhand.adapters.channels.imap import Imap
from deskhand.adapters.channels.mailbox import ImapMailbox
from deskhand.adapters.stores.channels import SqlChannelStore, Unshown
from deskhand.model.run import RunStatus

DONE, REVIEW, WAITING = "$DeskhandDone", "$DeskhandReview", "$DeskhandWaiting"
DONE_FOLDER = "Deskhand/Done"
_SHOW_EVERY = 2.0


class MailboxStates:
    """Shows in the mailbox where each mail's run stands."""

    def __init__(self, mailbox: ImapMailbox, memory: SqlChannelStore) -> None:
        self._mailbox, self._memory = mailbox, memory

    async def keep(self) -> None:
        while True:
            if not await self.show():
                await asyncio.sleep(_SHOW_EVERY)

    async def show(self) -> int:
        """Bring the mailbox up to date; returns how many mails changed."""
        waiting = await self._memory.unshown()
        by_folder: dict[tuple[str, int], list[tuple[int, Unshown]]] = defaultdict(list)
        for mail in waiting:
            validity, uid, folder = mail.place.split("/", 2)
            by_folder[folder, int(validity)].append((int(uid), mail))
        for place, mails in by_folder.items():
            if self._mailbox.spec.state != "none":
                await self._mailbox.use(partial(self._mark, place, mails))
            await self._memory.shown([mail for _, mail in mails])
        return len(waiting)

    async def _mark(
        self, place: tuple[str, int], mails: Sequence[tuple[int, Unshown]], imap: Imap
    ) -> None:
        folder, validity = place
        selected = await imap.select(folder)
        if selected.validity != validity:
            return  # rebuilt since: these numbers are other mails now
        if self._mailbox.spec.state == "folders":
            over = [
                uid
                for uid, mail in mails
                if mail.status.is_final and mail.status is not RunStatus.FAILED
            ]
            if over:
                await imap.make_folder(DONE_FOLDER)
                await imap.select(folder)
                await imap.move(over, DONE_FOLDER)
            return
        by_keyword: dict[str, list[int]] = defaultdict(list)
        for uid, mail in mails:
            by_keyword[_keyword(mail.status)].append(uid)
        for keyword, uids in by_keyword.items():
            if selected.keeps_keywords:
                await imap.remove_flags(
                    uids, [other for other in (DONE, REVIEW, WAITING) if other != keyword]
                )
                await imap.add_flags(uids, [keyword])
        answered = [
            uid for uid, mail in mails if mail.status in (RunStatus.SENT, RunStatus.ANSWERED)
        ]
        await imap.add_flags(answered, ["\\Answered", "\\Seen"])


def _keyword(status: RunStatus) -> str:
    if status is RunStatus.WAITING_USER:
        return WAITING
    return REVIEW if status.is_parked or status is RunStatus.FAILED else DONE
