"""Mails what chats owe: people's answers to visitors who left an address, and transcripts."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from datetime import datetime
from zoneinfo import ZoneInfo

from deskhand.engine.background import Background
from deskhand.errors import DeskhandError
from deskhand.language.identify import identify
from deskhand.model.chats import VISITOR, Chat, ChatLine, ChatMail, ChatMailKind
from deskhand.model.message import Reply
from deskhand.ports import Clock
from deskhand.ports.conversations import Chats

log = logging.getLogger("deskhand.chat")

EVERY = 3.0
RETRY_AFTER = (5.0, 30.0, 120.0, 600.0, 1800.0, *[3600.0] * 48)
"""Seconds before each further attempt."""
MAIL_WITHIN = 100.0
"""Seconds that a mail server may take; less than another process waits before it tries what this
one has taken."""

SendMail = Callable[[Reply, str], Awaitable[object]]
"""Sends a mail under a key; sent again under it, it arrives once."""


class ChatMailer:
    """Runs in every process that serves the desk; the database decides which one sends what."""

    def __init__(self, chats: Chats, send: SendMail, clock: Clock, desk: str) -> None:
        self._chats, self._send, self._clock = chats, send, clock
        self._rounds = Background(
            self.send_due,
            name=f"mails of the chats of {desk}",
            failed="mails of chats could not be sent, tried again later",
            log=log,
            every=EVERY,
        )

    def start(self) -> None:
        self._rounds.start()

    async def stop(self) -> None:
        await self._rounds.stop()

    async def send_due(self) -> int:
        """Send what is due; returns how many have left."""
        sent = 0
        for mail in await self._chats.take_mails():
            sent += await self._sent(mail)
        return sent

    async def _sent(self, mail: ChatMail) -> bool:
        try:
            async with asyncio.timeout(MAIL_WITHIN):
                await self._send(mail_of(mail), mail.key)
        except (DeskhandError, TimeoutError) as error:
            again_at = self._again_at(mail)
            trouble = str(error) or "the mail server did not answer in time"
            log.warning("a mail of %s did not leave: %s", mail.chat, trouble)
            await self._chats.settle_mail(mail.key, again_at=again_at, trouble=trouble)
            return False
        await self._chats.settle_mail(mail.key, again_at=None)
        return True

    def _again_at(self, mail: ChatMail) -> float | None:
        if mail.tries >= len(RETRY_AFTER):
            return None
        return self._clock.now() + RETRY_AFTER[mail.tries]


_ANSWERED = {
    "en": "{name} answered in your chat",
    "cs": "{name}: odpověď na Váš chat",
    "de": "{name}: Antwort auf Ihren Chat",
}


def mail_of(mail: ChatMail) -> Reply:
    """The mail as it leaves: a person wrote it, or the visitor asked for it."""
    subject = mail.subject
    language = identify(mail.text).code
    if mail.kind is ChatMailKind.ANSWER:
        subject = _ANSWERED.get(language or "", _ANSWERED["en"]).format(name=subject)
    return Reply(
        to=mail.address, subject=subject, text=mail.text, language=language, by_person=True
    )


# --- transcripts

_YOU = {"en": "You", "cs": "Vy", "de": "Sie"}
_DESK = {"en": "Assistant", "cs": "Asistent", "de": "Assistent"}
_LEFT_OUT = {
    "en": "(what you wrote is left out: nobody has proven whose address this is)",
    "cs": "(co jste napsali, vynecháváme: nikdo neprokázal, komu adresa patří)",
    "de": "(was Sie geschrieben haben, fehlt hier: niemand hat belegt, wem die Adresse gehört)",
}
SUBJECTS = {"en": "Your chat with {title}", "cs": "Váš chat: {title}", "de": "Ihr Chat: {title}"}


def transcript_of(chat: Chat, lines: Iterable[ChatLine], zone: str, language: str) -> str:
    """The lines with who said them and when.

    A visitor who has not proven who he is could have anything mailed to anybody: his own words are
    left out then.
    """
    spoken = language if language in _YOU else "en"
    parts: list[str] = []
    for line in lines:
        at = datetime.fromtimestamp(line.at, ZoneInfo(zone)).strftime("%Y-%m-%d %H:%M")
        if line.author != VISITOR:
            parts.append(f"{line.name or _DESK[spoken]}, {at}\n{line.text}")
        elif chat.customer is not None:
            parts.append(f"{_YOU[spoken]}, {at}\n{line.text}")
        else:
            parts.append(f"{_YOU[spoken]}, {at}\n{_LEFT_OUT[spoken]}")
    return "\n\n".join(parts)
