"""Mail that no flow works: programs get no answer, bounces go back to the run that sent."""

from collections.abc import Collection
from dataclasses import dataclass, replace

from deskhand.engine.loop import End
from deskhand.mail.automatic import Automatic, AutomaticKind, automatic, bounce
from deskhand.mail.threads import our_key
from deskhand.model.chats import WANTS_PERSON
from deskhand.model.codes import ErrorCode
from deskhand.model.envelope import ErrorNote
from deskhand.model.message import ANSWERED_BEFORE, DELIVER, SENT_BEFORE, UNREADABLE, Message
from deskhand.model.run import EffectKey, RunStatus
from deskhand.ports import Clock, Store

HOUR = 3600.0


@dataclass(frozen=True, slots=True)
class Pace:
    """How many replies an hour one sender may get without a person, and on which channels."""

    channels: Collection[str] = ()
    per_hour: int = 10


class Screen:
    """Ends a run before its first stage, so that no loop of machines can start.

    None for what a person wrote.
    """

    def __init__(
        self,
        store: Store,
        clock: Clock,
        own_addresses: Collection[str] = (),
        pace: Pace | None = None,
        forwarders: Collection[str] = (),
    ) -> None:
        self._store = store
        self._clock = clock
        self._own_addresses = own_addresses
        self._pace = pace or Pace()
        self._forwarders = forwarders

    async def __call__(self, message: Message) -> End | None:
        if ANSWERED_BEFORE in message.headers:
            return _answered_before(message)
        if UNREADABLE in message.headers:
            return _unreadable(message)
        if WANTS_PERSON in message.headers:
            return _to_a_person("the visitor asks for a person", ErrorCode.PERSON_WANTED)
        sign = automatic(message, self._own_addresses, self._forwarders)
        if sign is None:
            return await self._too_fast(message)
        if sign.kind is AutomaticKind.BOUNCE:
            return await self._bounced(message, sign)
        if not sign.certain:
            return _to_a_person(
                f"this may be an automatic reply: {sign.reason}", ErrorCode.AUTOMATIC_MAIL
            )
        return _not_answered(sign)

    async def _too_fast(self, message: Message) -> End | None:
        """A person looks where one sender got too many replies: a program may pose as a person."""
        if message.channel not in self._pace.channels:
            return None
        sender = message.correspondent
        since = self._clock.now() - HOUR
        count = await self._store.replies_to(sender, DELIVER, since, beside=message.conversation)
        if count < self._pace.per_hour:
            return None
        words = f"{count} replies have left to {sender} in other conversations within an hour"
        return _to_a_person(words, ErrorCode.TOO_MANY_REPLIES)

    async def _bounced(self, message: Message, sign: Automatic) -> End:
        report = bounce(message)
        message_ids = report.message_ids if report else ()
        ours = [key for name in message_ids if (key := await self._sent(name)) is not None]
        if report is None or not ours:
            return _not_answered(sign)
        why = report.reason.strip()
        if not report.failed:
            return _ended(f"a reply of ours is late, its server still tries: {why}")
        words = (
            f"a reply of ours did not reach {', '.join(report.recipients) or 'the customer'}: {why}"
        )
        for key in ours:
            await self._store.note_bounce(key.run_id, words)
        return _to_a_person(f"{words} (run {ours[0].run_id})", ErrorCode.REPLY_BOUNCED)

    async def _sent(self, message_id: str) -> EffectKey | None:
        """The delivery that a Message-ID names, if the ledger says that this desk made it."""
        key = our_key(message_id)
        if key is None:
            return None
        effects = await self._store.effects(key.run_id)
        is_ours = any(effect.key == key and effect.tool == DELIVER for effect in effects)
        return key if is_ours else None


def _unreadable(message: Message) -> End:
    why = message.headers[UNREADABLE]
    words = f"this mail could not be read: {why}; the whole mail is attached to the message"
    return _to_a_person(words, ErrorCode.MESSAGE_UNREADABLE)


def _answered_before(message: Message) -> End:
    """A person looks, and sees what was sent; nothing is done a second time before that."""
    words = (
        "this message was answered before, and this database does not know it (was a backup"
        f" restored?): {message.headers[ANSWERED_BEFORE]}"
    )
    end = _to_a_person(words, ErrorCode.ANSWERED_BEFORE)
    return replace(end, sent_before=message.headers.get(SENT_BEFORE, ""))


def _not_answered(sign: Automatic) -> End:
    return _ended(f"not answered, a program sent it: {sign.reason}")


def _ended(words: str) -> End:
    return End(
        RunStatus.DONE, words, ErrorNote(stage="", code=ErrorCode.AUTOMATIC_MAIL, message=words)
    )


def _to_a_person(words: str, code: ErrorCode) -> End:
    return End(RunStatus.NEEDS_REVIEW, words, ErrorNote(stage="", code=code, message=words))
