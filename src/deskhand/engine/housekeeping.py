"""Deletes what a desk keeps for a limited time, a few times a day."""

import logging

from deskhand.engine.background import Background
from deskhand.engine.retention import Forgotten, prune_by_age
from deskhand.model.audited import Ages
from deskhand.ports import Store

log = logging.getLogger("deskhand.housekeeping")

EVERY = 6 * 3600.0
DAY = 24 * 3600.0
PAUSE = 0.1
"""Seconds between two batches of old records: the messages of today come first."""
NO_AGES: Ages = {}


class Housekeeper:
    """Two of them at once delete the same rows once."""

    def __init__(
        self,
        store: Store,
        *,
        responses_days: int,
        totals_days: int,
        ages: Ages = NO_AGES,
        key: bytes | None = None,
        every: float = EVERY,
        forgotten: Forgotten | None = None,
    ) -> None:
        """`ages` is how long records are kept; `key` signs the seals of runs that go; `forgotten`
        hears whose tickets lost messages."""
        self._store = store
        self._responses = responses_days * DAY
        self._totals = totals_days * DAY
        self._ages = ages
        self._key = key
        self._forgotten = forgotten
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
        report = await prune_by_age(
            self._store, self._ages, key=self._key, pause=PAUSE, forgotten=self._forgotten
        )
        if any(report.deleted.values()):
            counted = ", ".join(f"{count} {kind}" for kind, count in report.deleted.items())
            log.info("deleted by age: %s", counted)
