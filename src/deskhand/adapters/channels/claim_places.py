"""Where claims lie: in a folder of an IMAP mailbox, or as labels of a Gmail mailbox."""

import logging
from collections.abc import Sequence
from email import policy
from email.message import EmailMessage
from email.parser import BytesHeaderParser

from deskhand.adapters.channels.gmail_api import Gmail
from deskhand.adapters.channels.imap import Imap, ImapRefused
from deskhand.adapters.channels.mailbox import ImapMailbox

log = logging.getLogger("deskhand.mail")

FOLDER = "Deskhand"
HEADER = "X-Deskhand-Claim"
LABEL = "Deskhand/Claim "
_WORDS = (
    "Deskhand reads this mailbox and answers from it. This mail says which installation does,\n"
    "so that no second one answers the same mail. Leave it here while Deskhand is in use.\n"
    "`deskhand mail claim DESK` shows who has the mailbox.\n"
)
_MOST = 20_000


class FolderClaims:
    """A mail for each claim, in a folder of our own."""

    def __init__(self, mailbox: ImapMailbox) -> None:
        self._mailbox = mailbox
        self._refused = False

    async def read(self) -> list[tuple[str, str]]:
        async def look(imap: Imap) -> list[tuple[str, str]]:
            if FOLDER not in {folder.name for folder in await imap.folders()}:
                return []
            await imap.select(FOLDER)
            uids = await imap.search("HEADER", HEADER, '""')
            mails = await imap.fetch(uids, most=_MOST, headers_only=True)
            parser = BytesHeaderParser(policy=policy.default)
            return [(str(mail.uid), str(parser.parsebytes(mail.raw)[HEADER])) for mail in mails]

        return await self._mailbox.use(look)

    async def write(self, line: str) -> None:
        """A mailbox in which we may make no folder is worked without a claim."""
        mail = EmailMessage(policy=policy.SMTP.clone(max_line_length=900))
        mail["Subject"] = "This mailbox is worked by Deskhand"
        mail[HEADER] = line
        mail.set_content(_WORDS)

        async def put(imap: Imap) -> None:
            await imap.make_folder(FOLDER)
            await imap.append(FOLDER, mail.as_bytes(), ["\\Seen"])

        try:
            await self._mailbox.use(put)
        except ImapRefused as error:
            if not self._refused:
                log.warning("the mailbox is worked without a claim: %s", error)
            self._refused = True

    async def remove(self, places: Sequence[str]) -> None:
        if not places:
            return

        async def delete(imap: Imap) -> None:
            await imap.select(FOLDER)
            await imap.delete([int(place) for place in places])

        await self._mailbox.use(delete)


class LabelClaims:
    """A label for each claim; its name says everything."""

    def __init__(self, gmail: Gmail) -> None:
        self._gmail = gmail

    async def read(self) -> list[tuple[str, str]]:
        labels = await self._gmail.labels()
        return [
            (label_id, name.removeprefix(LABEL))
            for name, label_id in labels.items()
            if name.startswith(LABEL)
        ]

    async def write(self, line: str) -> None:
        await self._gmail.make_label(LABEL + line, shown=False)

    async def remove(self, places: Sequence[str]) -> None:
        for label_id in places:
            await self._gmail.remove_label(label_id)
