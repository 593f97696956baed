"""Whether what is written to a database gets there: remembered from write to write."""

import time
from collections.abc import Callable

import sqlalchemy as sa

from deskhand.adapters.stores import tables as t
from deskhand.errors import StoreUnavailable

FRESH = 5.0
"""Seconds for which a successful write says that the next one would succeed, too."""
REMEMBERED = 30.0
"""Seconds for which a full disk is told of, whatever else still fits: small writes often do."""
_FULL = ("disk is full", "No space left")
_CHECK = "ready"


class WriteHealth:
    """What the last writes of this process tell; both of a database's writers report here."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._failure: str | None = None
        self._failed_at = 0.0
        self._succeeded_at: float | None = None

    def failed(self, error: BaseException | None) -> None:
        """Called for every write; only a database that is to blame counts."""
        if isinstance(error, StoreUnavailable):
            self._failure = str(error)
            self._failed_at = self._now()
            self._succeeded_at = None

    def succeeded(self) -> None:
        self._succeeded_at = self._now()
        if self._failure is None:
            return
        was_full = any(sign in self._failure for sign in _FULL)
        if not was_full or self._succeeded_at - self._failed_at > REMEMBERED:
            self._failure = None

    def is_known_good(self) -> bool:
        """Whether a write has just succeeded; raises StoreUnavailable while one has just failed."""
        age_of_failure = self._now() - self._failed_at
        if self._failure is not None and age_of_failure <= FRESH:
            raise StoreUnavailable(self._failure)
        if self._failure is not None and self._succeeded_at is not None:
            if age_of_failure <= REMEMBERED:
                raise StoreUnavailable(self._failure)
            self._failure = None
        return self._succeeded_at is not None and self._now() - self._succeeded_at <= FRESH


def write_check(core: sa.Connection) -> None:
    """Write one row for real: a transaction without a change would succeed on a full disk."""
    values = {"at": time.time()}
    here = t.write_checks.c.name == _CHECK
    if core.execute(t.write_checks.update().where(here).values(**values)).rowcount == 0:
        core.execute(t.write_checks.insert().values(name=_CHECK, **values))
