"""The lease on a desk in a database, in SQLAlchemy Core."""

import contextlib
import os
import socket

import sqlalchemy as sa

from deskhand.adapters.stores import tables as t
from deskhand.errors import AlreadyServed, Fenced


def database_time(core: sa.Connection) -> float:
    """PostgreSQL's own clock: by it, no two machines need agree on the time, and none may jump."""
    return float(
        core.execute(sa.text("SELECT extract(epoch FROM clock_timestamp())::float8")).scalar_one()
    )


def acquire(
    core: sa.Connection, desk: str, owner: str, now: float, seconds: float, database: str
) -> None:
    held = _held(core, desk) or _vacant(core, desk)
    lives = _lives(held.host, held.pid)
    if held.owner != owner and held.expires_at > now and lives is not False:
        raise AlreadyServed(
            f"desk {desk} in {database} is served by process {held.pid} on {held.host}; stop that"
            f" process first (a lease without renewal ends in {held.expires_at - now:.0f} s)",
            until=None if lives else held.expires_at,
        )
    values = {
        "owner": owner,
        "host": socket.gethostname(),
        "pid": os.getpid(),
        "acquired_at": now,
        "expires_at": now + seconds,
    }
    core.execute(t.leases.update().where(t.leases.c.name == desk).values(**values))


def renew(
    core: sa.Connection, desk: str, owner: str, now: float, seconds: float, database: str
) -> None:
    held = _held(core, desk)
    if held is None or held.owner != owner:
        raise Fenced(f"another process serves desk {desk} in {database} now")
    core.execute(t.leases.update().where(t.leases.c.name == desk).values(expires_at=now + seconds))


def give_up(core: sa.Connection, desk: str, owner: str) -> None:
    core.execute(t.leases.delete().where(t.leases.c.name == desk, t.leases.c.owner == owner))


def find_server(core: sa.Connection, now: float) -> str | None:
    """Words for a process that serves a desk or a channel of this database; None while none
    does."""
    for held in core.execute(sa.select(t.leases).where(t.leases.c.expires_at > now)):
        if held.owner and _lives(held.host, held.pid) is not False:
            return f"process {held.pid} on {held.host}"
    return None


LeaseRow = sa.Row[tuple[str, str, str, int, float, float]]


def _vacant(core: sa.Connection, desk: str) -> LeaseRow:
    """The first lease on a desk, held by nobody yet; of two who make it at once the second sees
    the first one's."""
    with contextlib.suppress(sa.exc.IntegrityError), core.begin_nested():
        core.execute(
            t.leases.insert().values(
                name=desk, owner="", host="", pid=0, acquired_at=0.0, expires_at=0.0
            )
        )
    held = _held(core, desk)
    assert held is not None
    return held


def _held(core: sa.Connection, desk: str) -> LeaseRow | None:
    return core.execute(
        sa.select(t.leases).where(t.leases.c.name == desk).with_for_update()
    ).one_or_none()


def _lives(host: str, pid: int) -> bool | None:
    """Whether the lease's holder lives; None where that cannot be seen from here.

    Under our own number it may be the process before us: in a container all of them have number 1.
    """
    if host != socket.gethostname() or pid == os.getpid():
        return None
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
