"""Deletes what a desk keeps for a limited time, a few times a day."""

import logging

from deskhand.engine.background import Background
from deskhand.ports import Store

log = logging.getLogger("deskhand.housekeeping")

EVERY = 6 * 3600.0
DAY = 24 * 3600.0


class Housekeeper:
    """Two of them at once delete the same rows once."""

    def __init__(
        self, store: Store, *, responses_days: int, totals_days: int, every: float = EVERY
    ) -> None:
        self._store = store
        self._responses = responses_days * DAY
        self._totals = totals_days * DAY
        self._rounds = Background(
            self.tidy,
            name=f"housekeeping of {store.desk}",
            failed="what is too old could not be deleted, tried again later",
            log=log,
            every=every,
        )

    def start(self) -> None:
        self._rounds.start()

    async def stop(self) -> None:
        await self._rounds.stop()

    async def tidy(self) -> None:
        pruned = await self._store.prune(self._responses, self._totals)
        if any(pruned):
            log.info(
                "deleted %d old response(s) and %d old total(s)", pruned.responses, pruned.totals
            )
