"""Keeps a channel running: one process reads it, and opens lost connections again."""

import asyncio
import contextlib
import logging
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal

from deskhand.engine.background import Background, was_cancelled
from deskhand.errors import AlreadyServed, DeskhandError, Fenced, StoreUnavailable
from deskhand.model.message import Message
from deskhand.model.run import Accepted
from deskhand.ports import Channel, Clock, Lease

log = logging.getLogger("deskhand.channels")

LEASE = 15.0
FIRST_WAIT = 1.0
LONGEST_WAIT = 120.0
DOWN_AFTER = 60.0
"""Seconds a channel may be away before this process says that it is not ready."""


@dataclass(frozen=True, slots=True)
class ChannelHealth:
    state: Literal["starting", "connected", "reconnecting", "read elsewhere"]
    since: float
    detail: str = ""


class ChannelRunner:
    """Runs one channel for as long as the process serves its desk."""

    def __init__(
        self,
        channel: Channel,
        lease: Lease,
        submit: Callable[[Message], Awaitable[Accepted]],
        clock: Clock,
    ) -> None:
        self._channel = channel
        self._lease = lease
        self._submit = submit
        self._clock = clock
        self._health = ChannelHealth("starting", clock.now())
        self._serving = Background(
            self._serve,
            name=f"channel {channel.name}",
            failed=f"channel {channel.name} could not be served, tried again later",
            log=log,
        )

    @property
    def name(self) -> str:
        return self._channel.name

    @property
    def health(self) -> ChannelHealth:
        return self._health

    @property
    def is_well(self) -> bool:
        """False once the channel has been away for longer than a connection takes to come back."""
        health = self._health
        away = health.state in ("starting", "reconnecting")
        return not away or self._clock.now() - health.since < DOWN_AFTER

    @property
    def trouble(self) -> str:
        return self._health.detail or self._health.state

    def start(self) -> None:
        self._serving.start()

    async def stop(self) -> None:
        await self._serving.stop()
        with contextlib.suppress(StoreUnavailable, Fenced):
            await self._lease.give_up()
        await self._channel.close()

    # --- what the channel uses

    async def hand_in(self, message: Message) -> Accepted:
        while True:
            try:
                return await self._submit(message)
            except StoreUnavailable as error:
                log.error("channel %s waits for the database: %s", self.name, error)
                await self._clock.sleep(FIRST_WAIT)

    def well(self) -> None:
        self._say("connected")

    # --- inside

    async def _serve(self) -> None:
        try:
            await self._lease.acquire(LEASE)
        except AlreadyServed:
            self._say("read elsewhere")
        except StoreUnavailable as error:
            self._say("reconnecting", str(error))
        else:
            await self._hold()
        await self._clock.sleep(LEASE / 3)

    async def _hold(self) -> None:
        """Read the channel until the lease is somebody else's."""
        reading = asyncio.create_task(self._read())
        renewing = asyncio.create_task(self._renew())
        try:
            await asyncio.wait({reading, renewing}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (reading, renewing):
                task.cancel()
            await asyncio.gather(reading, renewing, return_exceptions=True)

    async def _renew(self) -> None:
        while True:
            await self._clock.sleep(LEASE / 3)
            try:
                await self._lease.renew(LEASE)
            except Fenced:
                log.warning("channel %s is read by another process now", self.name)
                return
            except StoreUnavailable as error:
                log.error("channel %s: cannot renew the lease: %s", self.name, error)

    async def _read(self) -> None:
        wait = FIRST_WAIT
        while True:
            try:
                await self._channel.listen(self)
            except Exception as error:
                if self._health.state == "connected":
                    wait = FIRST_WAIT
                expected = isinstance(error, DeskhandError)
                self._say("reconnecting", str(error) if expected else repr(error))
                log.warning(
                    "channel %s: %s", self.name, error, exc_info=None if expected else error
                )
            if was_cancelled():
                return
            await self._clock.sleep(wait * random.uniform(0.8, 1.2))  # noqa: S311 only so that not all come at once
            wait = min(2 * wait, LONGEST_WAIT)

    def _say(
        self,
        state: Literal["starting", "connected", "reconnecting", "read elsewhere"],
        detail: str = "",
    ) -> None:
        if state != self._health.state:
            log.info("channel %s: %s", self.name, state)
            self._health = ChannelHealth(state, self._clock.now(), detail)
        elif detail != self._health.detail:
            self._health = ChannelHealth(state, self._health.since, detail)
