"""Delivers webhooks: what happened on a desk, to every address that wants to know.

Each delivery is a row until it has arrived. An attempt that a crash cut off is made again under the
same id, so the other side gets everything at least once and knows what it has.
"""

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable, Collection
from typing import Any, Protocol

from deskhand.crashpoints import crash_point
from deskhand.engine.background import Background
from deskhand.engine.webhook_events import told_events
from deskhand.errors import ConfigError
from deskhand.model.documents import iso_at
from deskhand.model.webhook import Attempt, Delivery, DeliveryState, Describe, Endpoint
from deskhand.ports import Clock

log = logging.getLogger("deskhand.webhooks")

EVERY = 2.0
RETRY_AFTER = (5.0, 300.0, 1800.0, *(hours * 3600.0 for hours in (2, 5, 10, 14, 20, 24)))
"""Seconds before each further attempt, as Standard Webhooks suggests: three days in all."""
SPREAD = 0.1
"""Each pause is up to so much longer, so that what failed together does not come together."""
DISABLED_AFTER = 3 * 86400.0
"""An address at which nothing arrived for so many seconds is switched off."""

Post = Callable[[str, float, dict[str, Any]], Awaitable[Attempt]]
"""Posts an event by its id, time and payload."""


class WebhookOutbox(Protocol):
    async def has_work(self) -> bool: ...

    async def pass_on(self, describe: Describe) -> int: ...

    async def take(self, without: Collection[str]) -> dict[Endpoint, list[Delivery]]: ...

    async def settle(
        self, delivery: Delivery, attempt: Attempt, state: DeliveryState, again_at: float | None
    ) -> None: ...

    async def give_back(self, delivery: Delivery, again_at: float) -> None: ...

    async def disable(self, endpoint_id: str, because: str) -> None: ...


class WebhookCourier:
    """One desk's, in every process that serves it; the database decides which one sends what."""

    def __init__(
        self,
        desk: str,
        outbox: WebhookOutbox,
        post_of: Callable[[Endpoint], Post],
        clock: Clock,
    ) -> None:
        self._outbox = outbox
        self._post_of = post_of
        self._clock = clock
        self._work = Background(
            self.once,
            name=f"webhooks of {desk}",
            failed="webhooks could not be delivered, will be tried again",
            log=log,
            every=EVERY,
        )

    def start(self) -> None:
        self._work.start()

    async def stop(self) -> None:
        await self._work.stop()

    async def once(self) -> None:
        """Deliver all that is due now."""
        failed: set[str] = set()
        while await self._outbox.has_work():
            while await self._outbox.pass_on(told_events):
                crash_point("webhooks.after_pass_on")
            taken = await self._outbox.take(failed)
            if not taken:
                return
            crash_point("webhooks.after_take")
            rounds = (self._deliver_to(endpoint, due) for endpoint, due in taken.items())
            arrived = await asyncio.gather(*rounds)
            for endpoint, went_well in zip(taken, arrived, strict=True):
                failed |= set() if went_well else {endpoint.id}

    async def _deliver_to(self, endpoint: Endpoint, due: list[Delivery]) -> bool:
        """One after the other, until one does not arrive; returns whether all did."""
        for number, delivery in enumerate(due):
            attempt = await self.attempt(endpoint, delivery)
            if not attempt.arrived:
                await self._put_back(due[number + 1 :])
                return False
        return True

    async def attempt(self, endpoint: Endpoint, delivery: Delivery) -> Attempt:
        """Post a delivery that the caller has taken, and write down what came of it."""
        now = self._clock.now()
        try:
            attempt = await self._post_of(endpoint)(delivery.id, now, delivery.payload or {})
        except ConfigError as error:
            attempt = Attempt(error=str(error))
        crash_point("webhooks.after_post")
        if attempt.arrived:
            await self._outbox.settle(delivery, attempt, DeliveryState.DONE, None)
            return attempt
        await self._later(delivery, attempt)
        await self._look_at(endpoint, attempt)
        return attempt

    async def _later(self, delivery: Delivery, attempt: Attempt) -> None:
        if delivery.attempts > len(RETRY_AFTER) or attempt.is_gone:
            log.error("%s did not arrive and is given up: %s", delivery.id, attempt.error)
            await self._outbox.settle(delivery, attempt, DeliveryState.FAILED, None)
            return
        log.warning("%s did not arrive, will be tried again: %s", delivery.id, attempt.error)
        pause = RETRY_AFTER[delivery.attempts - 1] * (1 + random.random() * SPREAD)  # noqa: S311
        pause = max(pause, attempt.retry_after or 0.0)
        again_at = self._clock.now() + pause
        await self._outbox.settle(delivery, attempt, DeliveryState.DUE, again_at)

    async def _put_back(self, untried: list[Delivery]) -> None:
        """What was taken and not tried waits as long as a first failure does."""
        again_at = self._clock.now() + RETRY_AFTER[0]
        for delivery in untried:
            await self._outbox.give_back(delivery, again_at)

    async def _look_at(self, endpoint: Endpoint, attempt: Attempt) -> None:
        """Switch an address off that nobody listens at; the operator's own is the operator's."""
        if endpoint.is_from_desk_file:
            return
        since = endpoint.failing_since
        if attempt.is_gone:
            because = "it answered 410: nobody listens there any more"
        elif since is not None and self._clock.now() - since >= DISABLED_AFTER:
            because = f"nothing has arrived there since {iso_at(since)}: {attempt.error}"
        else:
            return
        log.error("webhook %s is switched off: %s", endpoint.id, because)
        await self._outbox.disable(endpoint.id, because)
