"""Notifies reviewers of what waits: a digest at set times. Every notice is a row in the database
until it has arrived. Webhooks are `webhook_courier`'s."""

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Protocol
from zoneinfo import ZoneInfo

from deskhand.config.sections.notify import DigestSpec
from deskhand.engine.background import Background
from deskhand.errors import DeskhandError, ToolError
from deskhand.model.message import Message, Reply
from deskhand.model.notice import DIGEST, Notice, NoticeState
from deskhand.model.queue import ReviewFilter
from deskhand.model.run import Decision, Review, ReviewState
from deskhand.ports import Clock, Store

log = logging.getLogger("deskhand.notify")

EVERY = 2.0
LATE = timedelta(hours=1)
"""A digest whose time has long passed when a process starts is left out."""
RETRY_AFTER = (5.0, 30.0, 120.0, 600.0, 1800.0, 3600.0, *[7200.0] * 10)
"""Seconds before each further attempt: about a day in all."""
STALE = 6 * 3600.0
"""Seconds after which a digest that did not leave is of no use any more."""
MAIL_WITHIN = 100.0
"""Seconds that a mail server may take; less than another process waits before it tries what this
one has taken."""
_MOST_LISTED = 30
_PAGE = 500


class Notices(Protocol):
    async def take(self) -> list[Notice]: ...

    async def settle(
        self, notice_id: str, state: NoticeState, *, error: str = "", again_at: float | None = None
    ) -> None: ...

    async def put(self, notice_id: str, payload: dict[str, Any]) -> bool: ...


Mail = Callable[[Reply, str], Awaitable[object]]
"""Sends a mail under a key."""
Find = Callable[[str], Awaitable[object | None]]
"""Where the mail of a key lies that may have left; ToolError when nobody can tell."""


@dataclass(frozen=True, slots=True)
class Digest:
    spec: DigestSpec
    mail: Mail
    find: Find
    time_zone: str


class Notifier:
    """Runs in every process that serves the desk; the database decides which one sends what."""

    def __init__(
        self,
        store: Store,
        notices: Notices,
        clock: Clock,
        digest: Digest | None = None,
    ) -> None:
        self._store = store
        self._notices = notices
        self._clock = clock
        self._digest = digest
        self._written = ""
        """The digest that was stored last, so that it is not made again every two seconds."""
        self._telling = Background(
            self.once,
            name=f"notices of {store.desk}",
            failed="reviewers could not be notified, will be tried again",
            log=log,
            every=EVERY,
        )

    def start(self) -> None:
        if self._digest is not None:
            self._telling.start()

    async def stop(self) -> None:
        await self._telling.stop()

    async def once(self) -> None:
        """Send every notice that is due now."""
        if self._digest is not None:
            await self._send_digests(self._digest)

    # --- at set times

    async def _send_digests(self, digest: Digest) -> None:
        await self._write_digests(digest)
        for notice in await self._notices.take():
            await self._mail(digest, notice)

    async def _write_digests(self, digest: Digest) -> None:
        """Store the mails of a digest that is due, so that exactly these leave, once each."""
        now = self._clock.now()
        slot = slot_of(digest.spec, now, digest.time_zone)
        if slot is None or slot == self._written:
            return
        waiting = await self._waiting()
        if not waiting:
            return
        messages: dict[str, Message] = {}
        if digest.spec.content:
            listed = [review.run_id for review in waiting[:_MOST_LISTED]]
            messages = await self._store.messages(listed)
        text = digest_text(waiting, messages, digest.spec, now)
        subject = f"{len(waiting)} waiting for approval at {self._store.desk}"
        for number, to in enumerate(digest.spec.to):
            letter = {"to": to, "subject": subject, "text": text, "waiting": len(waiting)}
            await self._notices.put(f"{DIGEST}{self._store.desk}-{slot}-{number}", letter)
        self._written = slot

    async def _waiting(self) -> list[Review]:
        """Every review that waits for a person now, the oldest first."""
        waiting: list[Review] = []
        after = None
        wanted = ReviewFilter(state=ReviewState.OPEN, snoozed=False, leaving=False)
        while page := await self._store.find_reviews(wanted, limit=_PAGE, after=after):
            # what is looked into again in a moment waits for nobody yet
            waiting += [review for review in page if review.fallback is not Decision.RETRY]
            after = (page[-1].created_at, page[-1].id)
        return waiting

    async def _mail(self, digest: Digest, notice: Notice) -> None:
        """Try once to send it, unless the channel finds that an earlier attempt succeeded."""
        if self._clock.now() - notice.created_at > STALE:
            return await self._give_up(
                notice, "it could not be sent in time; the next digest takes its place"
            )
        payload = notice.payload
        letter = Reply(to=payload["to"], subject=payload["subject"], text=payload["text"])
        try:
            async with asyncio.timeout(MAIL_WITHIN):
                if notice.attempts == 1 or await digest.find(notice.id) is None:
                    await digest.mail(letter, notice.id)
        except ToolError as error:
            if not error.recoverable:
                return await self._give_up(notice, str(error))
            await self._later(notice, str(error))
        except (DeskhandError, OSError, TimeoutError) as error:
            await self._later(notice, str(error) or type(error).__name__)
        else:
            await self._notices.settle(notice.id, NoticeState.DONE)

    # --- what did not arrive

    async def _later(self, notice: Notice, why: str) -> None:
        if notice.attempts > len(RETRY_AFTER):
            return await self._give_up(notice, why)
        log.warning("%s did not arrive, will be tried again: %s", notice.id, why)
        again_at = self._clock.now() + RETRY_AFTER[notice.attempts - 1]
        await self._notices.settle(notice.id, NoticeState.DUE, error=why, again_at=again_at)

    async def _give_up(self, notice: Notice, why: str) -> None:
        log.error("%s did not arrive and is given up: %s", notice.id, why)
        await self._notices.settle(notice.id, NoticeState.FAILED, error=why)


def slot_of(spec: DigestSpec, now: float, time_zone: str) -> str | None:
    """The digest whose time has come, by day and time; None between them."""
    here = datetime.fromtimestamp(now, ZoneInfo(time_zone))
    times = [
        here.replace(hour=hour, minute=minute, second=0, microsecond=0) for hour, minute in spec.at
    ]
    come = [time for time in times if timedelta(0) <= here - time < LATE]
    return come[-1].strftime("%Y%m%dT%H%M") if come else None


def digest_text(
    waiting: Sequence[Review], messages: Mapping[str, Message], spec: DigestSpec, now: float
) -> str:
    """The mail's text: how many reviews wait for which reason, and the oldest of them."""
    causes = Counter(map(_first_cause, waiting))
    lines = [f"{len(waiting)} waiting for a person:", ""]
    lines += [f"  {count:>4}  {cause}" for cause, count in causes.most_common()]
    lines += ["", "The oldest:", ""]
    for review in waiting[:_MOST_LISTED]:
        lines.append(_digest_line(review, messages.get(review.run_id), spec, now))
    lines.append("")
    if spec.page:
        lines.append(spec.page)
    return "\n".join(lines) + "\n"


def _first_cause(review: Review) -> str:
    return review.causes[0].replace("_", " ") if review.causes else "other"


def _digest_line(review: Review, message: Message | None, spec: DigestSpec, now: float) -> str:
    hours = (now - review.created_at) / 3600
    parts = [f"{hours:.0f} h", str(review.facts.get("category") or review.kind)]
    if message is not None:
        parts.append(f"{message.sender.name or message.sender.address}: {message.subject}")
    if spec.page:
        parts.append(f"{spec.page.rstrip('/')}/{review.desk}/{review.id}")
    else:
        parts.append(review.id)
    return "  " + "  ".join(parts).replace("\n", " ")
