"""Replies leave by SMTP and are found again by their Message-ID, in Sent or as a copy."""

import asyncio
import logging
import time
from collections.abc import Awaitable

from deskhand.adapters.channels.credentials import Tokens
from deskhand.adapters.channels.mailbox import Mailbox
from deskhand.adapters.channels.outgoing_mail import OutgoingMail, compose, message_id, recipients
from deskhand.adapters.channels.smtp import submit
from deskhand.config.sections.channels import ChannelSpec, SmtpSpec
from deskhand.errors import DeskhandError, ToolError

log = logging.getLogger("deskhand.mail")

_LOOK_EVERY = 1.0


class MailOutbox:
    """Sends a reply and a blind copy to ourselves at once: where the one went, the other is."""

    def __init__(
        self,
        channel: ChannelSpec,
        smtp: SmtpSpec,
        mailbox: Mailbox,
        tokens: Tokens | None,
        *,
        drafts: bool,
    ) -> None:
        self._channel, self._smtp, self._mailbox, self._tokens = channel, smtp, mailbox, tokens
        self._drafts = drafts

    async def send(self, mail: OutgoingMail) -> str:
        raw = compose(mail, self._channel)
        own = self._channel.identity.address
        people = recipients(mail.reply)
        goes_to_us = own.lower() in [address.lower() for address in people]
        copy_to = own if self._smtp.sent_copy == "self" and not goes_to_us else None
        copied = await submit(self._smtp, self._tokens, own, people, copy_to, raw)
        if copy_to is not None and not copied:
            log.warning(
                "%s takes no copy for %s: a reply that is cut off could leave twice",
                self._smtp.host,
                own,
            )
        if self._smtp.sent_copy != "server" and not copied:
            await self._tidy(self._file_copy(raw), "no copy in Sent")
        if self._drafts:
            await self._tidy(self._mailbox.remove_drafts(mail.run_id), "its draft is still there")
        return message_id(mail.key, self._channel)

    async def find(self, key: str) -> str | None:
        """Where an earlier attempt's mail lies; asked only when nobody knows whether it left."""
        wanted, until = message_id(key, self._channel), time.monotonic() + self._smtp.copy_within
        places = [*self._mailbox.spec.folders, await self._mailbox.sent()]  # the way a copy takes
        while (folder := await self._mailbox.find(wanted, places)) is None:
            if self._smtp.sent_copy == "append":
                words = f"{self._smtp.host} may have taken {wanted}, and no copy would show it"
                raise ToolError("no_copy", words, recoverable=False)
            if time.monotonic() >= until:
                return None
            await asyncio.sleep(_LOOK_EVERY)
        log.info("%s has left: its copy is in %s", wanted, folder)
        return wanted

    async def keep_draft(self, mail: OutgoingMail) -> str:
        await self._mailbox.append(
            await self._mailbox.drafts(), compose(mail, self._channel), ["\\Draft", "\\Seen"]
        )
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
