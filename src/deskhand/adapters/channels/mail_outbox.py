"""Replies leave by SMTP and are found again by their Message-ID, in Sent or as a copy."""

import asyncio
import logging
from collections.abc import Awaitable
from functools import partial

from deskhand.adapters.channels.credentials import Tokens
from deskhand.adapters.channels.leaving import LeavingMail
from deskhand.adapters.channels.mail_connection import ServerUnavailable
from deskhand.adapters.channels.mailbox import ImapMailbox
from deskhand.adapters.channels.outgoing_mail import OutgoingMail, compose, message_id, recipients
from deskhand.adapters.channels.smtp import submit
from deskhand.adapters.stores.channels import SqlChannelStore
from deskhand.config.sections.channels import ChannelSpec, SmtpSpec
from deskhand.errors import DeskhandError, ToolError

log = logging.getLogger("deskhand.mail")


class MailOutbox:
    """Sends a reply and a blind copy to ourselves at once: where the one went, the other is."""

    def __init__(
        self,
        channel: ChannelSpec,
        smtp: SmtpSpec,
        mailbox: ImapMailbox,
        memory: SqlChannelStore,
        tokens: Tokens | None,
        *,
        drafts: bool,
    ) -> None:
        self._channel, self._smtp, self._mailbox, self._tokens = channel, smtp, mailbox, tokens
        self._drafts = drafts
        copy_within = 0.0 if smtp.sent_copy == "append" else smtp.copy_within
        self._leaving = LeavingMail(memory, smtp.host, copy_within)

    async def send(self, mail: OutgoingMail) -> str:
        if await self._has_left_before(mail.key):
            return message_id(mail.key, self._channel)
        raw = await asyncio.to_thread(compose, mail, self._channel)
        own = self._channel.identity.address
        people = recipients(mail.reply)
        goes_to_us = own.lower() in [address.lower() for address in people]
        copy_to = own if self._smtp.sent_copy == "self" and not goes_to_us else None
        copied = await self._submit(mail.key, people, copy_to, raw)
        if copy_to is not None and not copied:
            log.warning(
                "%s takes no copy for %s: a person is asked about every reply that is cut off",
                self._smtp.host,
                own,
            )
        if self._smtp.sent_copy != "server" and not copied:
            await self._tidy(self._file_copy(raw), "no copy in Sent")
        if self._drafts:
            await self._tidy(self._mailbox.remove_drafts(mail.run_id), "its draft is still there")
        return message_id(mail.key, self._channel)

    async def _has_left_before(self, key: str) -> bool:
        """Whether an earlier process sent it; ToolError where the mailbox cannot be asked."""
        if not await self._leaving.may_have_left(key):
            return False
        try:
            return await self._copy_of(key)
        except ServerUnavailable as error:
            raise ToolError("mail_server", str(error)) from error

    async def _submit(self, key: str, people: list[str], copy_to: str | None, raw: bytes) -> bool:
        """Whether the copy was taken, too; a mail that is refused is noted as not sent."""
        own = self._channel.identity.address
        noting = partial(self._leaving.leaves, key)
        try:
            return await submit(self._smtp, self._tokens, own, people, copy_to, raw, noting)
        except ToolError:
            await self._leaving.stays(key)
            raise

    async def find(self, key: str) -> str | None:
        """The Message-ID of an earlier attempt's mail, None where it has certainly not left.

        Raises ToolError where nobody can tell, or not yet.
        """
        looked_at = self._leaving.now()
        if not await self._copy_of(key):
            await self._leaving.check_stayed(key, looked_at)
            return None
        return message_id(key, self._channel)

    async def _copy_of(self, key: str) -> bool:
        """Whether a copy of this mail lies in the mailbox: then it has left."""
        wanted = message_id(key, self._channel)
        places = [*self._mailbox.spec.folders, await self._mailbox.sent()]  # the way a copy takes
        folder = await self._mailbox.find(wanted, places)
        if folder is not None:
            log.info("%s has left: its copy is in %s", wanted, folder)
        return folder is not None

    async def keep_draft(self, mail: OutgoingMail) -> str:
        raw = await asyncio.to_thread(compose, mail, self._channel)
        await self._mailbox.append(await self._mailbox.drafts(), raw, ["\\Draft", "\\Seen"])
        return message_id(mail.key, self._channel)

    async def find_draft(self, key: str) -> str | None:
        wanted = message_id(key, self._channel)
        folder = await self._mailbox.find(wanted, [await self._mailbox.drafts()])
        return None if folder is None else wanted

    async def _file_copy(self, raw: bytes) -> None:
        await self._mailbox.append(await self._mailbox.sent(), raw, ["\\Seen"])

    async def _tidy(self, work: Awaitable[None], otherwise: str) -> None:
        """The mail has left: whatever fails now must not make it leave again."""
        try:
            await work
        except DeskhandError as error:
            log.warning("a reply has left, but %s: %s", otherwise, error)
