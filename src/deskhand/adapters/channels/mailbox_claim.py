"""Which installation works a mailbox. The claim lies in the mailbox itself, where every other
installation sees it; all processes on one database share it."""

import asyncio
import logging
import socket
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol
from urllib.parse import quote, unquote

from deskhand.adapters.stores.channels import SqlChannelStore
from deskhand.errors import RetryableError
from deskhand.model.ids import new_id

log = logging.getLogger("deskhand.mail")

LOOK_EVERY = 60.0
"""Seconds within which an installation notices that another took its mailbox over."""
RENEW_EVERY = 600.0
STALE_AFTER = 24 * 3600.0
"""Seconds without a sign of life after which a claim holds no longer."""
SETTLE = LOOK_EVERY + 30.0
"""Seconds that an installation waits after taking over, so that the other has stopped."""

_MARK = "*claim"
"""Where the database remembers it; no folder can have this name."""
_VERSION = "1"


class MailboxClaimed(RetryableError):
    """Another installation works this mailbox."""


class PlaceClaim(NamedTuple):
    """One installation's claim on one folder or label."""

    place: str
    """Where it lies in the mailbox."""
    id: str
    """The installation's, for one channel of one desk."""
    desk: str
    host: str
    watched: str
    since: float
    seen: float
    """When the installation last said that it lives."""

    @property
    def line(self) -> str:
        words = (self.id, self.desk, self.host, self.watched)
        quoted = " ".join(quote(word, safe="") for word in words)
        return f"{_VERSION} {self.since:.0f} {self.seen:.0f} {quoted}"

    def __str__(self) -> str:
        since, seen = (
            time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(moment))
            for moment in (self.since, self.seen)
        )
        return (
            f"desk {self.desk!r} on {self.host} works {self.watched} since {since}, last seen"
            f" {seen}"
        )


def read_claim(place: str, line: str) -> PlaceClaim | None:
    """The claim that a line tells; None for one that is not ours to read."""
    words = line.split()
    if len(words) != 7 or words[0] != _VERSION:
        return None
    try:
        since, seen = float(words[1]), float(words[2])
    except ValueError:
        return None
    owner, desk, host, watched = map(unquote, words[3:])
    return PlaceClaim(place, owner, desk, host, watched, since, seen)


class ClaimPlace(Protocol):
    """Where claims lie in a mailbox."""

    async def read(self) -> list[tuple[str, str]]:
        """Each claim's place and line."""
        ...

    async def write(self, line: str) -> None: ...

    async def remove(self, places: Sequence[str]) -> None: ...


class MailboxClaim:
    """One channel's claim on the folders or labels that it watches."""

    def __init__(
        self,
        place: ClaimPlace,
        memory: SqlChannelStore,
        watched: Sequence[str],
        now: Callable[[], float] = time.time,
    ) -> None:
        self._place, self._memory, self._watched, self._now = place, memory, watched, now

    async def hold(self) -> None:
        """Claim the mailbox, or say that we still live.

        Raises MailboxClaimed while another installation has it.
        """
        mark = await self._memory.mark(_MARK)
        own_id = str((mark or {}).get("id") or new_id("clm"))
        held = bool((mark or {}).get("held"))
        own, others = await self._claims(own_id)
        if held and {claim.watched for claim in own} >= set(self._watched):
            await self._renew(own)
            return
        if not others:
            await self._write(own_id, own)
            own, others = await self._claims(own_id)
        if others:
            # Whoever sees another's claim beside its own new one steps back: never do both stay.
            await self._place.remove([claim.place for claim in own])
            await self._remember(own_id, held=False)
            raise MailboxClaimed(self._words(others))
        await self._remember(own_id, held=True)

    async def keep(self) -> None:
        """Hold the mailbox for ever; raises once another installation took it over."""
        while True:
            await asyncio.sleep(LOOK_EVERY)
            await self.hold()

    async def settled(self) -> None:
        """Wait until an installation that we took the mailbox from has noticed it."""
        mark = await self._memory.mark(_MARK) or {}
        left = float(mark.get("settled_at") or 0.0) - self._now()
        if left > 0:
            log.info("the mailbox was taken over; it is read in %.0f s", left)
            await asyncio.sleep(left)

    async def others(self) -> list[PlaceClaim]:
        """The claims of other installations on what we watch, also stale ones."""
        mark = await self._memory.mark(_MARK) or {}
        return [claim for claim in await self._all() if claim.id != mark.get("id")]

    async def take_over(self) -> list[PlaceClaim]:
        """Make the mailbox ours; returns whose it was."""
        mark = await self._memory.mark(_MARK) or {}
        own_id = str(mark.get("id") or new_id("clm"))
        everything = await self._all()
        others = [claim for claim in everything if claim.id != own_id]
        await self._place.remove([claim.place for claim in everything])
        await self._write(own_id, [])
        settled_at = self._now() + SETTLE if others else 0.0
        await self._remember(own_id, held=True, settled_at=settled_at)
        return others

    # --- inside

    async def _claims(self, own_id: str) -> tuple[list[PlaceClaim], list[PlaceClaim]]:
        """Our own, and those of others that live; stale ones are removed."""
        everything = await self._all()
        others = [claim for claim in everything if claim.id != own_id]
        stale = [claim for claim in others if self._now() - claim.seen > STALE_AFTER]
        for claim in stale:
            log.warning("a claim on the mailbox is stale and removed: %s", claim)
        await self._place.remove([claim.place for claim in stale])
        own = [claim for claim in everything if claim.id == own_id]
        return own, [claim for claim in others if claim not in stale]

    async def _all(self) -> list[PlaceClaim]:
        claims = [read_claim(place, line) for place, line in await self._place.read()]
        return [claim for claim in claims if claim is not None and claim.watched in self._watched]

    async def _renew(self, own: Sequence[PlaceClaim]) -> None:
        if self._now() - max(claim.seen for claim in own) < RENEW_EVERY:
            return
        await self._write(own[0].id, own)

    async def _write(self, own_id: str, before: Sequence[PlaceClaim]) -> None:
        """New lines first, then the old ones go: there is never none."""
        now = self._now()
        since = min((claim.since for claim in before), default=now)
        for watched in self._watched:
            claim = PlaceClaim(
                "", own_id, self._memory.desk, socket.gethostname(), watched, since, now
            )
            await self._place.write(claim.line)
        await self._place.remove([claim.place for claim in before])

    async def _remember(self, own_id: str, *, held: bool, settled_at: float = 0.0) -> None:
        mark = {"id": own_id, "held": held, "settled_at": settled_at}
        await self._memory.advance(_MARK, mark)

    def _words(self, others: Sequence[PlaceClaim]) -> str:
        return (
            f"another installation has this mailbox: {'; '.join(map(str, others))}. Stop that one"
            f" and take the mailbox over: deskhand mail claim {self._memory.desk} --take-over. A"
            f" claim without a sign of life for {STALE_AFTER / 3600:.0f} hours ends by itself"
        )
