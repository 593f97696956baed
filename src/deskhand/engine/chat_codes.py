"""Codes by which a visitor of a chat proves that something is his: mailed to its address on file.

Whether the thing exists is never told. Known and unknown things cost the same, count alike, and are
answered alike. A code is short-lived, good for a few tries, and bound to its chat and its thing.
"""

import asyncio
import hmac
import logging
import secrets
from collections.abc import Awaitable, Callable
from hashlib import scrypt
from typing import NamedTuple

from deskhand.engine.chat_mailer import SendMail
from deskhand.errors import DeskhandError
from deskhand.model.chats import ChatCode
from deskhand.model.ids import new_id
from deskhand.model.message import Reply
from deskhand.ports import Clock
from deskhand.ports.conversations import Chats

log = logging.getLogger("deskhand.chat")

VALID_FOR = 600.0
"""Seconds."""
MOST_TRIES = 5
CODES_PER_CHAT, CODES_PER_THING = 3, 5
"""Within an hour; the second keeps a stranger's mailbox from being filled."""
HOUR = 3600.0
MAIL_WITHIN = 60.0
CHECK_WITHIN = 15.0


class TooManyCodes(DeskhandError):
    """Enough codes were asked for."""


class MailAway(DeskhandError):
    """No mail can be sent now."""


class CodeOver(DeskhandError):
    """There is no code that counts any more."""


class CodeWrong(DeskhandError):
    """The code is not the one that was mailed."""


class OnFile(NamedTuple):
    """Something that exists, and the address that the company has for it."""

    id: str
    address: str


LookUp = Callable[[str], Awaitable[OnFile | None]]
"""Finds a thing by what a visitor calls it."""
CheckMail = Callable[[], Awaitable[None]]
"""Raises a DeskhandError where no mail would leave now."""


class ChatCodes:
    """Mails codes, and looks at those that come back."""

    def __init__(
        self, chats: Chats, look_up: LookUp, send: SendMail, check_mail: CheckMail, clock: Clock
    ) -> None:
        self._chats, self._look_up, self._clock = chats, look_up, clock
        self._send, self._check_mail = send, check_mail
        self._sending: set[asyncio.Task[None]] = set()

    async def request(self, chat: str, thing: str) -> None:
        """Mail a code, if there is such a thing. TooManyCodes or MailAway, whether there is or
        not."""
        named = plain(thing)
        now = self._clock.now()
        of_chat, of_thing = await self._chats.codes_since(chat, named, now - HOUR)
        if of_chat >= CODES_PER_CHAT or of_thing >= CODES_PER_THING:
            raise TooManyCodes("too many codes were asked for; try again later")
        await self._require_mail()
        on_file = await self._look_up(named)
        digits, salt = f"{secrets.randbelow(1_000_000):06}", secrets.token_bytes(16)
        code = ChatCode(
            id=new_id("code"),
            chat=chat,
            thing=named,
            object=None if on_file is None else on_file.id,
            salt=salt,
            digest=await _digest(digits, salt),
            expires_at=now + VALID_FOR,
        )
        await self._chats.keep_code(code)
        if on_file is not None:
            sending = asyncio.create_task(self._mail(on_file, digits, code.id))
            self._sending.add(sending)
            sending.add_done_callback(self._sending.discard)

    async def prove(self, chat: str, thing: str, digits: str) -> str:
        """The id of what the visitor has proven; CodeOver or CodeWrong where he has not."""
        code = await self._chats.try_code(chat, plain(thing), MOST_TRIES)
        if code is None:
            raise CodeOver("this code is not valid any more; ask for a new one")
        is_right = hmac.compare_digest(await _digest(digits, code.salt), code.digest)
        if code.object is None or not is_right:
            raise CodeWrong("this code is not right")
        if not await self._chats.use_code(code.id):
            raise CodeOver("this code was used before")
        return code.object

    async def close(self) -> None:
        """Wait for the mails that are leaving."""
        await asyncio.gather(*self._sending, return_exceptions=True)

    async def _require_mail(self) -> None:
        try:
            async with asyncio.timeout(CHECK_WITHIN):
                await self._check_mail()
        except (DeskhandError, TimeoutError, OSError) as error:
            log.warning("no code can be mailed: %r", error)
            raise MailAway("our mail server cannot be reached; no code was sent") from None

    async def _mail(self, on_file: OnFile, digits: str, key: str) -> None:
        text = "\n\n".join(words.format(thing=on_file.id, code=digits) for words in _TEXTS)
        subject = f"{digits} · {on_file.id}"
        try:
            async with asyncio.timeout(MAIL_WITHIN):
                await self._send(Reply(to=on_file.address, subject=subject, text=text), key)
        except (DeskhandError, TimeoutError) as error:
            log.warning("a code did not leave: %r", error)


def plain(thing: str) -> str:
    """What a visitor calls something, as it is looked up."""
    return " ".join(thing.split()).upper()[:100]


async def _digest(digits: str, salt: bytes) -> bytes:
    def work() -> bytes:
        return scrypt(digits.encode(errors="replace"), salt=salt, n=2**13, r=8, p=1, dklen=32)

    return await asyncio.to_thread(work)


_TEXTS = (
    "The code for {thing} is {code}. It is valid for 10 minutes. If you did not ask for it, do not"
    " pass it on.",
    "Kód pro {thing} je {code}. Platí 10 minut. Pokud jste o něj nežádali, nikomu ho neříkejte.",
    "Der Code für {thing} ist {code}. Er gilt 10 Minuten. Wenn Sie ihn nicht angefordert haben,"
    " geben Sie ihn nicht weiter.",
)
