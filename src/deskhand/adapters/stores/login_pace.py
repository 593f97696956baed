"""How fast passwords may be tried: each try is counted before anybody looks at the password."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256

import sqlalchemy as sa

from deskhand.adapters.stores import tables as t
from deskhand.adapters.stores.core_database import insert_if_new
from deskhand.errors import TooManyLogins

FORGOTTEN = 900.0
"""Seconds without a try after which earlier ones do not count any more."""
FIRST_WAIT = 30.0


@dataclass(frozen=True, slots=True)
class LoginLimit:
    """So many tries are free. Each further one waits twice as long after the one before it."""

    free: int
    longest: float = FORGOTTEN

    def wait_after(self, tries: int) -> float:
        over = tries - self.free
        return 0.0 if over < 0 else min(self.longest, FIRST_WAIT * 2.0 ** min(over, 20))


def limits_for(name: str, client: str, device: str | None) -> dict[str, LoginLimit]:
    """What a try is counted under.

    A device that this person has logged in with before is counted by itself alone: strangers who
    guess her password, wherever they are, do not keep her out.
    """
    if device is not None:
        return {_key("device", name, device): LoginLimit(10)}
    return {
        _key("pair", name, client): LoginLimit(5),
        _key("client", client): LoginLimit(20),
        _key("name", name): LoginLimit(50, longest=60.0),
    }


def count_try(core: sa.Connection, limits: Mapping[str, LoginLimit], now: float) -> None:
    """Count one more try under all of these; TooManyLogins if it comes too early.

    A try that is refused is not counted. Tries at the same moment are counted one after the other:
    the rows stay locked until the transaction ends.
    """
    failures = t.login_failures
    core.execute(failures.delete().where(failures.c.since < now - FORGOTTEN))
    for key in sorted(limits):
        _make_row(core, key, now)
        row = core.execute(sa.select(failures).where(failures.c.key == key).with_for_update()).one()
        early = row.since + limits[key].wait_after(row.failures) - now
        if early > 0:
            raise TooManyLogins(
                f"too many wrong passwords; try again in {_words(early)}", retry_after=early
            )
        more = {"failures": row.failures + 1, "since": now}
        core.execute(failures.update().where(failures.c.key == key).values(**more))


def take_back(core: sa.Connection, keys: Iterable[str]) -> None:
    """The password was right: the try does not count."""
    failures = t.login_failures
    fewer = failures.update().where(failures.c.key.in_(list(keys)), failures.c.failures > 0)
    core.execute(fewer.values(failures=failures.c.failures - 1))


def _make_row(core: sa.Connection, key: str, now: float) -> None:
    insert_if_new(core, t.login_failures, {"key": key, "failures": 0, "since": now})


def _words(seconds: float) -> str:
    return f"{seconds:.0f} seconds" if seconds < 100 else f"{seconds / 60:.0f} minutes"


def _key(*parts: str) -> str:
    folded = "\0".join(part.strip().casefold() for part in parts)
    return sha256(folded.encode(errors="replace")).hexdigest()
