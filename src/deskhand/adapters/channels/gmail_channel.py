"""A Gmail or Workspace mailbox over Google's REST API."""

import asyncio
import logging
import time
from functools import partial
from typing import Any

from deskhand.adapters.channels.claim_places import LabelClaims
from deskhand.adapters.channels.gmail_api import Gmail, GmailMail, HistoryGone
from deskhand.adapters.channels.leaving import LeavingMail
from deskhand.adapters.channels.mail_connection import ServerUnavailable
from deskhand.adapters.channels.mail_intake import read_channel_mail
from deskhand.adapters.channels.mailbox_claim import MailboxClaim
from deskhand.adapters.channels.outgoing_mail import OutgoingMail, compose, ids_in, message_id
from deskhand.adapters.stores.channels import Arrival, Mark, SqlChannelStore
from deskhand.config.sections.channels import ChannelSpec
from deskhand.engine.external_reply import person_answered
from deskhand.errors import ToolError
from deskhand.mail.threads import our_key
from deskhand.model.message import ANSWERED_BEFORE, ON_REQUEST, SENT_BEFORE, Message
from deskhand.model.run import Run
from deskhand.ports import Intake, Store, TrustStore

log = logging.getLogger("deskhand.gmail")

DONE, REVIEW = "Deskhand/Done", "Deskhand/Review"
_HISTORY = "history"
_USUAL_LABELS = frozenset(("INBOX", "UNREAD", "IMPORTANT", "STARRED", "CATEGORY_PERSONAL"))
"""Labels of Gmail's own that new mail carries."""
_FOUND_WITHIN = 20.0
"""Seconds after which a mail that Gmail took shows up when it is searched for."""


class GmailChannel:
    """What is new by Gmail's history; what the mark no longer reaches is found by time."""

    def __init__(
        self,
        spec: ChannelSpec,
        memory: SqlChannelStore,
        store: Store,
        trust: TrustStore,
        *,
        max_bytes: int,
    ) -> None:
        assert spec.gmail is not None
        self.name = spec.name
        self._spec, self._memory, self._store, self._max_bytes = spec, memory, store, max_bytes
        self._trust = trust
        self._watched = frozenset(spec.gmail.labels)
        self._poll = spec.gmail.poll
        self._api = Gmail(spec.gmail)
        self._leaving = LeavingMail(memory, spec.gmail.base_url, _FOUND_WITHIN)
        self.claim = MailboxClaim(LabelClaims(self._api), memory, spec.gmail.labels)

    async def listen(self, intake: Intake) -> None:
        await self.claim.hold()
        await self.claim.settled()
        keeping = asyncio.create_task(self.claim.keep())
        reading = asyncio.create_task(self._listen(intake))
        try:
            done, _ = await asyncio.wait({keeping, reading}, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            keeping.cancel()
            reading.cancel()
            await asyncio.gather(keeping, reading, return_exceptions=True)

    async def _listen(self, intake: Intake) -> None:
        mark = await self._start()
        while True:
            mark = await self._read(mark, intake)
            await self._show()
            intake.well()
            await asyncio.sleep(self._poll)

    async def check(self) -> str:
        profile = await self._api.profile()
        return f"Gmail mailbox {profile.get('emailAddress', self._spec.identity.address)}"

    async def check_sending(self) -> None:
        """Raise a DeskhandError where no mail would leave now."""
        await self._api.profile()

    async def close(self) -> None:
        await self._api.close()

    # --- what comes in

    async def _start(self) -> Mark:
        """At the first connect what is there already is left alone."""
        mark = await self._memory.mark(_HISTORY)
        if mark is None:
            mark = await self._now()
            await self._memory.advance(_HISTORY, mark)
            log.info("%s: mail from now on is answered, older mail is left alone", self.name)
        return mark

    async def _now(self) -> Mark:
        now = time.time()
        return {"history": str((await self._api.profile())["historyId"]), "at": now}

    async def _read(self, mark: Mark, intake: Intake) -> Mark:
        try:
            added, history = await self._api.added_since(mark["history"])
        except HistoryGone:
            log.warning(
                "%s: Gmail no longer knows what was new; looking for mail by its time", self.name
            )
            fresh = await self._now()
            added, history = await self._api.arrived_since(mark["at"]), fresh["history"]
        arrivals: list[Arrival] = []
        for gmail_id in added:
            mail = await self._api.mail(gmail_id)
            if mail is None:
                continue
            accepted = await self._hand_in(mail, intake)
            arrivals += [Arrival(gmail_id, accepted)] if accepted else []
        fresh = {"history": history, "at": time.time()}
        if fresh["history"] != mark["history"] or arrivals:
            await self._memory.advance(_HISTORY, fresh, arrivals)
        return fresh

    async def _hand_in(self, mail: GmailMail, intake: Intake) -> str | None:
        raw = mail.raw[: self._max_bytes]
        message = await read_channel_mail(raw, self.name, self._max_bytes)
        key = our_key(message.id)
        if key is not None and await self._memory.sent(key):
            await self._memory.copy_arrived(key)
            return None
        if "SENT" in mail.labels:
            await self._person_answered(message)
            return None
        if not self._watched & mail.labels or mail.labels & {"DRAFT", "SPAM", "TRASH"}:
            return None
        return (await intake.hand_in(await self._marked(mail, message))).run_id

    async def _marked(self, mail: GmailMail, message: Message) -> Message:
        """Marked for a person where it carries our label and the database does not know it."""
        headers = dict(message.headers)
        for name in (ANSWERED_BEFORE, SENT_BEFORE):  # whatever the mail brings under our names
            headers.pop(name, None)
        ids = await self._api.labels() if mail.labels - _USUAL_LABELS else {}
        ours = {ids[name] for name in (DONE, REVIEW) if name in ids}
        if ours & mail.labels and await self._memory.run_of(message.id) is None:
            headers |= {ANSWERED_BEFORE: "it carries the desk's own label", ON_REQUEST: "yes"}
        return message.changed(headers=headers)

    async def _person_answered(self, message: Message) -> None:
        for answered_id in ids_in(
            message.headers.get("in-reply-to", ""), message.headers.get("references", "")
        ):
            run = await self._run_of(answered_id)
            if run is not None:
                by = f"{message.sender} (mail program)"
                await person_answered(self._store, self._trust, run, by, message.body)
                return

    async def _run_of(self, answered_id: str) -> Run | None:
        key = our_key(answered_id)
        if key is not None and await self._memory.sent(key):
            return await self._store.run(key.run_id)
        return await self._memory.run_of(answered_id)

    async def _show(self) -> None:
        unshown = await self._memory.unshown()
        for mail in unshown:
            label = REVIEW if mail.status.is_parked else DONE
            await self._api.relabel(
                mail.place, add=label, remove=DONE if label == REVIEW else REVIEW
            )
        if unshown:
            await self._memory.shown(unshown)

    # --- what leaves

    async def send(self, mail: OutgoingMail) -> str:
        wanted = message_id(mail.key, self._spec)
        if await self._leaving.may_have_left(mail.key) and await self._api.with_message_id(wanted):
            return wanted
        raw = await asyncio.to_thread(compose, mail, self._spec)
        thread = await self._thread(mail)
        try:
            await self._api.send(raw, thread, partial(self._leaving.leaves, mail.key))
        except ToolError:
            await self._leaving.stays(mail.key)
            raise
        return wanted

    async def find(self, key: str) -> str | None:
        """The Message-ID of an earlier attempt's mail, None where it has certainly not left.

        Raises ToolError where nobody can tell, or not yet.
        """
        wanted, looked_at = message_id(key, self._spec), self._leaving.now()
        if await self._api.with_message_id(wanted):
            return wanted
        await self._leaving.check_stayed(key, looked_at)
        return None

    async def keep_draft(self, mail: OutgoingMail) -> str:
        raw = await asyncio.to_thread(compose, mail, self._spec)
        await self._api.draft(raw, await self._thread(mail))
        return message_id(mail.key, self._spec)

    async def find_draft(self, key: str) -> str | None:
        wanted = message_id(key, self._spec)
        return wanted if await self._api.with_message_id(wanted) else None

    async def _thread(self, mail: OutgoingMail) -> str | None:
        """The Gmail thread of the answered mail; None where Gmail does not know it."""
        if mail.reply.in_reply_to is None:
            return None
        try:
            mails: list[dict[str, Any]] = await self._api.with_message_id(mail.reply.in_reply_to)
        except ServerUnavailable:
            return None
        return str(mails[0]["threadId"]) if mails and mails[0].get("threadId") else None
