"""A mailbox as a channel: read by IMAP, answered by SMTP."""

import asyncio
from functools import partial

from deskhand.adapters.channels.answered_before import AnsweredBefore
from deskhand.adapters.channels.claim_places import FolderClaims
from deskhand.adapters.channels.credentials import Tokens
from deskhand.adapters.channels.imap import Imap
from deskhand.adapters.channels.mail_intake import FolderReader, place_of, read_channel_mail
from deskhand.adapters.channels.mail_outbox import MailOutbox
from deskhand.adapters.channels.mailbox import ImapMailbox
from deskhand.adapters.channels.mailbox_claim import MailboxClaim
from deskhand.adapters.channels.mailbox_states import MailboxStates
from deskhand.adapters.channels.outgoing_mail import OutgoingMail
from deskhand.adapters.channels.sent_folder import SentFolderReader
from deskhand.adapters.channels.smtp import Smtp, SmtpRefused
from deskhand.adapters.stores.channels import Arrival, SqlChannelStore
from deskhand.config.sections.channels import ChannelSpec
from deskhand.errors import ConfigError
from deskhand.model.message import ON_REQUEST, Message
from deskhand.ports import Intake, Store, TrustStore

_UNREAD = ("UNSEEN", "UNKEYWORD", "$DeskhandDone", "UNKEYWORD", "$DeskhandReview")


class MailChannel:
    def __init__(
        self,
        spec: ChannelSpec,
        memory: SqlChannelStore,
        store: Store,
        trust: TrustStore,
        *,
        max_bytes: int,
        drafts: bool,
    ) -> None:
        assert spec.imap is not None
        assert spec.smtp is not None
        assert spec.imap.login is not None
        self.name = spec.name
        self._spec, self._imap, self._smtp = spec, spec.imap, spec.smtp
        self._memory, self._max_bytes = memory, max_bytes
        oauth = spec.imap.login.oauth
        self._tokens = None if oauth is None else Tokens(oauth)
        smtp_oauth = spec.smtp.login.oauth if spec.smtp.login is not None else None
        self._smtp_tokens = self._tokens if smtp_oauth is not None else None
        self._mailbox = ImapMailbox(spec.imap, self._tokens)
        self.claim = MailboxClaim(FolderClaims(self._mailbox), memory, spec.imap.folders)
        self._sent_reader = SentFolderReader(self._mailbox, memory, store, trust)
        self._outbox = MailOutbox(
            spec, spec.smtp, self._mailbox, memory, self._smtp_tokens, drafts=drafts
        )

    async def listen(self, intake: Intake) -> None:
        await self.claim.hold()
        await self.claim.settled()
        sent = await self._mailbox.sent()  # one connection finds and makes it, not several at once
        before = AnsweredBefore(self._mailbox, self._memory)
        await before.look()
        waited_for = {*self._imap.folders, sent}

        def well(folder: str) -> None:
            """The channel is well once all its folders are."""
            waited_for.discard(folder)
            if not waited_for:
                intake.well()

        try:
            async with asyncio.TaskGroup() as group:
                for folder in self._imap.folders:
                    reader = FolderReader(
                        folder, self._mailbox, self._memory, intake, self._max_bytes, before.marked
                    )
                    group.create_task(reader.watch(partial(well, folder)))
                group.create_task(self._sent_reader.watch(partial(well, sent)))
                group.create_task(MailboxStates(self._mailbox, self._memory).keep())
                group.create_task(self.claim.keep())
        except BaseExceptionGroup as group_of:
            raise group_of.exceptions[0] from None

    async def close(self) -> None:
        await self._mailbox.close()

    async def check_sending(self) -> None:
        """Raise a DeskhandError where no mail would leave now."""
        smtp = await Smtp.connect(self._smtp, self._smtp_tokens)
        await smtp.close()

    async def check(self) -> str:
        """Log in to both servers and check folders and our own address; nothing is sent."""
        present = {
            folder.name.lower() for folder in await self._mailbox.use(lambda imap: imap.folders())
        }
        missing = [folder for folder in self._imap.folders if folder.lower() not in present]
        if missing:
            raise ConfigError(
                f"{self._imap.host} has no folder {missing[0]!r}",
                fix="correct `folders`, or make it in a mail program",
            )
        smtp = await Smtp.connect(self._smtp, self._smtp_tokens)
        try:
            await smtp.envelope(self._spec.identity.address, [self._spec.identity.address], None)
        except SmtpRefused as error:
            fix = (
                "correct `identity`, or write `sent_copy: append` if replies cannot be copied to it"
            )
            raise ConfigError(
                f"{smtp.where} does not take mail from and to our own address: {error}", fix=fix
            ) from None
        finally:
            await smtp.close()
        return (
            f"{self._imap.host} reads {', '.join(self._imap.folders)}; {self._smtp.host} takes"
            " replies"
        )

    # --- what leaves

    async def send(self, mail: OutgoingMail) -> str:
        return await self._outbox.send(mail)

    async def find(self, key: str) -> str | None:
        return await self._outbox.find(key)

    async def keep_draft(self, mail: OutgoingMail) -> str:
        return await self._outbox.keep_draft(mail)

    async def find_draft(self, key: str) -> str | None:
        return await self._outbox.find_draft(key)

    # --- what was there before

    async def older_unread(self, limit: int) -> list[tuple[str, Message]]:
        """Unread mail from before the first connect, newest first, with its place."""
        unread: list[tuple[str, Message]] = []
        for folder in self._imap.folders:
            mark = await self._memory.mark(folder)
            imap = await self._mailbox.connect()
            try:
                selected = await imap.select(folder)
                before = selected.next_uid
                if mark is not None and mark["validity"] == selected.validity:
                    before = int(mark["next"])
                for uid in await _newest_unread(imap, before, limit):
                    for mail in await imap.fetch([uid], most=self._max_bytes):
                        place = place_of(folder, selected.validity, mail.uid)
                        unread.append((place, await self._on_request(mail.raw)))
            finally:
                await imap.close()
        return unread[:limit]

    async def remember(self, place: str, run_id: str) -> None:
        await self._memory.arrived([Arrival(place, run_id)])

    async def _on_request(self, raw: bytes) -> Message:
        message = await read_channel_mail(raw, self.name, self._max_bytes)
        return message.model_copy(update={"headers": {**message.headers, ON_REQUEST: "yes"}})


async def _newest_unread(imap: Imap, before: int, limit: int) -> list[int]:
    """UIDs below `before`, newest first, of mail that nobody read and that has no run."""
    newest: list[int] = []
    async for uids in imap.search_down(before - 1, *_UNREAD):
        newest += reversed(uids)
        if len(newest) >= limit:
            break
    return newest[:limit]
