"""Mail that was answered and that the database does not know: after a restored backup, say."""

import time
from collections.abc import Sequence

from deskhand.adapters.channels.imap import Fetched, Imap
from deskhand.adapters.channels.imap_client import quoted
from deskhand.adapters.channels.mail_intake import answered_ids, read_channel_mail
from deskhand.adapters.channels.mailbox import ImapMailbox
from deskhand.adapters.channels.mailbox_states import DONE, REVIEW, WAITING
from deskhand.adapters.stores.channels import Mark, SqlChannelStore
from deskhand.mail.automatic import MARK
from deskhand.mail.reply import visible_reply
from deskhand.model.message import ANSWERED_BEFORE, ON_REQUEST, SENT_BEFORE, Message

_OUR_KEYWORDS = frozenset(keyword.lower() for keyword in (DONE, REVIEW, WAITING))
_ANSWERED = "\\answered"
_CHUNK = 100
_MOST_HEADERS = 100_000
_MOST_OF_A_MAIL = 1_000_000
_LONGEST_SHOWN = 5_000


class AnsweredBefore:
    """Finds mails of one mailbox that somebody has handled, and that the database forgot."""

    def __init__(self, mailbox: ImapMailbox, memory: SqlChannelStore) -> None:
        self._mailbox, self._memory = mailbox, memory
        self._answered: dict[str, tuple[str, int]] = {}
        """Answers that were not there when the database last looked, by what they answer: the
        folder and UID of each."""

    async def look(self) -> None:
        """Read what was sent since the database last looked; nothing at the first connect.

        A copy of a reply arrives in a folder that is read, and goes to Sent from there: both are
        looked at.
        """
        self._answered = {}
        for folder in self._mailbox.spec.folders:
            mark = await self._memory.mark(folder)
            if mark is not None:
                await self._look_in(folder, mark, ["HEADER", MARK, quoted("")])
        sent = await self._mailbox.sent()
        mark = await self._memory.mark(f"sent:{sent}")
        if mark is not None:
            await self._look_in(sent, mark, [])

    async def _look_in(self, folder: str, mark: Mark, criteria: list[str]) -> None:
        imap = await self._mailbox.connect()
        try:
            selected = await imap.select(folder)
            first = int(mark["next"])
            if mark["validity"] != selected.validity:  # rebuilt: what is new is found by its time
                first = 1
                since = time.strftime("%d-%b-%Y", time.gmtime(mark["at"] - 86400))
                criteria = [*criteria, "SINCE", since]
            async for uids in imap.search_up(first, *criteria):
                await self._read(imap, folder, uids)
        finally:
            await imap.close()

    async def _read(self, imap: Imap, folder: str, uids: Sequence[int]) -> None:
        for start in range(0, len(uids), _CHUNK):
            chunk = uids[start : start + _CHUNK]
            for mail in await imap.fetch(chunk, most=_MOST_HEADERS, headers_only=True):
                answered = answered_ids(mail)[:1]
                self._answered |= dict.fromkeys(answered, (folder, mail.uid))

    async def marked(self, mail: Fetched, message: Message) -> Message:
        """The message of a mail, marked for a person if it was answered without the database."""
        headers = dict(message.headers)
        for name in (ANSWERED_BEFORE, SENT_BEFORE):  # whatever the mail brings under our names
            headers.pop(name, None)
        sign = self._sign(mail, message)
        if sign is not None and await self._memory.run_of(message.id) is None:
            headers |= {ANSWERED_BEFORE: sign, ON_REQUEST: "yes"}
            text = await self._sent_text(message.id)
            headers |= {SENT_BEFORE: text} if text else {}
        return message.changed(headers=headers)

    def _sign(self, mail: Fetched, message: Message) -> str | None:
        """What shows that the mail was handled; None where nothing does."""
        if message.id in self._answered:
            return f"there is an answer to it in {self._answered[message.id][0]}"
        if _ANSWERED in mail.flags:
            return "it is marked as answered"
        if _OUR_KEYWORDS & mail.flags:
            return "it carries the desk's own mark"
        return None

    async def _sent_text(self, message_id: str) -> str:
        """What was answered, as far as Sent still has it."""
        folder, answer_uid = self._answered.get(message_id, (await self._mailbox.sent(), None))

        async def find(imap: Imap) -> list[Fetched]:
            await imap.select(folder)
            uids = [answer_uid] if answer_uid is not None else await _answers_to(imap, message_id)
            return await imap.fetch(uids[-1:], most=_MOST_OF_A_MAIL)

        mails = await self._mailbox.use(find)
        if not mails:
            return ""
        answer = await read_channel_mail(mails[0].raw, self._memory.channel, _MOST_OF_A_MAIL)
        return visible_reply(answer.body)[:_LONGEST_SHOWN]


async def _answers_to(imap: Imap, message_id: str) -> list[int]:
    """UIDs in the open folder of mails that answer this one, lowest first."""
    if not message_id.isascii() or not message_id.isprintable():
        return []
    return await imap.search("HEADER", "In-Reply-To", quoted(message_id))
